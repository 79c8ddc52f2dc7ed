//! Strict mode: unknown query parameters are refused here, unknown fields of bodies by the validation of the body.

use axum::extract::{MatchedPath, Query, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::openapi;
use super::request::{Errors, UnknownFields, add_error, not_known};
use super::response::ErrorResponse;

/// Refuses requests with unknown parameters, and lets the validation of bodies refuse unknown fields.
pub(super) async fn require_known(mut request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let known = openapi::query_parameters(request.method(), path);
    let errors = unknown_parameters(&request, &known);
    if !errors.is_empty() {
        return ErrorResponse::invalid(errors).into_response();
    }
    request.extensions_mut().insert(UnknownFields::Refuse);
    next.run(request).await
}

fn unknown_parameters(request: &Request, known: &[String]) -> Errors {
    let mut errors = Errors::new();
    // A malformed query is reported separately.
    let Ok(Query(pairs)) = Query::<Vec<(String, String)>>::try_from_uri(request.uri()) else { return errors };
    for (name, _) in pairs.iter().filter(|(name, _)| !known.contains(name)) {
        add_error(&mut errors, name, not_known("query parameter", name, known.iter().map(String::as_str)));
    }
    errors
}
