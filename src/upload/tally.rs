//! Counters of a pass over a sheet: records by state, and problems by cause.

use super::retry::{RowHistory, RowStatus};
use crate::ledger::{Causes, Problem, RecordState, RunId};

/// Maximum number of row numbers in a message.
const FIRST_ROWS: usize = 5;

/// Counters of a pass over a sheet.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub rows: u64,
    pub to_send: u64,
    pub skipped: u64,
    pub rejected: u64,
    /// Records accepted in an earlier run and not sent again.
    pub accepted_earlier: u64,
    /// Rows of these records with edited cells.
    pub edited: u64,
    /// Numbers of the first edited rows.
    pub first_edited: Vec<u64>,
    /// A run with an unknown record of this sheet, which is not sent again.
    pub unknown_in: Option<RunId>,
    /// Number of cells in the longest row.
    pub width: usize,
    pub causes: Causes,
    /// Rules that do not hold for records to send.
    pub warnings: Causes,
}

impl Tally {
    /// Counts a rejected record.
    pub fn reject(&mut self, problems: &[Problem]) {
        self.rejected += 1;
        for problem in problems {
            self.causes.add(problem.row.unwrap_or_default(), problem);
        }
    }

    /// Counts edited rows of accepted records, and notes runs with unknown records.
    pub(super) fn count_histories(&mut self, is_accepted: bool, histories: &[RowHistory]) {
        for history in histories {
            if let RowStatus::Unknown(run) = history.status {
                self.unknown_in = Some(run);
            }
            if is_accepted && history.is_edited {
                self.edited += 1;
                if self.first_edited.len() < FIRST_ROWS {
                    self.first_edited.push(history.number);
                }
            }
        }
    }

    /// Moves a record from `to_send` to rejected or skipped.
    pub fn withdraw(&mut self, number: u64, state: RecordState, problem: &Problem) {
        self.to_send -= 1;
        match state {
            RecordState::Skipped => self.skipped += 1,
            _ => {
                self.rejected += 1;
                self.causes.add(number, problem);
            }
        }
    }
}
