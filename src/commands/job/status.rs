//! `job status`: when jobs last ran, and which are late.

use jiff::{Timestamp, Zoned};
use serde_json::{Value, json};
use sheetport_jobs::{JobStatus, job_status, known_jobs, lateness};
use sheetport_language::say;
use sheetport_values::date::local_minute;

use crate::cli::JobsShown;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(super) fn run(args: &JobsShown, settings: &Settings) -> Result<Exit, Failure> {
    let context = &settings.context;
    let jobs = match &args.file {
        Some(file) => vec![(file.clone(), Ok(job_status(context, file)?))],
        None => known_jobs(context),
    };
    let mut exit = Exit::Done;
    let (now, mut shown) = (Zoned::now(), Vec::new());
    for (file, status) in jobs {
        match status {
            Ok(status) => {
                if status.missed.is_some() {
                    exit = Exit::Fault;
                }
                if settings.output.json {
                    shown.push(as_json(&status));
                } else {
                    print(&status, &now);
                }
            }
            Err(error) => {
                exit = Exit::Fault;
                let failure = Failure::from(error);
                if settings.output.json {
                    shown.push(json!({"file": file, "state": "unreadable", "error": failure.message}));
                } else {
                    ui::line(file.display());
                    ui::line(say!("  can't be read: {failure}"));
                }
            }
        }
    }
    if settings.output.json {
        ui::json(&json!({"command": "job status", "jobs": shown}));
    }
    Ok(exit)
}

fn print(status: &JobStatus, now: &Zoned) {
    ui::line(format_args!("{}  {}", status.name, status.file.display()));
    match &status.last {
        None => ui::line(say!("  has not run yet")),
        Some(last) => {
            let began = local_minute(last.began);
            ui::line(match (status.is_running, last.ended, last.exit) {
                (true, ..) => say!("  running since {began}"),
                (false, None, _) => say!("  the run of {began} did not come to its end"),
                (false, Some(ended), None) => say!("  last run {began}, ended {}", local_minute(ended)),
                (false, Some(ended), Some(exit)) => {
                    let files = ui::counted(last.files.unwrap_or_default(), "file");
                    say!("  last run {began}, ended {}: exit code {exit}, {files}", local_minute(ended))
                }
            });
            if let Some(succeeded) = last.succeeded.filter(|_| last.exit != Some(0)) {
                ui::line(say!("  last without problems {}", local_minute(succeeded)));
            }
        }
    }
    if let Some(missed) = &status.missed {
        let (late, due) = (lateness(missed, now), in_local_zone(missed));
        ui::line(say!("  LATE by {late}: due {due}, and not begun since"));
    }
    if let Some(next) = &status.next {
        ui::line(say!("  next due {}", in_local_zone(next)));
    }
}

fn as_json(status: &JobStatus) -> Value {
    let JobStatus { name, file, is_running, last, next, missed } = status;
    let time = |millis: Option<i64>| millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
    let time = |millis: Option<i64>| time(millis).map(|time| time.to_string());
    let last = last.as_ref();
    let state = match last {
        _ if *is_running => "running",
        _ if missed.is_some() => "late",
        None => "not-run",
        Some(run) if run.ended.is_none() => "aborted",
        Some(_) => "ended",
    };
    json!({
        "job": name,
        "file": file,
        "state": state,
        "began": time(last.map(|run| run.began)),
        "ended": time(last.and_then(|run| run.ended)),
        "exit": last.and_then(|run| run.exit),
        "files": last.and_then(|run| run.files),
        "succeeded": time(last.and_then(|run| run.succeeded)),
        "missed": missed.as_ref().map(|missed| missed.timestamp().to_string()),
        "next": next.as_ref().map(|next| next.timestamp().to_string()),
    })
}

/// Formats a start in the local zone, like all other times.
fn in_local_zone(time: &Zoned) -> String {
    local_minute(time.timestamp().as_millisecond())
}
