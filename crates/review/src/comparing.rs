//! Compares a file under review with the service before sending.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sheetport_client::Speed;
use sheetport_operations::review::{ServiceDifference, compare_with_service};
use sheetport_operations::{ComparePace, DEFAULT_CONCURRENCY, Event};
use tokio::runtime::Handle;

use super::app::App;
use super::http::Failure;
use super::session::Session;
use super::view;

/// Starts the comparison of a file with the service, unless the same was compared before. `keep_lines`: other lines of orders are to be
/// sent, too. The page receives progress and result.
pub(super) fn start(app: &Arc<App>, session: &Arc<Session>, rate: Option<Speed>, keep_lines: bool) {
    let revision = session.state().revision;
    let Some(stop) = session.comparing.begin(revision, keep_lines) else { return };
    session.sending.set_comparison(json!({"phase": "running", "revision": revision}));
    let (app, session) = (Arc::clone(app), Arc::clone(session));
    tokio::task::spawn_blocking(move || {
        let compared = Handle::current().block_on(async {
            tokio::select! {
                compared = compare(&app, &session, rate, keep_lines, revision) => Some(compared),
                () = stop.notified() => None,
            }
        });
        let (true, Some(compared)) = (session.comparing.end(&stop), compared) else { return };
        let mut told = compared
            .unwrap_or_else(|failure| json!({"phase": "failed", "message": failure.message(), "hint": failure.hint()}));
        told["revision"] = revision.into();
        told["keep_lines"] = keep_lines.into();
        session.sending.set_comparison(told);
    });
}

async fn compare(
    app: &App,
    session: &Session,
    rate: Option<Speed>,
    keep_lines: bool,
    revision: u64,
) -> Result<Value, Failure> {
    let state = session.state().clone();
    let input = state.spreadsheet(&session.file)?;
    let notes: Mutex<Vec<String>> = Mutex::default();
    let observer = |event: Event<'_>| {
        if let Event::Warning(text) = event {
            notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
        }
    };
    let progress = |done: u64, all: u64| {
        let told = json!({"phase": "running", "revision": revision, "done": done, "all": all});
        session.sending.set_comparison(told);
    };
    let pace = ComparePace { rate, concurrency: DEFAULT_CONCURRENCY };
    let compared: ServiceDifference =
        compare_with_service(&app.context(), input, keep_lines, pace, &progress, &observer).await?;
    let notes = notes.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(view::difference(&compared, &notes))
}
