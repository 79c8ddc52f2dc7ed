//! The history of a run, as `runs show` prints it.

use serde_json::{Value, json};
use sheetport_language::{message, say, word};
use sheetport_ledger::{Action, RunEvent};

use super::time::{shown, time};
use crate::ui;

/// Events shown from the beginning and from the end of a long history.
const FIRST: usize = 10;
const LAST: usize = 20;

/// Prints who has done what, one event a line.
pub(super) fn print(history: &[RunEvent]) {
    if history.is_empty() {
        return;
    }
    ui::line(format_args!("  {}", word("history")));
    let left_out = history.len().saturating_sub(FIRST + LAST);
    for (nth, event) in history.iter().enumerate() {
        if left_out > 0 && nth == FIRST {
            ui::line(say!("    … {} more; --json has all of them", ui::counted(left_out as u64, "event")));
        }
        if left_out > 0 && (FIRST..FIRST + left_out).contains(&nth) {
            continue;
        }
        let until = match event.until - event.at {
            ..1_000 => String::new(),
            _ => say!(", until {}", shown(event.until)),
        };
        let process = match event.process.as_str() {
            "" => String::new(),
            process => format!(" ({process})"),
        };
        ui::line(format_args!("    {}  {}{process} {}{until}", shown(event.at), event.who, deed(event)));
    }
}

/// Returns the history for `--json`.
pub(super) fn as_json(history: &[RunEvent]) -> Value {
    let event = |event: &RunEvent| {
        json!({
            "action": event.action.name(),
            "by": event.who,
            "process": event.process,
            "at": time(event.at),
            "until": time(event.until),
            "count": event.count,
            "why": event.note,
            "other_run": event.other_run,
        })
    };
    history.iter().map(event).collect()
}

/// Returns what somebody has done.
fn deed(event: &RunEvent) -> String {
    let counted = |what| ui::counted(event.count.unsigned_abs(), what);
    match event.action {
        Action::Planned => say!("planned {}", counted("record")),
        Action::Edited => say!("made {} in a review", counted("edit")),
        Action::Approved => say!("approved {} of the plan", counted("record")),
        Action::Queued => say!("handed it to the workers"),
        Action::Sent => say!("began to send it"),
        Action::Resumed => say!("resumed it"),
        Action::Worked => say!("took {} as a worker", counted("part")),
        Action::SetAside => match &event.note {
            Some(why) => say!("can't send it now: {}", message(why)),
            None => say!("can't send it now"),
        },
        Action::Finished => say!("finished it"),
        Action::Stopped => match &event.note {
            Some(why) => say!("stopped: {}", message(why)),
            None => say!("stopped it"),
        },
        Action::Withheld => say!("withheld it"),
        Action::ResolvedSent => say!("decided about {}: applied", counted("unknown record")),
        Action::ResolvedFailed => say!("decided about {}: not applied", counted("unknown record")),
        Action::Retried => match event.other_run {
            Some(run) => say!("retried it as run {run}"),
            None => say!("retried it"),
        },
        Action::Undone => match event.other_run {
            Some(run) => say!("planned to take it back as run {run}"),
            None => say!("planned to take it back"),
        },
        Action::Repaired => say!("repaired it"),
        Action::Erased => say!("erased what was stored about {}", counted("record")),
        Action::Removed => say!("removed it"),
    }
}
