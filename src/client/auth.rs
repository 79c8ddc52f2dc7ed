//! Credentials: the bearer token in force, and its refresh, made once for all who found it expired.

mod token_file;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::sync::RwLock;

use super::transport::Exchange;

pub use token_file::TokenFile;

/// A token is renewed this long before it is over.
const AHEAD: Duration = Duration::from_secs(30);

/// What the person gave. Debug output shows neither token.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    pub access: Option<SecretString>,
    pub refresh: Option<SecretString>,
    /// Where they are kept, so that a new pair is kept there, too.
    pub file: Option<TokenFile>,
}

impl Credentials {
    pub fn is_empty(&self) -> bool {
        self.access.is_none() && self.refresh.is_none()
    }

    /// The workspace that the tokens name, as far as they name one. The signature is the service's business.
    pub fn workspace(&self) -> Option<String> {
        self.claim(&["workspace", "workspace_id"])
    }

    /// The access level that the tokens name, in their words.
    pub fn access_level(&self) -> Option<String> {
        self.claim(&["access", "permission", "permission_level"])
    }

    /// Whether the tokens say that they are for reading alone.
    pub fn is_read_only(&self) -> bool {
        self.access_level().is_some_and(|level| level.eq_ignore_ascii_case("regular"))
    }

    /// When the access token is over, in seconds since 1970.
    pub fn expires_at(&self) -> Option<i64> {
        claims(self.access.as_ref()?)?.get("exp")?.as_i64()
    }

