//! Credentials: the bearer token in force, and its refresh, made once for all who found it expired.

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::sync::RwLock;

use super::client::Exchange;

/// What the person gave. Debug output shows neither token.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    pub access: Option<SecretString>,
    pub refresh: Option<SecretString>,
}

impl Credentials {
    /// The workspace that the tokens name, as far as they name one. The signature is the service's business.
    pub fn workspace(&self) -> Option<String> {
        let token = self.access.as_ref().or(self.refresh.as_ref())?;
        let claims = jsonwebtoken::dangerous::insecure_decode::<Value>(token.expose_secret()).ok()?.claims;
        ["workspace", "workspace_id"].iter().find_map(|name| claims.get(name)).and_then(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }
}

/// The tokens in force, shared by all workers.
#[derive(Debug)]
pub(super) struct Tokens {
    current: RwLock<Current>,
}

#[derive(Debug)]
struct Current {
    credentials: Credentials,
    stand: Stand,
    /// What came of the last refresh, if it brought no token.
    failure: Option<Exchange>,
}

/// How far the tokens were when a worker looked, so that one that comes late does not refresh again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stand {
    /// Counts the refreshes that brought a token.
    renewed: u64,
    /// Counts those that did not.
    failed: u64,
}

/// A token as a worker uses it; none when only a refresh token is there.
#[derive(Clone, Debug)]
pub(super) struct Bearer {
    pub token: Option<SecretString>,
    pub stand: Stand,
}

impl Tokens {
    pub fn new(credentials: Credentials) -> Tokens {
        Tokens { current: RwLock::new(Current { credentials, stand: Stand::default(), failure: None }) }
    }

    /// The token to use now.
    pub async fn bearer(&self) -> Bearer {
        let current = self.current.read().await;
        Bearer { token: current.credentials.access.clone(), stand: current.stand }
    }

    /// Replaces the token unless somebody else did since `used` was taken. `ask` gets the refresh token and answers the
    /// new pair. What keeps one worker from a new token keeps all from it that came with the same old one, and a
    /// refresh token that was refused is not offered again. False: there is no refresh token.
    pub async fn refresh(
        &self,
        used: Stand,
        ask: impl AsyncFnOnce(&SecretString) -> Result<Pair, Exchange>,
    ) -> Result<bool, Exchange> {
        let mut current = self.current.write().await;
        if used.renewed != current.stand.renewed {
            return Ok(true);
        }
        let Some(refresh) = current.credentials.refresh.clone() else { return Ok(false) };
        match &current.failure {
            Some(failure @ Exchange::Unauthorized { .. }) => return Err(failure.clone()),
            Some(failure) if used.failed != current.stand.failed => return Err(failure.clone()),
            _ => {}
        }
        match ask(&refresh).await {
            Ok(pair) => {
                current.credentials.access = Some(pair.access);
                current.credentials.refresh = pair.refresh.or(Some(refresh));
                current.stand.renewed += 1;
                current.failure = None;
                Ok(true)
            }
            Err(failure) => {
                current.stand.failed += 1;
                current.failure = Some(failure.clone());
                Err(failure)
            }
        }
    }
}

pub(super) struct Pair {
    pub access: SecretString,
    pub refresh: Option<SecretString>,
}

/// Finds the tokens in the answer of the refresh call, whose shape the contract does not show.
pub(super) fn read_pair(body: &[u8]) -> Option<Pair> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let token = |names: &[&str]| {
        names.iter().find_map(|name| body.get(name)?.as_str()).map(|token| SecretString::from(token.to_owned()))
    };
    Some(Pair { access: token(&["access", "access_token", "token"])?, refresh: token(&["refresh", "refresh_token"]) })
}
