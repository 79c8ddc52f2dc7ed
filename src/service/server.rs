//! The running service: opening the data folder, serving requests, and a graceful stop.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::net::TcpListener;
use tower::ServiceExt;

use crate::records::token::Access;
use crate::web_server::{self, OwnHosts};

use super::app::{App, Config};
use super::auth::{Keys, Tokens};
use super::data_folder::{self, Lock};
use super::error::Error;
use super::idempotency::KeysInProgress;
use super::store::{BUSY_TIMEOUT, Store};
use super::{fault_injection, router};

/// A service with exclusive access to its data folder.
pub struct Service {
    pub(super) app: Arc<App>,
    /// Held until the store is closed.
    lock: Lock,
    tightened: Vec<PathBuf>,
}

impl Service {
    /// Opens the data folder. Creates the folder, the signing key and the database if missing, and migrates the database.
    pub async fn open(config: Config) -> Result<Service, Error> {
        data_folder::create(&config.data)?;
        let lock = Lock::take(&config.data)?;
        let keys = Arc::new(keys(&config)?);
        let tightened = data_folder::make_private(&config.data)?;
        let store = Store::open(&data_folder::database(&config.data), BUSY_TIMEOUT, config.journal).await?;
        Ok(Service {
            app: Arc::new(App { config, keys, store: Arc::new(store), keys_in_progress: KeysInProgress::default() }),
            lock,
            tightened,
        })
    }

    /// Returns the files and folders that others could read or change before the service was opened, and no longer can.
    pub fn tightened(&self) -> &[PathBuf] {
        &self.tightened
    }

    /// Issues an access token and a refresh token for `workspace`.
    pub fn issue_tokens(&self, workspace: &str, access: Access) -> Result<Tokens, Error> {
        self.app.keys.issue(workspace, access, Timestamp::now())
    }

    /// Serves requests until `stop` completes, then finishes the requests in flight and closes the store.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Error> {
        self.serve_all(vec![listener], stop).await
    }

    /// As [`Self::serve`], at several addresses.
    pub async fn serve_all(
        self,
        listeners: Vec<TcpListener>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Error> {
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
        web_server::serve(listeners, respond, self.app.config.write_timeout, stop).await;
        self.close().await;
        Ok(())
    }

    /// Closes the store, then unlocks the data folder.
    pub async fn close(self) {
        self.app.store.close().await;
        drop(self.lock);
    }
}

/// Issues an access token and a refresh token for `workspace` from the data folder alone. Works before the first start
/// of a service and while one is running.
pub fn issue_tokens(config: &Config, workspace: &str, access: Access) -> Result<Tokens, Error> {
    data_folder::create(&config.data)?;
    keys(config)?.issue(workspace, access, Timestamp::now())
}

fn keys(config: &Config) -> Result<Keys, Error> {
    let key = data_folder::signing_key(&config.data)?;
    Ok(Keys::new(&key, config.access_lifetime, config.refresh_lifetime))
}
