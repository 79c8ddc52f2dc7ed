//! The current tokens of a client, renewed once for all workers.

use std::io;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use secrecy::SecretString;
use serde_json::Value;
use tokio::sync::RwLock;

use super::credentials::{Credentials, TokenFile};
use super::token_file::RenewalLock;
use crate::outcome::TransportOutcome;

/// Remaining lifetime of a token that triggers renewal.
const MARGIN: Duration = Duration::from_secs(30);

/// The current tokens, shared by all workers.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// Base address of the service.
    address: String,
    state: RwLock<State>,
}

#[derive(Debug)]
struct State {
    credentials: Credentials,
    generation: Generation,
    /// When to renew the access token without waiting for a 401.
    renew_at: Option<Instant>,
    /// Outcome of the last failed renewal.
    failure: Option<TransportOutcome>,
}

/// The number of renewals at a given time. A worker with an older generation does not renew again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Generation {
    succeeded: u64,
    failed: u64,
}

/// The access token to use for an attempt.
#[derive(Clone, Debug)]
pub(crate) struct Bearer {
    /// `None` if only a refresh token is known.
    pub token: Option<SecretString>,
    /// The refresh token. Messages must not contain it either.
    pub refresh: Option<SecretString>,
    pub generation: Generation,
    /// Whether to renew the token before use.
    pub is_stale: bool,
}

/// A renewed pair of tokens.
pub(crate) struct TokenPair {
    access: SecretString,
    refresh: Option<SecretString>,
}

impl TokenPair {
    /// Parses the response of the refresh call. The contract does not specify its shape. Returns `None` without an access token.
    pub(crate) fn parse(body: &[u8]) -> Option<TokenPair> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let token = |names: &[&str]| {
            names.iter().find_map(|name| body.get(name)?.as_str()).map(|token| SecretString::from(token.to_owned()))
        };
        let access = token(&["access", "access_token", "token"])?;
        Some(TokenPair { access, refresh: token(&["refresh", "refresh_token"]) })
    }
}

impl Tokens {
    pub(crate) fn new(address: String, credentials: Credentials) -> Tokens {
        let renew_at = expiry_by_clock(&credentials);
        let state = State { credentials, generation: Generation::default(), renew_at, failure: None };
        Tokens { address, state: RwLock::new(state) }
    }

    /// Returns the access token to use now.
    pub(crate) async fn bearer(&self) -> Bearer {
        let state = self.state.read().await;
        let is_due = state.renew_at.is_some_and(|at| at <= Instant::now());
        Bearer {
            token: state.credentials.access.clone(),
            refresh: state.credentials.refresh.clone(),
            generation: state.generation,
            is_stale: is_due && state.credentials.refresh.is_some(),
        }
    }

    /// Returns the current tokens.
    pub(crate) async fn credentials(&self) -> Credentials {
        self.state.read().await.credentials.clone()
    }

    /// Renews the access token, unless another worker did so since `used`. `request` exchanges the refresh token for a new
    /// pair. Returns false if there is no refresh token.
    ///
    /// Workers with the same old token share a failure, and a refused refresh token is not offered again. If the tokens are
    /// stored in a file, other processes wait meanwhile, and the new pair is in the file before it is used.
    pub(crate) async fn renew(
        &self,
        used: Generation,
        request: impl AsyncFnOnce(&SecretString) -> Result<TokenPair, TransportOutcome>,
    ) -> Result<bool, TransportOutcome> {
        let mut state = self.state.write().await;
        if used.succeeded != state.generation.succeeded {
            return Ok(true);
        }
        match &state.failure {
            Some(failure @ TransportOutcome::Unauthorized { .. }) => return Err(failure.clone()),
            Some(failure) if used.failed != state.generation.failed => return Err(failure.clone()),
            _ => {}
        }
        // Renew ahead of time only once; afterwards wait for a 401.
        state.renew_at = None;
        let file = state.credentials.file.clone();
        let _lock = match &file {
            None => None,
            Some(file) => Some(lock(file).await.map_err(|error| not_stored(file, &error))?),
        };
        if let Some(stored) = file.as_ref().and_then(|file| self.renewed_elsewhere(file, &state.credentials)) {
            if let Some(reason) = other_workspace(&state.credentials, &stored) {
                return Err(state.fail(TransportOutcome::Unauthorized { reason }));
            }
            state.replace(stored);
            return Ok(true);
        }
        let Some(refresh) = state.credentials.refresh.clone() else { return Ok(false) };
        match request(&refresh).await {
            Ok(pair) => {
                let (access, refresh) = (Some(pair.access), pair.refresh.or(Some(refresh)));
                let credentials = Credentials { access, refresh, file: file.clone() };
                if let Some(reason) = other_workspace(&state.credentials, &credentials) {
                    return Err(state.fail(TransportOutcome::Unauthorized { reason }));
                }
                let stored = file.as_ref().map_or(Ok(()), |file| {
                    file.write(&self.address, &credentials).map_err(|error| not_stored(file, &error))
                });
                state.replace(credentials);
                stored.map(|()| true)
            }
            Err(failure) => Err(state.fail(failure)),
        }
    }

    /// Returns newer tokens of another process from the file. An unreadable file counts as unchanged.
    fn renewed_elsewhere(&self, file: &TokenFile, current: &Credentials) -> Option<Credentials> {
        let (base_url, stored) = file.read().ok().flatten()?;
        let is_newer = base_url == self.address && stored.access.is_some() && !stored.has_same_access(current);
        is_newer.then_some(stored)
    }
}

/// Returns an error message if renewed tokens are for another workspace than before: records would be written there.
fn other_workspace(before: &Credentials, renewed: &Credentials) -> Option<String> {
    let (before, renewed) = before.workspace().zip(renewed.workspace())?;
    (before != renewed)
        .then(|| format!("the renewed tokens are for the workspace '{renewed}', and those before were for '{before}'"))
}

impl State {
    /// Stores and returns a failed renewal.
    fn fail(&mut self, failure: TransportOutcome) -> TransportOutcome {
        self.generation.failed += 1;
        self.failure = Some(failure.clone());
        failure
    }

    fn replace(&mut self, credentials: Credentials) {
        self.renew_at = expiry_by_age(&credentials);
        self.credentials = credentials;
        self.generation.succeeded += 1;
        self.failure = None;
    }
}

async fn lock(file: &TokenFile) -> io::Result<RenewalLock> {
    let file = file.clone();
    tokio::task::spawn_blocking(move || file.lock()).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn not_stored(file: &TokenFile, error: &io::Error) -> TransportOutcome {
    let reason = format!("renewed tokens can't be stored in {}: {error}", file.path().display());
    TransportOutcome::Unauthorized { reason }
}

/// Returns when to renew a token of unknown age, by this machine's clock.
fn expiry_by_clock(credentials: &Credentials) -> Option<Instant> {
    let expires = Duration::from_secs(u64::try_from(credentials.expires_at()?).ok()?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Instant::now().checked_add(expires.saturating_sub(MARGIN).saturating_sub(now))
}

/// Returns the time to renew a new token: its lifetime from now, minus a margin. Independent of the local clock.
fn expiry_by_age(credentials: &Credentials) -> Option<Instant> {
    let lifetime = credentials.expires_at()?.checked_sub(credentials.issued_at()?)?;
    let lifetime = Duration::from_secs(u64::try_from(lifetime).ok()?);
    // Use short-lived tokens for half of the lifetime.
    Instant::now().checked_add(lifetime.saturating_sub(MARGIN).max(lifetime / 2))
}
