//! Taking back what a run has sent: the plan of `sheetport undo`, and sending it.

use std::sync::Arc;

use serde_json::Value;
use sheetport_ledger::RunId;
use sheetport_operations::{
    self as operations, Apply, CommandLine, Event, PlanTarget, SendOptions, Undo, discard_plan,
};
use sheetport_plan::approve::Approve;
use tokio::runtime::Handle;

use super::app::App;
use super::http::Failure;
use super::sending::{Activity, Work, in_background};
use super::view;

/// Starts planning the undo of a run. Sends nothing. The page of the run shows the progress, and the plan.
///
/// # Errors
/// If the run is being sent or taken back already.
pub(super) fn plan(app: &Arc<App>, run: RunId) -> Result<(), Failure> {
    let own = Arc::clone(app);
    in_background(&app.run(run), Activity::Look, move |work| (plan_undo(&own, run, work), 0))
}

/// Starts sending the planned `undo` of a run. The page of the run shows the progress.
///
/// # Errors
/// As [`plan`].
pub(super) fn start(app: &Arc<App>, run: RunId, undo: RunId) -> Result<(), Failure> {
    let own = Arc::clone(app);
    in_background(&app.run(run), Activity::Send, move |work| {
        let status = send(&own, undo, work);
        for session in own.sessions_of(run) {
            session.expire();
        }
        (status, 0)
    })
}

fn plan_undo(app: &App, run: RunId, work: &Work) -> Result<Value, Failure> {
    let (context, handle) = (app.context(), Handle::current());
    let context = context.as_ref();
    let observer = |event: Event<'_>| work.note(event);
    let request = Undo { run, rows: None, output: None, sending: SendOptions::default() };
    let planned = handle.block_on(async {
        tokio::select! {
            planned = operations::plan_undo(context, request, &observer) => planned.map(Some),
            () = work.stopped() => Ok(None),
        }
    })?;
    Ok(match planned {
        Some(planned) => view::run::undo(&planned, &work.notes()),
        None => view::run::idle(),
    })
}

fn send(app: &App, undo: RunId, work: &Work) -> Result<Value, Failure> {
    let (context, handle) = (app.context(), Handle::current());
    let context = context.as_ref();
    let observer = |event: Event<'_>| work.note(event);
    let apply = Apply {
        target: PlanTarget::Run(undo),
        approve: Some(Approve::All),
        accepts_old: true,
        asks_of_old: None,
        sending: SendOptions::default(),
    };
    let finished = handle.block_on(operations::apply(context, apply, Box::pin(work.interrupt()), &observer))?;
    let command = CommandLine::new(context, "undo").run(finished.run.about.undo_of.unwrap_or(undo)).to_string();
    Ok(work.finished(&finished, &command))
}

/// Gives up the planned `undo` of a run.
///
/// # Errors
/// If the ledger can't be written.
pub(super) fn forget(app: &App, run: RunId, undo: RunId) -> Result<(), Failure> {
    Handle::current().block_on(discard_plan(&app.context(), undo))?;
    app.run(run).set_idle();
    Ok(())
}
