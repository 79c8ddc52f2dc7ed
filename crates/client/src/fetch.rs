//! Reads with retries.

use std::time::Duration;

use reqwest::Url;
use sheetport_telemetry as telemetry;
use tokio::time::Instant;

use super::attempt::Client;
use super::error::Error;
use super::next_step::{NextStep, next_step};
use super::outcome::{Quota, Response, TransportOutcome};
use super::pace::Pace;
use super::policy::{Call, LONGEST_WAIT, MAX_ATTEMPTS, MAX_PROBES, backoff, outage_pause};
use super::request::Request;
use super::stop::Stop;

/// A short read without side effects, permitted for every token, to test whether the service answers.
pub const PROBE_PATH: &str = "/v1/public/items?page=1&limit=1";

/// How often a request is repeated.
#[derive(Clone, Copy)]
struct Patience {
    attempts: u32,
    /// Maximum number of 429 responses.
    throttled: u32,
}

/// As the policy says.
const FULL: Patience = Patience { attempts: MAX_ATTEMPTS, throttled: 20 };
/// A single attempt, without retries after a failure. A 429 is not a failure.
const ONE_ATTEMPT: Patience = Patience { attempts: 1, ..FULL };
const NONE: Patience = Patience { attempts: 1, throttled: 0 };

/// Pause before a request for which this machine had no connection, while others are in flight.
const NARROWED: Duration = Duration::from_millis(100);

/// Reads `path` and returns the result of `parse` on the response body. Each attempt takes a permit of `pace`; a pause
/// that the service requests of everybody holds every user of `pace`.
pub async fn fetch<T>(
    client: &Client,
    pace: &Pace,
    path: &str,
    parse: impl FnMut(Vec<u8>) -> Result<T, String>,
) -> Result<T, Error> {
    fetch_with(client, pace, &Request::get(path), FULL, parse).await
}

/// Reads `path` like [`fetch`], up to `max_answer` bytes after decompression.
///
/// # Errors
/// [`Error::TooLong`] for a longer answer, without further attempts.
pub async fn fetch_within<T>(
    client: &Client,
    pace: &Pace,
    path: &str,
    max_answer: usize,
    parse: impl FnMut(Vec<u8>) -> Result<T, String>,
) -> Result<T, Error> {
    fetch_with(client, pace, &Request::get(path).answered_within(max_answer), FULL, parse).await
}

/// Reads `path` like [`fetch_within`], without further attempts after a failure.
pub(crate) async fn try_within<T>(
    client: &Client,
    pace: &Pace,
    path: &str,
    max_answer: usize,
    parse: impl FnMut(Vec<u8>) -> Result<T, String>,
) -> Result<T, Error> {
    fetch_with(client, pace, &Request::get(path).answered_within(max_answer), ONE_ATTEMPT, parse).await
}

/// Reads [`PROBE_PATH`] without retries, as a quick check of address and credentials.
pub async fn check(client: &Client) -> Result<(), Error> {
    fetch_with(client, &Pace::new(None, Instant::now().into_std()), &Request::get(PROBE_PATH), NONE, |_| Ok(())).await
}

async fn fetch_with<T>(
    client: &Client,
    pace: &Pace,
    request: &Request,
    patience: Patience,
    parse: impl FnMut(Vec<u8>) -> Result<T, String>,
) -> Result<T, Error> {
    let span = telemetry::Span::reading(&request.path);
    let fetched = span.within(Box::pin(fetch_patiently(client, pace, request, patience, parse))).await;
    if fetched.is_err() {
        span.failed();
    }
    fetched
}

