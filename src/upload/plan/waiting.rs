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

impl Record {
    /// Whether the record is compared with earlier records by content: valid, without a name.
    pub(super) fn may_be_copied(&self) -> bool {
        let Request { key, target, .. } = &self.request;
        matches!(self.decision, Decision::Send | Decision::AcceptedEarlier(_)) && key.is_empty() && target.is_empty()
    }

    pub(super) fn add_problem(&mut self, problem: Problem) {
        let decision = std::mem::replace(&mut self.decision, Decision::Send);
        self.decision = decision.with_problem(problem);
    }
}
