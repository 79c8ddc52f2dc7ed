//! Uploads whose ledger another program holds: a browser of databases with an unsaved change, a backup, a process that was stopped.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, SqliteConnection, raw_sql};

use super::desk::moves;
use super::process::{Running, until};
use super::sent_before::{Desk, MOVEMENTS};
use super::{accounting, count, summary};
use crate::faults::server::Reply;

const RECORDS: usize = 200;
/// How long the service takes for an answer, so that requests are in flight whenever the ledger is locked.
const LATENCY: Duration = Duration::from_millis(100);

/// An upload of [`RECORDS`] movements that has sent some of them, and another program that holds its ledger.
struct Held {
    desk: Desk,
    upload: Running,
    other: SqliteConnection,
}

impl Held {
    async fn new() -> Held {
        let desk = Desk::new(MOVEMENTS, |_| Reply::Late(LATENCY, Box::new(Reply::Accept))).await;
        desk.place.write("a.csv", moves(RECORDS).replace("SKU,Quantity", "Stock,Qty"));
        let upload = desk.command(&["upload", "a.csv", "-t", "t.toml", "--json", "--concurrency", "16"]).start();
        until("some requests", || (desk.server.log().len() >= 20).then_some(()));
        let database = format!("sqlite://{}", desk.place.path("home/ledger.db").display());
        let mut other = SqliteConnection::connect(&database).await.unwrap();
        raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
        Held { desk, upload, other }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_kept_until_the_ledger_is_free_and_nothing_new_is_sent() {
    let Held { desk, upload, mut other } = Held::new().await;
    upload.has_said("another program holds the ledger");
    let sent = desk.server.log().len();
    assert!(sent < RECORDS, "locked in the middle");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(desk.server.log().len(), sent, "nothing new was sent");
    raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    let ended = tokio::task::spawn_blocking(move || upload.wait()).await.unwrap().exits(0);
    assert_eq!(accounting(&summary(&ended)), format!("{RECORDS}: sent {RECORDS}"));
    ended.says(&["the ledger is free again"]);
    assert!(desk.server.bodies().values().all(|times| *times == 1));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn signals_are_heard_while_the_ledger_waits_and_what_is_in_doubt_is_counted() {
    let Held { desk, upload, mut other } = Held::new().await;
    upload.has_said("another program holds the ledger");
    let began = Instant::now();
    upload.signal("INT");
    upload.has_said("Press Ctrl-C again");
    upload.signal("INT");
    let ended = tokio::task::spawn_blocking(move || upload.wait()).await.unwrap().exits(130);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let counts = ended.json()["accounting"].clone();
    let in_doubt = count(&counts, "unknown");
    assert!((1..=16).contains(&in_doubt), "{counts}");
    let seen = desk.server.log().len() as u64;
    assert!(count(&counts, "sent") + in_doubt >= seen, "{counts}");
    raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    let resumed = summary(&desk.run(&["resume", "--json"], 4).await);
    assert_eq!(count(&resumed, "unknown"), in_doubt);
    assert_eq!(count(&resumed, "sent"), RECORDS as u64 - in_doubt);
    assert!(desk.server.bodies().values().all(|times| *times == 1));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_third_signal_ends_the_process_at_once() {
    let Held { upload, other, .. } = Held::new().await;
    upload.signal("INT");
    upload.has_said("Press Ctrl-C again");
    let began = Instant::now();
    for signal in ["TERM", "INT"] {
        tokio::time::sleep(Duration::from_millis(50)).await;
        upload.signal(signal);
    }
    tokio::task::spawn_blocking(move || upload.wait()).await.unwrap().exits(130);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    drop(other);
}
