//! `runs prune`: removes old runs from the ledger.

use serde_json::json;

use crate::cli::Prune;
use crate::error::{Exit, Failure};
use crate::language::say;
use crate::operations;
use crate::settings::Settings;
use crate::ui;

pub(super) async fn run(args: &Prune, settings: &Settings) -> Result<Exit, Failure> {
    let pruned = operations::prune(&settings.context, args.older_than, args.force, args.dry_run).await?;
    if settings.output.json {
        let kept: Vec<_> = pruned.kept.iter().map(|(run, why)| json!({"run": run, "why": why})).collect();
        ui::json(&json!({"command": "prune", "dry_run": args.dry_run, "removed": pruned.removed, "kept": kept}));
        return Ok(Exit::Done);
    }
    let verb = if args.dry_run { "Would remove" } else { "Removed" };
    let (runs, records) = (ui::counted(pruned.removed.len() as u64, "run"), ui::counted(pruned.records, "record"));
    ui::line(say!("{verb} {runs} with {records}"));
    for (run, why) in pruned.kept {
        ui::line(say!("  kept run {run}: {why}"));
    }
    Ok(Exit::Done)
}
