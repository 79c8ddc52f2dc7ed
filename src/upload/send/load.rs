//! Loads the pending records of a run, block by block.

use crate::client::policy::Call;
use crate::ledger::{self, Disposition, Ledger, PlannedRecord, RunId, Seq};
use crate::records::RecordKind;
use crate::upload::dispatch::Job;

/// The pending records of a block.
pub(super) struct LoadedBlock {
    pub jobs: Vec<Job>,
    /// The position after the block.
    pub end: Seq,
}

/// Returns the pending records of the first block at or after `from`, or `None` after the last block. The intent of
/// idempotent calls is stored for the whole block; for other calls the sender stores the intent of each record. Fails
/// if the ledger has a record without a valid request.
pub(super) async fn load_block(
    ledger: &Ledger,
    run: RunId,
    kind: RecordKind,
    from: Seq,
    now: i64,
) -> Result<Option<LoadedBlock>, ledger::Error> {
    let Some(block) = ledger.record_block(run, from).await? else { return Ok(None) };
    let (first, end) = (block.first, block.end());
    let settled = ledger.settled(run, first..=end - 1).await?;
    let pending = (first..).zip(block.records).filter(|(seq, _)| !settled.contains(seq));
    let job = |(seq, record): (Seq, PlannedRecord)| {
        let Disposition::Send(body) = record.disposition else { return Ok(None) };
        let target = record.target.as_deref();
        let call = kind.input().call(target.is_some());
        if call.and_then(|call| call.path(target.unwrap_or(""))).is_none() {
            return Err(ledger::Error::Corrupt(format!("record {seq} of run {run} has no request")));
        }
        Ok(Some(Job::new(kind, seq, record.key, record.target, body.into_boxed_bytes())))
    };
    let jobs: Vec<Job> = pending.filter_map(|record| job(record).transpose()).collect::<Result<_, _>>()?;
    if jobs.iter().any(|job| job.call == Call::Idempotent) {
        ledger.store_intent(run, first, end - 1, now).await?;
    }
    Ok(Some(LoadedBlock { jobs, end }))
}
