//! `/readyz` and the metrics of a worker while its database is gone.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::desk::Desk;
use super::items;
use super::process::until;
use crate::faults::server::Reply;

/// Asks a page of a worker and returns the response.
fn ask(port: u16, page: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(stream, "GET {page} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    Some(response)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_ready_while_its_database_answers() {
    // A part in progress waits for an answer, and does not notice the end of the database.
    let slow = Duration::from_secs(120);
    let Some(mut desk) = Desk::new(move |_| Reply::Late(slow, Box::new(Reply::Accept))).await else { return };
    desk.place.write("items.csv", items(20));
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let worker = desk.on("two", &["work", "--listen", &format!("127.0.0.1:{port}")]).start();
    let is = |status: &str, ready: &str| {
        let page = ask(port, "/readyz").is_some_and(|page| page.contains(status));
        let metric = format!("\nsheetport_worker_ready {ready}\n");
        (page && ask(port, "/metrics").is_some_and(|page| page.contains(&metric))).then_some(())
    };
    until("readiness", || is("200 OK", "1"));
    until("a request", || (!desk.service.log().is_empty()).then_some(()));
    for _ in 0..2 {
        desk.server.crash();
        let since = Instant::now();
        until("the loss", || is("503", "0"));
        assert!(since.elapsed().as_secs() < 15, "{:?}", since.elapsed());
        desk.server.run();
        let since = Instant::now();
        until("the return", || is("200 OK", "1"));
        assert!(since.elapsed().as_secs() < 15, "{:?}", since.elapsed());
    }
    worker.kill();
}
