//! The accept loop, and a graceful stop.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::connections::{WriteTimeout, permits};

/// Maximum time for reading a request head, and for an idle connection. Clients commonly close idle connections
/// after 90 s; with a longer timeout, clients rarely write to a connection just closed by the service.
const HEAD_TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum time for requests in flight to finish after a stop. Service managers kill slow processes.
const GRACE_PERIOD: Duration = Duration::from_secs(4);

/// Pause after a failed accept. The usual cause is a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections until `stop` completes and the requests in flight are finished. `respond` answers a request; an error
/// breaks the connection. Writes fail if a client takes no byte for `write_timeout`.
pub async fn serve<R, F, E>(
    listeners: Vec<TcpListener>,
    respond: R,
    write_timeout: Duration,
    stop: impl Future<Output = ()>,
) where
    R: Fn(Request<Body>) -> F + Clone + Send + 'static,
    F: Future<Output = Result<Response, E>> + Send + 'static,
    E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
{
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
                    connections.spawn(serve_connection(stream, respond.clone(), shutdown.watcher(), permit));
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

/// Waits for a permit for another connection, and then for a connection to any of the listeners.
async fn next_connection(
    listeners: &[TcpListener],
    permits: &Arc<Semaphore>,
) -> (Option<OwnedSemaphorePermit>, io::Result<(TcpStream, SocketAddr)>) {
    // The semaphore is never closed, so acquiring succeeds.
    let permit = permits.clone().acquire_owned().await.ok();
    let accepted = poll_fn(|context| {
        let mut accepted = listeners.iter().map(|listener| listener.poll_accept(context));
        accepted.find(Poll::is_ready).unwrap_or(Poll::Pending)
    });
    (permit, accepted.await)
}

/// Serves the requests of a connection. The permit is released at the end.
async fn serve_connection<R, F, E>(
    stream: WriteTimeout<TcpStream>,
    respond: R,
    watcher: Watcher,
    _permit: Option<OwnedSemaphorePermit>,
) where
    R: Fn(Request<Body>) -> F,
    F: Future<Output = Result<Response, E>>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let service = service_fn(move |request: Request<Incoming>| respond(request.map(Body::new)));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "connection ended early");
    }
}
