//! A ledger behind PgBouncer in transaction mode, which gives each transaction to any session.

use std::time::Duration;

use super::desk::{Desk, late, moves};
use super::process::until;
use super::{accounting, count, items, summary, table};
use crate::faults::server::{Reply, answer};

#[tokio::test(flavor = "multi_thread")]
async fn everything_works_through_a_pooler() {
    let refuses = std::sync::atomic::AtomicBool::new(true);
    let refuses = std::sync::Arc::new(refuses);
    let refused = std::sync::Arc::clone(&refuses);
    let Some(mut desk) = Desk::new(move |seen| {
        let is_refused = seen.body.contains("00013") && refused.load(std::sync::atomic::Ordering::SeqCst);
        late(if is_refused { answer(422, "", "{\"message\":\"not this one\"}") } else { Reply::Accept })
    })
    .await
    else {
        return;
    };
    let Some(_pooler) = desk.server.pooler("ledger", 6) else { return };
    desk.ledger = desk.server.pooled_address("ledger");

    desk.place.write("items.csv", items(300));
    let sent = summary(&desk.run("one", &["upload", "items.csv", "-t", "items", "--json"], 3).await);
    assert_eq!(accounting(&sent), "300: sent 299, failed 1");
    desk.run("other", &["report", "1", "-o", "report.csv", "-q"], 0).await;
    assert_eq!(table(&desk.place.path("report.csv")).len(), 301);
    refuses.store(false, std::sync::atomic::Ordering::SeqCst);
    let retried = summary(&desk.run("other", &["retry", "1", "--json"], 0).await);
    assert_eq!(accounting(&retried), "1: sent 1");

    // Workers, one of which dies.
    desk.place.write("moves.csv", moves(300));
    desk.run("one", &["upload", "moves.csv", "-t", "movements.toml", "--queue", "-q"], 0).await;
    let workers = ["one", "two"].map(|machine| desk.on(machine, &["work"]).start());
    let before = desk.service.log().len();
    until("some requests", || (desk.service.log().len() > before + 30).then_some(()));
    for worker in workers {
        worker.kill();
    }
    desk.server.end_leases("ledger");
    desk.run("two", &["work", "--until-idle"], 0).await;
    let shown = desk.run("one", &["runs", "show", "3", "--json"], 0).await.json();
    let (sent, unknown) = (count(&shown, "sent"), count(&shown, "unknown"));
    assert_eq!((sent + unknown, count(&shown, "pending")), (300, 0), "{shown}");
    if unknown > 0 {
        desk.run("other", &["resolve", "3", "--all-sent"], 0).await;
    }
    let shown = desk.run("one", &["runs", "show", "3", "--json"], 0).await.json();
    assert_eq!(accounting(&shown), "300: sent 300");
    assert!(
        desk.service.bodies().iter().filter(|(body, _)| body.contains("transactionType")).all(|(_, times)| *times == 1)
    );
    desk.run("one", &["runs", "check"], 0).await;
    desk.run("one", &["runs", "prune", "--older-than", "0d"], 0).await;
}

/// A worker must not keep a session while it waits for another one.
#[tokio::test(flavor = "multi_thread")]
async fn more_parts_than_sessions_are_sent_at_once() {
    let slow = |_: &_| Reply::Late(Duration::from_millis(50), Box::new(Reply::Accept));
    let Some(mut desk) = Desk::new(slow).await else { return };
    let Some(_pooler) = desk.server.pooler("ledger", 3) else { return };
    desk.ledger = desk.server.pooled_address("ledger");

    desk.place.write("moves.csv", moves(1_500));
    let queue = ["upload", "moves.csv", "-t", "movements.toml", "--queue", "-q"];
    desk.run("one", &queue, 0).await;
    let workers = ["one", "two", "three", "four"];
    let workers = workers.map(|machine| desk.on(machine, &["work", "--at-once", "2", "--until-idle"]).start());
    let ended = tokio::task::spawn_blocking(|| workers.map(|worker| worker.wait())).await.unwrap();
    for worker in ended {
        assert_eq!(worker.code, Some(0), "{worker:?}");
        assert!(!worker.stderr.contains("lost") && !worker.stderr.contains("trying again"), "{worker:?}");
        assert!(worker.took < Duration::from_secs(60), "{worker:?}");
    }
    let shown = desk.run("one", &["runs", "show", "1", "--json"], 0).await.json();
    assert_eq!(accounting(&shown), "1500: sent 1500");
    assert_eq!(desk.server.query("ledger", "SELECT COUNT(*) FROM lease"), "0");
}
