//! Responses to failed requests.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use sheetport_operations as operations;

use super::json::json_response;

/// Why a request can't be fulfilled, in words for people.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    message: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Failure {
        Failure { status, message: message.into(), hint: None }
    }

    pub(crate) fn not_found(message: &str) -> Failure {
        Failure::new(StatusCode::NOT_FOUND, message)
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Says that somebody has cancelled the work on the rows.
    pub(crate) fn cancelled() -> Failure {
        Failure::new(StatusCode::CONFLICT, "this was cancelled")
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, message)
    }
}

impl From<operations::Error> for Failure {
    fn from(error: operations::Error) -> Failure {
        let hint = error.hint();
        Failure { status: StatusCode::UNPROCESSABLE_ENTITY, message: error.to_string(), hint }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        json_response(self.status, json!({"message": self.message, "hint": self.hint}))
    }
}
