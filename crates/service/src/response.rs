//! Responses: the context id of every response and the body of every error. Contract: "Errors"; status codes and the
//! shape of error bodies are not specified there.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sheetport_records::answer::ErrorBody;
use uuid::Uuid;

use super::journal::Open;
use super::literal;
use super::reading::Reading;
use super::store::{NotStored, Store};

const CTX_HEADER: HeaderName = HeaderName::from_static("x-ctx-id");

/// Total number of records, for the list without an envelope.
pub(super) const TOTAL_HEADER: HeaderName = HeaderName::from_static("x-total-count");

/// The id of a request: the same in the response header, the response body and the log.
#[derive(Clone, Debug)]
pub(super) struct CtxId(Arc<str>);

impl CtxId {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<S: Sync> FromRequestParts<S> for CtxId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<CtxId, Infallible> {
        Ok(parts.extensions.get::<CtxId>().cloned().expect("`with_ctx_id` wraps every route"))
    }
}

/// The reason for a refusal in a successful response, such as `ok: false`; [`with_ctx_id`] notes it in the log and in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal(String);

impl Refusal {
    pub(super) fn new(errors: &[String]) -> Refusal {
        Refusal(errors.join("; "))
    }
}

/// An error response; [`with_ctx_id`] adds the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorResponse {
    status: StatusCode,
    message: String,
    errors: BTreeMap<String, Vec<String>>,
}

impl ErrorResponse {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> ErrorResponse {
        ErrorResponse { status, message: message.into(), errors: BTreeMap::new() }
    }

    /// Adds errors by field.
    pub(super) fn with_errors(self, errors: BTreeMap<String, Vec<String>>) -> ErrorResponse {
        ErrorResponse { errors, ..self }
    }

    pub(super) fn unauthorized(message: impl Into<String>) -> ErrorResponse {
        ErrorResponse::new(StatusCode::UNAUTHORIZED, message)
    }

    pub(super) fn forbidden(message: impl Into<String>) -> ErrorResponse {
        ErrorResponse::new(StatusCode::FORBIDDEN, message)
    }

    /// A 422 with all errors of the input by field.
    pub(super) fn invalid(errors: BTreeMap<String, Vec<String>>) -> ErrorResponse {
        let fields: Vec<_> = errors.keys().map(String::as_str).collect();
        let message = format!("the input is invalid: {}", fields.join(", "));
        ErrorResponse { status: StatusCode::UNPROCESSABLE_ENTITY, message, errors }
    }

    /// A 404, identical for missing records and records of other workspaces.
    pub(super) fn no_record() -> ErrorResponse {
        ErrorResponse::new(StatusCode::NOT_FOUND, "no such record")
    }

    /// Returns the message with all errors of the input, for the log.
    fn reason(&self) -> String {
        let errors =
            self.errors.iter().flat_map(|(field, messages)| messages.iter().map(move |message| (field, message)));
        let errors: Vec<_> = errors.map(|(field, message)| format!("{field} {message}")).collect();
        if errors.is_empty() { self.message.clone() } else { errors.join("; ") }
    }

    fn body(self, ctx_id: &CtxId) -> ErrorBody {
        ErrorBody { message: self.message, ctx_id: ctx_id.as_str().to_owned(), errors: self.errors }
    }

    /// A 500. The cause is in the log, not in the response.
    pub(super) fn internal() -> ErrorResponse {
        ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error; see the log of the service")
    }
}

/// Failed writes; the store has logged the cause.
impl From<NotStored> for ErrorResponse {
    fn from(_: NotStored) -> ErrorResponse {
        ErrorResponse::internal()
    }
}

/// Failed reads.
impl From<sqlx::Error> for ErrorResponse {
    fn from(error: sqlx::Error) -> ErrorResponse {
        tracing::error!(%error, "failed to read records");
        ErrorResponse::internal()
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Returns a response with JSON text as its body.
pub(super) fn json_text(text: String) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response()
}

/// Returns a response with `value` as its JSON body.
pub(super) fn json(value: &impl Serialize) -> Response {
    json_text(text_of(value))
}

/// Returns a response type as JSON.
pub(super) fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("response types serialize without errors")
}

/// The outermost middleware: assigns the context id, writes the bodies of errors, logs each request, and adds each request to the
/// journal.
pub(super) async fn with_ctx_id(
    State((store, reading)): State<(Arc<Store>, Reading)>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let ctx_id = CtxId(Uuid::now_v7().simple().to_string().into());
    let method = request.method().clone();
    let uri = request.uri().clone();
    request.extensions_mut().insert(ctx_id.clone());
    let mut open = Open::begin(&store, ctx_id.as_str(), &method, &uri).await;
    if let Some(open) = &open {
        request.extensions_mut().insert(open.trace().clone());
    }

    let mut response = next.run(request).await;
    let mut reason = response.extensions_mut().remove::<Refusal>().map(|Refusal(reason)| reason);
    if let Some(error) = response.extensions_mut().remove::<ErrorResponse>() {
        reason = Some(error.reason());
        response = match (&reason, reading.is_literal()) {
            (Some(reason), true) => with_body(response, &literal::error(reason)),
            _ => with_body(response, &error.body(&ctx_id)),
        };
    }
    if reading.is_literal() {
        literal::cut_headers(response.headers_mut());
    } else {
        let header = HeaderValue::from_str(ctx_id.as_str()).expect("context ids are hexadecimal");
        response.headers_mut().insert(CTX_HEADER, header);
    }
    if let Some(open) = &mut open {
        open.status = Some(response.status().as_u16());
        open.reason.clone_from(&reason);
    }
    drop(open);
    tracing::info!(
        ctx_id = ctx_id.as_str(),
        %method,
        path = uri.path(),
        status = response.status().as_u16(),
        reason,
        micros = started.elapsed().as_micros() as u64,
        "request"
    );
    response
}

fn with_body(response: Response, body: &impl Serialize) -> Response {
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, Body::from(text_of(body)))
}
