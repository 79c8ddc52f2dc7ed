//! The shortest client that keeps some connections busy: each takes the next call when it has its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Outcome;

/// What is asked of a server, and by how many connections at once.
pub struct Calls {
    /// `http://127.0.0.1:PORT`.
    pub server: String,
    pub token: String,
    pub connections: usize,
    pub each: Each,
}

pub enum Each {
    /// These bodies, each posted once to the path.
    Post { path: &'static str, bodies: Vec<Bytes> },
    /// These paths, and what every answer's body has to be like.
    Get { paths: Vec<String>, is_good: fn(&[u8]) -> bool },
}

impl Calls {
    fn request(&self, index: usize) -> Outcome<Option<Request<Full<Bytes>>>> {
        let request =
            Request::builder().header(HOST, host(&self.server)).header(AUTHORIZATION, format!("Bearer {}", self.token));
        let request = match &self.each {
            Each::Post { path, bodies } => bodies.get(index).map(|body| {
                request
                    .method(Method::POST)
                    .uri(*path)
                    .header(CONTENT_TYPE, "application/json")
                    .body(Full::new(body.clone()))
            }),
            Each::Get { paths, .. } => paths.get(index).map(|path| request.uri(path).body(Full::default())),
        };
        Ok(request.transpose()?)
    }

    fn is_good(&self, body: &[u8]) -> bool {
        match self.each {
            Each::Post { .. } => true,
            Each::Get { is_good, .. } => is_good(body),
        }
    }
}

/// Makes every call once and fails if one does not succeed.
pub async fn make(calls: Arc<Calls>) -> Outcome<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut connections = JoinSet::new();
    for _ in 0..calls.connections {
        connections.spawn(take_turns(Arc::clone(&calls), Arc::clone(&next)));
    }
    while let Some(done) = connections.join_next().await {
        done??;
    }
    Ok(())
}

async fn take_turns(calls: Arc<Calls>, next: Arc<AtomicUsize>) -> Outcome<()> {
    let mut connection = connect(&calls.server).await?;
    while let Some(request) = calls.request(next.fetch_add(1, Ordering::Relaxed))? {
        connection.ready().await?;
        let answer = connection.send_request(request).await?;
        if answer.status() != StatusCode::OK {
            return Err(format!("the server answered {}", answer.status()).into());
        }
        if !calls.is_good(&answer.into_body().collect().await?.to_bytes()) {
            return Err("the server answered something else".into());
        }
    }
    Ok(())
}

pub async fn get(server: &str, path: &str, token: &str) -> Outcome<Bytes> {
    let request = Request::builder().uri(path).header(HOST, host(server));
    let request = request.header(AUTHORIZATION, format!("Bearer {token}")).body(Full::default())?;
    let answer = connect(server).await?.send_request(request).await?;
    Ok(answer.into_body().collect().await?.to_bytes())
}

async fn connect(server: &str) -> Outcome<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(host(server)).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // Its error, if any, reaches the sender, too.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

fn host(server: &str) -> &str {
    server.trim_start_matches("http://")
}
