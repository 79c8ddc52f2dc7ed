//! The decision about a record while the sheet is read.

use sheetport_ledger::{AcceptedEarlier, Problem, SkipReason};

pub(crate) enum Decision {
    Send,
    Skip(SkipReason),
    Reject(Vec<Problem>),
    AcceptedEarlier(AcceptedEarlier),
}

impl Decision {
    /// Returns the decision after `problem` was found. Records not to be sent are unaffected.
    pub(crate) fn with_problem(self, problem: Problem) -> Decision {
        match self {
            Decision::Send => Decision::Reject(vec![problem]),
            Decision::Reject(mut problems) => {
                problems.push(problem);
                Decision::Reject(problems)
            }
            Decision::Skip(_) | Decision::AcceptedEarlier(_) => self,
        }
    }
}
