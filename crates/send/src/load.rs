//! Loads the pending records of a run, block by block.

use std::time::Instant;

use futures_util::future::BoxFuture;
use sheetport_client::policy::Call;
use sheetport_ledger::{self as ledger, Disposition, Intent, NewerKeys, Part, PlannedRecord, Run, RunId, Seq};
use sheetport_plan::count::request_of;
use sheetport_plan::sent_before::Scope;
use sheetport_records::RecordKind;
use sheetport_telemetry::RecordSpan;

use super::ports::Journal;
use super::work::Look;
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

/// The looks of a sender at the batches of its records.
pub(super) struct Looks<'a> {
    look: &'a Look<'a>,
    /// The look at the next batch.
    next: Option<BoxFuture<'a, Result<Seq, String>>>,
    /// The last record that was looked at, if any was.
    pub until: Option<Seq>,
}

impl<'a> Looks<'a> {
    pub(super) fn new(look: &'a Look<'a>) -> Looks<'a> {
        Looks { look, next: None, until: None }
    }

    /// Begins the look at the batch from `first` on, unless a look is in progress.
    pub(super) fn begin(&mut self, first: Seq) {
        if self.next.is_none() {
            self.next = Some((self.look)(first));
        }
    }
}

/// Waits for the end of the look in progress. Never ends if there is none.
pub(super) async fn looked(looks: &mut Option<Looks<'_>>) -> Result<(), String> {
    let Some(Looks { next, until, .. }) = looks else { return std::future::pending().await };
    let Some(look) = next else { return std::future::pending().await };
    let looked = look.await;
    *next = None;
    *until = Some(looked?);
    Ok(())
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
        let found = journal.record_block_in(run, next..=part.last).await?;
        let Some((block, settled)) = found.filter(|(block, _)| block.first <= part.last) else { break };
        let records = block.first.max(from)..=part.last.min(block.end() - 1);
        end = Some(records.end() + 1);
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
    let not_looked_up = |_| {
        let what = format!("record {seq} of run {run} is a count whose difference from the service is not known");
        ledger::Error::Corrupt(what)
    };
    let body = request_of(body).map_err(not_looked_up)?;
    let mut job = Job::new(kind, seq, record.key, record.target, body.into_boxed_bytes());
    job.claim = claim;
    job.span = RecordSpan::of(&record.sheet, &record.rows);
    // In several sheets, the number of a row does not tell its sheet.
    if kind.input().lines().is_some() && record.sheet.is_empty() {
        job.rows = record.rows.into_boxed_slice();
    }
    Ok(Some(job))
}
