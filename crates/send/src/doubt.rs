//! Records that may have been sent although the ledger knows nothing of it, because its database went back to an earlier state.

use sheetport_ledger::{self as ledger, Claim, Doubt, Part, Run};
use sheetport_plan::sent_before::Scope;

use super::load::load_blocks;
use super::work::Work;

/// Sets the pending records in doubt to *unknown* if they must not be repeated, before anything is sent. Requires the lock of the part.
pub(super) async fn settle(work: &Work<'_>) -> Result<(), ledger::Error> {
    let Work { ledger, part, kind, .. } = *work;
    if !kind.input().must_not_repeat() {
        return Ok(());
    }
    let doubts = ledger.again(|| ledger.doubts(part)).await?;
    if doubts.is_empty() {
        return Ok(());
    }
    let run = ledger.again(|| ledger.run(part.run)).await?;
    let mut unknown = 0;
    for doubt in &doubts {
        // A request that the ledger has forgotten was made after the run was planned, and repeated with its idempotency key, it is the same.
        let remembered = work.keys.map(|keys| keys.first_attempts(ledger.now()));
        if !remembered.is_some_and(|times| times.contains(&run.created_at)) {
            unknown += settle_one(work, &run, doubt).await?;
        }
    }
    tracing::warn!(
        run = run.id,
        part = part.first,
        unknown,
        "records may have been sent that the ledger has forgotten"
    );
    ledger.again(|| ledger.end_doubts(part)).await
}

/// Returns the number of records that became *unknown*.
async fn settle_one(work: &Work<'_>, run: &Run, doubt: &Doubt) -> Result<usize, ledger::Error> {
    let ledger = work.ledger;
    let Part { first, last, .. } = doubt.records;
    let (scope, mut next, mut unknown) = (Scope::of(run), first, 0);
    while next <= last {
        let Some(loaded) = load_blocks(ledger, run, doubt.records, &scope, None, next, ledger.now()).await? else {
            break;
        };
        next = loaded.end;
        // Those without a claim may be sent again.
        let claims: Vec<Claim> = loaded.jobs.into_iter().filter_map(|job| job.claim).collect();
        if !claims.is_empty() {
            unknown += ledger.again(|| ledger.settle_doubtful(run, &claims, &doubt.why, ledger.now())).await?;
        }
    }
    Ok(unknown)
}
