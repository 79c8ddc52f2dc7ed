//! The service's configuration, and the state that all handlers share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::auth::Keys;
use super::fault_injection::FaultInjection;
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
}

impl Config {
    /// Returns the default configuration: access tokens live 15 minutes, refresh tokens 30 days without rotation, and no
    /// faults are injected.
    pub fn new(data: impl Into<PathBuf>) -> Config {
        Config {
            data: data.into(),
            access_lifetime: Duration::from_secs(15 * 60),
            refresh_lifetime: Duration::from_secs(30 * 24 * 60 * 60),
            rotate_refresh: false,
            fault_injection: None,
            host_names: Vec::new(),
            write_timeout: Duration::from_secs(30),
        }
    }
}

/// State shared by all handlers.
pub(super) struct App {
    pub(super) config: Config,
    pub(super) keys: Arc<Keys>,
    pub(super) store: Store,
}
