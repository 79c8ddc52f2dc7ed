//! `runs prune`: removes old runs from the ledger.

use std::time::Duration;

use serde_json::json;
use sheetport_language::say;
use sheetport_operations as operations;

use crate::cli::Prune;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(super) async fn run(args: &Prune, settings: &Settings) -> Result<Exit, Failure> {
    let pruned = operations::prune(&settings.context, args.older_than, args.force, args.dry_run).await?;
    if settings.output.json {
        let kept: Vec<_> = pruned.kept.iter().map(|(run, why)| json!({"run": run, "why": why})).collect();
        ui::json(&json!({
            "command": "prune", "dry_run": args.dry_run, "removed": pruned.removed, "kept": kept,
            "is_log_in_use": pruned.is_log_in_use,
        }));
        return Ok(Exit::Done);
    }
    let verb = if args.dry_run { "Would remove" } else { "Removed" };
    let (runs, records) = (ui::counted(pruned.removed.len() as u64, "run"), ui::counted(pruned.records, "record"));
    ui::line(say!("{verb} {runs} with {records}"));
    for (run, why) in pruned.kept {
        ui::line(say!("  kept run {run}: {why}"));
    }
    warn_of_log(pruned.is_log_in_use);
    Ok(Exit::Done)
}

/// Says that parts of what was removed are still in the log of the ledger.
pub(super) fn warn_of_log(is_in_use: bool) {
    if is_in_use {
        ui::remark(say!(
            "another process reads the ledger, so its log still has parts of what was removed; they go when that process has ended"
        ));
    }
}

/// Removes the runs that are older than `keep` in sheetport.toml, after a command that transfers. Its exit code is not that of the
/// transfer.
pub(in crate::commands) async fn keep(age: Duration, settings: &Settings) {
    if !settings.context.has_ledger() {
        return;
    }
    match operations::prune(&settings.context, age, false, false).await {
        Ok(pruned) if !pruned.removed.is_empty() && settings.output.talks() => {
            let runs = ui::counted(pruned.removed.len() as u64, "run");
            ui::remark(say!("removed {runs}, older than `keep` in sheetport.toml allows"));
        }
        Ok(_) => {}
        Err(error) => ui::remark(say!("old runs can't be removed, as `keep` in sheetport.toml says: {error}")),
    }
}
