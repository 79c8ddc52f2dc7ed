//! Counting a pass over a sheet: records by what was decided about them, and problems grouped by cause.

use crate::ledger::{Causes, OutcomeState, Problem};

/// What a pass over a sheet decided, in numbers.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub rows: u64,
    pub to_send: u64,
    pub skipped: u64,
    pub rejected: u64,
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

    /// Counts a record as rejected or skipped that was counted as to be sent.
    pub fn take_back(&mut self, number: u64, state: OutcomeState, problem: &Problem) {
        self.to_send -= 1;
        match state {
            OutcomeState::Skipped => self.skipped += 1,
            _ => {
                self.rejected += 1;
                self.causes.add(number, problem);
            }
        }
    }
}
