//! Exports and runs of jobs in the list of runs.

use std::path::Path;

use serde_json::{Value, json};
use sheetport_language::{say, word};
use sheetport_ledger::{Activity, ActivityKind, ActivityOutcome};

use super::time::{shown, time};
use crate::ui;

/// Prints the line of an export or a job, in the columns of the runs.
pub(super) fn print(activity: &Activity) {
    // Of a killed process nobody knows more.
    let state = activity.ended.as_ref().map_or("not ended", |ended| match ended.outcome {
        ActivityOutcome::Complete => "done",
        ActivityOutcome::Incomplete => "incomplete",
        ActivityOutcome::Failed => "not done",
    });
    let count = activity.ended.as_ref().and_then(|ended| ended.count).filter(|_| activity.kind == ActivityKind::Export);
    let file = activity
        .file
        .as_deref()
        .map_or("-".into(), |file| Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy()));
    let name = &activity.name;
    let what = match activity.kind {
        ActivityKind::Export => say!("{file}, export of {name}"),
        ActivityKind::Job => say!("{file}, job"),
    };
    ui::line(format_args!(
        "{:>5}  {:<20}  {:<10}  {:>9}  {:>9}  {:>9}  {:>9}  {what}",
        "",
        shown(activity.begun_at),
        word(state),
        count.map(ui::thousands).unwrap_or_default(),
        "",
        "",
        "",
    ));
    if let Some(note) = activity.ended.as_ref().and_then(|ended| ended.note.as_deref()) {
        ui::line(format_args!("{:>7}{}", "", sheetport_language::message(note)));
    }
}

/// Returns the activities of a kind for `--json`.
pub(super) fn as_json(activities: &[Activity], kind: ActivityKind) -> Vec<Value> {
    let count = match kind {
        ActivityKind::Export => "records",
        ActivityKind::Job => "files",
    };
    let of = |activity: &Activity| {
        let ended = activity.ended.as_ref();
        let mut json = json!({
            "begun": time(activity.begun_at),
            "ended": ended.map(|ended| time(ended.at)),
            "outcome": ended.map(|ended| ended.outcome.name()),
            "file": activity.file,
            "note": ended.and_then(|ended| ended.note.as_deref()),
            "base_url": activity.base_url,
            "workspace": activity.workspace,
            "who": activity.who,
            "process": activity.process,
        });
        json[if kind == ActivityKind::Export { "lists" } else { "job" }] = json!(activity.name);
        json[count] = json!(ended.and_then(|ended| ended.count));
        json
    };
    activities.iter().filter(|activity| activity.kind == kind).map(of).collect()
}
