//! `runs prune`: takes old runs out of the ledger.

use serde_json::json;

use super::{now, sending};
use crate::cli::Prune;
use crate::error::{Exit, Failure};
use crate::ledger::{self, Accounting, Run, RunId, RunState};
use crate::settings::Settings;
use crate::ui;

/// Runs looked at together.
const PAGE: u32 = 100;

pub async fn run(args: &Prune, settings: &Settings) -> Result<Exit, Failure> {
    let ledger = sending::ledger(settings).await?;
    let age = i64::try_from(args.older_than.as_millis()).unwrap_or(i64::MAX);
    let oldest_kept = now().saturating_sub(age);
    let (mut removed, mut kept, mut records) = (Vec::new(), Vec::new(), 0);
    // The newest stays, so that its number is not given again.
    let newest = ledger.runs(1).await?.first().map_or(RunId::MAX, |run| run.id);
    let mut before = newest;
    loop {
        let page = ledger.runs_before(before, PAGE).await?;
        let Some(oldest) = page.last() else { break };
        before = oldest.id;
        'runs: for run in page.into_iter().filter(|run| run.created_at < oldest_kept) {
            let lock = match ledger.lock_run(run.id).await {
                Err(ledger::Error::Busy { .. }) => {
                    kept.push((run.id, "somebody is at work on its file"));
                    continue;
                }
                lock => lock?,
            };
            let accounting = ledger.accounting(run.id).await?;
            if is_open(&run, &accounting) && !args.force {
                kept.push((run.id, "it has records that are pending or in doubt"));
                continue;
            }
            // What one of a family sent, a report of another may still bring back.
            for other in ledger.family(&run).await?.runs {
                let is_kept = other.id >= newest || other.created_at >= oldest_kept;
                if is_kept || is_open(&other, &ledger.accounting(other.id).await?) && !args.force {
                    kept.push((run.id, "a run that stays tried it again, or was tried again by it"));
                    continue 'runs;
                }
            }
            if !args.dry_run {
                // What it says of the service's records is still of use.
                ledger.update_accepted(&run, RunId::MIN).await?;
                ledger.remove(run.id).await?;
            }
            removed.push(run.id);
            records += accounting.total;
            drop(lock);
        }
    }
    if !removed.is_empty() && !args.dry_run {
        ledger.shrink().await?;
    }
    ledger.close().await;
    if settings.output.json {
        let kept: Vec<_> = kept.iter().map(|(run, why)| json!({"run": run, "why": why})).collect();
        ui::json(&json!({"command": "prune", "dry_run": args.dry_run, "removed": removed, "kept": kept}));
        return Ok(Exit::Done);
    }
    let would = if args.dry_run { "would be removed" } else { "removed" };
    let (runs, records) = (ui::counted(removed.len() as u64, "run"), ui::counted(records, "record"));
    ui::line(format_args!("{runs} with {records} {would}"));
    for (run, why) in kept {
        ui::line(format_args!("  run {run} stays: {why}"));
    }
    Ok(Exit::Done)
}

fn is_open(run: &Run, accounting: &Accounting) -> bool {
    matches!(run.state, RunState::Planned | RunState::Finished) && accounting.pending + accounting.unknown > 0
}
