//! Sending a file under review.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::app::App;
use super::failure::Failure;
use super::session::Session;
use super::view;
use crate::client::Speed;
use crate::ledger::AllowRepeat;
use crate::operations::{self, CommandLine, Event, Finished, Rehearse, SendOptions, Upload};
use crate::upload::Grace;

/// Time for requests in flight after somebody has asked to stop.
const GRACE: Duration = Duration::from_secs(30);

/// What to send.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SendRequest {
    /// To a temporary service on this machine.
    pub rehearse: bool,
    /// Continues the run that was stopped.
    pub resume: bool,
    /// The most requests, such as `5/s`; the usual rate if missing.
    pub rate: Option<String>,
    /// Leaves out what the service has already. What was sent before is left out in any case.
    pub changed_only: bool,
}

impl SendRequest {
    fn speed(&self) -> Result<Option<Speed>, Failure> {
        speed(self.rate.as_deref())
    }
}

/// Returns a rate as the page names it.
pub(super) fn speed(rate: Option<&str>) -> Result<Option<Speed>, Failure> {
    rate.filter(|rate| !rate.is_empty()).map(str::parse).transpose().map_err(Failure::bad_request)
}

/// Starts to send a file. The review shows its progress.
///
/// # Errors
/// If it is being sent already, or its template can't be saved.
pub(super) fn start(app: &Arc<App>, session: &Arc<Session>, request: SendRequest) -> Result<(), Failure> {
    request.speed()?;
    // The requests of a comparison would share the rate of the service.
    session.comparing.stop();
    let begun = session.sending.begin();
    let stop = begun.ok_or_else(|| Failure::bad_request("this file is being sent already"))?;
    session.sending.set(json!({"phase": "reading", "rehearsal": request.rehearse, "rows": 0}));
    let (app, session) = (Arc::clone(app), Arc::clone(session));
    tokio::task::spawn_blocking(move || {
        let status = send(&app, &session, &request, &stop).unwrap_or_else(|failure| {
            json!({"phase": "failed", "rehearsal": request.rehearse, "message": failure.message(), "hint": failure.hint()})
        });
        let revision = if request.rehearse { session.state().revision } else { session.expire() };
        let mut status = status;
        status["revision"] = revision.into();
        session.sending.end(status);
    });
    Ok(())
}

fn send(app: &App, session: &Session, request: &SendRequest, stop: &Notify) -> Result<Value, Failure> {
    let context = &app.context;
    let template = session.save_template(context)?;
    let state = session.state().clone();
    let notes: Mutex<Vec<String>> = Mutex::default();
    let observer = |event: Event<'_>| match event {
        Event::Warning(text) => notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned()),
        event => {
            if let Some(status) = view::progress(event, request.rehearse) {
                session.sending.set(status);
            }
        }
    };
    let interrupt = async {
        stop.notified().await;
        Grace::from(GRACE)
    };
    let handle = Handle::current();
    let options = SendOptions { rate: request.speed()?, ..SendOptions::default() };
    let finished = if request.resume {
        let run = state.last_run.ok_or_else(|| Failure::bad_request("nothing of this file was sent before"))?;
        let resumed = operations::resume(context, Some(run), options, interrupt, &observer);
        handle.block_on(resumed)?
    } else {
        let input = state.spreadsheet(&session.file)?;
        let report = if request.rehearse { None } else { Some(report_path(app, session)?) };
        let was_sent = state.last_run.is_some() || state.report_of.is_some();
        let is_again = (was_sent || request.changed_only) && !request.rehearse;
        let changed_only = is_again && !input.template.record.input().key.is_empty();
        let rate = options.rate.filter(|_| !request.rehearse);
        let upload = Upload {
            input,
            sending: SendOptions { report: report.as_deref(), rate, ..options },
            changed_only,
            all_or_nothing: false,
            allow_repeat: AllowRepeat::None,
            restore_texts: false,
            create_missing_items: false,
            trigger_workflows: false,
            rehearsal: request.rehearse.then_some(Rehearse { exports: &[], speed: options.rate.or(context.rate) }),
        };
        handle.block_on(operations::upload(context, upload, None, interrupt, &observer))?
    };
    if !request.rehearse {
        session.state().last_run = Some(finished.run.id);
    }
    let command = command(app, session, &template, &finished, request);
    let notes = notes.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(view::finished(&finished, request.rehearse, &command, &notes))
}

/// Returns the command that does the same.
fn command(app: &App, session: &Session, template: &str, finished: &Finished, request: &SendRequest) -> String {
    if request.resume {
        let command = CommandLine::new(&app.context, "resume").run(finished.run.id);
        return command.flag("rate", request.rate.as_ref()).to_string();
    }
    let state = session.state();
    let command = CommandLine::new(&app.context, "upload").file(&session.file.name).short('t', "template", template);
    let command = command.flag("sheet", state.reading.sheet.as_ref());
    let keys = state.reading.keys().into_iter();
    let command = keys.fold(command, |command, (name, value)| command.flag(name, Some(value)));
    let command = command.switch("reviewed", !state.log.current().is_empty());
    let changed_only = finished.run.about.settings.changed_only;
    let command = command.switch("changed-only", changed_only).switch("rehearse", request.rehearse);
    command.flag("rate", request.rate.as_ref()).to_string()
}

/// Returns the path of the report of a file, in a folder that only this user can read.
fn report_path(app: &App, session: &Session) -> Result<PathBuf, Failure> {
    let folder = operations::review::reports(&app.context)?;
    let stem = session.file.name.file_stem().unwrap_or_default().to_string_lossy();
    Ok(operations::unused(&folder.join(format!("{stem}.report.xlsx"))))
}
