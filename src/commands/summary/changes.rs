//! What an upload would change in the service, as JSON.

use serde::Serialize;
use sheetport_ledger::RunId;
use sheetport_operations::WaysBack;
use sheetport_plan::compare::{Difference, FieldChange};

/// The changes of a plan, counted by record.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct Changes {
    new: u64,
    changed: u64,
    gone: u64,
    unchanged: u64,
    not_shown: u64,
    not_there: u64,
    not_compared: u64,
    why_not: Option<String>,
    fields: Vec<ChangedField>,
}

/// A field with other values than in the service.
#[derive(Debug, Serialize)]
struct ChangedField {
    field: &'static str,
    records: u64,
    as_sent: u64,
    /// The median of new ÷ old.
    median_factor: Option<f64>,
    /// The factor of nearly all changes.
    common_factor: Option<f64>,
    ten_times: u64,
    tenth_or_less: u64,
    zero: u64,
    blank: u64,
    far: u64,
    status: u64,
    examples: Vec<Example>,
}

#[derive(Debug, Serialize)]
struct Example {
    record: String,
    now: String,
    planned: String,
}

/// What becomes of the records that a run has sent, if it is taken back.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct Undone {
    of: RunId,
    returned: u64,
    partly: u64,
    kept: u64,
    cannot: u64,
    as_before: u64,
    taken_back_before: u64,
}

impl Undone {
    pub(in crate::commands) fn of(ways: &WaysBack) -> Undone {
        let WaysBack { of, returned, partly, kept, cannot, as_before, taken_back_before } = *ways;
        Undone { of, returned, partly, kept, cannot, as_before, taken_back_before }
    }
}

impl Changes {
    pub(in crate::commands) fn of(difference: &Difference) -> Changes {
        let Difference {
            new, changed, gone, unchanged, unclear, missing, not_compared, ref why_not, ref fields, ..
        } = *difference;
        Changes {
            new,
            changed,
            gone,
            unchanged,
            not_shown: unclear,
            not_there: missing,
            not_compared,
            why_not: why_not.as_ref().map(ToString::to_string),
            fields: fields.iter().map(ChangedField::of).collect(),
        }
    }
}

impl ChangedField {
    fn of(change: &FieldChange) -> ChangedField {
        let overview = &change.overview;
        // More digits than a person compares would be noise of the division.
        let rounded = |factor: f64| (factor * 10_000.0).round() / 10_000.0;
        let example = |(record, now, planned): &(String, String, String)| Example {
            record: record.clone(),
            now: now.clone(),
            planned: planned.clone(),
        };
        ChangedField {
            field: change.field,
            records: change.records,
            as_sent: change.as_sent,
            median_factor: overview.median().map(rounded),
            common_factor: overview.common_factor().map(|(factor, _)| rounded(factor)),
            ten_times: overview.ten_times,
            tenth_or_less: overview.tenth_or_less,
            zero: overview.zero,
            blank: overview.blank,
            far: overview.far,
            status: overview.status,
            examples: change.samples.iter().map(example).collect(),
        }
    }
}
