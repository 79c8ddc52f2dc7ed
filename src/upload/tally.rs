//! Counting a pass over a sheet: records by what was decided about them, and problems grouped by cause.

use super::retry::{RowHistory, RowStatus};
use crate::ledger::{Causes, Problem, RecordState, RunId};

/// Rows that are named where only their number counts.
const FIRST_ROWS: usize = 5;

/// What a pass over a sheet decided, in numbers.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub rows: u64,
    pub to_send: u64,
    pub skipped: u64,
    pub rejected: u64,
    /// Not sent because an earlier run did that, which was accepted.
    pub kept: u64,
    /// Rows of those whose cells say something else since, and the first of them.
    pub edited: u64,
    pub first_edited: Vec<u64>,
    /// The run that knows of a record in doubt, which is therefore not sent.
    pub in_doubt: Option<RunId>,
    /// Cells of the longest row.
    pub width: usize,
    pub causes: Causes,
}

impl Tally {
    /// Counts a rejected record.
    pub fn reject(&mut self, problems: &[Problem]) {
        self.rejected += 1;
        for problem in problems {
            self.causes.add(problem.row.unwrap_or_default(), problem);
        }
    }

    /// Notes what is worth a word about a record whose rows were in a run before.
    pub(super) fn look_back(&mut self, is_kept: bool, histories: &[RowHistory]) {
        for history in histories {
            if let RowStatus::Unknown(run) = history.status {
                self.in_doubt = Some(run);
            }
            if is_kept && history.is_edited {
                self.edited += 1;
                if self.first_edited.len() < FIRST_ROWS {
                    self.first_edited.push(history.number);
                }
            }
        }
    }

    /// Counts a record as rejected or skipped that was counted as to be sent.
    pub fn take_back(&mut self, number: u64, state: RecordState, problem: &Problem) {
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
