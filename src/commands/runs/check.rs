//! `runs check`: finds damage in the ledger.

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
        let runs: Vec<_> = damaged.iter().map(|run| json!({"run": run.run, "damage": run.damage})).collect();
        ui::json(&json!({
            "command": "runs check",
            "checked": checked.runs.len(),
            "file": checked.file,
            "damaged": runs,
            "remedy": checked.remedy,
        }));
        return Ok(exit);
    }
    for what in &checked.file {
        ui::line(say!("the file is damaged: {what}"));
    }
    for run in &damaged {
        ui::line(say!("run {} is damaged:", run.run));
        for what in &run.damage {
            ui::line(say!("  {what}"));
        }
    }
    let runs = ui::counted(checked.runs.len() as u64, "run");
    match damaged.len() {
        0 if checked.file.is_empty() => ui::line(say!("{runs} checked, no damage")),
        count => ui::line(say!("{runs} checked, {count} damaged")),
    }
    if let Some(remedy) = checked.remedy {
        ui::line(say!("to go on: {remedy}"));
    }
    Ok(exit)
}
