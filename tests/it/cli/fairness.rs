//! Short runs beside long ones, with a ledger on a server.

use std::time::{Duration, Instant};

use super::desk::{Desk, late};
use super::process::until;
use super::{accounting, count, items};
use crate::faults::server::{Reply, Seen};

/// Returns a CSV of `count` items with a prefix.
fn named(prefix: &str, count: usize) -> String {
    items(count).replace("\n0", &format!("\n{prefix}-0"))
}

/// Returns the first letters of the identifiers that arrived, in order and without repetitions.
fn order(log: &[Seen]) -> String {
    let mut order: Vec<char> = Vec::new();
    for seen in log {
        let name = seen.body.split("\"externalId\":\"").nth(1).and_then(|rest| rest.chars().next()).unwrap_or('?');
        if !order.contains(&name) {
            order.push(name);
        }
    }
    order.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_few_rows_behind_a_long_run_start_within_seconds() {
    let Some(desk) = Desk::new(|_| late(Reply::Accept)).await else { return };
    desk.place.write("long.csv", named("L", 200));
    desk.place.write("short.csv", named("S", 5));
    // A part takes 13 seconds.
    desk.run("one", &["upload", "long.csv", "-t", "items", "--queue", "--rate", "5/s", "-q"], 0).await;
    let worker = desk.on("two", &["work"]).start();
    until("some requests", || (desk.service.log().len() >= 2).then_some(()));
    desk.run("one", &["upload", "short.csv", "-t", "items", "--queue", "--rate", "20/s", "-q"], 0).await;
    let queued = Instant::now();
    until("the short run", || desk.service.log().iter().any(|seen| seen.body.contains("S-0")).then_some(()));
    assert!(queued.elapsed() < Duration::from_secs(5), "{:?}", queued.elapsed());
    let ended = desk.run("one", &["runs", "wait", "2", "--json"], 0).await;
    assert_eq!(accounting(&super::summary(&ended)), "5: sent 5");
    // The long run goes on where it was left, and sends nothing twice.
    let before = desk.service.log().len();
    until("the long run", || (desk.service.log().len() > before + 2).then_some(()));
    desk.run("one", &["runs", "stop", "1", "--by", "Ann"], 0).await;
    until("the end", || (desk.server.query("ledger", "SELECT COUNT(*) FROM lease") == "0").then_some(()));
    worker.kill();
    assert!(desk.service.bodies().values().all(|times| *times == 1));
    let shown = desk.run("one", &["runs", "show", "1", "--json"], 0).await.json();
    assert_eq!(count(&shown, "sent") as usize, desk.service.log().len() - 5, "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_a_higher_priority_come_first() {
    let Some(desk) = Desk::new(|_| late(Reply::Accept)).await else { return };
    for (name, priority) in [("A", "0"), ("B", "-3"), ("C", "7"), ("D", "0")] {
        let file = format!("{name}.csv");
        desk.place.write(&file, named(name, 4));
        desk.run("one", &["upload", &file, "-t", "items", "--queue", "--priority", priority, "-q"], 0).await;
    }
    let shown = desk.run("one", &["runs", "show", "3", "--json"], 0).await.json();
    assert_eq!(shown["priority"], 7);
    desk.run("two", &["work", "--until-idle", "--at-once", "1"], 0).await;
    assert_eq!(order(&desk.service.log()), "CADB");
    desk.run("one", &["upload", "A.csv", "-t", "items", "--priority", "1"], 2).await.says(&["--queue"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures time: for an idle machine and an optimized executable"]
async fn many_short_runs_are_sent_at_the_asked_rate() {
    let Some(desk) = Desk::new(|_| Reply::Late(Duration::from_millis(50), Box::new(Reply::Accept))).await else {
        return;
    };
    for run in 0..199 {
        let file = format!("{run}.csv");
        desk.place.write(&file, named(&format!("R{run}"), 5));
        desk.run("planner", &["upload", &file, "-t", "items", "--queue", "--rate", "100/s", "-q"], 0).await;
    }
    let workers = ["one", "two", "three"].map(|machine| desk.on(machine, &["work"]).start());
    until("all runs", || {
        (desk.server.query("ledger", "SELECT COUNT(*) FROM run WHERE state = 'finished'") == "199").then_some(())
    });
    for worker in workers {
        worker.kill();
    }
    let log = desk.service.log();
    let times: Vec<_> = log.iter().map(|seen| seen.came).collect();
    let took = *times.iter().max().unwrap() - *times.iter().min().unwrap();
    println!("{} requests in {took:?}, at most {} in a second", times.len(), desk.service.most_in_a_second());
}
