//! `runs`: the history, newest first.

use serde_json::json;

use super::sending;
use crate::cli::Runs;
use crate::error::{Exit, Failure};
use crate::ledger::{Accounting, Run, RunState};
use crate::settings::Settings;
use crate::ui;

pub async fn run(args: &Runs, settings: &Settings) -> Result<Exit, Failure> {
    let ledger = sending::ledger(settings).await?;
    let mut runs = Vec::new();
    for run in ledger.runs(args.limit).await? {
        let accounting = ledger.accounting(run.id).await?;
        runs.push((run, accounting));
    }
    if settings.output.json {
        ui::json(&json!({"runs": runs.iter().map(|(run, accounting)| as_json(run, accounting)).collect::<Vec<_>>()}));
    } else if runs.is_empty() {
        ui::line("no runs yet; `sheetport upload FILE -t TEMPLATE` makes one");
    } else {
        print(&runs);
    }
    ledger.close().await;
    Ok(Exit::Done)
}

fn print(runs: &[(Run, Accounting)]) {
    let strong = ui::style::STRONG;
    ui::line(format_args!(
        "{strong}{:>5}  {:<20}  {:<9}  {:>9}  {:>9}  {:>9}  {:>9}  file{strong:#}",
        "run", "begun (UTC)", "state", "records", "sent", "problems", "pending"
    ));
    for (run, accounting) in runs {
        let problems = accounting.rejected + accounting.failed + accounting.unknown;
        let file = std::path::Path::new(&run.about.file).file_name().map(|name| name.to_string_lossy().into_owned());
        ui::line(format_args!(
            "{:>5}  {:<20}  {:<9}  {:>9}  {:>9}  {:>9}  {:>9}  {}",
            run.id,
            time(run.created_at),
            state(run, accounting),
            ui::thousands(accounting.total),
            ui::thousands(accounting.sent),
            ui::thousands(problems),
            ui::thousands(accounting.pending),
            file.unwrap_or_default(),
        ));
    }
}

/// What a person would call it.
fn state(run: &Run, accounting: &Accounting) -> &'static str {
    match run.state {
        RunState::Planning => "not read",
        RunState::Planned if accounting.pending > 0 => "stopped",
        RunState::Planned | RunState::Finished => "done",
        RunState::Withheld => "withheld",
    }
}

fn as_json(run: &Run, accounting: &Accounting) -> serde_json::Value {
    json!({
        "run": run.id,
        "state": state(run, accounting),
        "begun": time(run.created_at),
        "stopped_why": run.stopped_why,
        "record": run.about.record,
        "template": run.about.template,
        "file": run.about.file,
        "base_url": run.about.base_url,
        "workspace": run.about.workspace,
        "rows": accounting.rows,
        "total": accounting.total,
        "sent": accounting.sent,
        "unchanged": accounting.unchanged,
        "skipped": accounting.skipped,
        "rejected": accounting.rejected,
        "failed": accounting.failed,
        "unknown": accounting.unknown,
        "pending": accounting.pending,
    })
}

fn time(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis / 1000 * 1000).map(|time| time.to_string()).unwrap_or_default()
}
