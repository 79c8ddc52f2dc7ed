//! Records in the order of the sheet that wait for further rows, or for earlier records.

use super::decision::Decision;
use super::repeated::RepeatedLines;
use crate::ledger::Problem;
use crate::template::map::Parts;
use crate::upload::retry::RowHistory;

pub(super) enum Waiting {
    Incomplete(Incomplete),
    Complete(Record),
}

/// A record that may have further rows.
pub(super) struct Incomplete {
    /// The text of the group columns.
    pub group: Box<str>,
    pub parts: Parts,
    pub lines: RepeatedLines,
    pub problems: Vec<Problem>,
    /// Warnings about rows, in addition to those of the parts.
    pub warnings: Vec<Problem>,
    /// The histories of the rows, if the file is a report.
    pub histories: Vec<RowHistory>,
}

/// A record with all rows.
pub(super) struct Record {
    /// Empty without a key.
    pub key: String,
    /// The text of the group columns, for kinds without a key. Otherwise empty.
    pub name: String,
    pub target: String,
    /// Values that no other record can have.
    pub unique: Vec<(usize, String)>,
    pub rows: Vec<u64>,
    pub decision: Decision,
    pub warnings: Vec<Problem>,
    /// Empty if only the tally is wanted.
    pub body: Vec<u8>,
}
