//! Responses that replace the regular ones, and responses that end early.

use std::time::{Duration, SystemTime};

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::time::sleep;

use super::plan::{Answer, Ending};
use super::refusals::refusal;
use super::request_keys::Subject;
use crate::response::{ErrorResponse, Refusal};

/// Pause between two bytes of a dripping response.
const DRIP: Duration = Duration::from_millis(20);

impl Answer {
    /// Returns the response for a request. The `Date` of responses is `ahead` of the clock by some seconds.
    pub(super) fn response(&self, subject: &Subject, ctx_id: &str, ahead: i64) -> Response {
        let mut response = match &self.body {
            Some(body) => (self.status, body.clone()).into_response(),
            None if !self.refused.is_empty() => {
                let mut response = (self.status, refusal(subject, &self.refused, ctx_id)).into_response();
                response.extensions_mut().insert(Refusal::new(&self.refused));
                response
            }
            None if self.status.is_client_error() || self.status.is_server_error() => {
                let message = self.message.as_deref().unwrap_or("injected fault");
                ErrorResponse::new(self.status, message).with_errors(self.errors.clone()).into_response()
            }
            None => self.status.into_response(),
        };
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after_date {
            // Clients subtract the two dates, so both are of the same moment.
            let now = shifted_now(ahead);
            set(headers, header::DATE, &httpdate::fmt_http_date(now));
            let then = now.checked_add(Duration::from_secs(seconds)).unwrap_or(now);
            set(headers, header::RETRY_AFTER, &httpdate::fmt_http_date(then));
        }
        headers.extend(self.headers.clone());
        response
    }
}

fn set(headers: &mut HeaderMap, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Moves the `Date` of a response by some seconds, unless a fault has set it.
pub(super) fn set_date(headers: &mut HeaderMap, ahead: i64) {
    if !headers.contains_key(header::DATE) {
        set(headers, header::DATE, &httpdate::fmt_http_date(shifted_now(ahead)));
    }
}

/// Returns the time `ahead` of the clock by some seconds.
fn shifted_now(ahead: i64) -> SystemTime {
    let now = SystemTime::now();
    let shift = Duration::from_secs(ahead.unsigned_abs());
    let date = if ahead < 0 { now.checked_sub(shift) } else { now.checked_add(shift) };
    date.unwrap_or(now)
}

/// The connection is closed on purpose.
#[derive(Debug, thiserror::Error)]
#[error("connection closed by fault injection")]
pub(crate) struct Closed;

/// Marks a response to end like this.
pub(super) fn with_ending(mut response: Response, ending: Ending) -> Response {
    response.extensions_mut().insert(ending);
    response
}

/// Returns the response to send, or an error that closes the connection. Call this on complete responses, after error bodies were
/// added.
pub(crate) async fn deliver(mut response: Response) -> Result<Response, Closed> {
    let Some(ending) = response.extensions_mut().remove::<Ending>() else { return Ok(response) };
    if ending == Ending::Reset {
        return Err(Closed);
    }
    if ending == Ending::Hang {
        return std::future::pending().await;
    }
    let (mut parts, body) = response.into_parts();
    let whole = to_bytes(body, usize::MAX).await.map_err(|_| Closed)?;
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(whole.len()));
    let body = match ending {
        Ending::Drip => drip(whole),
        Ending::Garbage => Body::from((0..whole.len()).map(|_| fastrand::u8(..)).collect::<Vec<u8>>()),
        Ending::Cut | Ending::Reset | Ending::Hang => half(&whole),
    };
    Ok(Response::from_parts(parts, body))
}

fn half(whole: &Bytes) -> Body {
    let half = whole.slice(..whole.len() / 2);
    Body::from_stream(stream::unfold(Some(half), |half| async move {
        match half {
            Some(half) => Some((Ok(half), None)),
            None => {
                // Lets the connection flush the first half before the error.
                tokio::task::yield_now().await;
                Some((Err(Closed), None))
            }
        }
    }))
}

fn drip(whole: Bytes) -> Body {
    Body::from_stream(stream::unfold(whole, |mut rest| async move {
        if rest.is_empty() {
            return None;
        }
        sleep(DRIP).await;
        Some((Ok::<_, Closed>(rest.split_to(1)), rest))
    }))
}
