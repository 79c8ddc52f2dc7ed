//! Outcome of an attempt, before the retry policy: the service's answer, or why there is none.

pub(super) mod rate_headers;
pub(super) mod service_message;
mod shortage;
mod tls_problem;
mod write_result;

use super::policy::Outcome;

pub use rate_headers::Quota;
pub use service_message::ServiceMessage;
pub use shortage::Shortage;
pub use tls_problem::TlsProblem;
pub use write_result::{RequestContext, WriteResult};

/// Maximum size of the response to a write, and of every response outside 2xx. Every worker may hold one such response in memory.
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
    /// This machine could not open a connection, so the service can't have seen the request.
    Short(Shortage),
    /// The TLS connection failed verification on either side, so the service has not received the request.
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
    pub redirect: Option<Redirect>,
    /// Rate limit as told by the RateLimit headers.
    pub quota: Option<Quota>,
}

/// The target of a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The target without query and user information.
    pub to: String,
    /// Whether the same path at another address answers the request, as after a change from HTTP to HTTPS.
    pub is_same_path: bool,
}

impl TransportOutcome {
    /// Returns the outcome for the policy table, before parsing the body.
    pub fn kind(&self) -> Outcome {
        match self {
            TransportOutcome::Response(Response { redirect: Some(Redirect { is_same_path: true, .. }), .. }) => {
                Outcome::Moved
            }
            TransportOutcome::Response(response) => Outcome::Status(response.status),
            TransportOutcome::Truncated { .. } => Outcome::Unreadable,
            TransportOutcome::NotSent { .. } => Outcome::NotConnected,
            TransportOutcome::Short(_) => Outcome::Short,
            TransportOutcome::Untrusted(_) => Outcome::Untrusted,
            TransportOutcome::NoResponse { .. } => Outcome::NoResponse,
            TransportOutcome::TokenRenewed { .. } | TransportOutcome::Unauthorized { .. } => Outcome::Status(401),
        }
    }

    /// Returns the status of the answer, and the kind of the failure if there is no complete answer.
    pub(super) fn ending(&self) -> (Option<u16>, Option<&'static str>) {
        match self {
            TransportOutcome::Response(response) => (Some(response.status), None),
            TransportOutcome::Truncated { status, .. } => (Some(*status), Some("truncated")),
            TransportOutcome::NotSent { .. } | TransportOutcome::Short(_) => (None, Some("not_connected")),
            TransportOutcome::Untrusted(_) => (None, Some("untrusted")),
            TransportOutcome::NoResponse { .. } => (None, Some("no_response")),
            TransportOutcome::TokenRenewed { .. } | TransportOutcome::Unauthorized { .. } => {
                (None, Some("unauthorized"))
            }
        }
    }

    /// Returns the reason for people: the transport's error, or the service's own message.
    pub(super) fn reason(&self) -> String {
        match self {
            TransportOutcome::Response(response) => {
                answered(response.status, service_message::summary(&response.body).as_deref())
            }
            TransportOutcome::Untrusted(problem) => problem.to_string(),
            TransportOutcome::Short(shortage) => shortage.to_string(),
            TransportOutcome::Truncated { reason, .. }
            | TransportOutcome::NotSent { reason }
            | TransportOutcome::NoResponse { reason }
            | TransportOutcome::TokenRenewed { reason }
            | TransportOutcome::Unauthorized { reason } => reason.clone(),
        }
    }
}

/// Returns the sentence for a failure status.
pub(super) fn answered(status: u16, message: Option<&str>) -> String {
    match message {
        Some(message) => format!("the service answered {status}: {message}"),
        None => format!("the service answered {status}"),
    }
}
