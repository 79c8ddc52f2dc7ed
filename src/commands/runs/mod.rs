//! The commands about runs. `runs` itself lists the runs, newest first, or shows a single run.

mod activities;
pub(super) mod apply;
mod backup;
mod check;
mod erase;
pub(super) mod go_on;
mod history;
pub(super) mod prune;
pub(super) mod report;
pub(super) mod resolve;
pub(super) mod resume;
pub(super) mod retry;
mod time;
pub(super) mod undo;
mod wait;

use std::path::Path;

use serde_json::json;
use sheetport_findings::Only;
use sheetport_language::{message, say, tenths, word};
use sheetport_ledger::{Accounting, Activity, ActivityKind, NewRun, Run, RunId};
use sheetport_operations::{self as operations, ListedRun, RunDetails, RunFilter, RunStatus};

use crate::cli::{Runs, RunsAction};
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;
use time::{shown, time};

pub(super) async fn run(args: &Runs, settings: &Settings) -> Result<Exit, Failure> {
    match &args.action {
        Some(RunsAction::Show { run }) => show(*run, settings).await,
        Some(RunsAction::Check { run }) => check::check(*run, settings).await,
        Some(RunsAction::Wait { run, report }) => wait::wait(*run, report.as_deref(), settings).await,
        Some(RunsAction::Watch { run }) => wait::watch(*run, settings).await,
        Some(RunsAction::Stop { run, by }) => wait::stop(*run, by.as_deref(), settings).await,
        Some(RunsAction::Prune(prune)) => prune::run(prune, settings).await,
        Some(RunsAction::Erase(erase)) => erase::run(erase, settings).await,
        Some(RunsAction::Backup(backup)) => backup::run(backup, settings).await,
        None => list(args, settings).await,
    }
}

async fn list(args: &Runs, settings: &Settings) -> Result<Exit, Failure> {
    let filter = RunFilter { file: args.file.as_deref(), record: args.record.as_deref(), status: args.state };
    let (runs, activities) =
        operations::list_runs_and_activities(&settings.context, filter, args.limit as usize).await?;
    let is_filtered = args.file.is_some() || args.record.is_some() || args.state.is_some();
    if settings.output.json {
        let of = |kind| activities::as_json(&activities, kind);
        ui::json(&json!({
            "runs": runs.iter().map(listed_as_json).collect::<Vec<_>>(),
            "exports": of(ActivityKind::Export),
            "jobs": of(ActivityKind::Job),
        }));
    } else if !runs.is_empty() || !activities.is_empty() {
        print(&runs, &activities, args.limit as usize);
    } else if is_filtered {
        ui::line(say!("no matching runs"));
    } else {
        ui::line(say!("no runs yet; `sheetport upload FILE -t TEMPLATE` creates one"));
    }
    Ok(Exit::Done)
}

async fn show(run: Option<RunId>, settings: &Settings) -> Result<Exit, Failure> {
    let RunDetails { run, accounting, status, retried_by, undone_by, history } =
        operations::show_run(&settings.context, run).await?;
    if settings.output.json {
        let mut json = as_json(&run, &accounting, status);
        json["retried_by"] = json!(retried_by);
        json["undone_by"] = json!(undone_by);
        json["history"] = history::as_json(&history);
        ui::json(&json);
        return Ok(Exit::Done);
    }
    let strong = ui::style::STRONG;
    let (about, status) = (&run.about, word(status.name()));
    ui::line(say!("{strong}Run {}{strong:#}  {}  {status}", run.id, about.command.name()));
    let lines = [
        ("file", Some(operations::shown_file(&run))),
        ("rows", about.chosen.map(|(first, last)| format!("{first}-{last}"))),
        ("records", Some(say!("{}, by the template {}", about.record, about.template))),
        ("service", Some(about.base_url.clone())),
        ("workspace", Some(about.workspace.clone())),
        ("rate", about.settings.rate.map(|rate| rate.to_string())),
        ("started", Some(shown(run.created_at))),
        ("finished", run.finished_at.map(shown)),
        ("sending", Some(format!("{} s", tenths(run.millis as f64 / 1000.0)))),
        ("stopped", run.stopped_why.clone()),
        ("damaged", run.damage.clone()),
        ("retry of", about.retry_of.map(|run| say!("run {run}"))),
        ("retried by", retried_by.map(|run| say!("run {run}"))),
        ("undo of", about.undo_of.map(|run| say!("run {run}"))),
        ("undone by", undone_by.map(|run| say!("run {run}"))),
    ];
    for (name, text) in lines {
        if let Some(text) = text {
            ui::line(format_args!("  {} {}", ui::label(name, 10), message(&text)));
        }
    }
    history::print(&history);
    ui::accounting::print(&accounting);
    Ok(Exit::Done)
}

