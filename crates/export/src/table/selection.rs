//! Which records of a list are new or have changed.

use sheetport_client::pages::Entry;

use crate::changes::PreviousRecords;
use crate::value::text;

/// Selects records by their last change.
#[derive(Debug)]
pub(crate) enum Selection {
    All,
    /// Records changed at or after this time, and records without `updated_at`.
    Since(jiff::Timestamp),
    /// Records that are new or changed since the previous export. All records if there is none.
    ChangedFrom(Option<PreviousRecords>),
}

impl Selection {
    /// Returns whether a record is new or has changed.
    pub(crate) fn has_changed(&self, entry: &Entry<'_>) -> bool {
        match self {
            Selection::All | Selection::ChangedFrom(None) => true,
            Selection::Since(moment) => {
                let updated_at: Option<jiff::Timestamp> = text(entry.field("updated_at")).parse().ok();
                updated_at.is_none_or(|updated_at| updated_at >= *moment)
            }
            Selection::ChangedFrom(Some(previous)) => !previous.contains(entry),
        }
    }
}
