//! `POST /api/token/refresh/`. Contract: "Authentication", point 3; the shape of the response is not specified there.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use jiff::Timestamp;
use serde_json::Value;
use sheetport_records::token::RefreshResult;

use crate::app::App;
use crate::auth::{InvalidToken, TokenKind};
use crate::request::{self, Errors, JsonObject};
use crate::response::{self, ErrorResponse};
use crate::store::ReplaceToken;

/// Grace period in milliseconds during which a replaced refresh token is still valid, in case the response with the new token was
/// lost. The period ends early when the new token is used.
const GRACE: i64 = 60_000;

/// Issues a new access token with the workspace and access level of the refresh token. With rotation, also issues a new refresh
/// token to replace the old one.
pub(crate) async fn refresh(
    State(app): State<Arc<App>>,
    JsonObject { fields: body, reading, .. }: JsonObject,
) -> Result<Response, ErrorResponse> {
    if reading.refuses_unknown()
        && let Some(name) = body.keys().find(|name| *name != "refresh")
    {
        let message = request::not_known("field", name, ["refresh"].into_iter());
        return Err(ErrorResponse::invalid(Errors::from([(name.clone(), vec![message])])));
    }
    let token = match body.get("refresh") {
        Some(Value::String(token)) => token,
        Some(_) => return Err(invalid("must be a string")),
        None => return Err(invalid("is required")),
    };
    let now = Timestamp::now();
    let refused = |reason: InvalidToken| ErrorResponse::unauthorized(format!("the refresh token {reason}"));
    let claims = app.keys.verify(token, TokenKind::Refresh, now).map_err(refused)?;
    let rotates = app.config.rotate_refresh;
    let is_usable = if rotates {
        let replace = ReplaceToken {
            id: claims.jti.clone(),
            predecessor: claims.replaces,
            expires_at: claims.exp.saturating_mul(1000),
            grace: GRACE,
        };
        app.store.write(claims.workspace.as_str(), replace).await?
    } else {
        !app.store.is_void_token(&claims.jti, now.as_millisecond(), GRACE).await?
    };
    if !is_usable {
        return Err(refused(InvalidToken::Replaced));
    }
    let tokens = app.keys.renew(&claims.workspace, claims.access, Some(claims.jti), now).map_err(|error| {
        tracing::error!(%error, "failed to issue a token");
        ErrorResponse::internal()
    })?;
    let refresh = rotates.then_some(tokens.refresh);
    let mut response = response::json(&RefreshResult { access: tokens.access, refresh });
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn invalid(message: &str) -> ErrorResponse {
    ErrorResponse::invalid(Errors::from([("refresh".to_owned(), vec![message.to_owned()])]))
}
