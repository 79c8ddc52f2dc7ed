//! Sending a file under review, and what else is done in the background.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use sheetport_client::Speed;
use sheetport_ledger::RunId;
use sheetport_operations::review::run_result;
use sheetport_operations::{self as operations, Apply, CommandLine, Event, Finished, PlanTarget, SendOptions, Upload};
use sheetport_plan::approve::Mark;
use sheetport_send::Grace;
use sheetport_trial::{Rehearse, rehearse};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::app::App;
use super::http::Failure;
use super::session::{Look, Sending, Session};
use super::view;

/// Time for requests in flight after somebody has asked to stop.
const GRACE: Duration = Duration::from_secs(30);

/// Options of a request to send.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SendRequest {
    /// To a temporary service on this machine.
    pub rehearse: bool,
    /// Something of the last run instead of the file.
    pub again: Option<Again>,
    /// The most requests, such as `5/s`; the usual rate if missing.
    pub rate: Option<String>,
    /// Skips records that the service already has. Rows that were accepted before are skipped in any case.
    pub changed_only: bool,
    /// Sends the service's other lines of an order with those of the file.
    pub keep_lines: bool,
    /// Keeps what the service has of the records, so that the upload can be taken back.
    pub undoable: bool,
    /// Sends what is approved of the look at the changes.
    pub plan: Option<ApprovedPlan>,
}

/// What a person has seen when they sent what is approved.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct ApprovedPlan {
    run: RunId,
    version: u64,
}

/// Part of a run to send.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Again {
    /// Records not sent before the run stopped.
    Rest,
    /// Failed records, unchanged.
    Failed,
}

/// Parses a rate as the page sends it.
pub(super) fn speed(rate: Option<&str>) -> Result<Option<Speed>, Failure> {
    rate.filter(|rate| !rate.is_empty()).map(str::parse).transpose().map_err(Failure::bad_request)
}

/// Starts sending a file. The page of the file shows the progress.
///
/// # Errors
/// If the file is being sent already, or the rate is invalid.
pub(super) fn start(app: &Arc<App>, session: &Arc<Session>, request: SendRequest) -> Result<(), Failure> {
    let rate = speed(request.rate.as_deref())?;
    if let Some(plan) = request.plan {
        approved(session, plan)?;
    } else if !request.rehearse && request.again.is_none() && session.look().is_some() {
        let message = "the changes were looked at: send what is approved, or send without a look";
        return Err(Failure::bad_request(message));
    }
    // The requests of a comparison would share the rate of the service.
    session.comparing.stop();
    let (app, own) = (Arc::clone(app), Arc::clone(session));
    let activity = if request.rehearse { Activity::Rehearse } else { Activity::Send };
    in_background(&session.sending, activity, move |work| {
        let status = send(&app, &own, &request, rate, work);
        let revision = if request.rehearse { own.state().revision } else { own.expire() };
        (status, revision)
    })
}

/// Starts sending a part of a run of the history. The page of the run shows the progress.
///
/// # Errors
/// If the run is being sent already, or the rate is invalid.
pub(super) fn start_again(app: &Arc<App>, run: RunId, again: Again, rate: Option<&str>) -> Result<(), Failure> {
    let rate = speed(rate)?;
    let own = Arc::clone(app);
    in_background(&app.run(run), Activity::Send, move |work| {
        let finished = again_of_run(&own, run, again, rate, work);
        let status = finished.map(|finished| work.finished(&finished, &command_again(&own, run, again, rate)));
        for session in own.sessions_of(run) {
            session.expire();
        }
        (status, 0)
    })
}

/// What is done in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Send,
    Rehearse,
    /// Reads from the service, and sends nothing.
    Look,
}

