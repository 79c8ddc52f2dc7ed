//! Runs of the history: results, records with an unknown outcome, and records left to send.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};
use sheetport_ledger::{Resolution, RunId, Seq};
use sheetport_operations::review::{report_to_review, run_result};
use sheetport_operations::{InputFile, Resolving, RunFilter, list_existing_runs, show_run};
use tokio::runtime::Handle;

use super::super::app::App;
use super::super::http::{Failure, Posted, assets};
use super::super::sending::{self, Again};
use super::super::undoing;
use super::super::view;
use super::sending::{Events, events_of};
use super::sheet::Window;
use super::{Answer, MAX_ROWS, blocking, ok};

/// Maximum number of runs in the list.
const MAX_RUNS: usize = 100;

#[derive(Deserialize)]
pub(crate) struct WantedRuns {
    #[serde(default)]
    file: String,
}

/// Lists the newest runs.
pub(crate) async fn runs(State(app): State<Arc<App>>, Query(WantedRuns { file }): Query<WantedRuns>) -> Answer {
    let filter = RunFilter { file: Some(file.as_str()).filter(|file| !file.is_empty()), ..RunFilter::default() };
    let runs = list_existing_runs(&app.context(), filter, MAX_RUNS).await?;
    Ok(ok(json!({"runs": runs.iter().map(view::run::listed).collect::<Vec<_>>()})))
}

/// Describes a run, and the progress of sending its remaining or failed records.
pub(crate) async fn run(State(app): State<Arc<App>>, Path(run): Path<RunId>) -> Answer {
    let mut value = view::run::result(&run_result(&app.context(), run).await?);
    value["status"] = app.run(run).status();
    Ok(ok(value))
}

/// Opens the rows of a run that were not accepted, for review.
pub(crate) async fn open(State(app): State<Arc<App>>, Path(run): Path<RunId>) -> Answer {
    let number = blocking(move || {
        let report = Handle::current().block_on(report_to_review(&app.context(), run))?;
        app.open(InputFile::at(&report))
    });
    Ok(ok(json!({"review": number.await?})))
}

/// Lists the records of a run with an unknown outcome.
pub(crate) async fn unknown(
    State(app): State<Arc<App>>,
    Path(run): Path<RunId>,
    Query(window): Query<Window>,
) -> Answer {
    let _one = app.deciding.lock().await;
    let resolving = Resolving::begin(&app.context(), Some(run), &app.who).await?;
    let records = resolving.records().await?;
    resolving.finish().await?;
    let from = usize::try_from(window.from).unwrap_or(usize::MAX);
    let shown = records.iter().skip(from).take(window.count.clamp(1, MAX_ROWS));
    let shown: Vec<Value> = shown.map(view::run::unknown).collect();
    Ok(ok(json!({"records": shown, "total": records.len()})))
}

/// A person's verdict on records of a run.
#[derive(Deserialize)]
pub(crate) struct Verdict {
    /// The records; all with an unknown outcome if missing.
    records: Option<Vec<Seq>>,
    /// Whether the service has applied the records.
    applied: bool,
}

pub(crate) async fn resolve(
    State(app): State<Arc<App>>,
    Path(run): Path<RunId>,
    Posted(Verdict { records, applied }): Posted<Verdict>,
) -> Answer {
    let _one = app.deciding.lock().await;
    let mut resolving = Resolving::begin(&app.context(), Some(run), &app.who).await?;
    let records = match records {
        Some(records) => records,
        None => resolving.records().await?.iter().map(|record| record.seq).collect(),
    };
    let verdict = if applied { Resolution::Sent } else { Resolution::Failed };
    resolving.record(&records, verdict).await?;
    resolving.finish().await?;
    let result = run_result(&app.context(), run).await?;
    let counts = view::counts(&result.accounting);
    app.run(run).set_counts(run, &counts, None);
    for session in app.sessions_of(run) {
        let revision = session.expire();
        session.sending.set_counts(run, &counts, Some(revision));
    }
    Ok(ok(view::run::result(&result)))
}

#[derive(Deserialize)]
pub(crate) struct WantedAgain {
    again: Again,
    rate: Option<String>,
}

/// Sends the remaining or the failed records of a run.
pub(crate) async fn send(
    State(app): State<Arc<App>>,
    Path(run): Path<RunId>,
    Posted(WantedAgain { again, rate }): Posted<WantedAgain>,
) -> Answer {
    if matches!(again, Again::Failed) && run_result(&app.context(), run).await?.accounting.unknown > 0 {
        let message = "say first what happened to the records with an unknown outcome";
        return Err(Failure::bad_request(message));
    }
    sending::start_again(&app, run, again, rate.as_deref())?;
    Ok(ok(app.run(run).status()))
}

/// Plans to take a run back. Sends nothing.
pub(crate) async fn plan_undo(State(app): State<Arc<App>>, Path(run): Path<RunId>) -> Answer {
    // Fails for an unknown run, before creating a progress.
    show_run(&app.context(), Some(run)).await?;
    undoing::plan(&app, run)?;
    Ok(ok(app.run(run).status()))
}

#[derive(Deserialize)]
pub(crate) struct PlannedUndo {
    /// The planned run that takes the run back.
    undo: RunId,
}

/// Sends a planned undo.
pub(crate) async fn undo(
    State(app): State<Arc<App>>,
    Path(run): Path<RunId>,
    Posted(PlannedUndo { undo }): Posted<PlannedUndo>,
) -> Answer {
    check_is_planned(&app, run, undo)?;
    undoing::start(&app, run, undo)?;
    Ok(ok(app.run(run).status()))
}

/// Gives up a planned undo.
pub(crate) async fn forget_undo(
    State(app): State<Arc<App>>,
    Path(run): Path<RunId>,
    Posted(PlannedUndo { undo }): Posted<PlannedUndo>,
) -> Answer {
    check_is_planned(&app, run, undo)?;
    let forgotten = blocking(move || {
        undoing::forget(&app, run, undo)?;
        Ok(app.run(run).status())
    });
    Ok(ok(forgotten.await?))
}

/// Refuses an undo other than the one that the page shows.
fn check_is_planned(app: &App, run: RunId, undo: RunId) -> Result<(), Failure> {
    let status = app.run(run).status();
    match status["phase"] == "undo" && status["run"] == undo {
        true => Ok(()),
        false => Err(Failure::bad_request("this undo was sent or given up meanwhile")),
    }
}

pub(crate) async fn stop(State(app): State<Arc<App>>, Path(run): Path<RunId>) -> Answer {
    let progress = app.run(run);
    progress.stop();
    Ok(ok(progress.status()))
}

/// Tells of the progress of a run, until the page is closed.
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    Path(run): Path<RunId>,
    headers: HeaderMap,
) -> Result<Events, Failure> {
    // Fails for an unknown run, before creating a progress.
    show_run(&app.context(), Some(run)).await?;
    Ok(events_of(app.run(run).live(), assets::language(&headers)))
}
