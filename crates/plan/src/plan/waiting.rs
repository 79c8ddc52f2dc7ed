//! Records in the order of the sheet that wait for further rows, or for earlier records.

use std::thread;

use sheetport_ledger::{Disposition, Problem, Seq};
use sheetport_mapping::map::Gathered;

use super::checks::repeated::RepeatedLines;
use super::request::Request;
use super::row::{Finished, RowMapper, mapping_threads};
use crate::retry::{CheckedRow, RowHistory};

/// The memory for an incomplete record or a problem, in addition to the texts, in bytes.
pub(super) const OVERHEAD: usize = 200;

pub(super) enum Waiting {
    Incomplete(Incomplete),
    Complete(Record),
}

/// A record that may have further rows.
pub(super) struct Incomplete {
    /// The text of the group columns.
    pub group: Box<str>,
    pub gathered: Gathered,
    pub lines: RepeatedLines,
    pub problems: Vec<Problem>,
    /// The histories of the rows, if the file is a report.
    pub histories: Vec<RowHistory>,
    /// Where the first row was in the first file, if the file is the report of a check.
    pub checked: Option<CheckedRow>,
    /// The result of [`Incomplete::finish`].
    pub finished: Option<Box<Finished>>,
}

impl Incomplete {
    /// Checks the record and writes its request, once all its rows are known. Later calls return the first result. `table` is the
    /// table of its first row.
    pub(super) fn finish(&mut self, rows: &RowMapper<'_>, table: usize) -> Box<Finished> {
        self.finished.take().unwrap_or_else(|| {
            let mut finished = Box::default();
            rows.finish((table, None), &mut self.gathered, &mut finished);
            finished
        })
    }
}

/// Finishes the incomplete records on several threads, once they have no further rows. `table_of` returns the table with the first
/// row of a record.
pub(super) fn finish_all<'w>(
    records: impl Iterator<Item = (Seq, &'w mut Waiting)>,
    rows: &RowMapper<'_>,
    table_of: impl Fn(Seq) -> usize,
) {
    let incomplete = records.filter_map(|(seq, waiting)| match waiting {
        Waiting::Incomplete(record) => Some((table_of(seq), record)),
        Waiting::Complete(_) => None,
    });
    let mut incomplete: Vec<(usize, &mut Incomplete)> = incomplete.collect();
    let per_thread = incomplete.len().div_ceil(mapping_threads()).max(1);
    thread::scope(|scope| {
        for records in incomplete.chunks_mut(per_thread) {
            scope.spawn(move || {
                for (table, record) in records {
                    record.finished = Some(record.finish(rows, *table));
                }
            });
        }
    });
}

/// A record with all rows.
pub(super) struct Record {
    pub request: Request,
    /// The text of the group columns, for kinds without a key. Otherwise empty.
    pub name: String,
    pub rows: Vec<u64>,
    /// As in [`Incomplete`].
    pub checked: Option<CheckedRow>,
    pub decision: Disposition<()>,
    pub warnings: Vec<Problem>,
}

impl Record {
    /// Whether the record is compared with earlier records by content: valid, without a name.
    pub(super) fn may_be_copied(&self) -> bool {
        let Request { key, target, .. } = &self.request;
        matches!(self.decision, Disposition::Send(()) | Disposition::AcceptedEarlier(_))
            && key.is_empty()
            && target.is_empty()
    }

    pub(super) fn add_problem(&mut self, problem: Problem) {
        let decision = std::mem::replace(&mut self.decision, Disposition::Send(()));
        self.decision = decision.with_problem(problem);
    }
}

/// Returns the memory for problems in bytes.
pub(super) fn problem_bytes(problems: &[Problem]) -> usize {
    problems.iter().map(|problem| OVERHEAD + problem.value.len()).sum()
}
