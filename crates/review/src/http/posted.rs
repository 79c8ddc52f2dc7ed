//! Extractor for the JSON body of a request.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;

use super::failure::Failure;

/// The parsed body of a request.
pub(crate) struct Posted<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Posted<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Posted<T>, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_json = kind.split(';').next().map(str::trim) == Some("application/json");
        let bytes = Bytes::from_request(request, state).await.map_err(IntoResponse::into_response)?;
        if !is_json {
            return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the request is no JSON").into_response());
        }
        serde_json::from_slice(&bytes)
            .map(Posted)
            .map_err(|error| Failure::bad_request(format!("the request is not understood: {error}")).into_response())
    }
}
