//! The configuration of the service, and the state shared by all handlers.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sheetport_sql::ServerAddress;

use super::auth::Keys;
use super::fault_injection::FaultInjection;
use super::idempotency::KeysInProgress;
use super::reading::Reading;
use super::store::Store;

/// The storage of a service for its records and its signing key.
#[derive(Clone, Debug)]
pub enum Storage {
    /// A folder for this service alone; created if missing.
    Folder(PathBuf),
    /// A database on a PostgreSQL server, for any number of services.
    Server(ServerAddress),
}

/// Writes the path, or the address without the password.
impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Storage::Folder(folder) => write!(f, "{}", folder.display()),
            Storage::Server(address) => write!(f, "{address}"),
        }
    }
}

/// Configuration of a service.
#[derive(Clone, Debug)]
pub struct Config {
    pub storage: Storage,
    /// Lifetime of access tokens, in whole seconds.
    pub access_lifetime: Duration,
    /// Lifetime of refresh tokens, in whole seconds.
    pub refresh_lifetime: Duration,
    /// Whether a token refresh also returns a new refresh token.
    pub rotate_refresh: bool,
    /// Faults to inject, if any.
    pub fault_injection: Option<FaultInjection>,
    /// Accepted names in `Host`, in addition to the names of this machine.
    pub host_names: Vec<String>,
    /// Maximum time in which a client reads nothing of a response before its connection is closed.
    pub write_timeout: Duration,
    pub reading: Reading,
    /// Number of journal entries to keep, both for requests that may write and for all other requests. 0 disables the journal.
    pub journal: u64,
}

impl Config {
    /// Returns the default configuration of a service in a folder.
    pub fn new(data: impl Into<PathBuf>) -> Config {
        Config::with(Storage::Folder(data.into()))
    }

    /// Returns the default configuration: access tokens live 15 minutes, refresh tokens 30 days without rotation,
    /// no faults are injected, and the journal keeps 100,000 requests.
    pub fn with(storage: Storage) -> Config {
        Config {
            storage,
            access_lifetime: Duration::from_secs(15 * 60),
            refresh_lifetime: Duration::from_secs(30 * 24 * 60 * 60),
            rotate_refresh: false,
            fault_injection: None,
            host_names: Vec::new(),
            write_timeout: Duration::from_secs(30),
            reading: Reading::default(),
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
