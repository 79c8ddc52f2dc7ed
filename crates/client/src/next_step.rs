//! Applies the retry policy to the outcome of an attempt, for reads and writes alike.

use std::time::Duration;

use super::outcome::{Response, Shortage, TransportOutcome, answered, service_message};
use super::policy::{self, Action, Call, LONGEST_WAIT, Outcome, SHORTEST_THROTTLE, decide};
use super::stop::Stop;

/// The next step after an attempt. `T` is the parsed body of a success.
#[derive(Debug, PartialEq)]
pub enum NextStep<T> {
    Done {
        status: u16,
        value: T,
    },
    /// The service refused the request.
    Refused(Response),
    /// Try again after Retry-After (`after`) or a backoff.
    Retry {
        after: Option<Duration>,
        failure: Failure,
    },
    /// Nobody may send for a while; then try again.
    Throttled {
        after: Option<Duration>,
    },
    /// Send the request again when fewer are in flight. Alone in flight, it can't be sent at all for now.
    Narrowed(Shortage),
    /// Send the request again with the renewed token, but only once.
    TokenRenewed {
        reason: String,
    },
    /// The request may have been applied and must not be repeated.
    Unknown {
        after: Option<Duration>,
        failure: Failure,
        /// Reason to send nothing else.
        stop: Option<Stop>,
    },
    Stop(Stop),
}

impl From<Shortage> for Failure {
    /// Returns the failure of a request that was alone in flight, so that fewer are of no help.
    fn from(shortage: Shortage) -> Failure {
        Failure::NotSent(format!("{shortage}: {}", shortage.hint()))
    }
}

/// Why an attempt brought no usable result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    NotSent(String),
    #[error("{0}")]
    NoAnswer(String),
    /// A 2xx response with a truncated or invalid body.
    #[error("{reason}")]
    Unreadable { status: u16, reason: String },
    #[error("{}", answered(*status, message.as_deref()))]
    Status {
        status: u16,
        message: Option<String>,
        /// Where a redirect leads.
        to: Option<String>,
    },
}

impl Failure {
    /// Returns whether the service may have applied the request. Returns false if the request was not sent, or if the status
    /// rules it out.
    pub fn may_be_applied(&self) -> bool {
        match self {
            Failure::NotSent(_) => false,
            Failure::NoAnswer(_) | Failure::Unreadable { .. } => true,
            Failure::Status { status, .. } => decide(Call::NonIdempotent, Outcome::Status(*status)) == Action::Unknown,
        }
    }

    /// Returns the status, or `None` if no response arrived.
    pub fn status(&self) -> Option<u16> {
        match self {
            Failure::NotSent(_) | Failure::NoAnswer(_) => None,
            Failure::Unreadable { status, .. } | Failure::Status { status, .. } => Some(*status),
        }
    }
}

/// Returns the next step after an attempt. `parse` reads the body of a success, and fails with a reason if the body is
/// invalid.
pub fn next_step<T>(
    call: Call,
    outcome: TransportOutcome,
    parse: impl FnOnce(Vec<u8>) -> Result<T, String>,
) -> NextStep<T> {
    let action = decide(call, outcome.kind());
    let (failure, wait) = match outcome {
        TransportOutcome::TokenRenewed { reason } => return NextStep::TokenRenewed { reason },
        TransportOutcome::Unauthorized { reason } => return NextStep::Stop(Stop::Unauthorized(reason)),
        TransportOutcome::Untrusted(problem) => return NextStep::Stop(Stop::Untrusted(problem)),
        TransportOutcome::Short(shortage) => return NextStep::Narrowed(shortage),
        TransportOutcome::NotSent { reason } => (Failure::NotSent(reason), None),
        TransportOutcome::NoResponse { reason } => (Failure::NoAnswer(reason), None),
        TransportOutcome::Truncated { status, reason, .. } => (Failure::Unreadable { status, reason }, None),
        TransportOutcome::Response(response) => match action {
            Action::Accept => {
                let status = response.status;
                return match parse(response.body) {
                    Ok(value) => NextStep::Done { status, value },
                    Err(reason) => {
                        after_failure(decide(call, Outcome::Unreadable), Failure::Unreadable { status, reason }, None)
                    }
                };
            }
            Action::Fail => return NextStep::Refused(response),
            _ => {
                let wait = response.retry_after.as_deref().and_then(policy::parse_retry_after);
                let message = service_message::summary(&response.body);
                let failure = Failure::Status {
                    status: response.status,
                    message,
                    to: response.redirect.map(|redirect| redirect.to),
                };
                (failure, wait.map(|wait| wait.max(SHORTEST_THROTTLE)))
            }
        },
    };
    after_failure(action, failure, wait)
}

