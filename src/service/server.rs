//! The running service: opening the data folder, the accept loop, and a graceful stop.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
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
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

use crate::records::token::Access;

use super::app::{App, Config};
use super::auth::{Keys, Tokens};
use super::connections::{WriteTimeout, permits};
use super::data_folder::{self, Lock};
use super::error::Error;
use super::host::OwnHosts;
use super::idempotency::KeysInProgress;
use super::store::{BUSY_TIMEOUT, Store};
use super::{fault_injection, router};

/// Maximum time for reading a request head, and for an idle connection. Clients commonly close idle connections
/// after 90 s; with a longer timeout, clients rarely write to a connection just closed by the service.
const HEAD_TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum time for requests in flight to finish after a stop. Service managers kill a process that takes long.
const GRACE_PERIOD: Duration = Duration::from_secs(4);

/// Pause after a failed accept. The usual cause is a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

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
        accept(listeners, router, self.app.config.write_timeout, stop).await;
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
async fn accept(listeners: Vec<TcpListener>, router: Router, write_timeout: Duration, stop: impl Future<Output = ()>) {
    let permits = permits();
    let shutdown = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            (permit, accepted) = next_connection(&listeners, &permits) => match accepted {
                Ok((stream, _)) => {
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "failed to set TCP_NODELAY");
                    }
                    let stream = WriteTimeout::new(stream, write_timeout);
                    connections.spawn(serve_connection(stream, router.clone(), shutdown.watcher(), permit));
                }
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listeners);
    if timeout(GRACE_PERIOD, shutdown.shutdown()).await.is_err() {
        tracing::warn!(connections = connections.len(), "closing connections with unfinished requests");
    }
    connections.shutdown().await;
}

/// Waits until another connection may be open, then for one at any of the listeners.
async fn next_connection(
    listeners: &[TcpListener],
    permits: &Arc<Semaphore>,
) -> (Option<OwnedSemaphorePermit>, io::Result<(TcpStream, SocketAddr)>) {
    // Never closed, so that there is a permit.
    let permit = permits.clone().acquire_owned().await.ok();
    let accepted = poll_fn(|context| {
        let mut accepted = listeners.iter().map(|listener| listener.poll_accept(context));
        accepted.find(Poll::is_ready).unwrap_or(Poll::Pending)
    });
    (permit, accepted.await)
}

/// Serves the requests of a connection. The permit is free again at its end.
async fn serve_connection(
    stream: WriteTimeout<TcpStream>,
    router: Router,
    watcher: Watcher,
    _permit: Option<OwnedSemaphorePermit>,
) {
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
