//! Counts that an earlier upload has compared with the stock, without a difference: nothing was sent, so no claim shows them. What was
//! booked since then is no mistake of the count, so they are not compared again.

use std::collections::HashMap;

use sheetport_findings::Code;
use sheetport_ledger::{self as ledger, ClaimDigest, Ledger, Outcome, Problem, RecordState, RunId, Seq};

use super::edited::earlier_lists;
use super::identity::{Scope, creations};
use super::verdict::date;

/// Returns the outcomes of the new counts of a plan that an earlier upload has found to be as counted. `new`: by what was counted, with the
/// first row.
pub(super) async fn as_counted(
    ledger: &Ledger,
    scope: &Scope,
    family: &[RunId],
    new: &HashMap<ClaimDigest, (Seq, Option<u64>)>,
    now: i64,
) -> Result<Vec<Outcome>, ledger::Error> {
    let mut found: HashMap<Seq, Outcome> = HashMap::new();
    if new.is_empty() {
        return Ok(Vec::new());
    }
    for run in earlier_lists(ledger, scope, family).await? {
        let about = ledger.run(run).await?;
        // A plan that nobody has applied was only a look.
        if about.looked_at.is_some() && about.approved_at.is_none() {
            continue;
        }
        let mut from: Seq = 0;
        while let Some(block) = ledger.record_block(run, from).await? {
            from = block.end();
            let same: Vec<(Seq, (Seq, Option<u64>))> =
                creations(scope, &block).filter_map(|(claim, ..)| Some((claim.seq, *new.get(&claim.body)?))).collect();
            if same.is_empty() {
                continue;
            }
            let outcomes = ledger.outcomes(run, block.first..=from - 1).await?;
            for (earlier, (seq, row)) in same {
                let Some(outcome) = outcomes.get(&earlier).filter(|outcome| is_as_counted(outcome)) else { continue };
                let message = format!(
                    "was as counted in run {run} on {}, so it is not compared with the stock again",
                    date(outcome.at)
                );
                let remedy = "`--allow-repeat` compares it again".to_owned();
                let problem = Problem { row, remedy, ..Problem::of_record(Code::AsCounted, message) };
                found
                    .insert(seq, Outcome { problems: vec![problem], ..Outcome::new(seq, RecordState::Unchanged, now) });
            }
        }
    }
    Ok(found.into_values().collect())
}

/// Whether the stock was as counted, then or earlier.
fn is_as_counted(outcome: &Outcome) -> bool {
    outcome.state == RecordState::Unchanged && outcome.problems.iter().any(|problem| problem.code == Code::AsCounted)
}
