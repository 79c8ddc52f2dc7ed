//! Responses in JSON.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::Value;

/// The content of a response, until it is translated and written.
#[derive(Clone)]
pub(super) struct Content(pub Value);

/// Returns a JSON response with `Cache-Control: no-store`. `translation` writes its body.
pub(crate) fn json_response(status: StatusCode, value: Value) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response.extensions_mut().insert(Content(value));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
