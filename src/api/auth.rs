//! Credentials: the bearer token in force, and its refresh, made once for all who found it expired.

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::sync::RwLock;

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
    /// Counts refreshes, so that a worker that comes late with an old token does not refresh again.
    generation: u64,
}

/// A token as a worker used it.
#[derive(Clone, Debug)]
pub(super) struct Bearer {
    pub token: SecretString,
    pub generation: u64,
}

impl Tokens {
    pub fn new(credentials: Credentials) -> Tokens {
        Tokens { current: RwLock::new(Current { credentials, generation: 0 }) }
    }

    /// The token to use now; nothing when only a refresh token is there.
    pub async fn bearer(&self) -> Option<Bearer> {
        let current = self.current.read().await;
        let token = current.credentials.access.clone()?;
        Some(Bearer { token, generation: current.generation })
    }

    /// Replaces the token unless somebody else did since `used` was taken. `ask` gets the refresh token and answers the
    /// new pair. False: there is no refresh token.
    pub async fn refresh<E>(
        &self,
        used: Option<u64>,
        ask: impl AsyncFnOnce(&SecretString) -> Result<Pair, E>,
    ) -> Result<bool, E> {
        let mut current = self.current.write().await;
        if used.is_some_and(|used| used != current.generation)
            || (used.is_none() && current.credentials.access.is_some())
        {
            return Ok(true);
        }
        let Some(refresh) = current.credentials.refresh.clone() else { return Ok(false) };
        let pair = ask(&refresh).await?;
        current.credentials.access = Some(pair.access);
        if let Some(refresh) = pair.refresh {
            current.credentials.refresh = Some(refresh);
        }
        current.generation += 1;
        Ok(true)
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
