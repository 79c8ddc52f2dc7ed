//! What is noted of a record whose fate is decided.

use crate::client::answer;
use crate::ledger::{Outcome, OutcomeState, Problem, Seq};
use crate::upload::dispatch::{Settled, Verdict};

/// The outcome of a record whose request was cut off by our own end.
pub(super) fn cut_off(seq: Seq, requests: u32, at: i64) -> Outcome {
    let problem = Problem::of_record("service", "no answer had come when the run was stopped");
    Outcome { problems: vec![problem], attempts: requests, ..Outcome::new(seq, OutcomeState::Unknown, at) }
}

pub(super) fn outcome(settled: Settled, at: i64) -> Outcome {
    let Settled { job, verdict } = settled;
    let (state, http_status, read) = match verdict {
        Verdict::Sent { status, read } => (OutcomeState::Sent, Some(status), read),
        Verdict::Failed { status, read } => (OutcomeState::Failed, status, read),
        Verdict::Unknown { status, reason } => {
            let errors = vec![answer::Said { field: None, message: reason }];
            (OutcomeState::Unknown, status, answer::Read { errors, ..answer::Read::default() })
        }
    };
    let problems = match state {
        OutcomeState::Sent => Vec::new(),
        _ if read.errors.is_empty() => {
            vec![said(None, format!("the service answered with the status '{}'", read.status.as_deref().unwrap_or("")))]
        }
        _ => read.errors.into_iter().map(|error| said(error.field, error.message)).collect(),
    };
    Outcome {
        http_status,
        service_status: read.status,
        service_id: read.service_id,
        ctx_id: read.ctx_id,
        job_id: read.job_id,
        problems,
        attempts: job.requests,
        ..Outcome::new(job.seq, state, at)
    }
}

fn said(field: Option<String>, message: String) -> Problem {
    Problem { field: field.unwrap_or_default(), ..Problem::of_record("service", message) }
}
