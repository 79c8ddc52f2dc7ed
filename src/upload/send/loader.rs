//! Reads planned records ahead of the sender.

use tokio::sync::mpsc;

use crate::client::policy::Call;
use crate::ledger::{self, Disposition, Ledger, PlannedRecord, RecordBlock, RunId, RunState, Seq};
use crate::records::RecordKind;
use crate::upload::dispatch::Job;

/// Maximum number of blocks per write of intents, because each write waits for the disk.
const MAX_BLOCKS: usize = 8;
/// Maximum size of the bodies per write of intents, exceeded by at most a block.
const MAX_BYTES: usize = 8 << 20;

/// Sends the pending records of a run to `jobs`, block by block. For idempotent calls the intents of several
/// blocks are written in advance; for other calls the sender writes the intent of each record.
pub(super) async fn load(
    ledger: Ledger,
    run: RunId,
    kind: RecordKind,
    wall: fn() -> i64,
    jobs: mpsc::Sender<Vec<Job>>,
) -> Result<(), ledger::Error> {
    if matches!(ledger.run(run).await?.state, RunState::Planning | RunState::Withheld) {
        return Ok(());
    }
    let mut from: Seq = 0;
    // Start with a single block, for an early first request and no superfluous intents of short runs.
    let mut max_blocks = 1;
    loop {
        let (first, mut blocks, mut bytes) = (from, Vec::new(), 0);
        let mut is_last = false;
        while blocks.len() < max_blocks && bytes < MAX_BYTES {
            let Some(block) = ledger.record_block(run, from).await? else {
                is_last = true;
                break;
            };
            from = block.end();
            let pending = pending(&ledger, run, kind, block).await?;
            bytes += pending.iter().map(|job| job.body.len()).sum::<usize>();
            blocks.push(pending);
        }
        if blocks.iter().flatten().any(|job| job.call == Call::Idempotent) {
            ledger.store_intent(run, first, from - 1, wall()).await?;
        }
        for block in blocks {
            if !block.is_empty() && jobs.send(block).await.is_err() {
                return Ok(());
            }
        }
        if is_last {
            return Ok(());
        }
        max_blocks = (max_blocks * 2).min(MAX_BLOCKS);
    }
}

/// Returns the pending records of a block. Fails if the ledger has a record without a valid request.
async fn pending(ledger: &Ledger, run: RunId, kind: RecordKind, block: RecordBlock) -> Result<Vec<Job>, ledger::Error> {
    let settled = ledger.settled(run, block.first..=block.end() - 1).await?;
    let pending = (block.first..).zip(block.records).filter(|(seq, _)| !settled.contains(seq));
    let job = |(seq, record): (Seq, PlannedRecord)| {
        let Disposition::Send(body) = record.disposition else { return Ok(None) };
        let target = record.target.as_deref();
        let call = kind.input().call(target.is_some());
        if call.and_then(|call| call.path(target.unwrap_or(""))).is_none() {
            return Err(ledger::Error::Corrupt(format!("record {seq} of run {run} has no request")));
        }
        Ok(Some(Job::new(kind, seq, record.key, record.target, body.into_boxed_bytes())))
    };
    pending.filter_map(|record| job(record).transpose()).collect()
}
