//! The transport against sockets: compressed bodies, size limits, and reuse of idle connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use sheetport_records::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::request::MAX_PAGE;

/// Serves every connection with `serve` and counts the connections.
async fn server<F>(serve: impl Fn(TcpStream) -> F + Send + Sync + 'static) -> (String, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            count.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(serve(stream));
        }
    });
    (address, connections)
}

/// Answers every request on the connection with the same bytes.
async fn answer_all(mut stream: TcpStream, bytes: Vec<u8>) {
    while stream.read(&mut [0; 4096]).await.is_ok_and(|len| len > 0) {
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

fn ok(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

async fn get(bytes: Vec<u8>) -> TransportOutcome {
    let (address, _) = server(move |stream| answer_all(stream, bytes.clone())).await;
    Transport::new(&address, &ConnectOptions::default(), 1).expect("a transport").send(&Request::get("/"), None).await
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, text).expect("room");
    encoder.finish().expect("room")
}

#[tokio::test]
async fn compressed_pages_are_decompressed() {
    let text = b"[1, 2]".repeat(1000);
    for bytes in [ok("", &text), ok("content-encoding: gzip\r\n", &gzip(&text))] {
        match get(bytes).await {
            TransportOutcome::Response(Response { status: 200, body, .. }) => assert_eq!(body, text),
            other => panic!("{other:?}"),
        }
    }
    let packed = gzip(&text);
    let cut = get(ok("content-encoding: gzip\r\n", &packed[..packed.len() / 2])).await;
    assert!(matches!(cut, TransportOutcome::Truncated { status: 200, .. }), "{cut:?}");
}

#[tokio::test]
async fn a_page_is_bounded_after_decompression() {
    let bomb = get(ok("content-encoding: gzip\r\n", &gzip(&vec![b' '; MAX_PAGE + 1]))).await;
    assert!(matches!(&bomb, TransportOutcome::Truncated { reason, .. } if reason.contains("64 MiB")), "{bomb:?}");
}

/// Sends two requests with a pause between them and returns the number of connections.
async fn connections_for(call: Call, pause: Duration) -> usize {
    let (address, connections) = server(|stream| answer_all(stream, ok("", b"{}"))).await;
    let transport = Transport::new(&address, &ConnectOptions::default(), 1).expect("a transport");
    let request = Request::write(Method::Post, "/".to_owned(), Bytes::from_static(b"{}"), call);
    for pause in [pause, Duration::ZERO] {
        let outcome = transport.send(&request, None).await;
        assert!(matches!(outcome, TransportOutcome::Response(Response { status: 200, .. })), "{outcome:?}");
        tokio::time::sleep(pause).await;
    }
    connections.load(Ordering::Relaxed)
}

#[tokio::test]
async fn non_idempotent_calls_do_not_reuse_connections_that_were_idle_for_a_second() {
    assert_eq!(connections_for(Call::NonIdempotent, Duration::from_millis(100)).await, 1);
    assert_eq!(connections_for(Call::NonIdempotent, Duration::from_millis(1_200)).await, 2);
    assert_eq!(connections_for(Call::Idempotent, Duration::from_millis(1_200)).await, 1);
}

/// A service that closes idle connections must not make an outcome unknown.
#[tokio::test]
async fn a_connection_that_the_service_closes_while_idle_is_replaced() {
    let (address, connections) = server(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(&ok("", b"{}")).await;
        // The end of the connection is not announced.
    })
    .await;
    let transport = Transport::new(&address, &ConnectOptions::default(), 1).expect("a transport");
    let request = Request::write(Method::Post, "/".to_owned(), Bytes::from_static(b"{}"), Call::NonIdempotent);
    for _ in 0..5 {
        let outcome = transport.send(&request, None).await;
        assert!(matches!(outcome, TransportOutcome::Response(Response { status: 200, .. })), "{outcome:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(connections.load(Ordering::Relaxed), 5);
}

/// Returns the number of connections for these requests, all but the first on connections that were idle for 50 ms.
async fn connections_to(bytes: Vec<u8>, requests: usize) -> usize {
    let (address, connections) = server(move |stream| answer_all(stream, bytes.clone())).await;
    let transport = Transport::new(&address, &ConnectOptions::default(), 1).expect("a transport");
    let request = Request::write(Method::Post, "/".to_owned(), Bytes::from_static(b"{}"), Call::NonIdempotent);
    for _ in 0..requests {
        transport.send(&request, None).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    connections.load(Ordering::Relaxed)
}

#[tokio::test]
async fn non_idempotent_calls_reuse_no_connection_of_a_service_that_closes_early() {
    assert_eq!(connections_to(ok("keep-alive: timeout=5, max=100\r\n", b"{}"), 4).await, 1);
    // The connection of the first request stays unused.
    assert_eq!(connections_to(ok("keep-alive: timeout=1\r\n", b"{}"), 4).await, 4);
}

#[tokio::test]
async fn after_a_silent_close_each_non_idempotent_call_gets_a_new_connection() {
    // Every connection is closed after its second request, which gets no answer.
    let (address, connections) = server(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(&ok("", b"{}")).await;
        let _ = stream.read(&mut [0; 4096]).await;
    })
    .await;
    let transport = Transport::new(&address, &ConnectOptions::default(), 1).expect("a transport");
    let request = Request::write(Method::Post, "/".to_owned(), Bytes::from_static(b"{}"), Call::NonIdempotent);
    let mut lost = 0;
    for _ in 0..8 {
        let outcome = transport.send(&request, None).await;
        lost += usize::from(matches!(outcome, TransportOutcome::NoResponse { .. }));
    }
    assert_eq!((lost, connections.load(Ordering::Relaxed)), (1, 7));
}

#[tokio::test]
async fn only_a_failed_connection_is_certain_not_to_have_sent_anything() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let transport = Transport::new(&format!("http://{nobody}"), &ConnectOptions::default(), 1).expect("a transport");
    let outcome = transport.send(&Request::get("/"), None).await;
    assert!(matches!(outcome, TransportOutcome::NotSent { .. }), "{outcome:?}");
    let (address, _) = server(|mut stream| async move { drop(stream.read(&mut [0; 4096]).await) }).await;
    let outcome = Transport::new(&address, &ConnectOptions::default(), 1)
        .expect("a transport")
        .send(&Request::get("/"), None)
        .await;
    assert!(matches!(outcome, TransportOutcome::NoResponse { .. }), "{outcome:?}");
}
