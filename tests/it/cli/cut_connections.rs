//! Connections to the ledger on a PostgreSQL server that are cut while a process holds its lease: what was answered is written
//! again, once.

use std::time::Duration;

use super::desk::{Desk, late, moves};
use super::process::until;
use super::{accounting, items, summary};
use crate::faults::server::Reply;

/// Cuts all connections to the ledger at random moments, as long as `goes_on`, and returns how often.
fn cut(desk: &Desk, most: usize, goes_on: impl Fn() -> bool) -> usize {
    let mut times = 0;
    while times < most && goes_on() {
        std::thread::sleep(Duration::from_millis(fastrand::u64(1..120)));
        desk.server.query(
            "postgres",
            "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = 'ledger'",
        );
        times += 1;
    }
    times
}

fn is_queued(desk: &Desk) -> bool {
    desk.server.query("ledger", "SELECT COUNT(*) FROM run WHERE state = 'queued'") != "0"
}

/// Asserts that every record of the runs 1 and 2 was sent once, and is known to be.
async fn assert_sent_once(desk: &Desk, moves: u64, items: u64) {
    for (run, count) in [("1", moves), ("2", items)] {
        let shown = desk.run("one", &["runs", "show", run, "--json"], 0).await.json();
        assert_eq!(accounting(&shown), format!("{count}: sent {count}"));
    }
    let bodies = desk.service.bodies();
    let transactions: Vec<usize> =
        bodies.iter().filter(|(body, _)| body.contains("transactionType")).map(|(_, times)| *times).collect();
    assert_eq!((transactions.len() as u64, transactions.iter().max()), (moves, Some(&1)));
    assert_eq!(desk.server.query("ledger", "SELECT COUNT(*) FROM in_flight"), "0");
    desk.run("one", &["runs", "check"], 0).await;
}

async fn desk_with_queue() -> Option<Desk> {
    let desk = Desk::new(|_| late(Reply::Accept)).await?;
    desk.place.write("moves.csv", moves(400));
    desk.place.write("items.csv", items(1_200));
    desk.run("one", &["upload", "moves.csv", "-t", "movements.toml", "--queue", "-q"], 0).await;
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    Some(desk)
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_write_again_over_new_connections() {
    let Some(desk) = desk_with_queue().await else { return };
    let workers = ["one", "two"].map(|machine| desk.on(machine, &["work"]).start());
    let before = desk.service.log().len();
    until("some requests", || (desk.service.log().len() > before + 20).then_some(()));
    assert!(cut(&desk, 40, || is_queued(&desk)) > 3);
    until("the end of both runs", || (!is_queued(&desk)).then_some(()));
    for worker in workers {
        worker.kill();
    }
    assert_sent_once(&desk, 400, 1_200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_outlast_restarts_of_the_server() {
    let Some(mut desk) = desk_with_queue().await else { return };
    let workers = ["one", "two"].map(|machine| desk.on(machine, &["work"]).start());
    for round in 1..=3 {
        until("some requests", || (desk.service.log().len() > round * 150).then_some(()));
        desk.server.crash();
        desk.server.run();
    }
    until("the end of both runs", || (!is_queued(&desk)).then_some(()));
    for worker in workers {
        worker.kill();
    }
    assert_sent_once(&desk, 400, 1_200).await;
}

/// The same for a process that sends a whole run.
#[tokio::test(flavor = "multi_thread")]
async fn an_upload_writes_again_over_new_connections() {
    let Some(desk) = Desk::new(|_| late(Reply::Accept)).await else { return };
    desk.place.write("moves.csv", moves(400));
    let upload = desk.on("one", &["upload", "moves.csv", "-t", "movements.toml", "--json"]).start();
    until("some requests", || (desk.service.log().len() > 20).then_some(()));
    cut(&desk, 15, || desk.service.log().len() < 350);
    let ended = summary(&tokio::task::spawn_blocking(move || upload.wait()).await.unwrap());
    assert_eq!(accounting(&ended), "400: sent 400");
    assert!(desk.service.bodies().values().all(|times| *times == 1));
}
