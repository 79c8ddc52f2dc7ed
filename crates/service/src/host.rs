//! Refuses requests with a foreign `Host`.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sheetport_web::{OwnHosts, Refusal};

use super::response::ErrorResponse;

/// The paths of health probes. They are open to every `Host`: probes may use any name of the machine, and the responses reveal no
/// records.
pub(super) const ALIVE: &str = "/healthz";
pub(super) const READY: &str = "/readyz";

/// Refuses requests with a foreign `Host` with 421.
pub(super) async fn require(State(own): State<OwnHosts>, request: Request, next: Next) -> Response {
    let is_probe = [ALIVE, READY].contains(&request.uri().path());
    let (status, message) = match own.refusal(&request) {
        None => return next.run(request).await,
        Some(Refusal::Several) => (StatusCode::BAD_REQUEST, "send exactly one Host header".to_owned()),
        Some(_) if is_probe => return next.run(request).await,
        Some(Refusal::None) => (
            StatusCode::MISDIRECTED_REQUEST,
            "the request names no host: send a Host header with the name of this service".to_owned(),
        ),
        Some(Refusal::NoHost) => (StatusCode::MISDIRECTED_REQUEST, "the Host header names no host".to_owned()),
        Some(Refusal::Foreign(host)) => (
            StatusCode::MISDIRECTED_REQUEST,
            format!(
                "this service does not answer to the host '{host}'; if it is a name of this service, start it with: \
                 sheetport serve --host-name {host}"
            ),
        ),
    };
    ErrorResponse::new(status, message).into_response()
}