    fn claim(&self, names: &[&str]) -> Option<String> {
        let claims = claims(self.access.as_ref().or(self.refresh.as_ref())?)?;
        names.iter().find_map(|name| claims.get(name)).and_then(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    fn has_same_access(&self, other: &Credentials) -> bool {
        let text =
            |credentials: &Credentials| credentials.access.as_ref().map(|token| token.expose_secret().to_owned());
        text(self) == text(other)
    }
}

fn claims(token: &SecretString) -> Option<Value> {
    Some(jsonwebtoken::dangerous::insecure_decode::<Value>(token.expose_secret()).ok()?.claims)
}

/// The tokens in force, shared by all workers.
#[derive(Debug)]
pub(super) struct Tokens {
    /// The service that they are for.
    address: String,
    current: RwLock<Current>,
}

#[derive(Debug)]
struct Current {
    credentials: Credentials,
    /// The access token of the credentials, ready to be sent.
    access: Option<Arc<Access>>,
    stand: Stand,
    /// When to renew the access token without having been refused.
    renew_at: Option<Instant>,
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

/// An access token and what is sent of it.
#[derive(Debug)]
pub(super) struct Access {
    pub token: SecretString,
    /// The header Authorization; nothing for a token that no header can hold.
    pub header: Option<HeaderValue>,
}

/// A token as a worker uses it; none when only a refresh token is there.
#[derive(Clone, Debug)]
pub(super) struct Bearer {
    pub access: Option<Arc<Access>>,
    pub stand: Stand,
    /// It should be renewed before it is used.
    pub is_stale: bool,
}

impl Tokens {
    pub fn new(address: String, credentials: Credentials) -> Tokens {
        let renew_at = stale_by_the_clock(&credentials);
        let access = Access::of(&credentials);
        let current = Current { credentials, access, stand: Stand::default(), renew_at, failure: None };
        Tokens { address, current: RwLock::new(current) }
    }

    /// The token to use now.
    pub async fn bearer(&self) -> Bearer {
        let current = self.current.read().await;
        let is_stale = current.renew_at.is_some_and(|at| at <= Instant::now()) && current.credentials.refresh.is_some();
        Bearer { access: current.access.clone(), stand: current.stand, is_stale }
    }

    /// The tokens as they are now.
    pub async fn credentials(&self) -> Credentials {
        self.current.read().await.credentials.clone()
    }

    /// Replaces the token unless somebody else did since `used` was taken. `ask` gets the refresh token and answers the
    /// new pair. What keeps one worker from a new token keeps all from it that came with the same old one, and a
    /// refresh token that was refused is not offered again. Where the tokens are kept in a file, other processes wait
    /// meanwhile, and the new pair is in the file before it is used. False: there is no refresh token.
    pub async fn refresh(
        &self,
        used: Stand,
        ask: impl AsyncFnOnce(&SecretString) -> Result<Pair, Exchange>,
    ) -> Result<bool, Exchange> {
        let mut current = self.current.write().await;
        if used.renewed != current.stand.renewed {
            return Ok(true);
        }
        match &current.failure {
            Some(failure @ Exchange::Unauthorized { .. }) => return Err(failure.clone()),
            Some(failure) if used.failed != current.stand.failed => return Err(failure.clone()),
            _ => {}
        }
        // Whether it works or not: asked for ahead of time once, the next time it is a refusal that asks.
        current.renew_at = None;
        let file = current.credentials.file.clone();
        let _renewing = match &file {
            None => None,
            Some(file) => Some(lock(file).await.map_err(|error| unkept(file, &error))?),
        };
        if let Some((base_url, kept)) = file.as_ref().and_then(|file| file.read().ok().flatten())
            && base_url == self.address
            && kept.access.is_some()
            && !kept.has_same_access(&current.credentials)
        {
            current.renew(kept);
            return Ok(true);
        }
        let Some(refresh) = current.credentials.refresh.clone() else { return Ok(false) };
        match ask(&refresh).await {
            Ok(pair) => {
                let credentials = Credentials {
                    access: Some(pair.access),
                    refresh: pair.refresh.or(Some(refresh)),
                    file: file.clone(),
                };
                let kept = file.as_ref().map_or(Ok(()), |file| {
                    file.write(&self.address, &credentials).map_err(|error| unkept(file, &error))
                });
                current.renew(credentials);
                kept.map(|()| true)
            }
            Err(failure) => {
                current.stand.failed += 1;
                current.failure = Some(failure.clone());
                Err(failure)
            }
        }
    }
}

impl Access {
    fn of(credentials: &Credentials) -> Option<Arc<Access>> {
        let token = credentials.access.clone()?;
        let header = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret())).ok().map(|mut header| {
            header.set_sensitive(true);
            header
        });
        Some(Arc::new(Access { token, header }))
    }
}

impl Current {
    fn renew(&mut self, credentials: Credentials) {
        self.renew_at = stale_by_its_age(&credentials);
        self.access = Access::of(&credentials);
        self.credentials = credentials;
        self.stand.renewed += 1;
        self.failure = None;
    }
}

async fn lock(file: &TokenFile) -> io::Result<token_file::Renewing> {
    let file = file.clone();
    tokio::task::spawn_blocking(move || file.lock()).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn unkept(file: &TokenFile, error: &io::Error) -> Exchange {
    Exchange::Unauthorized { reason: format!("new tokens can't be kept in {}: {error}", file.path().display()) }
}

/// A token whose age is not known is judged by the machine's clock.
fn stale_by_the_clock(credentials: &Credentials) -> Option<Instant> {
    let expires = Duration::from_secs(u64::try_from(credentials.expires_at()?).ok()?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Instant::now().checked_add(expires.saturating_sub(AHEAD).saturating_sub(now))
}

/// One that is new lives as long as it says, whatever the machine's clock thinks of it.
fn stale_by_its_age(credentials: &Credentials) -> Option<Instant> {
    let claims = claims(credentials.access.as_ref()?)?;
    let (from, to) = (claims.get("iat")?.as_i64()?, claims.get("exp")?.as_i64()?);
    let life = Duration::from_secs(u64::try_from(to.checked_sub(from)?).ok()?);
    // Of one that lives no longer than the margin, half a life is used.
    Instant::now().checked_add(life.saturating_sub(AHEAD).max(life / 2))
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
