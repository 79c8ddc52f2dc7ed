//! A strict or literal service: unknown query parameters are refused here, unknown fields of bodies by the validation of the body. The
//! responses of a literal service are cut down to the contract.

use axum::extract::{MatchedPath, Query, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::literal;
use super::openapi;
use super::reading::Reading;
use super::request::{Errors, add_error, not_known};
use super::response::ErrorResponse;

/// Refuses requests with unknown parameters, and lets the validation of bodies refuse what this reading of the contract does not allow.
pub(super) async fn require(State(reading): State<Reading>, mut request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str).to_owned();
    let known = openapi::query_parameters(request.method(), &path);
    let errors = unknown_parameters(&request, &known);
    if !errors.is_empty() {
        return ErrorResponse::invalid(errors).into_response();
    }
    request.extensions_mut().insert(reading);
    let shown = reading.is_literal().then(|| literal::shown(request.method(), &path));
    let response = next.run(request).await;
    match shown {
        Some(shown) => literal::cut(response, shown).await,
        None => response,
    }
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
