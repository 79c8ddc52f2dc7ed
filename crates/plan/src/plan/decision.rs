//! The decision about a record while the sheet is read.

use serde::de::IgnoredAny;
use sheetport_findings::Code;
use sheetport_ledger::{AcceptedEarlier, Disposition, Problem, SkipReason};

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

/// Returns the disposition of a record to be sent, after checking the body for valid JSON.
pub(crate) fn to_send(body: String) -> Disposition {
    match serde_json::from_str::<IgnoredAny>(&body) {
        Ok(_) => Disposition::Send(body.into_boxed_str()),
        Err(error) => Disposition::Rejected(vec![Problem {
            remedy: "this is a bug in sheetport; please report it".to_owned(),
            ..Problem::of_record(Code::Unsendable, format!("can't be written as JSON: {error}"))
        }]),
    }
}
