//! The request of a job, and the outcome from its response.

use sheetport_client::Request;
use sheetport_findings::Code;
use sheetport_ledger::{Outcome, Problem, RecordState};
use sheetport_records::RecordKind;

use super::places::{Place, places};
use crate::dispatch::{Job, Settled};

pub(super) fn request(kind: RecordKind, job: &Job) -> Request {
    let call = kind.input().call(job.target.is_some()).expect("checked when the record was loaded");
    let path = call.path(job.target.as_deref().unwrap_or("")).expect("checked when the record was loaded");
    Request::write(call.method, path, job.body.clone(), job.call).with_idempotency_key(job.idempotency_key.clone())
}

/// Returns the ledger's outcome of a settled job.
pub(super) fn outcome(kind: RecordKind, settled: Settled, at: i64) -> Outcome {
    let Settled { job, state, http_status, result } = settled;
    let remedy = match http_status {
        Some(404) if job.target.is_some() => no_such_record(kind),
        _ => String::new(),
    };
    let problem = |Place { field, row }: Place, message: String| Problem {
        field,
        row,
        remedy: remedy.clone(),
        ..Problem::of_record(Code::Service, message)
    };
    let problems = match state {
        RecordState::Sent => Vec::new(),
        _ if result.errors.is_empty() => {
            let message = match result.status.as_deref() {
                Some(status) => format!("the service answered with the status '{status}'"),
                None => "the service refused the record without a reason".to_owned(),
            };
            vec![problem(Place::default(), message)]
        }
        _ => {
            let places = places(kind, &job.body, &job.rows, &result.errors);
            places.into_iter().zip(result.errors).map(|(place, error)| problem(place, error.message)).collect()
        }
    };
    Outcome {
        http_status,
        service_status: result.status,
        service_id: result.service_id,
        ctx_id: result.ctx_id,
        job_id: result.job_id,
        problems,
        attempts: job.requests,
        ..Outcome::new(job.seq, state, at)
    }
}

/// Returns a remedy for a missing record in an update.
fn no_such_record(kind: RecordKind) -> String {
    let input = kind.input();
    match input.create {
        None => format!(
            "the service changes {} and creates none: create this one there, or correct its number",
            input.plural
        ),
        Some(_) => "correct the id, or leave it out to create a new record".to_owned(),
    }
}
