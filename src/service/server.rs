//! The running service: opening the data folder, the accept loop, and a graceful stop.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use jiff::Timestamp;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

use crate::records::token::Access;

use super::app::{App, Config};
use super::auth::{Keys, Tokens};
use super::data_folder::{self, Lock};
use super::error::Error;
use super::host::OwnHosts;
use super::store::{BUSY_TIMEOUT, Store};
use super::{fault_injection, router};

/// Maximum time for reading a request head, and for an idle connection. Clients commonly close idle connections
/// after 90 s; with a longer timeout, clients rarely write to a connection just closed by the service.
const HEAD_TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum time for requests in flight to finish after a stop.
const GRACE_PERIOD: Duration = Duration::from_secs(35);

/// Pause after a failed accept. The usual cause is a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A service with exclusive access to its data folder.
pub struct Service {
    pub(super) app: Arc<App>,
    /// Held until the store is closed.
    lock: Lock,
}

impl Service {
    /// Opens the data folder. Creates the folder, the signing key and the database if missing, and migrates the database.
    pub async fn open(config: Config) -> Result<Service, Error> {
        data_folder::create(&config.data)?;
        let lock = Lock::take(&config.data)?;
        let keys = Arc::new(keys(&config)?);
        let store = Store::open(&data_folder::database(&config.data), BUSY_TIMEOUT).await?;
        Ok(Service { app: Arc::new(App { config, keys, store }), lock })
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
        let address = listener.local_addr().map_err(Error::Listen)?;
        let hosts = OwnHosts::new(address, &self.app.config.host_names);
        accept(listener, router::router(self.app.clone(), hosts), stop).await;
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

/// Accepts connections until `stop` completes and the requests in flight are finished.
async fn accept(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let shutdown = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, router.clone(), shutdown.watcher()));
                }
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    if timeout(GRACE_PERIOD, shutdown.shutdown()).await.is_err() {
        tracing::warn!(connections = connections.len(), "closing connections with unfinished requests");
    }
    connections.shutdown().await;
}

async fn serve_connection(stream: TcpStream, router: Router, watcher: Watcher) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "failed to set TCP_NODELAY");
    }
    let service = service_fn(|request: Request<Incoming>| {
        let router = router.clone();
        async move {
            let Ok(response) = router.oneshot(request.map(Body::new)).await;
            fault_injection::deliver(response).await
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "connection ended early");
    }
}
