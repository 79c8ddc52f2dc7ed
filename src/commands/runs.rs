//! `runs`: the history, newest first, and one run of it.

use serde_json::json;

use super::sending;
use crate::cli::{Runs, RunsAction, StateFilter};
use crate::error::{Exit, Failure};
use crate::ledger::{Accounting, Run, RunId, RunState};
use crate::settings::Settings;
use crate::ui;

/// Runs looked at together where only some of them are wanted.
const PAGE: u32 = 100;

pub async fn run(args: &Runs, settings: &Settings) -> Result<Exit, Failure> {
    match &args.action {
        Some(RunsAction::Show { run }) => show(*run, settings).await,
        Some(RunsAction::Prune(prune)) => super::prune::run(prune, settings).await,
        None => list(args, settings).await,
    }
}

async fn list(args: &Runs, settings: &Settings) -> Result<Exit, Failure> {
    let ledger = sending::ledger(settings).await?;
    let wanted = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut runs = Vec::new();
    let mut before = RunId::MAX;
    'pages: loop {
        let page = ledger.runs_before(before, PAGE).await?;
        let Some(oldest) = page.last() else { break };
        before = oldest.id;
        for run in page {
            let about = &run.about;
            let is_meant = args.file.as_ref().is_none_or(|text| about.file.contains(text.as_str()))
                && args.record.as_ref().is_none_or(|record| about.record.name() == *record);
            if !is_meant {
                continue;
            }
            let accounting = ledger.accounting(run.id).await?;
            if args.state.is_none_or(|wanted| is_in(wanted, &run, &accounting)) {
                runs.push((run, accounting));
            }
            if runs.len() >= wanted {
                break 'pages;
            }
        }
    }
    ledger.close().await;
    if settings.output.json {
        ui::json(&json!({"runs": runs.iter().map(|(run, accounting)| as_json(run, accounting)).collect::<Vec<_>>()}));
    } else if runs.is_empty() && before == RunId::MAX {
        ui::line("no runs yet; `sheetport upload FILE -t TEMPLATE` makes one");
    } else if runs.is_empty() {
        ui::line("no run is like that");
    } else {
        print(&runs);
    }
    Ok(Exit::Done)
}

async fn show(run: Option<RunId>, settings: &Settings) -> Result<Exit, Failure> {
    let ledger = sending::ledger(settings).await?;
    let run = ledger.run_or_newest(run).await?;
    let accounting = ledger.accounting(run.id).await?;
    let retried_by = ledger.retried_by(run.id).await?;
    ledger.close().await;
    if settings.output.json {
        let mut json = as_json(&run, &accounting);
        json["retried_by"] = json!(retried_by);
        ui::json(&json);
        return Ok(Exit::Done);
    }
    let strong = ui::style::STRONG;
    ui::line(format_args!(
        "{strong}Run {}{strong:#}  {}  {}",
        run.id,
        run.about.command.name(),
        state(&run, &accounting)
    ));
    let number = |number: Option<RunId>| number.map(|number| number.to_string());
    let lines = [
        ("file", Some(run.about.file.clone())),
        ("rows", run.about.chosen.map(|(first, last)| format!("{first}-{last}"))),
        ("records", Some(format!("{}, by the template {}", run.about.record, run.about.template))),
        ("service", Some(run.about.base_url.clone())),
        ("workspace", Some(run.about.workspace.clone())),
        ("begun", Some(time(run.created_at))),
        ("done", run.finished_at.map(time)),
        ("sending", Some(format!("{:.1} s", run.millis as f64 / 1000.0))),
        ("stopped", run.stopped_why.clone()),
        ("retries", number(run.about.retry_of).map(|run| format!("what run {run} could not send"))),
        ("retried", number(retried_by).map(|run| format!("by run {run}"))),
    ];
    for (name, text) in lines {
        if let Some(text) = text {
            ui::line(format_args!("  {name:<10} {text}"));
        }
    }
    ui::accounting::print(&accounting);
    Ok(Exit::Done)
}

fn is_in(wanted: StateFilter, run: &Run, accounting: &Accounting) -> bool {
    match wanted {
        StateFilter::NotRead => state(run, accounting) == "not read",
        StateFilter::Stopped => state(run, accounting) == "stopped",
        StateFilter::Done => state(run, accounting) == "done",
        StateFilter::Withheld => state(run, accounting) == "withheld",
        StateFilter::Unknown => accounting.unknown > 0,
        StateFilter::Problems => accounting.rejected + accounting.failed + accounting.unknown > 0,
    }
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
            "{:>5}  {:<20}  {:<9}  {:>9}  {:>9}  {:>9}  {:>9}  {}{}",
            run.id,
            time(run.created_at),
            state(run, accounting),
            ui::thousands(accounting.total),
            ui::thousands(accounting.sent),
            ui::thousands(problems),
            ui::thousands(accounting.pending),
            file.unwrap_or_default(),
            run.about.retry_of.map(|run| format!(", again from run {run}")).unwrap_or_default(),
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
        "command": run.about.command.name(),
        "retry_of": run.about.retry_of,
        "record": run.about.record.name(),
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

pub fn time(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis / 1000 * 1000).map(|time| time.to_string()).unwrap_or_default()
}
