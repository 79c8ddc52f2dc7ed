//! `work`: sends queued runs.

mod metrics;
mod page;

use std::sync::Arc;

use serde_json::{Value, json};
use sheetport_jobs::{FileOutcome, InboxRequest, Left, Obstacle, Place, Unsent, WorkEvent, Working};
use sheetport_language::say;
use sheetport_ledger::Part;
use sheetport_operations::token_folder::TokenFolder;
use sheetport_send::StopReason;
use sheetport_telemetry as telemetry;

use super::console::signals::Interrupt;
use crate::cli::Work;
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::{Output, Settings};
use crate::ui;
use metrics::{Counts, Monitor};

pub(super) async fn run(args: &Work, settings: &Settings) -> Result<Exit, Failure> {
    let output = settings.output;
    let counts = Arc::new(Counts::default());
    let observed = Arc::clone(&counts);
    telemetry::observe(move || observed.of_worker());
    let monitor = match args.listen {
        Some(address) => Some(Monitor::listen(address, Arc::clone(&counts), &settings.context, args.show_runs).await?),
        None => None,
    };
    if let Some(monitor) = monitor.as_ref().filter(|_| output.talks()) {
        ui::remark(say!("metrics at http://{}/metrics", monitor.address()));
    }
    let observer = |event: WorkEvent<'_>| {
        counts.note(event);
        show(event, output);
    };
    let inbox = match &args.inbox {
        Some(folder) => Some(Box::new(sheetport_jobs::inbox(&InboxRequest {
            folder,
            files: &args.files,
            template: args.template.as_deref().unwrap_or_default(),
            set: &args.set,
            done: args.done.as_deref(),
            failed: args.failed.as_deref(),
        })?)),
        None => None,
    };
    let tokens = args.tokens.clone().map(TokenFolder::open).transpose()?;
    let working = Working { at_once: args.at_once, tokens, until_idle: args.until_idle, keep: args.keep, inbox };
    let interrupt = Interrupt::default();
    let work = sheetport_jobs::work(&settings.context, working, Box::pin(interrupt.wait()), &observer);
    let left = match monitor {
        Some(monitor) => tokio::select! {
            ended = work => ended?,
            never = monitor.serve() => match never {},
        },
        None => work.await?,
    };
    // A requested stop is a success.
    unsent(left).map_or(Ok(Exit::Done), Err)
}

/// Returns the failure of an idle worker that leaves something unsent.
fn unsent(left: Vec<Left>) -> Option<Failure> {
    let more = left.len().saturating_sub(1);
    let Left { what, why } = left.into_iter().next()?;
    let (hint, reason) = (why.hint(), why.to_string());
    let mut message = match what {
        Unsent::Run(run) => format!("run {run} was not sent and is still queued: {reason}"),
        Unsent::File(file) => format!("{} was not sent: {reason}", file.display()),
    };
    if more > 0 {
        message = format!("{message}; {more} more were not sent");
    }
    let code = match why {
        Obstacle::Error(error) => Failure::from(error).code,
        Obstacle::Stopped(StopReason::Service(stop)) => ErrorCode::from(&stop),
        Obstacle::Stopped(_) | Obstacle::OtherWorkspace { .. } | Obstacle::NoTokens { .. } => ErrorCode::Stopped,
    };
    let hint = hint.unwrap_or_else(|| "run the command again later".to_owned());
    Some(Failure::new(code, message, hint))
}

