//! The accept loop: one task a connection, and a stop that lets requests in flight finish. What is said on a connection
//! is not for this file.

use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

use super::rehearsal;

/// How long a connection may stay without a complete request head. Clients commonly keep idle connections for 90 s;
/// closing later than they do spares them a write on a connection that has just gone.
const HEAD_TIMEOUT: Duration = Duration::from_secs(120);

/// How long requests in flight have to finish after a stop.
const GRACE: Duration = Duration::from_secs(35);

/// After a failed accept, which is mostly for want of file descriptors, so that some can be given back.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `stop` is done and the requests in flight are answered.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let (closing, _) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, router.clone(), closing.subscribe()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    closing.send_replace(());
    let finished = timeout(GRACE, async { while connections.join_next().await.is_some() {} }).await;
    if finished.is_err() {
        tracing::warn!(connections = connections.len(), "connections that did not finish were closed");
        connections.shutdown().await;
    }
}

async fn connection(stream: TcpStream, router: Router, mut closing: watch::Receiver<()>) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let service = service_fn(|request: Request<Incoming>| {
        let router = router.clone();
        async move {
            let Ok(response) = router.oneshot(request.map(Body::new)).await;
            rehearsal::say(response).await
        }
    });
    let mut served = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service)
    );
    let result = tokio::select! {
        result = served.as_mut() => result,
        _ = closing.changed() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended early");
    }
}