/// Works on a blocking thread. `work` returns the result, and the revision of the file to which it belongs.
pub(super) fn in_background(
    progress: &Arc<Sending>,
    activity: Activity,
    work: impl FnOnce(&Work) -> (Result<Value, Failure>, u64) + Send + 'static,
) -> Result<(), Failure> {
    let stop = progress.begin().ok_or_else(|| Failure::bad_request("this is being sent already"))?;
    let under_way =
        Work { progress: Arc::clone(progress), stop, activity, notes: Mutex::default(), moved: Mutex::default() };
    under_way.note(Event::Reading { rows: 0 });
    let progress = Arc::clone(progress);
    tokio::task::spawn_blocking(move || {
        let ended = catch_unwind(AssertUnwindSafe(|| work(&under_way)));
        // A panic must not leave the page waiting.
        let broken =
            |_| (Err(Failure::bad_request("a fault of Sheetport has ended it; what was sent is in the ledger")), 0);
        let (status, revision) = ended.unwrap_or_else(broken);
        let mut status = status.unwrap_or_else(|failure| {
            json!({"phase": "failed", "rehearsal": activity == Activity::Rehearse, "look": activity == Activity::Look,
                "message": failure.message(), "hint": failure.hint()})
        });
        status["revision"] = revision.into();
        progress.end(status);
    });
    Ok(())
}

/// An operation under way.
pub(super) struct Work {
    progress: Arc<Sending>,
    stop: Arc<Notify>,
    activity: Activity,
    notes: Mutex<Vec<String>>,
    /// The records that somebody has changed since they were planned.
    moved: Mutex<Value>,
}

