//! Removing old runs from the ledger.

use std::time::Duration;

use sheetport_ledger::{self as ledger, Accounting, KeyScope, Ledger, Run, RunId, RunState};

use super::super::context::Context;
use super::super::error::Error;
use crate::operation::Operation;

/// The result of pruning.
#[derive(Clone, Debug, Default)]
pub struct Pruned {
    pub removed: Vec<RunId>,
    /// Old runs not removed, each with the reason.
    pub kept: Vec<(RunId, &'static str)>,
    /// Records of the removed runs.
    pub records: u64,
    /// Another process uses the log of the ledger, which still has parts of what was removed.
    pub is_log_in_use: bool,
}

/// Removes runs started longer than `age` ago. What recognises records that were sent stays. `force` includes runs with pending or unknown records;
/// `dry_run` removes nothing.
pub fn prune(context: &Context, age: Duration, force: bool, dry_run: bool) -> Operation<'_, Pruned> {
    Box::pin(async move {
        let ledger = context.ledger().await?;
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let oldest_kept = ledger.now().saturating_sub(age);
        let mut pruned = Pruned::default();
        if !dry_run {
            ledger.overwrite_deleted().await?;
            ledger.remove_rest().await?;
        }
        let mut ids = ledger.run_ids();
        while let Some(id) = ids.next().await? {
            let run = match ledger.run(id).await {
                Err(error) if error.is_damage() => {
                    pruned.kept.push((id, "it is damaged; see `sheetport runs check`"));
                    continue;
                }
                run => run?,
            };
            if run.created_at >= oldest_kept {
                continue;
            }
            let _locked = match ledger.lock_run(run.id).await {
                Err(ledger::Error::Busy { .. }) => {
                    pruned.kept.push((run.id, "another process is using it"));
                    continue;
                }
                locked => locked?,
            };
            let accounting = ledger.accounting(run.id).await?;
            if is_open(&run, &accounting) && !force {
                pruned.kept.push((run.id, "it has pending or unknown records"));
                continue;
            }
            let is_kept = |other: &Run| other.created_at >= oldest_kept;
            if family_is_kept(&ledger, &run, is_kept, force).await? {
                pruned.kept.push((run.id, "another run of the same upload is kept"));
                continue;
            }
            if !dry_run {
                // Keeps the accepted payloads for --changed-only.
                ledger.update_accepted(KeyScope::of(&run), None).await?;
                ledger.remove(run.id, Some(ledger.now())).await?;
            }
            pruned.removed.push(run.id);
            pruned.records += accounting.total;
        }
        if !dry_run {
            ledger.remove_activities(oldest_kept).await?;
        }
        if !pruned.removed.is_empty() && !dry_run {
            pruned.is_log_in_use = !ledger.erase_deleted().await?;
        }
        ledger.close().await;
        Ok(pruned)
    })
}

/// Whether another run of the same upload is kept. The report of the other run may need the outcomes of `run`.
async fn family_is_kept(
    ledger: &Ledger,
    run: &Run,
    is_kept: impl Fn(&Run) -> bool,
    force: bool,
) -> Result<bool, Error> {
    for other in ledger.family(run).await?.runs {
        if is_kept(&other) || !force && is_open(&other, &ledger.accounting(other.id).await?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_open(run: &Run, accounting: &Accounting) -> bool {
    matches!(run.state, RunState::Planned | RunState::Queued | RunState::Finished)
        && accounting.pending + accounting.unknown > 0
}
