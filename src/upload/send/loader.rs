//! Reads planned records ahead of their sending.

use tokio::sync::mpsc;

use crate::ledger::{self, Fate, Ledger, RunId, RunState, Seq};
use crate::records::Input;
use crate::upload::dispatch::Job;

/// Hands on the records that have no outcome yet, block by block. Of those that may be repeated, the intent to send is
/// noted for the whole block before any of it is handed on; the others are noted one by one when it is their turn.
pub(super) async fn load(
    ledger: Ledger,
    run: RunId,
    input: &'static Input,
    wall: fn() -> i64,
    jobs: mpsc::Sender<Vec<Job>>,
) -> Result<(), ledger::Error> {
    if matches!(ledger.run(run).await?.state, RunState::Planning | RunState::Withheld) {
        return Ok(());
    }
    let mut from: Seq = 0;
    while let Some(block) = ledger.record_block(run, from).await? {
        let last = block.first + block.records.len() as Seq - 1;
        from = last + 1;
        let settled = ledger.settled(run, block.first..=last).await?;
        let mut pending = Vec::with_capacity(block.records.len());
        for (seq, record) in (block.first..).zip(block.records) {
            if let Fate::Send(body) = record.fate
                && !settled.contains(&seq)
            {
                let call = input.call(record.target.is_some());
                let body = Box::<str>::from(body).into_string();
                let job = Job::new(seq, record.key, record.target, body);
                pending.push(if call.is_some_and(|call| call.repeatable) { job } else { job.once() });
            }
        }
        if pending.iter().any(|job| !job.is_once) {
            ledger.intend(run, block.first..=last, wall()).await?;
        }
        if !pending.is_empty() && jobs.send(pending).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}
