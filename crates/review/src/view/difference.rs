//! Changes in the service and causes of problems, as JSON for the page.

use serde_json::{Value, json};
use sheetport_ledger::{Causes, Group, Problem};
use sheetport_operations::review::ServiceDifference;
use sheetport_plan::compare::{Difference, FieldChange, WhyNot};

use super::text::cut;

/// Describes the changes that an upload would make in the service.
pub(crate) fn difference(compared: &ServiceDifference, notes: &[String]) -> Value {
    let Difference { new, changed, unchanged, unclear, missing, not_compared, why_not, .. } = &compared.difference;
    json!({
        "phase": "done",
        "new": new,
        "changed": changed,
        "unchanged": unchanged,
        "unclear": unclear,
        "missing": missing,
        "not_compared": not_compared,
        "why_not": why_not.as_ref().map(ToString::to_string),
        "is_sample": matches!(why_not, Some(WhyNot::Sample)),
        "fields": fields(&compared.difference),
        "unknown": compared.unknown.iter().map(group).collect::<Vec<_>>(),
        "lines": compared.lines.iter().map(group).collect::<Vec<_>>(),
        "requests": compared.requests,
        "notes": notes,
    })
}

/// Describes the changes of each field.
pub(super) fn fields(difference: &Difference) -> Vec<Value> {
    let field = |change: &FieldChange| {
        let samples = change.samples.iter().map(|(name, old, new)| json!([cut(name), cut(old), cut(new)]));
        let odd: Vec<Value> = change.overview.odd().map(|(odd, count)| json!([odd, count])).collect();
        json!({
            "field": change.field,
            "count": change.records,
            "samples": samples.collect::<Vec<_>>(),
            "odd": odd,
            "factor": change.overview.common_factor().map(|(factor, _)| factor),
            "median": change.overview.median(),
            "as_sent": change.as_sent,
        })
    };
    difference.fields.iter().map(field).collect()
}

/// Describes the records that somebody has changed since they were planned, with those of `earlier` looks.
pub(crate) fn moved(earlier: Value, records: u64, causes: &Causes) -> Value {
    let records = records + earlier["records"].as_u64().unwrap_or_default();
    let earlier = earlier["causes"].as_array().cloned().unwrap_or_default();
    let causes: Vec<Value> = earlier.into_iter().chain(causes.groups().into_iter().map(group)).collect();
    json!({"records": records, "causes": causes})
}

pub(crate) fn problem(problem: &Problem) -> Value {
    json!({
        "code": problem.code,
        "column": problem.column,
        "header": cut(&problem.header),
        "message": problem.message,
        "remedy": problem.remedy,
    })
}

pub(super) fn group(group: &Group) -> Value {
    let mut value = problem(&group.problem);
    value["value"] = cut(&group.problem.value).into();
    value["count"] = group.count.into();
    value["rows"] = json!(group.rows);
    value["field"] = group.problem.field.as_str().into();
    value
}