async fn fetch_patiently<T>(
    client: &Client,
    pace: &Pace,
    request: &Request,
    patience: Patience,
    mut parse: impl FnMut(Vec<u8>) -> Result<T, String>,
) -> Result<T, Error> {
    let (mut attempts, mut throttled, mut was_renewed) = (0, 0, false);
    let answers_at_start = client.answers();
    loop {
        let answers = client.answers();
        while let Err(until) = pace.permit(Instant::now().into_std()) {
            tokio::time::sleep_until(until.into()).await;
        }
        let repeated = attempts + throttled + u32::from(was_renewed);
        let outcome = telemetry::attempt(repeated).within(client.attempt(request)).await.outcome;
        if let Some((left, reset)) = quota(&outcome, client.in_flight()) {
            pace.permit_only(left, (Instant::now() + reset).into_std());
        }
        if let TransportOutcome::Truncated { limit: Some(limit), .. } = &outcome {
            return Err(Error::TooLong(*limit));
        }
        let (after, failure) = match next_step(Call::Idempotent, outcome, &mut parse) {
            NextStep::Done { value, .. } => {
                pace.answered();
                return Ok(value);
            }
            NextStep::Refused(response) => {
                pace.answered();
                return Err(Error::refused(&response, &request.path));
            }
            NextStep::Stop(stop) | NextStep::Unknown { stop: Some(stop), .. } => return Err(stop.into()),
            NextStep::TokenRenewed { reason } if was_renewed => return Err(Stop::Unauthorized(reason).into()),
            NextStep::TokenRenewed { .. } => {
                was_renewed = true;
                continue;
            }
            NextStep::Throttled { after } => {
                throttled += 1;
                if throttled > patience.throttled {
                    return Err(Stop::Throttled.into());
                }
                telemetry::count_repetition(true);
                let pause = after.unwrap_or_else(|| backoff(throttled, true, fastrand::f64()));
                let until = (Instant::now() + pause).into_std();
                pace.hold(until);
                pace.share_pause(until);
                continue;
            }
            // Another request ends soon, and leaves its connection.
            NextStep::Narrowed(_) if client.in_flight() > 0 => {
                tokio::time::sleep(NARROWED).await;
                continue;
            }
            NextStep::Narrowed(shortage) => (None, shortage.into()),
            NextStep::Retry { after, failure } | NextStep::Unknown { after, failure, .. } => (after, failure),
        };
        let everybody = after.and_then(|wait| pace.asked_to_wait((Instant::now() + wait).into_std(), failure.status()));
        if let Some(until) = everybody {
            pace.hold(until);
            pace.share_pause(until);
        }
        attempts += 1;
        if attempts < patience.attempts {
            telemetry::count_repetition(false);
            let wait = after.unwrap_or_else(|| backoff(attempts, false, fastrand::f64()));
            tokio::time::sleep(wait).await;
            continue;
        }
        // Nobody gets an answer, but somebody did before: the service may be restarting.
        let probes = attempts - patience.attempts;
        let is_outage = patience.attempts > 1 && answers_at_start > 0 && client.answers() == answers;
        if !is_outage || probes >= MAX_PROBES {
            return Err(Error::failed(failure, &request.path));
        }
        telemetry::count_repetition(false);
        pace.hold((Instant::now() + outage_pause(probes + 1)).into_std());
    }
}

/// Returns the number of requests that the service accepts in addition to the requests in flight, and the time until the quota
/// resets, if announced.
fn quota(outcome: &TransportOutcome, in_flight: u64) -> Option<(u64, Duration)> {
    let TransportOutcome::Response(Response { quota: Some(Quota { remaining, reset }), .. }) = outcome else {
        return None;
    };
    (*reset <= LONGEST_WAIT).then_some((remaining.saturating_sub(in_flight), *reset))
}

/// Returns the path of a single record: `list` and the id as one segment. With `by_external_id` the id is also the query
/// parameter `external_id`. Returns `None` for `.`, `..` and the empty id.
pub fn record_path(list: &str, id: &str, by_external_id: bool) -> Option<String> {
    // URLs resolve these, even percent-encoded.
    if matches!(id, "" | "." | "..") {
        return None;
    }
    let mut url = Url::parse("http://host").ok()?;
    url.path_segments_mut().ok()?.extend(list.split('/').filter(|segment| !segment.is_empty())).push(id);
    if by_external_id {
        url.query_pairs_mut().append_pair("external_id", id);
    }
    url.as_str().strip_prefix("http://host").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::record_path;

    #[test]
    fn an_id_is_one_path_segment() {
        let path = |id, external| record_path("/v1/public/orders", id, external);
        assert_eq!(path("42", false).as_deref(), Some("/v1/public/orders/42"));
        assert_eq!(path("a/b?c#d e%", false).as_deref(), Some("/v1/public/orders/a%2Fb%3Fc%23d%20e%25"));
        assert_eq!(path("ä&b", true).as_deref(), Some("/v1/public/orders/%C3%A4&b?external_id=%C3%A4%26b"));
        assert_eq!([path("..", false), path(".", false), path("", false)], [None, None, None]);
    }
}