/// Returns the next step after an attempt without a usable result.
fn after_failure<T>(action: Action, failure: Failure, wait: Option<Duration>) -> NextStep<T> {
    let too_long = wait.filter(|wait| *wait > LONGEST_WAIT).map(Stop::WaitTooLong);
    match (action, too_long) {
        (Action::Retry | Action::Throttle, Some(stop)) => NextStep::Stop(stop),
        (Action::Retry, None) => NextStep::Retry { after: wait, failure },
        (Action::Throttle, None) => NextStep::Throttled { after: wait },
        (Action::RenewToken, _) => NextStep::Stop(Stop::Unauthorized(failure.to_string())),
        (Action::Stop, _) => NextStep::Stop(stop_for(&failure)),
        (Action::UnknownAndStop, _) => {
            let stop = Some(stop_for(&failure));
            NextStep::Unknown { after: None, failure, stop }
        }
        // Without a result, neither acceptance nor refusal is certain.
        (Action::Unknown | Action::Accept | Action::Fail | Action::Narrow, stop) => {
            NextStep::Unknown { after: wait, failure, stop }
        }
    }
}

fn stop_for(failure: &Failure) -> Stop {
    match failure {
        Failure::Status { status, to, .. } => Stop::for_status(*status, to.as_deref()),
        Failure::Unreadable { status, .. } => Stop::for_status(*status, None),
        Failure::NotSent(reason) | Failure::NoAnswer(reason) => Stop::Unreachable(reason.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, retry_after: Option<&str>) -> TransportOutcome {
        let retry_after = retry_after.map(str::to_owned);
        TransportOutcome::Response(Response { status, body: Vec::new(), retry_after, redirect: None, quota: None })
    }

    fn after(call: Call, status: u16, retry_after: &str) -> NextStep<()> {
        next_step(call, response(status, Some(retry_after)), |_| Err("unreadable".to_owned()))
    }

    #[test]
    fn the_pause_that_the_service_asks_for_has_a_minimum_and_a_maximum() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for (header, expected) in [("soon", None), ("0", seconds(1)), ("7", seconds(7)), ("900", seconds(900))] {
            let throttled = NextStep::Throttled { after: expected };
            assert_eq!(after(Call::Idempotent, 429, header), throttled);
            assert_eq!(after(Call::NonIdempotent, 429, header), throttled);
            for status in [423, 503] {
                let step = after(Call::Idempotent, status, header);
                assert!(matches!(step, NextStep::Retry { after, .. } if after == expected), "{step:?}");
            }
            let step = after(Call::NonIdempotent, 503, header);
            assert!(matches!(step, NextStep::Unknown { after, stop: None, .. } if after == expected), "{step:?}");
        }
    }

    #[test]
    fn a_longer_pause_stops_the_run() {
        for (header, seconds) in [("901", 901), ("99999999999999999999", u64::MAX)] {
            let stop = Stop::WaitTooLong(Duration::from_secs(seconds));
            assert_eq!(after(Call::NonIdempotent, 429, header), NextStep::Stop(stop.clone()));
            assert_eq!(after(Call::Idempotent, 503, header), NextStep::Stop(stop.clone()));
            let step = after(Call::NonIdempotent, 503, header);
            assert!(matches!(step, NextStep::Unknown { stop: Some(found), .. } if found == stop));
            assert!(matches!(after(Call::Idempotent, 422, header), NextStep::Refused(_)), "a refusal is final");
        }
    }

    #[test]
    fn an_unreadable_success_counts_as_a_lost_response() {
        for outcome in
            [response(200, None), TransportOutcome::Truncated { status: 200, reason: "cut".into(), limit: None }]
        {
            let step = |call| next_step(call, outcome.clone(), |_| Err::<(), _>("unreadable".to_owned()));
            assert!(matches!(step(Call::Idempotent), NextStep::Retry { after: None, .. }));
            assert!(matches!(step(Call::NonIdempotent), NextStep::Unknown { after: None, stop: None, .. }));
        }
        assert_eq!(
            next_step(Call::NonIdempotent, response(201, None), Ok),
            NextStep::Done { status: 201, value: Vec::new() }
        );
    }

    #[test]
    fn redirects_and_proxies_stop_the_run() {
        let step = |call, status| next_step::<()>(call, response(status, None), |_| Ok(()));
        for call in [Call::Idempotent, Call::NonIdempotent] {
            assert_eq!(step(call, 407), NextStep::Stop(Stop::ProxyCredentials));
        }
        assert_eq!(step(Call::Idempotent, 302), NextStep::Stop(Stop::Redirected { status: 302, to: None }));
        for status in [302, 303, 307] {
            let created = step(Call::NonIdempotent, status);
            assert!(matches!(created, NextStep::Unknown { stop: Some(Stop::Redirected { .. }), .. }), "{created:?}");
        }
    }
}
