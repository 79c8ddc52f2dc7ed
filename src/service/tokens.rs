//! `POST /api/token/refresh/`. Contract: "Authentication", point 3; the answer's shape is not shown there and is ours.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use jiff::Timestamp;
use serde_json::Value;

use crate::records::token::RefreshResult;

use super::answer::{self, Refusal};
use super::auth::Kind;
use super::body::JsonObject;
use super::router::App;

/// A new access token with the refresh token's workspace and permission level. Where refresh tokens are rotated there
/// is a new one of those too; the one that was sent stays good until it expires, so that a lost answer costs nothing.
pub async fn refresh(State(app): State<Arc<App>>, JsonObject(body): JsonObject) -> Result<Response, Refusal> {
    let token = match body.get("refresh") {
        Some(Value::String(token)) => token,
        Some(_) => return Err(invalid("must be a string")),
        None => return Err(invalid("is required")),
    };
    let now = Timestamp::now();
    let claims = app
        .keys
        .verify(token, Kind::Refresh, now)
        .map_err(|fault| Refusal::unauthorized(format!("the refresh token {fault}")))?;
    let tokens = app.keys.issue(&app.config, &claims.workspace, claims.access, now).map_err(|error| {
        tracing::error!(%error, "a token could not be issued");
        Refusal::internal()
    })?;
    let refresh = app.config.rotate_refresh.then_some(tokens.refresh);
    Ok(answer::json(&RefreshResult { access: tokens.access, refresh }))
}

fn invalid(message: &str) -> Refusal {
    Refusal::invalid(BTreeMap::from([("refresh".to_owned(), vec![message.to_owned()])]))
}
