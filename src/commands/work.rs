//! `work`: sends queued runs.

use std::sync::Arc;

use serde_json::{Value, json};

use super::shared::signals::Interrupt;
use super::work_metrics::{Counts, Monitor};
use crate::cli::Work;
use crate::error::{Exit, Failure};
use crate::ledger::Part;
use crate::operations::{self, WorkEvent, Working};
use crate::settings::{Output, Settings};
use crate::ui;

pub(super) async fn run(args: &Work, settings: &Settings) -> Result<Exit, Failure> {
    let output = settings.output;
    let counts = Arc::new(Counts::default());
    let monitor = match args.listen {
        Some(address) => Some(Monitor::listen(address, Arc::clone(&counts)).await?),
        None => None,
    };
    if let Some(monitor) = monitor.as_ref().filter(|_| output.talks()) {
        ui::remark(format_args!("metrics at http://{}/metrics", monitor.address()));
    }
    let observer = |event: WorkEvent<'_>| {
        counts.note(event);
        show(event, output);
    };
    let working = Working { at_once: args.at_once, until_idle: args.until_idle };
    let interrupt = Interrupt::default();
    let work = operations::work(&settings.context, working, interrupt.wait(), &observer);
    match monitor {
        Some(monitor) => tokio::select! {
            ended = work => ended?,
            never = monitor.serve() => match never {},
        },
        None => work.await?,
    }
    // A worker that was told to stop has done what it was told.
    Ok(Exit::Done)
}

fn show(event: WorkEvent<'_>, output: Output) {
    if output.json {
        return ui::json(&as_json(event));
    }
    if !output.talks() && !matches!(event, WorkEvent::Stopped { .. } | WorkEvent::Lost { .. }) {
        return;
    }
    match event {
        WorkEvent::Ready => ui::remark("waiting for queued runs"),
        WorkEvent::Taken { .. } => {}
        WorkEvent::Sent { run, part, progress, millis } => ui::remark(format_args!(
            "run {}, {}: {} sent, {} refused, {} unknown in {:.1} s",
            run.id,
            records(part),
            ui::thousands(progress.sent),
            ui::thousands(progress.failed),
            ui::thousands(progress.unknown),
            millis as f64 / 1000.0
        )),
        WorkEvent::Finished { run } => ui::remark(format_args!("run {run}: finished")),
        WorkEvent::Stopped { run, why } => ui::remark(format_args!("run {run}: stopped: {why}")),
        WorkEvent::SetAside { run, why } => ui::remark(format_args!("run {run}: left alone for now: {why}")),
        WorkEvent::Lost { why } => ui::remark(format_args!("{why}; trying again")),
    }
}

fn records(part: Part) -> String {
    match part.last {
        i64::MAX => "all records".to_owned(),
        last => format!("records {} to {}", part.first + 1, last + 1),
    }
}

fn as_json(event: WorkEvent<'_>) -> Value {
    match event {
        WorkEvent::Ready => json!({"event": "ready"}),
        WorkEvent::Taken { run, part } => json!({"event": "taken", "run": run.id, "first": part.first}),
        WorkEvent::Sent { run, part, progress, millis } => json!({
            "event": "sent", "run": run.id, "first": part.first, "sent": progress.sent, "failed": progress.failed,
            "unknown": progress.unknown, "retries": progress.retries, "seconds": millis as f64 / 1000.0
        }),
        WorkEvent::Finished { run } => json!({"event": "finished", "run": run}),
        WorkEvent::Stopped { run, why } => json!({"event": "stopped", "run": run, "why": why}),
        WorkEvent::SetAside { run, why } => json!({"event": "set-aside", "run": run, "why": why}),
        WorkEvent::Lost { why } => json!({"event": "lost", "why": why}),
    }
}