fn listed_as_json(run: &ListedRun) -> serde_json::Value {
    match run {
        ListedRun::Known(run, accounting, status) => as_json(run, accounting, *status),
        ListedRun::Damaged { run, what } => {
            json!({"run": run, "state": RunStatus::Damaged.name(), "damage": what})
        }
    }
}

/// Prints the newest runs, exports and jobs, at most `limit`.
fn print(runs: &[ListedRun], activities: &[Activity], limit: usize) {
    let strong = ui::style::STRONG;
    let titles = ["run", "started", "state", "records", "sent", "problems", "pending", "file"].map(word);
    let [number, started, state, records, sent, problems, pending, file] = titles;
    ui::line(format_args!(
        "{strong}{number:>5}  {started:<20}  {state:<10}  {records:>9}  {sent:>9}  {problems:>9}  {pending:>9}  {file}{strong:#}"
    ));
    let (mut runs, mut activities) = (runs.iter().peekable(), activities.iter().peekable());
    for _ in 0..limit {
        // A damaged run has no time: it keeps its place before the next one.
        let is_run_newer = |run: &ListedRun, activity: &Activity| match run {
            ListedRun::Known(run, ..) => run.created_at >= activity.begun_at,
            ListedRun::Damaged { .. } => true,
        };
        let is_next = match (runs.peek(), activities.peek()) {
            (Some(run), Some(activity)) => is_run_newer(run, activity),
            (run, _) => run.is_some(),
        };
        match is_next {
            true => runs.next().into_iter().for_each(print_run),
            false => activities.next().into_iter().for_each(activities::print),
        }
    }
}

fn print_run(run: &ListedRun) {
    let (run, accounting, status) = match run {
        ListedRun::Known(run, accounting, status) => (run, accounting, status),
        ListedRun::Damaged { run, what } => {
            ui::line(say!("{run:>5}  damaged: {what}; see `sheetport runs check {run}`"));
            return;
        }
    };
    let problems = accounting.rejected + accounting.failed + accounting.unknown;
    let file = Path::new(&run.about.file).file_name().map(|name| name.to_string_lossy().into_owned());
    ui::line(format_args!(
        "{:>5}  {:<20}  {:<10}  {:>9}  {:>9}  {:>9}  {:>9}  {}{}",
        run.id,
        shown(run.created_at),
        word(status.name()),
        ui::thousands(accounting.total),
        ui::thousands(accounting.sent),
        ui::thousands(problems),
        ui::thousands(accounting.pending),
        file.as_deref().unwrap_or(&run.about.file),
        relation(&run.about),
    ));
}

/// Returns what a run has to do with another one, to follow its file.
fn relation(about: &NewRun) -> String {
    match (about.undo_of, about.retry_of) {
        (Some(run), _) => say!(", undo of run {run}"),
        (None, Some(run)) => say!(", retry of run {run}"),
        (None, None) => String::new(),
    }
}

fn as_json(run: &Run, accounting: &Accounting, status: RunStatus) -> serde_json::Value {
    let settings = &run.about.settings;
    json!({
        "run": run.id,
        "state": status.name(),
        "begun": time(run.created_at),
        "stopped_why": run.stopped_why,
        "damage": run.damage,
        "command": run.about.command.name(),
        "retry_of": run.about.retry_of,
        "undo_of": run.about.undo_of,
        "record": run.about.record.name(),
        "template": run.about.template,
        "file": operations::shown_file(run),
        "base_url": run.about.base_url,
        "workspace": run.about.workspace,
        "profile": settings.profile,
        "rate": settings.rate.map(|rate| rate.to_string()),
        "concurrency": settings.concurrency,
        "max_errors": settings.max_errors,
        "max_unknown": settings.max_unknown,
        "priority": settings.priority,
        "chosen_rows": run.about.chosen.map(|(first, last)| format!("{first}-{last}")),
        "all_or_nothing": settings.all_or_nothing,
        "strict": settings.strict,
        "changed_only": settings.changed_only,
        "keep_lines": settings.keep_lines,
        "only": settings.only.map(Only::name),
        "commands": settings.commands,
        "fill_blank": settings.fill_blank,
        "undoable": settings.undoable,
        "accept": settings.accept,
        "report": settings.report,
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
