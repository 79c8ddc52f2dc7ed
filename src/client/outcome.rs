//! Outcome of an attempt, before the retry policy.

use std::collections::HashSet;

use secrecy::{ExposeSecret, SecretString};

use super::policy::Outcome;
use super::service_message;
use super::transport::rate_headers::Quota;
use super::transport::tls_problem::TlsProblem;

/// Maximum size of the response to a write. Each worker may hold a response in memory.
pub(super) const MAX_RESULT: usize = 1 << 20;

/// How an attempt ended.
#[derive(Clone, Debug)]
pub enum TransportOutcome {
    /// A response. Outside 2xx the body may be incomplete: the status is enough.
    Response(Response),
    /// A 2xx response with a truncated or oversized body.
    Truncated {
        status: u16,
        reason: String,
        /// The limit in bytes, if the body is longer.
        limit: Option<usize>,
    },
    /// No connection was established, so the service cannot have seen the request.
    NotSent { reason: String },
    /// The service is not trusted, or does not trust this client, so it has not got the request.
    Untrusted(TlsProblem),
    /// The connection broke, or the time was up, after the request may have been written.
    NoResponse { reason: String },
    /// Refused with an old token (401). The token has been renewed: send the request again.
    TokenRenewed { reason: String },
    /// Neither the access token nor the refresh token is valid.
    Unauthorized { reason: String },
}

/// A response of the service.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub status: u16,
    pub body: Vec<u8>,
    /// Value of Retry-After; a date is converted to seconds.
    pub retry_after: Option<String>,
    /// Where a redirect leads, without its query.
    pub location: Option<String>,
    /// Rate limit as told by the RateLimit headers.
    pub quota: Option<Quota>,
}

impl TransportOutcome {
    /// Returns the outcome for the policy table, before parsing the body.
    pub fn kind(&self) -> Outcome {
        match self {
            TransportOutcome::Response(response) => Outcome::Status(response.status),
            TransportOutcome::Truncated { .. } => Outcome::Unreadable,
            TransportOutcome::NotSent { .. } => Outcome::NotConnected,
            TransportOutcome::Untrusted(_) => Outcome::Untrusted,
            TransportOutcome::NoResponse { .. } => Outcome::NoResponse,
            TransportOutcome::TokenRenewed { .. } | TransportOutcome::Unauthorized { .. } => Outcome::Status(401),
        }
    }

    /// Returns the reason for people: the transport's error, or the service's own message.
    pub(super) fn reason(&self) -> String {
        match self {
            TransportOutcome::Response(response) => {
                answered(response.status, service_message::summary(&response.body).as_deref())
            }
            TransportOutcome::Untrusted(problem) => problem.to_string(),
            TransportOutcome::Truncated { reason, .. }
            | TransportOutcome::NotSent { reason }
            | TransportOutcome::NoResponse { reason }
            | TransportOutcome::TokenRenewed { reason }
            | TransportOutcome::Unauthorized { reason } => reason.clone(),
        }
    }

    /// Masks a token in the body, because messages end up in ledgers and reports, and parts of it in refusals and in answers
    /// to a write. Pages of a list have no messages.
    pub(super) fn redacted(mut self, secret: &SecretString, is_write: bool) -> TransportOutcome {
        let secret = secret.expose_secret();
        if let TransportOutcome::Response(response) = &mut self
            && response.body.len() <= MAX_RESULT
            && !secret.is_empty()
        {
            if memchr::memmem::find(&response.body, secret.as_bytes()).is_some() {
                response.body = String::from_utf8_lossy(&response.body).replace(secret, MASK).into_bytes();
            }
            // The identifiers of a success must not be changed by chance.
            let shortest = match response.status < 300 {
                true if is_write && may_have_part(&response.body, secret.as_bytes()) => Some(PART_IN_RESULT),
                true => None,
                false => Some(PART_IN_ERROR),
            };
            let masked = shortest.and_then(|shortest| without_parts(&response.body, secret.as_bytes(), shortest));
            if let Some(masked) = masked {
                response.body = masked;
            }
        }
        self
    }
}

/// Stands for a token.
const MASK: &str = "***";
/// Length of the parts of a token that are masked in answers of errors, and in other answers.
const PART_IN_ERROR: usize = 8;
const PART_IN_RESULT: usize = 16;

/// Whether a part of `secret` of [`PART_IN_RESULT`] bytes may be in the body. Such a part contains one of the pieces of half
/// that length.
fn may_have_part(body: &[u8], secret: &[u8]) -> bool {
    let mut pieces = secret.chunks_exact(PART_IN_RESULT / 2);
    pieces.any(|piece| memchr::memmem::find(body, piece).is_some())
}

/// Masks every part of `secret` of at least `shortest` bytes. Returns `None` if there is none.
fn without_parts(body: &[u8], secret: &[u8], shortest: usize) -> Option<Vec<u8>> {
    let parts: HashSet<&[u8]> = secret.windows(shortest).collect();
    let is_part = |at: usize| body.get(at..at + shortest).is_some_and(|part| parts.contains(part));
    let mut masked = Vec::new();
    let (mut copied, mut at) = (0, 0);
    while at + shortest <= body.len() {
        if !is_part(at) {
            at += 1;
            continue;
        }
        masked.extend_from_slice(&body[copied..at]);
        masked.extend_from_slice(MASK.as_bytes());
        while is_part(at) {
            at += 1;
        }
        at += shortest - 1;
        copied = at;
    }
    if copied == 0 {
        return None;
    }
    masked.extend_from_slice(&body[copied..]);
    Some(masked)
}

/// Returns the sentence for a failure status.
pub(super) fn answered(status: u16, message: Option<&str>) -> String {
    match message {
        Some(message) => format!("the service answered {status}: {message}"),
        None => format!("the service answered {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "eyJhbGciOiJIUzI1NiJ9.eyJ3b3Jrc3BhY2UiOiJzaG9wIn0.c2lnbmF0dXJl";

    fn masked(status: u16, body: &str) -> String {
        let response =
            Response { status, body: body.as_bytes().to_owned(), retry_after: None, location: None, quota: None };
        match TransportOutcome::Response(response).redacted(&TOKEN.to_owned().into(), true) {
            TransportOutcome::Response(response) => String::from_utf8(response.body).expect("text"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tokens_and_their_parts_are_masked() {
        for (body, expected) in [
            (format!("the token {TOKEN} is wrong"), "the token *** is wrong"),
            (format!("the token {}… is wrong", &TOKEN[..12]), "the token ***… is wrong"),
            (format!("…{} and {}", &TOKEN[50..], &TOKEN[..20]), "…*** and ***"),
            (TOKEN[30..38].to_owned(), "***"),
            ("no such customer".to_owned(), "no such customer"),
            (String::new(), ""),
        ] {
            assert_eq!(masked(422, &body), expected);
        }
    }

    #[test]
    fn short_parts_in_a_success_are_kept() {
        assert_eq!(masked(200, &TOKEN[..15]), &TOKEN[..15]);
        assert_eq!(masked(200, &TOKEN[..16]), "***");
    }
}
