//! What leaves the service: the context id that every answer carries, and the body of every refusal. Handlers say what
//! is wrong; only this file knows how that looks on the wire. Contract: "Errors"; the statuses and the body's shape are
//! not shown there and are ours.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use uuid::Uuid;

use crate::records::answer::ErrorBody;

const CTX_HEADER: HeaderName = HeaderName::from_static("x-ctx-id");

/// The id of one request, the same in the answer's header, its body and our log.
#[derive(Clone, Debug)]
pub struct CtxId(Arc<str>);

impl CtxId {
    fn new() -> CtxId {
        CtxId(Uuid::now_v7().simple().to_string().into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<S: Sync> FromRequestParts<S> for CtxId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<CtxId, Infallible> {
        Ok(parts.extensions.get::<CtxId>().cloned().unwrap_or_else(CtxId::new))
    }
}

/// A request that is not carried out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    status: StatusCode,
    message: String,
    errors: BTreeMap<String, Vec<String>>,
}

impl Refusal {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Refusal {
        Refusal { status, message: message.into(), errors: BTreeMap::new() }
    }

    pub fn unauthorized(message: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::UNAUTHORIZED, message)
    }

    pub fn forbidden(message: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::FORBIDDEN, message)
    }

    /// Everything that is wrong with the input, by the field's name.
    pub fn invalid(errors: BTreeMap<String, Vec<String>>) -> Refusal {
        let fields: Vec<_> = errors.keys().map(String::as_str).collect();
        let message = format!("the input is not valid: {}", fields.join(", "));
        Refusal { status: StatusCode::UNPROCESSABLE_ENTITY, message, errors }
    }

    /// The workspace has no such record. Whether another one has it makes no difference.
    pub fn no_record() -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, "there is no such record")
    }

    /// A fault of ours. The cause goes to the log, not to the caller.
    pub fn internal() -> Refusal {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the service could not carry this out; its log says why")
    }
}

impl IntoResponse for Refusal {
    /// Leaves the body to [`with_ctx_id`], which knows the context id.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// An answer with a JSON body that is ready.
pub fn json_text(text: String) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response()
}

pub fn json(value: &impl Serialize) -> Response {
    match serde_json::to_string(value) {
        Ok(text) => json_text(text),
        Err(error) => {
            tracing::error!(%error, "an answer could not be written as JSON");
            Refusal::internal().into_response()
        }
    }
}

/// Stands around everything else: gives the request its context id, writes the body of a refusal, and logs one line.
pub async fn with_ctx_id(mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let ctx_id = CtxId::new();
    let method = request.method().clone();
    let uri = request.uri().clone();
    request.extensions_mut().insert(ctx_id.clone());

    let mut response = next.run(request).await;
    if let Some(refusal) = response.extensions_mut().remove::<Refusal>() {
        response = with_body(response, refusal, &ctx_id);
    }
    if let Ok(value) = HeaderValue::from_str(ctx_id.as_str()) {
        response.headers_mut().insert(CTX_HEADER, value);
    }
    tracing::info!(
        ctx_id = ctx_id.as_str(),
        %method,
        path = uri.path(),
        status = response.status().as_u16(),
        micros = started.elapsed().as_micros() as u64,
        "request"
    );
    response
}

fn with_body(response: Response, refusal: Refusal, ctx_id: &CtxId) -> Response {
    let body = ErrorBody { message: refusal.message, ctx_id: ctx_id.as_str().to_owned(), errors: refusal.errors };
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // A map of strings can always be written; an empty body would still carry the status and the header.
    Response::from_parts(parts, Body::from(serde_json::to_vec(&body).unwrap_or_default()))
}
