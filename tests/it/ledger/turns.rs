//! Which run of the queue is given a worker next.

use sheetport_ledger::{Ledger, NewRun, NextRun, RunId, RunSettings};

use crate::faults::{about, record, row};
use crate::postgres::Cluster;

/// Queues a run of 200 records, which has four parts.
async fn queue(ledger: &Ledger, file: &str, workspace: &str, priority: i16) -> RunId {
    let settings = RunSettings { priority, ..RunSettings::default() };
    let about = NewRun { file_hash: file.into(), workspace: workspace.into(), settings, ..about() };
    let mut plan = ledger.begin_plan(&about, 1).await.unwrap();
    for seq in 0..200 {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(record(seq, &seq.to_string())).await.unwrap();
    }
    let run = plan.finish(1).await.unwrap();
    let locked = ledger.lock_run(run).await.unwrap();
    ledger.enqueue(&locked, 1).await.unwrap();
    run
}

#[tokio::test(flavor = "multi_thread")]
async fn the_workspace_and_the_run_that_waited_longest_are_next() {
    let Some(server) = Cluster::start() else { return };
    let (address, folder) = (server.database("ledger"), tempfile::tempdir().unwrap());
    let ledger = Ledger::connect(&address.parse().unwrap(), folder.path()).await.unwrap();
    let first = queue(&ledger, "01", "a", 0).await;
    let second = queue(&ledger, "02", "a", 0).await;
    let low = queue(&ledger, "03", "a", -1).await;
    let other = queue(&ledger, "04", "b", 0).await;
    assert_eq!(ledger.queued().await.unwrap(), [first, second, other, low]);

    // The workspace with fewer workers is next, and of its runs the one without a worker.
    let of_first = ledger.take_part(first, 1).await.unwrap().unwrap();
    assert_eq!(ledger.queued().await.unwrap(), [other, second, first, low]);
    let of_other = ledger.take_part(other, 1).await.unwrap().unwrap();
    assert_eq!(ledger.queued().await.unwrap(), [second, first, low, other]);
    // The sender of the other workspace sees its own part as free, and goes on; that of the first run sees that the second was never served.
    assert_eq!(ledger.in_queue(of_other.part, &[]).await.unwrap().next.map(|next| next.id), Some(other));
    let seen = ledger.in_queue(of_first.part, &[]).await.unwrap();
    assert_eq!((seen.is_queued, seen.next), (true, Some(NextRun { id: second, was_served: false })));
    let seen = ledger.in_queue(of_first.part, &[second]).await.unwrap();
    assert_eq!(seen.next, Some(NextRun { id: first, was_served: true }));

    // When all are given back, those that were served longest ago are next.
    drop((of_first, of_other));
    ledger.parts_given_back().await;
    assert_eq!(ledger.queued().await.unwrap(), [second, first, low, other]);
    drop(ledger.take_part(second, 1).await.unwrap());
    ledger.parts_given_back().await;
    assert_eq!(ledger.queued().await.unwrap(), [other, first, second, low]);

    // A run of a higher priority is next within its workspace alone.
    let high = queue(&ledger, "05", "a", 1).await;
    assert_eq!(ledger.queued().await.unwrap(), [other, high, first, second, low]);
    assert_eq!(ledger.run(high).await.unwrap().about.settings.priority, 1);
    // A run that is queued again has not been served yet.
    ledger.stop_queued(first, None, "why", 2).await.unwrap();
    let locked = ledger.lock_run(first).await.unwrap();
    ledger.enqueue(&locked, 3).await.unwrap();
    assert_eq!(server.query("ledger", &format!("SELECT COUNT(*) FROM turn WHERE run = {first}")), "0");
}
