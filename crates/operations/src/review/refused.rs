//! The rows that the service refused in the last run of a file, to be corrected and sent again.

use std::collections::HashSet;

use sheetport_ledger::{Problem, Run};

use super::edit_log::EditLog;

/// The refused rows of a run.
#[derive(Debug, Default)]
pub struct Refused {
    /// The service's words with the row of each, ordered by row.
    pub problems: Vec<(u64, Problem)>,
    /// When the run began. Edits made later correct its rows.
    at: i64,
}

impl Refused {
    pub fn of(run: &Run, mut problems: Vec<(u64, Problem)>) -> Refused {
        problems.sort_by_key(|(row, _)| *row);
        Refused { problems, at: run.created_at }
    }

    /// Returns the numbers of the rows, each once, in order.
    pub fn rows(&self) -> Vec<u64> {
        let mut rows: Vec<u64> = self.problems.iter().map(|(row, _)| *row).collect();
        rows.dedup();
        rows
    }

    /// Returns what the service said of a row.
    pub fn of_row(&self, row: u64) -> &[(u64, Problem)] {
        let start = self.problems.partition_point(|(of, _)| *of < row);
        let end = self.problems.partition_point(|(of, _)| *of <= row);
        &self.problems[start..end]
    }

    /// Returns all rows of the sheet that were edited after the run.
    pub fn edited_since(&self, log: &EditLog, sheet: usize) -> HashSet<u64> {
        log.edited_since(self.at, sheet)
    }

    /// Returns how many of the rows were edited after the run and are not left out.
    pub fn corrected(&self, log: &EditLog, sheet: usize) -> usize {
        if self.problems.is_empty() {
            return 0;
        }
        let edited = self.edited_since(log, sheet);
        let is_corrected = |row: &u64| edited.contains(row) && !log.current().leaves_out(sheet, *row);
        self.rows().iter().filter(|row| is_corrected(row)).count()
    }
}