impl Work {
    pub(super) fn note(&self, event: Event<'_>) {
        match event {
            Event::Warning(text) => {
                self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
            }
            // What the page leaves out of the changes is said beside them.
            Event::Note(text) if self.activity == Activity::Look => {
                self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
            }
            Event::MovedOn { records, causes, .. } => {
                let mut moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
                *moved = view::moved(moved.take(), records, causes);
            }
            event => {
                let status = match self.activity {
                    Activity::Look => view::looking(event),
                    activity => view::progress(event, activity == Activity::Rehearse),
                };
                if let Some(status) = status {
                    self.progress.set(status);
                }
            }
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Describes the end of a run.
    pub(super) fn finished(&self, finished: &Finished, command: &str) -> Value {
        let mut status = view::finished(finished, self.activity == Activity::Rehearse, command, &self.notes());
        status["moved"] = self.moved.lock().unwrap_or_else(PoisonError::into_inner).clone();
        status
    }

    /// Completes when a person pauses.
    pub(super) async fn interrupt(&self) -> Grace {
        self.stopped().await;
        Grace::from(GRACE)
    }

    /// Completes when a person asks to stop.
    pub(super) async fn stopped(&self) {
        self.stop.notified().await;
    }
}

/// Returns a yes or a no to each change of a look.
fn approved(session: &Session, ApprovedPlan { run, version }: ApprovedPlan) -> Result<Vec<Mark>, Failure> {
    let revision = session.state().revision;
    Look::approved(session.look().as_ref(), revision, (run, version))
}

/// Sends what is approved of a look.
fn send_approved(
    app: &App,
    session: &Session,
    plan: ApprovedPlan,
    rate: Option<Speed>,
    work: &Work,
) -> Result<Finished, Failure> {
    // An edit of somebody else belongs to another look.
    session.take_edits_of_others(&app.context())?;
    let marks = approved(session, plan)?;
    let report = report_path(app, &session.file.name)?;
    let apply = Apply {
        target: PlanTarget::Decided(plan.run, &marks),
        approve: None,
        accepts_old: false,
        asks_of_old: None,
        sending: SendOptions { report: Some(&report), rate, ..SendOptions::default() },
    };
    let observer = |event: Event<'_>| work.note(event);
    let context = app.context();
    let sent = operations::apply(&context, apply, Box::pin(work.interrupt()), &observer);
    let handle = Handle::current();
    let finished = handle.block_on(sent);
    // What was approved is stored by now: another approval needs another plan.
    *session.look() = None;
    if finished.is_err() {
        handle.block_on(operations::discard_plan(&app.context(), plan.run))?;
    }
    Ok(finished?)
}

fn send(
    app: &App,
    session: &Session,
    request: &SendRequest,
    rate: Option<Speed>,
    work: &Work,
) -> Result<Value, Failure> {
    let context = app.context();
    let context = context.as_ref();
    let template = session.save_template(context)?;
    let state = session.state().clone();
    let finished = if let Some(again) = request.again {
        let run = state.last_run.ok_or_else(|| Failure::bad_request("nothing of this file was sent before"))?;
        again_of_run(app, run, again, rate, work)?
    } else if let Some(plan) = request.plan {
        send_approved(app, session, plan, rate, work)?
    } else {
        let input = state.spreadsheet(&session.file)?;
        let report = if request.rehearse { None } else { Some(report_path(app, &session.file.name)?) };
        let was_sent = state.last_run.is_some() || state.report_of.is_some();
        let is_again = (was_sent || request.changed_only) && !request.rehearse;
        let changed_only = is_again && !input.template.record.input().key.is_empty();
        let sending = SendOptions {
            report: report.as_deref(),
            rate: rate.filter(|_| !request.rehearse),
            ..SendOptions::default()
        };
        let upload = Upload {
            changed_only,
            // The temporary service of a rehearsal has no other lines, and nothing to go back to.
            keep_lines: request.keep_lines && !request.rehearse,
            undoable: request.undoable && !request.rehearse,
            // The page shows all of them above the button.
            accepts_doubts: true,
            ..Upload::plain(input, sending)
        };
        let observer = |event: Event<'_>| work.note(event);
        let interrupt = Box::pin(work.interrupt());
        Handle::current().block_on(match request.rehearse {
            true => {
                let from = Rehearse { exports: &[], speed: rate.or(context.rate) };
                rehearse(context, upload, from, None, interrupt, &observer)
            }
            false => operations::upload(context, upload, None, interrupt, &observer),
        })?
    };
    if !request.rehearse {
        session.state().last_run = Some(finished.run.id);
    }
    let command = match (request.again, state.last_run) {
        (Some(again), Some(run)) => command_again(app, run, again, rate),
        _ => command(app, session, &template, &finished, request),
    };
    let mut status = work.finished(&finished, &command);
    if !request.rehearse {
        let result = Handle::current().block_on(run_result(context, finished.run.id))?;
        status["can_undo"] = result.can_undo.into();
    }
    Ok(status)
}

fn again_of_run(app: &App, run: RunId, again: Again, rate: Option<Speed>, work: &Work) -> Result<Finished, Failure> {
    let (context, handle) = (app.context(), Handle::current());
    let context = context.as_ref();
    let observer = |event: Event<'_>| work.note(event);
    let options = SendOptions { rate, ..SendOptions::default() };
    Ok(match again {
        Again::Rest => {
            handle.block_on(operations::resume(context, Some(run), options, Box::pin(work.interrupt()), &observer))?
        }
        Again::Failed => {
            let file = handle.block_on(operations::show_run(context, Some(run)))?.run.about.file;
            let report = report_path(app, Path::new(&file))?;
            let options = SendOptions { report: Some(&report), ..options };
            handle.block_on(operations::retry_run(context, run, options, Box::pin(work.interrupt()), &observer))?
        }
    })
}

fn command_again(app: &App, run: RunId, again: Again, rate: Option<Speed>) -> String {
    let name = match again {
        Again::Rest => "resume",
        Again::Failed => "retry",
    };
    CommandLine::new(&app.context(), name).run(run).flag("rate", rate.map(|rate| rate.to_string())).to_string()
}

/// Returns the equivalent command line.
fn command(app: &App, session: &Session, template: &str, finished: &Finished, request: &SendRequest) -> String {
    let state = session.state();
    let command = CommandLine::new(&app.context(), "upload").file(&session.file.name).short('t', "template", template);
    let command = command.flag("sheet", state.reading.sheet.as_ref());
    let keys = state.reading.keys().into_iter();
    let command = keys.fold(command, |command, (name, value)| command.flag(name, Some(value)));
    let command = command.switch("reviewed", !state.log.current().is_empty());
    let changed_only = finished.run.about.settings.changed_only;
    let command = command.switch("changed-only", changed_only).switch("rehearse", request.rehearse);
    let settings = &finished.run.about.settings;
    let command = command.switch("keep-lines", settings.keep_lines).switch("undoable", settings.undoable);
    command.flag("rate", request.rate.as_ref()).to_string()
}

/// Returns the path of the report of a file, in a folder that only this user can read.
fn report_path(app: &App, file: &Path) -> Result<PathBuf, Failure> {
    let folder = operations::reports_folder(&app.context())?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok(operations::unused(&folder.join(format!("{stem}.report.xlsx"))))
}
