//! Rows without a name in the report of a check or rehearsal: each says to which row it belonged, since the rows of a report may be sorted. No
//! ledger knows the rows of the file. Pure.

use std::collections::{HashMap, HashSet};

use sheetport_ledger::{BelowMark, Problem, Seq};
use sheetport_mapping::Layout;
use sheetport_mapping::bind::report_column;
use sheetport_sheet::Row;

use super::history::strayed_below;

/// The place of a row in the file of a check, according to its report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedRow {
    number: u64,
    /// The row with the name of its record, if it has none itself.
    below: Option<u64>,
}

impl CheckedRow {
    /// Returns the place of a row, or `None` for a row that was added to the report.
    pub(crate) fn of(row: &Row, layout: &Layout) -> Option<CheckedRow> {
        let text = |column| Some(row.get(report_column(&layout.header.names, column)?).shown());
        let number = text("row")?.trim().parse().ok()?;
        Some(CheckedRow { number, below: BelowMark::read(&text("run")?).map(|BelowMark(row)| row) })
    }
}

/// The records of the report of a check.
#[derive(Debug, Default)]
pub(crate) struct CheckedRecords {
    /// First rows in the file of records that lack a row now.
    torn: Vec<u64>,
    /// Records to be sent, with the first row in the report, by the first row in the file.
    to_send: HashMap<u64, (Seq, u64)>,
    withdrawn: HashSet<Seq>,
}

impl CheckedRecords {
    /// Returns the problem of the row `number` without a name, if it stood below another row than the first one of the record above.
    pub(crate) fn check_strayed(
        &mut self,
        number: u64,
        row: Option<CheckedRow>,
        first: Option<CheckedRow>,
    ) -> Option<Problem> {
        let below = row?.below.filter(|below| first.is_none_or(|first| first.number != *below))?;
        self.torn.push(below);
        Some(strayed_below(number))
    }

    /// Notes a row without a name that no record stands above.
    pub(crate) fn note_torn(&mut self, row: Option<CheckedRow>) {
        self.torn.extend(row.and_then(|row| row.below));
    }

    /// Notes a record to be sent, which begins with the row `row` of the report.
    pub(crate) fn send(&mut self, first: CheckedRow, seq: Seq, row: u64) {
        self.to_send.insert(first.number, (seq, row));
    }

    /// Notes that a record is not sent after all.
    pub(crate) fn withdraw(&mut self, seq: Seq) {
        if !self.to_send.is_empty() {
            self.withdrawn.insert(seq);
        }
    }

    /// Returns the records to be sent that lack a row, with their first rows.
    pub(crate) fn torn(&mut self) -> Vec<(Seq, u64)> {
        let torn = std::mem::take(&mut self.torn).into_iter().filter_map(|first| self.to_send.remove(&first));
        torn.filter(|(seq, _)| !self.withdrawn.contains(seq)).collect()
    }
}
