//! Runs of the history, as JSON for the page.

use std::path::Path;

use serde_json::{Value, json};
use sheetport_ledger::{Accounting, Run, UnknownRecord};
use sheetport_operations::review::RunResult;
use sheetport_operations::{ListedRun, PlannedUndo, RunStatus, WaysBack};

use super::difference::{fields, group};
use super::file::counts;
use super::text::cut;

/// Describes a run in the list.
pub(crate) fn listed(listed: &ListedRun) -> Value {
    match listed {
        ListedRun::Known(run, accounting, status) => about(run, accounting, *status),
        ListedRun::Damaged { run, what } => json!({"run": run, "state": RunStatus::Damaged.name(), "damage": what}),
    }
}

fn about(run: &Run, accounting: &Accounting, status: RunStatus) -> Value {
    let name = Path::new(&run.about.file).file_name().map(|name| name.to_string_lossy().into_owned());
    json!({
        "run": run.id,
        "name": cut(&name.unwrap_or_else(|| run.about.file.clone())),
        "file": cut(&run.about.file),
        "record": run.about.record.name(),
        "service": run.about.base_url,
        "workspace": run.about.workspace,
        "at": run.created_at,
        "state": status.name(),
        "counts": counts(accounting),
        "has_plan": run.has_plan,
        "retry_of": run.about.retry_of,
        "undo_of": run.about.undo_of,
        "is_plan": run.looked_at.is_some(),
    })
}

/// Describes a run, with its result in the same form as at the end of a run under way.
pub(crate) fn result(result: &RunResult) -> Value {
    let RunResult { run, accounting, status, refused, retried_by, undone_by, can_undo, next } = result;
    let mut value = about(run, accounting, *status);
    let refused: Vec<Value> = refused.groups().into_iter().map(group).collect();
    value["retried_by"] = (*retried_by).into();
    value["undone_by"] = (*undone_by).into();
    value["result"] = json!({
        "phase": "ended",
        "rehearsal": false,
        "run": run.id,
        "counts": counts(accounting),
        "stopped": run.stopped_why.as_ref().filter(|_| accounting.pending > 0),
        "withheld": *status == RunStatus::Withheld,
        "approved": run.approved_at.is_some(),
        "refused": refused,
        "next": next,
        "can_undo": can_undo,
        "notes": [],
    });
    value
}

/// Describes the planned undo of a run, as the status of the run.
pub(crate) fn undo(planned: &PlannedUndo, notes: &[String]) -> Value {
    let WaysBack { of, returned, partly, kept, cannot, as_before, taken_back_before } = planned.ways;
    json!({
        "phase": "undo",
        "run": planned.run.id,
        "of": of,
        "counts": {"returned": returned, "partly": partly, "kept": kept, "cannot": cannot, "as_before": as_before,
            "taken_back_before": taken_back_before},
        "fields": fields(&planned.difference),
        "causes": planned.causes.groups().into_iter().map(group).collect::<Vec<_>>(),
        "requests": planned.requests,
        "notes": notes,
    })
}

/// Describes that nothing is under way.
pub(crate) fn idle() -> Value {
    json!({"phase": "idle"})
}

/// Describes a record with an unknown outcome.
pub(crate) fn unknown(record: &UnknownRecord) -> Value {
    let problem = record.outcome.problems.first();
    json!({
        "seq": record.seq,
        "rows": record.record.rows,
        "key": record.record.key.as_deref().or(record.record.target.as_deref()).map(cut),
        "at": record.outcome.at,
        "code": problem.filter(|_| record.outcome.is_answered()).map(|problem| &problem.code),
        "why": problem.map(|problem| &problem.message),
        "body": cut(&record.body),
    })
}
