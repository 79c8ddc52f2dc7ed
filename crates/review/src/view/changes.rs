//! The changes of a file under review, as JSON for the page.

use serde_json::{Map, Value, json};
use sheetport_operations::review::{ApprovedCounts, PlannedChange};

use super::super::session::Look;
use super::difference::fields;
use super::text::cut;

/// Describes a look at the changes: its counts and fields, and how much of it is approved.
pub(crate) fn look(look: &Look) -> Value {
    let (list, difference) = (&look.plan.changes, &look.plan.difference);
    let ApprovedCounts { sendable, approved, partly } = list.approved();
    let mut fields = fields(difference);
    for field in &mut fields {
        let name = field["field"].as_str().unwrap_or_default().to_owned();
        field["approved"] = list.approved_of(&name).into();
        field["needed"] = (!list.can_leave_out(&name)).into();
    }
    json!({
        "run": look.plan.run,
        "revision": look.revision,
        "keep_lines": look.keep_lines,
        "version": look.version,
        "requests": look.plan.requests,
        "kinds": list.fates().into_iter().map(|(fate, count)| json!([fate.name(), count])).collect::<Vec<_>>(),
        "odd": list.odd(),
        "sendable": sendable,
        "approved": approved,
        "partly": partly,
        "fields": fields,
        "columns": list.columns(),
        "why_not": difference.why_not.as_ref().map(ToString::to_string),
        "notes": look.notes,
    })
}

/// Describes a record of a look.
pub(crate) fn row(change: &PlannedChange) -> Value {
    let fields = change.fields.iter().map(|field| {
        let about = json!({
            "old": cut(&field.old()),
            "new": cut(field.planned()),
            "odd": field.odd,
            "as_sent": field.is_as_sent,
            "approved": change.approves(field.field),
        });
        (field.field.to_owned(), about)
    });
    json!({
        "seq": change.seq,
        "n": change.row,
        "sheet": change.sheet,
        "name": cut(&change.name),
        "kind": change.fate.name(),
        "sendable": change.fate.is_sendable(),
        "approved": change.is_approved(),
        "remark": {"message": change.remark},
        "fields": Value::Object(fields.collect::<Map<_, _>>()),
        "values": change.values.iter().map(|(field, value)| json!([field, cut(value)])).collect::<Vec<_>>(),
    })
}
