//! Loads the pending records of a run, block by block.

use std::time::Instant;

use sheetport_client::policy::Call;
use sheetport_ledger::{self as ledger, Disposition, Intent, NewerKeys, Part, PlannedRecord, Run, RunId, Seq};
use sheetport_plan::sent_before::Scope;
use sheetport_records::RecordKind;
use sheetport_telemetry::RecordSpan;

use super::ports::Journal;
use crate::dispatch::Job;

/// Number of blocks loaded together, with one write of their intent.
const BLOCKS: usize = 8;

/// The pending records of consecutive blocks.
pub(super) struct Loaded {
    pub jobs: Vec<Job>,
    /// The position after the last block.
    pub end: Seq,
    /// The intent of the idempotent calls.
    pub intent: Option<Intent>,
}

/// Records held back until older uploads have yielded to their intent.
pub(super) struct HeldBack {
    pub jobs: Vec<Job>,
    pub intent: Intent,
    pub since: Instant,
    /// When the ledger is read again.
    pub next_look: Instant,
}

/// Returns the pending records of the next blocks of `part` at or after `from`, or `None` after the last block. The intent of
/// idempotent calls is stored for all these records; for other calls the sender stores the intent of each record. Then adds to `newer` the keys
/// whose values a newer upload has confirmed. Fails if the ledger has a record without a valid request.
pub(super) async fn load_blocks(
    journal: &impl Journal,
    about: &Run,
    part: Part,
    scope: &Scope,
    newer: Option<&mut NewerKeys>,
    from: Seq,
    now: i64,
) -> Result<Option<Loaded>, ledger::Error> {
    let (mut jobs, mut end, run, kind) = (Vec::new(), None, part.run, about.about.record);
    for _ in 0..BLOCKS {
        let next = end.unwrap_or(from);
        if next > part.last {
            break;
        }
        let Some(block) = journal.record_block(run, next).await?.filter(|block| block.first <= part.last) else {
            break;
        };
        let records = block.first.max(from)..=part.last.min(block.end() - 1);
        end = Some(records.end() + 1);
        let settled = journal.settled(run, records.clone()).await?;
        for (seq, record) in (block.first..).zip(block.records) {
            if records.contains(&seq) && !settled.contains(&seq) {
                jobs.extend(job(run, kind, scope, seq, record)?);
            }
        }
    }
    let Some(end) = end else { return Ok(None) };
    let mut intent = None;
    if jobs.iter().any(|job| job.call == Call::Idempotent) {
        journal.store_intent(run, from, end - 1, now).await?;
        intent = Some(Intent { run, first: from, at: now });
        if let Some(newer) = newer {
            let identities: Vec<&str> = jobs.iter().filter_map(|job| job.ordering_key.identity()).collect();
            journal.find_confirmed(about, newer, &identities).await?;
        }
    }
    Ok(Some(Loaded { jobs, end, intent }))
}

/// Returns the job of a record, or `None` for a record not to be sent.
fn job(
    run: RunId,
    kind: RecordKind,
    scope: &Scope,
    seq: Seq,
    record: PlannedRecord,
) -> Result<Option<Job>, ledger::Error> {
    let Disposition::Send(body) = record.disposition else { return Ok(None) };
    let target = record.target.as_deref();
    let call = kind.input().call(target.is_some());
    if call.and_then(|call| call.path(target.unwrap_or(""))).is_none() {
        return Err(ledger::Error::Corrupt(format!("record {seq} of run {run} has no request")));
    }
    let is_repeatable = call.is_some_and(|call| call.repeatable);
    let claim = (!is_repeatable).then(|| scope.claim(seq, record.key.as_deref(), &body));
    let mut job = Job::new(kind, seq, record.key, record.target, body.into_boxed_bytes());
    job.claim = claim;
    job.span = RecordSpan::of(&record.sheet, &record.rows);
    // In several sheets, the number of a row does not tell its sheet.
    if kind.input().lines().is_some() && record.sheet.is_empty() {
        job.rows = record.rows.into_boxed_slice();
    }
    Ok(Some(job))
}