fn show(event: WorkEvent<'_>, output: Output) {
    if output.json {
        return ui::json(&as_json(event));
    }
    if !output.talks() && !is_problem(event) {
        return;
    }
    match event {
        WorkEvent::Ready => ui::remark(say!("waiting for queued runs")),
        WorkEvent::Warned { why, hint: Some(hint) } => ui::remark(say!("warning: {why} ({hint})")),
        WorkEvent::Warned { why, hint: None } => ui::remark(say!("warning: {why}")),
        WorkEvent::Taken { .. } => {}
        WorkEvent::Sent { run, part, progress, millis } => ui::remark(say!(
            "run {}, {}: {} sent, {} refused, {} unknown in {:.1} s",
            run.id,
            records(part),
            ui::thousands(progress.sent),
            ui::thousands(progress.failed),
            ui::thousands(progress.unknown),
            millis as f64 / 1000.0
        )),
        WorkEvent::Finished { run } => ui::remark(say!("run {run}: finished")),
        WorkEvent::Stopped { run, why } => ui::remark(say!("run {run}: stopped: {why}")),
        WorkEvent::SetAside { run, why } => ui::remark(match why.hint() {
            Some(hint) => say!("run {run}: not sent by this worker for now: {why} ({hint})"),
            None => say!("run {run}: not sent by this worker for now: {why}"),
        }),
        WorkEvent::Removed { runs } => ui::remark(say!("removed {} old runs", ui::thousands(runs.len() as u64))),
        WorkEvent::FileTaken { .. } => {}
        WorkEvent::File(file) => ui::remark(say!("{}: {}", file.file.display(), file_result(file))),
        WorkEvent::Lost { why } => ui::remark(say!("{why}; trying again")),
    }
}

/// Whether the event is shown even with `--quiet`.
fn is_problem(event: WorkEvent<'_>) -> bool {
    match event {
        WorkEvent::Stopped { .. } | WorkEvent::SetAside { .. } | WorkEvent::Lost { .. } => true,
        WorkEvent::File(file) => file.place != Place::Done,
        _ => false,
    }
}

/// Says how the upload of a file ended, and where the file is now.
fn file_result(file: &FileOutcome) -> String {
    let now = file.now.display();
    let report = file.report.as_ref().map(|report| say!("; report: {}", report.display())).unwrap_or_default();
    match (&file.result, file.place) {
        (Err(error), Place::Kept) => say!("can't be sent now: {error}"),
        (Err(error), _) => say!("{error}; moved to {now}{report}"),
        (Ok(finished), Place::Kept) => match file.problem() {
            Some(why) => say!("run {} is not finished: {why}; it is continued later, from {now}", finished.run.id),
            None => say!("run {} is not finished; it is continued later, from {now}", finished.run.id),
        },
        (Ok(finished), _) => {
            say!("run {}: {} sent; moved to {now}{report}", finished.run.id, ui::thousands(finished.accounting.sent))
        }
    }
}

fn records(part: Part) -> String {
    match part.last {
        i64::MAX => "all records".to_owned(),
        last => say!("records {} to {}", part.first + 1, last + 1),
    }
}

fn as_json(event: WorkEvent<'_>) -> Value {
    match event {
        WorkEvent::Ready => json!({"event": "ready"}),
        WorkEvent::Warned { why, hint } => json!({"event": "warning", "why": why, "hint": hint}),
        WorkEvent::Taken { run, part } => json!({"event": "taken", "run": run.id, "first": part.first}),
        WorkEvent::Sent { run, part, progress, millis } => json!({
            "event": "sent", "run": run.id, "first": part.first, "sent": progress.sent, "failed": progress.failed,
            "unknown": progress.unknown, "retries": progress.retries, "seconds": millis as f64 / 1000.0
        }),
        WorkEvent::Finished { run } => json!({"event": "finished", "run": run}),
        WorkEvent::Stopped { run, why } => json!({"event": "stopped", "run": run, "why": why}),
        WorkEvent::SetAside { run, why } => {
            json!({"event": "set-aside", "run": run, "why": why.to_string(), "hint": why.hint()})
        }
        WorkEvent::Removed { runs } => json!({"event": "removed", "runs": runs}),
        WorkEvent::FileTaken { file } => json!({"event": "file-taken", "file": file}),
        WorkEvent::File(file) => json!({
            "event": "file", "file": file.file, "place": file.place.name(), "now": file.now, "report": file.report,
            "run": file.result.as_ref().ok().map(|finished| finished.run.id),
            "error": file.problem(),
        }),
        WorkEvent::Lost { why } => json!({"event": "lost", "why": why}),
    }
}
