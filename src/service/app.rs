//! The service's configuration, and the state that all handlers share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::auth::Keys;
use super::fault_injection::FaultInjection;
use super::idempotency::KeysInProgress;
use super::store::Store;

/// Configuration of a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Folder of the database and the signing key; created if missing.
    pub data: PathBuf,
    /// Lifetime of access tokens, in whole seconds.
    pub access_lifetime: Duration,
    /// Lifetime of refresh tokens, in whole seconds.
    pub refresh_lifetime: Duration,
    /// Whether a token refresh also returns a new refresh token.
    pub rotate_refresh: bool,
    /// Faults to inject, if any.
    pub fault_injection: Option<FaultInjection>,
    /// Names in `Host` that the service answers to, besides those of this machine.
    pub host_names: Vec<String>,
    /// How long a client may take no byte of an answer before its connection is closed.
    pub write_timeout: Duration,
    /// Whether unknown fields and parameters are refused.
    pub strict: bool,
    /// Number of requests to keep in the journal: of those that may write, and of all others. 0 keeps none.
    pub journal: u64,
}

impl Config {
    /// Returns the default configuration: access tokens live 15 minutes, refresh tokens 30 days without rotation,
    /// no faults are injected, and the journal keeps 100,000 requests.
    pub fn new(data: impl Into<PathBuf>) -> Config {
        Config {
            data: data.into(),
            access_lifetime: Duration::from_secs(15 * 60),
            refresh_lifetime: Duration::from_secs(30 * 24 * 60 * 60),
            rotate_refresh: false,
            fault_injection: None,
            host_names: Vec::new(),
            write_timeout: Duration::from_secs(30),
            strict: false,
            journal: 100_000,
        }
    }
}

/// State shared by all handlers.
pub(super) struct App {
    pub(super) config: Config,
    pub(super) keys: Arc<Keys>,
    pub(super) store: Arc<Store>,
    pub(super) keys_in_progress: KeysInProgress,
}
