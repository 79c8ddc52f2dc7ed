//! The records that the file of a plan lacks, as JSON.

use serde::Serialize;
use sheetport_operations::{NotPlanned, PlannedMissing};

use super::cause::{Cause, causes};

/// The records that a file lacks.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct Missing {
    /// The records that the condition of the template selects and that do not have the values to set.
    selected: u64,
    /// Those of them that the file lacks.
    gone: u64,
    /// Those of them for which something is planned.
    planned: u64,
    at_most: String,
    /// Why nothing is planned: `unreadable` or `too_many`.
    not_planned: Option<&'static str>,
    /// Why the identifiers of the file are not known.
    unreadable: Vec<Cause>,
    alike: Vec<Alike>,
}

/// A record whose identifier may be confused with one of the file.
#[derive(Debug, Serialize)]
struct Alike {
    record: String,
    row: Option<u64>,
}

impl Missing {
    pub(in crate::commands) fn of(planned: &PlannedMissing) -> Missing {
        let PlannedMissing { selected, gone, at_most, ref not_planned, ref alike } = *planned;
        let (reason, unreadable) = match not_planned {
            None => (None, Vec::new()),
            Some(NotPlanned::TooMany) => (Some("too_many"), Vec::new()),
            Some(NotPlanned::Unreadable(found)) => (Some("unreadable"), causes(found)),
        };
        Missing {
            selected,
            gone,
            planned: if reason.is_some() { 0 } else { gone },
            at_most: at_most.to_string(),
            not_planned: reason,
            unreadable,
            alike: alike.iter().map(|alike| Alike { record: alike.key.to_string(), row: alike.row }).collect(),
        }
    }

    /// Whether nothing is planned although that was asked for.
    pub(in crate::commands) fn is_held(&self) -> bool {
        self.not_planned.is_some()
    }
}
