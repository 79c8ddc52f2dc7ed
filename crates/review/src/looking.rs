//! Looking at the changes that a file under review would make, before they are sent: the plan of `sheetport plan`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use sheetport_client::Speed;
use sheetport_operations::review::plan_to_review;
use sheetport_operations::{Event, SendOptions, Upload, discard_plan};
use tokio::runtime::Handle;

use super::app::App;
use super::http::Failure;
use super::sending::{self, Activity, Work, in_background};
use super::session::{Look, Session};

/// Options of a request to look at the changes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LookRequest {
    pub rate: Option<String>,
    pub keep_lines: bool,
}

/// Starts the look at the changes of a file. The page of the file shows the progress.
///
/// # Errors
/// If the file is being sent or looked at already, or the rate is invalid.
pub(super) fn start(app: &Arc<App>, session: &Arc<Session>, request: &LookRequest) -> Result<(), Failure> {
    let (rate, keep_lines) = (sending::speed(request.rate.as_deref())?, request.keep_lines);
    // Both read the same records.
    session.comparing.stop();
    let (app, own) = (Arc::clone(app), Arc::clone(session));
    in_background(&session.sending, Activity::Look, move |work| {
        let status = look(&app, &own, rate, keep_lines, work);
        (status, own.state().revision)
    })
}

/// Gives up the look at the changes of a file, if there was one, with its plan. Blocks.
///
/// # Errors
/// If the ledger can't be written.
pub(super) fn forget(app: &App, session: &Session) -> Result<(), Failure> {
    let old = session.look().take();
    if let Some(look) = old {
        Handle::current().block_on(discard_plan(&app.context(), look.plan.run))?;
    }
    Ok(())
}

fn look(app: &App, session: &Session, rate: Option<Speed>, keep_lines: bool, work: &Work) -> Result<Value, Failure> {
    let (context, handle) = (app.context(), Handle::current());
    let context = context.as_ref();
    session.take_edits_of_others(context)?;
    session.save_template(context)?;
    forget(app, session)?;
    let state = session.state().clone();
    let sending = SendOptions { rate, ..SendOptions::default() };
    let input = state.spreadsheet(&session.file)?;
    // The page shows all doubts above the button.
    let upload = Upload { keep_lines, accepts_doubts: true, ..Upload::plain(input, sending) };
    let observer = |event: Event<'_>| work.note(event);
    let plan = handle.block_on(async {
        tokio::select! {
            plan = plan_to_review(context, upload, &observer) => plan.map(Some),
            () = work.stopped() => Ok(None),
        }
    })?;
    // Nothing was sent, so that an unfinished plan needs no further step.
    let Some(plan) = plan else { return Ok(json!({"phase": "idle"})) };
    let notes = work.notes();
    *session.look() = Some(Look { plan, revision: state.revision, keep_lines, version: 0, notes });
    Ok(json!({"phase": "looked"}))
}
