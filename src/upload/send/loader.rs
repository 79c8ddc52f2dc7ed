//! Reads planned records ahead of their sending.

use tokio::sync::mpsc;

use crate::ledger::{self, Ledger, RunId, RunState, SendableBlock, Seq};
use crate::records::Input;
use crate::upload::dispatch::Job;

/// Blocks whose intent is noted together, once it is going: each note waits for the disk.
const TOGETHER: usize = 8;
/// So many bytes of bodies are enough for one note.
const BYTES: usize = 8 << 20;

/// Hands on the records that have no outcome yet, block by block. Of those that may be repeated, the intent to send is
/// noted for some blocks at once before any of them is handed on; the others are noted one by one when it is their turn.
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
    // It begins with one, so that the first request is not late and a short run intends no more than it sends.
    let mut together = 1;
    loop {
        let (first, mut blocks, mut bytes) = (from, Vec::new(), 0);
        let mut is_last = false;
        while blocks.len() < together && bytes < BYTES {
            let Some(block) = ledger.sendable_block(run, from).await? else {
                is_last = true;
                break;
            };
            from = block.end;
            let pending = pending(&ledger, run, input, block).await?;
            bytes += pending.iter().map(|job| job.body.len()).sum::<usize>();
            blocks.push(pending);
        }
        if blocks.iter().flatten().any(|job| !job.is_once) {
            ledger.intend(run, first..=from - 1, wall()).await?;
        }
        for block in blocks {
            if !block.is_empty() && jobs.send(block).await.is_err() {
                return Ok(());
            }
        }
        if is_last {
            return Ok(());
        }
        together = (together * 2).min(TOGETHER);
    }
}

/// What is still to be sent of a block.
async fn pending(
    ledger: &Ledger,
    run: RunId,
    input: &'static Input,
    block: SendableBlock,
) -> Result<Vec<Job>, ledger::Error> {
    let settled = ledger.settled(run, block.first..=block.end - 1).await?;
    let pending = block.records.into_iter().filter(|record| !settled.contains(&record.seq)).map(|record| {
        let call = input.call(record.target.is_some());
        let job = Job::new(record.seq, record.key, record.target, record.body);
        if call.is_some_and(|call| call.repeatable) { job } else { job.once() }
    });
    Ok(pending.collect())
}
