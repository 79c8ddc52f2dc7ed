//! Sending, comparing, and the stream of progress events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, KeepAliveStream, Sse};
use futures_util::stream::{self, BoxStream, StreamExt};
use serde::Deserialize;
use serde_json::json;
use sheetport_language::Language;
use sheetport_operations as operations;
use tokio::sync::watch;

use super::super::app::App;
use super::super::comparing;
use super::super::http::{Failure, Posted, assets, translation};
use super::super::sending::{self, SendRequest};
use super::super::session::{Live, Session};
use super::{Answer, ok};

/// Interval of keep-alive messages.
const ALIVE: Duration = Duration::from_secs(20);
/// Messages about progress are not sent more often.
const PROGRESS: Duration = Duration::from_millis(120);
/// Pause between looks for edits of other people.
const OTHERS: Duration = Duration::from_secs(2);

pub(crate) async fn send(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(request): Posted<SendRequest>,
) -> Answer {
    let session = app.session(id)?;
    sending::start(&app, &session, request)?;
    Ok(ok(session.sending.status()))
}

#[derive(Deserialize)]
pub(crate) struct WantedComparison {
    rate: Option<String>,
    #[serde(default)]
    keep_lines: bool,
}

/// Starts the comparison of the file with the service. Returns the rate at which an upload would send.
pub(crate) async fn compare(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(WantedComparison { rate, keep_lines }): Posted<WantedComparison>,
) -> Answer {
    let session = app.session(id)?;
    let rate = sending::speed(rate.as_deref())?;
    if !session.is_sending() {
        comparing::start(&app, &session, rate, keep_lines);
    }
    let (words, per_second) = operations::review::pace(&app.context(), rate).await?;
    Ok(ok(json!({"rate": words, "per_second": per_second, "comparison": session.sending.comparison()})))
}

pub(crate) async fn stop(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    let session = app.session(id)?;
    session.sending.stop();
    Ok(ok(session.sending.status()))
}

/// Messages of the server to a page.
pub(crate) type Events = Sse<KeepAliveStream<BoxStream<'static, Result<Event, Infallible>>>>;

/// Tells of progress and of changes by other tabs and other people, until the page is closed.
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    headers: HeaderMap,
) -> Result<Events, Failure> {
    let session = app.session(id)?;
    let live = session.sending.live();
    if session.begin_watching() {
        tokio::spawn(watch_edits(app, session));
    }
    Ok(events_of(live, assets::language(&headers)))
}

/// Looks for edits of other people while a page is open.
async fn watch_edits(app: Arc<App>, session: Arc<Session>) {
    while session.sending.has_pages() {
        tokio::time::sleep(OTHERS).await;
        let (app, own) = (Arc::clone(&app), Arc::clone(&session));
        // An unreadable ledger is reported by the operation that needs it.
        let _ = tokio::task::spawn_blocking(move || own.take_edits_of_others(&app.context())).await;
    }
    session.end_watching();
}

/// Returns a stream of events: the current progress, then every change.
pub(super) fn events_of(mut live: watch::Receiver<Live>, language: Language) -> Events {
    live.mark_changed();
    let events = stream::unfold(live, move |mut live| async move {
        live.changed().await.ok()?;
        let now = live.borrow_and_update().clone();
        let told =
            json!({"revision": now.revision, "status": now.status, "work": now.work, "comparison": now.comparison});
        let event = Event::default().data(translation::translated(told, language).to_string());
        tokio::time::sleep(PROGRESS).await;
        Some((Ok(event), live))
    });
    Sse::new(events.boxed()).keep_alive(KeepAlive::new().interval(ALIVE))
}
