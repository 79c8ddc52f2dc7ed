//! `runs check` and `runs repair`: find damage in the ledger, and rebuild data as far as possible.

use serde_json::json;
use sheetport_language::say;
use sheetport_ledger::RunId;
use sheetport_operations as operations;

use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(super) async fn check(run: Option<RunId>, settings: &Settings) -> Result<Exit, Failure> {
    let checked = operations::check_runs(&settings.context, run).await?;
    let exit = if checked.is_damaged() { Exit::Fault } else { Exit::Done };
    let damaged: Vec<_> = checked.runs.iter().filter(|run| !run.damage.is_empty()).collect();
    if settings.output.json {
        let problem =
            |(part, what): &(sheetport_ledger::DamagedPart, String)| json!({"what": what, "remedy": part.remedy()});
        let runs: Vec<_> = damaged
            .iter()
            .map(|run| json!({"run": run.run, "damage": run.damage.iter().map(problem).collect::<Vec<_>>()}))
            .collect();
        ui::json(&json!({
            "command": "runs check",
            "checked": checked.runs.len(),
            "file": checked.file,
            "damaged": runs,
            "next": checked.next,
        }));
        return Ok(exit);
    }
    for what in &checked.file {
        ui::line(say!("the file is damaged: {what}"));
    }
    for run in &damaged {
        ui::line(say!("run {} is damaged:", run.run));
        for (part, what) in &run.damage {
            ui::line(say!("  {what}; {}", part.remedy()));
        }
    }
    let runs = ui::counted(checked.runs.len() as u64, "run");
    match damaged.len() {
        0 if checked.file.is_empty() => ui::line(say!("{runs} checked, no damage")),
        count => ui::line(say!("{runs} checked, {count} damaged")),
    }
    if let Some(next) = checked.next {
        ui::line(say!("next: {next}"));
    }
    Ok(exit)
}

pub(super) async fn repair(run: Option<RunId>, settings: &Settings) -> Result<Exit, Failure> {
    let repaired = operations::repair_runs(&settings.context, run).await?;
    let unknown: u64 = repaired.runs.iter().map(|(_, run)| run.unknown).sum();
    let exit = if !repaired.is_file_whole || repaired.runs.iter().any(|(_, run)| run.damage.is_some()) {
        Exit::Fault
    } else if unknown > 0 {
        Exit::Unknown
    } else {
        Exit::Done
    };
    if settings.output.json {
        let runs = repaired
            .runs
            .iter()
            .map(|(id, run)| json!({"run": id, "rebuilt": run.rebuilt, "unknown": run.unknown, "damage": run.damage}));
        ui::json(&json!({
            "command": "runs repair",
            "copy": repaired.copy,
            "file": repaired.file,
            "is_file_whole": repaired.is_file_whole,
            "runs": runs.collect::<Vec<_>>(),
        }));
        return Ok(exit);
    }
    let Some(copy) = &repaired.copy else {
        ui::line(say!("nothing is damaged"));
        return Ok(exit);
    };
    for what in &repaired.file {
        ui::line(say!("the file was damaged: {what}"));
    }
    for (id, run) in &repaired.runs {
        if let Some(what) = &run.damage {
            ui::line(say!("run {id} stays damaged and is not sent any more: {what}; upload its file again"));
            continue;
        }
        ui::line(say!("run {id}: rebuilt {}", run.rebuilt.join(", ")));
        if run.unknown > 0 {
            let records = ui::counted(run.unknown, "record");
            ui::line(say!("  {records} may have been sent: look them up, then `sheetport resolve {id}`"));
        }
    }
    if !repaired.is_file_whole {
        ui::line(say!("the file is still damaged; restore the ledger's folder from a backup"));
    }
    ui::line(say!("the ledger as it was is in {}", copy.display()));
    Ok(exit)
}
