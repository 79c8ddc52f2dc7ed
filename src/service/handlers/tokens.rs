//! `POST /api/token/refresh/`. Contract: "Authentication", point 3; the shape of the response is not specified there.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use jiff::Timestamp;
use serde_json::Value;

use crate::records::token::RefreshResult;
use crate::service::app::App;
use crate::service::auth::TokenKind;
use crate::service::request::{Errors, JsonObject};
use crate::service::response::{self, ErrorResponse};

/// Issues a new access token with the workspace and access level of the refresh token, and with rotation also a new
/// refresh token. The old refresh token stays valid until it expires, so that a lost response does no harm.
pub(crate) async fn refresh(
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<Response, ErrorResponse> {
    let token = match body.get("refresh") {
        Some(Value::String(token)) => token,
        Some(_) => return Err(invalid("must be a string")),
        None => return Err(invalid("is required")),
    };
    let now = Timestamp::now();
    let claims = app
        .keys
        .verify(token, TokenKind::Refresh, now)
        .map_err(|reason| ErrorResponse::unauthorized(format!("the refresh token {reason}")))?;
    let tokens = app.keys.issue(&claims.workspace, claims.access, now).map_err(|error| {
        tracing::error!(%error, "failed to issue a token");
        ErrorResponse::internal()
    })?;
    let refresh = app.config.rotate_refresh.then_some(tokens.refresh);
    Ok(response::json(&RefreshResult { access: tokens.access, refresh }))
}

fn invalid(message: &str) -> ErrorResponse {
    ErrorResponse::invalid(Errors::from([("refresh".to_owned(), vec![message.to_owned()])]))
}
