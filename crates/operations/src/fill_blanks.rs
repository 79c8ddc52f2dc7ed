//! Taking fields out of the requests of a run, so that only those are written that are blank in the service.

use std::collections::{BTreeMap, BTreeSet};

use sheetport_findings::Code;
use sheetport_ledger::{Disposition, Outcome, Problem, RecordBlock, RecordState, Seq};
use sheetport_plan::compare::{Change, Difference, Withheld};

use super::error::Error;
use super::look_again::{LookAgain, Pending};

impl LookAgain<'_> {
    /// Leaves out the fields of these records that are not blank in the service, and the records of which nothing is left.
    pub(super) async fn fill_blanks<'p>(
        &self,
        records: impl Iterator<Item = &'p Pending>,
        found: &Difference,
    ) -> Result<(), Error> {
        let (run, kind) = (self.run.id, self.run.about.record);
        let (mut outcomes, mut bodies) = (Vec::new(), BTreeMap::new());
        let mut block: Option<RecordBlock> = None;
        let mut not_shown: BTreeSet<&'static str> = BTreeSet::new();
        for Pending { seq, row, .. } in records {
            let Some(withheld) = found.withheld.get(seq) else { continue };
            not_shown.extend(&withheld.not_shown);
            let is_there = |block: &RecordBlock| (block.first..block.end()).contains(seq);
            if !block.as_ref().is_some_and(is_there) {
                block = self.ledger.record_block_of(run, *seq).await?;
            }
            let rest = match found.records.get(seq) {
                Some(Change::Changed(_)) => body_of(block.as_ref(), *seq).and_then(|body| withheld.rest_of(kind, body)),
                _ => None,
            };
            match rest {
                Some(body) => drop(bodies.insert(*seq, body)),
                None => outcomes.push(nothing_left(*seq, *row, withheld, self.ledger.now())),
            }
        }
        self.tell_not_shown(&not_shown);
        self.ledger.take_away(run, &outcomes, &bodies, &BTreeMap::new()).await?;
        Ok(())
    }
}

pub(super) fn body_of(block: Option<&RecordBlock>, seq: Seq) -> Option<&str> {
    let block = block?;
    let record = block.records.get(usize::try_from(seq - block.first).ok()?)?;
    match &record.disposition {
        Disposition::Send(body) => Some(body),
        _ => None,
    }
}

/// Returns the outcome of a record without a field to write.
fn nothing_left(seq: Seq, row: Option<u64>, withheld: &Withheld, now: i64) -> Outcome {
    let (state, problem) = if withheld.not_shown.is_empty() {
        (RecordState::Unchanged, Problem::of_record(Code::Filled, "has a value in the service in each of its fields"))
    } else {
        let fields = withheld.not_shown.join(", ");
        let message = format!("has no field that is known to be blank; the service does not show {fields}");
        (RecordState::Skipped, Problem::of_record(Code::FieldNotShown, message))
    };
    Outcome { problems: vec![Problem { row, ..problem }], ..Outcome::new(seq, state, now) }
}
