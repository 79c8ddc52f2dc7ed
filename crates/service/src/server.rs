//! The running service: opening the storage, serving requests, and a graceful stop.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, LocalBoxFuture};
use jiff::Timestamp;
use sheetport_records::token::Access;
use sheetport_web::{self as web, OwnHosts};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tower::ServiceExt;

use super::app::{App, Config, Storage};
use super::auth::{Keys, Tokens};
use super::data_folder::{self, KEY_BYTES, Lock};
use super::error::Error;
use super::idempotency::KeysInProgress;
use super::store::{self, BUSY_TIMEOUT, Store};
use super::{fault_injection, router};

/// Maximum time from the signal to stop to the end. Service managers kill slow processes.
const STOP_TIME: Duration = Duration::from_millis(4_800);

/// A service with exclusive access to its data folder, or on a shared database.
pub struct Service {
    pub(super) app: Arc<App>,
    /// The lock on the data folder, held until the store is closed.
    lock: Option<Lock>,
    tightened: Vec<PathBuf>,
}

impl Service {
    /// Opens the storage. Creates the folder, the signing key and the tables if missing, and migrates the tables.
    pub fn open(config: Config) -> LocalBoxFuture<'static, Result<Service, Error>> {
        Box::pin(async move {
            let (store, lock, tightened) = match &config.storage {
                Storage::Folder(folder) => {
                    data_folder::create(folder)?;
                    let lock = Lock::take(folder)?;
                    data_folder::signing_key(folder)?;
                    let tightened = data_folder::make_private(folder)?;
                    let store = Store::open(&data_folder::database(folder), BUSY_TIMEOUT, config.journal).await?;
                    (store, Some(lock), tightened)
                }
                Storage::Server(address) => (Store::connect(address, config.journal).await?, None, Vec::new()),
            };
            let keys = Arc::new(keys(&config).await?);
            Ok(Service {
                app: Arc::new(App {
                    config,
                    keys,
                    store: Arc::new(store),
                    keys_in_progress: KeysInProgress::default(),
                }),
                lock,
                tightened,
            })
        })
    }

    /// Returns the files and folders whose permissions were tightened: other users could read or change them before.
    pub fn tightened(&self) -> &[PathBuf] {
        &self.tightened
    }

    /// Issues an access token and a refresh token for `workspace`.
    pub fn issue_tokens(&self, workspace: &str, access: Access) -> Result<Tokens, Error> {
        self.app.keys.issue(workspace, access, Timestamp::now())
    }

    /// Serves requests until `stop` completes, then finishes the requests in flight and closes the store.
    pub fn serve(self, listener: TcpListener, stop: BoxFuture<'static, ()>) -> BoxFuture<'static, Result<(), Error>> {
        self.serve_all(vec![listener], stop)
    }

    /// As [`Self::serve`], at several addresses.
    pub fn serve_all(
        self,
        listeners: Vec<TcpListener>,
        stop: BoxFuture<'static, ()>,
    ) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            let addresses = listeners.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>();
            let hosts = OwnHosts::new(&addresses.map_err(Error::Listen)?, &self.app.config.host_names);
            let router = router::router(self.app.clone(), hosts);
            let respond = move |request| {
                let router = router.clone();
                async move {
                    let Ok(response) = router.oneshot(request).await;
                    fault_injection::deliver(response).await
                }
            };
            let stopped = Arc::new(OnceLock::new());
            let stop = {
                let stopped = stopped.clone();
                async move {
                    stop.await;
                    stopped.get_or_init(Instant::now);
                }
            };
            web::serve(listeners, respond, self.app.config.write_timeout, stop).await;
            // All writes with a response are on disk. What waits for a lock of another program may be entries of the journal.
            let left = STOP_TIME.saturating_sub(stopped.get().map_or(Duration::ZERO, Instant::elapsed));
            if timeout(left, self.close()).await.is_err() {
                tracing::warn!(
                    "another program holds a lock on the database: the last requests may be missing in the journal"
                );
            }
            Ok(())
        })
    }

    /// Closes the store, then unlocks the data folder.
    pub fn close(self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.app.store.close().await;
            drop(self.lock);
        })
    }
}

/// Issues an access token and a refresh token for `workspace` from the storage alone. Works before the first start of a service
/// and while one is running.
pub fn issue_tokens<'a>(
    config: &'a Config,
    workspace: &'a str,
    access: Access,
) -> BoxFuture<'a, Result<Tokens, Error>> {
    Box::pin(async move { keys(config).await?.issue(workspace, access, Timestamp::now()) })
}

async fn keys(config: &Config) -> Result<Keys, Error> {
    let key = match &config.storage {
        Storage::Folder(folder) => {
            data_folder::create(folder)?;
            data_folder::signing_key(folder)?
        }
        Storage::Server(address) => {
            let key = store::shared_signing_key(address, &data_folder::new_key(&address.to_string())?).await?;
            let damaged = |_| Error::SigningKey { storage: address.to_string(), expected: KEY_BYTES };
            key.try_into().map_err(damaged)?
        }
    };
    Ok(Keys::new(&key, config.access_lifetime, config.refresh_lifetime))
}
