//! `runs erase`: erases what the ledger stores about the records with one key.

use serde_json::json;
use sheetport_language::say;
use sheetport_operations as operations;

use crate::cli::Erase;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(super) async fn run(args: &Erase, settings: &Settings) -> Result<Exit, Failure> {
    let erased = operations::erase_key(&settings.context, &args.key, args.dry_run).await?;
    let exit = if erased.kept.is_empty() && !erased.is_log_in_use { Exit::Done } else { Exit::Busy };
    if settings.output.json {
        let runs: Vec<_> = erased
            .runs
            .iter()
            .map(|(run, of)| json!({"run": run, "records": of.records, "rows": of.rows, "skipped": of.skipped}))
            .collect();
        let kept: Vec<_> = erased.kept.iter().map(|(run, why)| json!({"run": run, "why": why})).collect();
        ui::json(&json!({
            "command": "erase", "dry_run": args.dry_run, "runs": runs, "kept": kept, "files": erased.files,
            "is_log_in_use": erased.is_log_in_use,
        }));
        return Ok(exit);
    }
    if erased.runs.is_empty() && erased.kept.is_empty() {
        ui::line(say!("The ledger has no record with the key '{}'", args.key));
        return Ok(exit);
    }
    for (run, of) in &erased.runs {
        let (records, rows) = (ui::counted(of.records, "record"), ui::counted(of.rows, "row"));
        match args.dry_run {
            true => ui::line(say!("Would erase {records} of run {run}")),
            false => ui::line(say!("Erased {records} of run {run}, from {rows}")),
        }
        if of.skipped > 0 {
            let skipped = ui::counted(of.skipped, "record");
            ui::line(say!("  {skipped} of run {run} had not been sent, and will not be"));
        }
    }
    for (run, why) in &erased.kept {
        ui::line(say!("  kept run {run}: {why}"));
    }
    ui::line(say!("What stays: numbers of rows, states, times, and hashes that recognize what was sent."));
    if !erased.files.is_empty() {
        ui::line(say!("These files are yours, and may have the records, too:"));
        erased.files.iter().for_each(|file| ui::line(format_args!("  {file}")));
    }
    super::prune::warn_of_log(erased.is_log_in_use);
    Ok(exit)
}
