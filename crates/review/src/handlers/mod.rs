//! One function for each request of the page.

pub(super) mod causes;
pub(super) mod changes;
pub(super) mod edits;
pub(super) mod history;
pub(super) mod nightly;
pub(super) mod reports;
pub(super) mod sending;
pub(super) mod service;
pub(super) mod sheet;
pub(super) mod start;
pub(super) mod template;

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;

use super::app::App;
use super::http::{Failure, json_response};
use super::session::Session;
use super::view;

/// Maximum number of rows or records in an answer.
const MAX_ROWS: usize = 500;

type Answer = Result<Response, Failure>;

fn ok(value: Value) -> Response {
    json_response(StatusCode::OK, value)
}

/// Runs `work` on a blocking thread, because it reads files or the ledger.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Result<T, Failure> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| Err(Failure::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())))
}

/// Runs `work` on a file under review, and returns a description of the file, also after somebody has cancelled the work.
async fn change(
    app: Arc<App>,
    id: u64,
    work: impl FnOnce(&App, &Session) -> Result<(), Failure> + Send + 'static,
) -> Answer {
    let value = blocking(move || {
        let session = app.session(id)?;
        let done = work(&app, &session);
        let is_cancelled = done.is_err() && session.sending.is_cancelled();
        if !is_cancelled {
            done?;
        }
        let mut review = view::review(&session);
        review["cancelled"] = is_cancelled.into();
        Ok(review)
    });
    Ok(ok(value.await?))
}
