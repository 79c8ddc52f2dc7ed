//! The way back of a record that a run has sent: the request that takes it back, or why there is none. Pure.
//!
//! The contract has no deletion and no undo. A changed record gets the values back that it had before the run, field by field, and only
//! where it still has what the run sent. A movement of stock gets a counter-movement. What a run has created otherwise stays.

mod fields;
mod movement;
mod way;

use sheetport_records::RecordKind;

use way::created;
pub use way::{Now, SentRecord, WayBack};

/// Returns the way back of a record. `now`: milliseconds since 1970, UTC.
pub fn way_back(record: &SentRecord<'_>, now: i64) -> WayBack {
    match record.kind {
        RecordKind::InventoryTransaction if !record.is_update => movement::way_back(record, now),
        RecordKind::Subscription | RecordKind::Invoice => created(record.kind, record.run),
        RecordKind::Item | RecordKind::Order | RecordKind::InventoryTransaction => fields::way_back(record),
    }
}

/// Whether records of a kind that were sent are taken back without knowing what the service had of them before.
pub fn needs_no_look(kind: RecordKind, is_update: bool) -> bool {
    match kind {
        RecordKind::InventoryTransaction => !is_update,
        RecordKind::Subscription | RecordKind::Invoice => true,
        RecordKind::Item | RecordKind::Order => false,
    }
}
