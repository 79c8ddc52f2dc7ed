//! What people see of workers and the queue: metrics, a page of the runs, who did what, and what a worker does besides.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use super::desk::{Desk, late};
use super::items;
use super::process::until;
use crate::faults::server::Reply;

/// Returns the response of a page of a worker on this machine, asked by the name `host`.
fn page(port: u16, path: &str, host: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes()).ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    Some(response)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_is_measured_and_the_runs_are_shown_without_actions() {
    let Some(desk) = Desk::new(|_| late(Reply::Accept)).await else { return };
    let port = free_port();
    desk.place.write("a<b>.csv", items(5));
    desk.run("one", &["upload", "a<b>.csv", "-t", "items", "--queue", "-q"], 0).await;
    let listen = format!("127.0.0.1:{port}");
    let work = ["work", "--listen", &listen, "--show-runs", "--as", "the night shift"];
    // Another worker has the only part.
    desk.server.query("ledger", "UPDATE part SET until = now() + interval '1 hour', holder = 'x', epoch = 7");
    let worker = desk.on("two", &work).start();
    let metrics = until("metrics of the queue", || {
        page(port, "/metrics", "localhost").filter(|text| text.contains("sheetport_queued_runs{"))
    });
    let labels = format!("{{service=\"{}\",workspace=\"\"}}", desk.service.address);
    for (name, number) in
        [("queued_runs", 1), ("queued_records", 5), ("oldest_waiting_seconds", 0), ("set_aside_runs", 0)]
    {
        assert!(metrics.contains(&format!("\nsheetport_{name}{labels} {number}\n")), "{name}: {metrics}");
    }
    let shown = page(port, "/", &format!("127.0.0.1:{port}")).unwrap();
    assert!(shown.starts_with("HTTP/1.1 200"), "{shown}");
    let lower = shown.to_lowercase();
    assert!(lower.contains("content-security-policy: default-src 'none'; style-src 'self'"), "{shown}");
    assert!(shown.contains("a&lt;b&gt;.csv") && shown.contains("<td>queued"), "{shown}");
    assert!(!["<script", "<form", "<a ", "onclick"].iter().any(|word| lower.contains(word)), "{shown}");
    assert!(page(port, "/", "evil.example").unwrap().starts_with("HTTP/1.1 403"));
    assert!(page(port, "/runs.css", "localhost").unwrap().starts_with("HTTP/1.1 200"));

    // The part is free, and the worker sends it under the name that it was given.
    desk.server.query("ledger", "UPDATE part SET until = '-infinity'; DELETE FROM lease");
    desk.run("one", &["runs", "wait", "1", "-q"], 0).await;
    let history = desk.run("one", &["runs", "show", "1", "--json"], 0).await.json()["history"].clone();
    let by = |action: &str| {
        let mut events = history.as_array().unwrap().iter();
        events.find(|event| event["action"] == action).map(|event| event["by"].as_str().unwrap().to_owned())
    };
    assert_eq!(by("worked").as_deref(), Some("the night shift"), "{history}");
    assert!(by("queued").is_some_and(|who| !who.contains("unnamed")), "{history}");
    worker.kill();
    let quiet = desk.on("two", &["work", "--listen", &listen]).start();
    until("the worker", || page(port, "/", "localhost").filter(|text| text.starts_with("HTTP/1.1 404")));
    quiet.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_removes_old_runs_and_ends_when_the_tables_are_newer() {
    let Some(desk) = Desk::new(|_| late(Reply::Accept)).await else { return };
    desk.place.write("items.csv", items(3));
    desk.run("one", &["upload", "items.csv", "-t", "items", "-q"], 0).await;
    desk.run("one", &["work", "--until-idle", "--keep", "1h"], 0).await;
    assert_eq!(desk.server.query("ledger", "SELECT COUNT(*) FROM run"), "1");
    let ended = desk.run("one", &["work", "--until-idle", "--keep", "0h", "--json"], 0).await;
    assert!(ended.stdout.contains("{\"event\":\"removed\",\"runs\":[1]}"), "{}", ended.stdout);
    assert_eq!(desk.server.query("ledger", "SELECT COUNT(*) FROM run"), "0");

    // It is in the middle of a part then, and another part waits.
    desk.place.write("more.csv", items(100));
    desk.run("one", &["upload", "more.csv", "-t", "items", "--queue", "-q", "--rate", "5/s"], 0).await;
    let before = desk.service.received();
    let worker = desk.on("two", &["work", "--at-once", "1"]).start();
    until("some requests", || (desk.service.received() > before + 3).then_some(()));
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (999, 'x', true, '', 0)";
    desk.server.query("ledger", newer);
    let ended = tokio::task::spawn_blocking(move || worker.wait()).await.unwrap();
    ended.exits(1).says(&["a newer version of sheetport"]);
    assert_eq!(desk.service.received() - before, 64, "the first part");
    assert_eq!(desk.server.query("ledger", "SELECT is_done FROM part ORDER BY first"), "t\nf");
    assert_eq!(desk.server.query("ledger", "SELECT COUNT(*) FROM lease"), "0");
}
