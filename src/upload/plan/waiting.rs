//! Records in the order of the sheet that wait for further rows, or for earlier records.

use super::checks::repeated::RepeatedLines;
use super::decision::Decision;
use super::request::Request;
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
    /// The histories of the rows, if the file is a report.
    pub histories: Vec<RowHistory>,
}

/// A record with all rows.
pub(super) struct Record {
    pub request: Request,
    /// The text of the group columns, for kinds without a key. Otherwise empty.
    pub name: String,
    pub rows: Vec<u64>,
    pub decision: Decision,
    pub warnings: Vec<Problem>,
}
