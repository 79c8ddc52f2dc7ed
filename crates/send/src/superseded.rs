//! Records left out because a newer upload has sent their keys.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;

use sheetport_ledger::{
    self as ledger, FIRST_ROWS, Fact, Ledger, OtherRequest, Outcome, Part, Policy, Run, RunId, Seq,
};
use sheetport_plan::sent_before::{LeftOut, date};
use sheetport_records::RecordKind;

/// Leaves out the pending records of a part of `run` if newer uploads have or may have sent their keys, unless the run overwrites
/// newer values. Returns the records by newer run. Newer uploads that begin from now on wait for the part, until it is sent or [`Ledger::leave_sender`] is called.
pub fn leave_out<'a>(
    ledger: &'a Ledger,
    run: &'a Run,
    part: Part,
    now: i64,
) -> BoxFuture<'a, Result<Vec<LeftOut>, ledger::Error>> {
    Box::pin(async move {
        if !looks_for_newer(run.about.record, Policy::from(&run.about.settings)) {
            return Ok(Vec::new());
        }
        let newer = ledger.enter_and_find_newer(run, part, now).await?;
        let mut left_out: BTreeMap<RunId, LeftOut> = BTreeMap::new();
        let mut newer = newer.into_iter().peekable();
        while let Some((first, _)) = newer.peek().copied() {
            let Some(block) = ledger.records_without_bodies(run.id, first, 1).await? else { break };
            let mut outcomes = Vec::new();
            while let Some((seq, request)) = newer.next_if(|(seq, _)| *seq < block.end()) {
                let record = usize::try_from(seq - block.first).ok().and_then(|index| block.records.get(index));
                let Some(record) = record else { continue };
                outcomes.push(outcome(run.id, seq, record.key.as_deref(), &request, now));
                count(&mut left_out, &request, record.rows.first().copied());
            }
            ledger.settle(run.id, &outcomes).await?;
        }
        Ok(left_out.into_values().collect())
    })
}

/// Whether newer uploads can hold back records of a kind.
pub(super) fn looks_for_newer(kind: RecordKind, policy: Policy) -> bool {
    kind.input().may_be_repeated() && policy.heeds(Fact::NewerBegun)
}

/// Counts a record left out because of a newer request.
pub(super) fn count(left_out: &mut BTreeMap<RunId, LeftOut>, newer: &OtherRequest, row: Option<u64>) {
    let new = || LeftOut { run: newer.run, date: date(newer.at), records: 0, rows: Vec::new(), is_undo: false };
    let of_run = left_out.entry(newer.run).or_insert_with(new);
    of_run.records += 1;
    if of_run.rows.len() < FIRST_ROWS {
        of_run.rows.extend(row);
    }
}

/// Joins the records left out before sending and while sending.
pub fn joined(mut before: Vec<LeftOut>, meanwhile: Vec<LeftOut>) -> Vec<LeftOut> {
    for new in meanwhile {
        match before.iter_mut().find(|known| known.run == new.run) {
            Some(known) => known.records += new.records,
            None => before.push(new),
        }
    }
    before
}

/// Returns the outcome of a record of `run` left out because of a newer request.
pub(super) fn outcome(run: RunId, seq: Seq, key: Option<&str>, newer: &OtherRequest, now: i64) -> Outcome {
    newer.outcome(seq, key.unwrap_or_default(), run, &date(newer.at), now)
}
