//! Counters of a pass over a sheet: records by state, and problems by cause.

use sheetport_findings::Code;
use sheetport_ledger::{Causes, Problem, RecordState, RunId};

use super::profile::Profile;
use super::retry::{RowHistory, RowStatus};

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
    /// A run with an unknown record of this sheet. Its record is not sent again.
    pub unknown_in: Option<RunId>,
    /// Texts changed by a spreadsheet program, such as 000042 to 42, and sent as they were.
    pub respelled: u64,
    /// Number of cells in the longest row.
    pub width: usize,
    pub causes: Causes,
    /// Records to send despite a warning.
    pub warned: u64,
    /// Warnings of records to send and of the file, and what the template says about rows that it leaves out, by cause.
    pub warnings: Causes,
    /// Warnings about the file as a whole, also in `warnings`.
    pub of_file: Vec<Problem>,
    /// Questions about the file that nobody has answered: nothing of it is sent.
    pub questions: Vec<Code>,
    /// The values of the valid records.
    pub profile: Profile,
}

impl Tally {
    /// Counts a rejected record.
    pub fn reject(&mut self, problems: &[Problem]) {
        self.rejected += 1;
        for problem in problems {
            self.causes.add(problem.row.unwrap_or_default(), problem);
        }
    }

    /// Counts the warnings of a record to be sent.
    pub(super) fn warn(&mut self, warnings: &[Problem]) {
        self.warned += u64::from(!warnings.is_empty());
        for warning in warnings {
            self.warnings.add(warning.row.unwrap_or_default(), warning);
        }
    }

    /// Adds what the template says about a record that it leaves out.
    pub(super) fn leave_out(&mut self, remarks: &[Problem]) {
        for remark in remarks {
            self.warnings.add(remark.row.unwrap_or_default(), remark);
        }
    }

    /// Adds a warning about the whole file, which may name a column or a first row.
    pub(super) fn warn_of_file(&mut self, warning: Problem) {
        self.warnings.add(warning.row.unwrap_or_default(), &warning);
        self.of_file.push(warning);
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
