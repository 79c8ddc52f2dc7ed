//! Resuming a run from the ledger, and binding an operation to an existing run.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use sheetport_client::{self as client, Client};
use sheetport_ledger::{self as ledger, Ledger, LockedRun, Run, RunId, RunSettings, RunState};
use sheetport_send::Grace;

use super::super::command_line::quoted;
use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::files::check_report_path;
use super::super::look_again::not_queued;
use super::super::results::{Finished, check_has_plan, next_command};
use super::super::send::{SendOptions, Sending};
use crate::operation::LocalOperation;

const RESUMED: &str = "resumed";
/// Why a run whose plan is incomplete can't be continued.
pub(crate) const NOT_READ: &str = "its file was not read to the end, so nothing was sent";

/// Resumes a run; for `None`, the only resumable run. The spreadsheet is not read again.
///
/// # Errors
/// If several runs can be resumed, the run can't be resumed, or the ledger fails.
pub fn resume<'a>(
    context: &'a Context,
    run: Option<RunId>,
    options: SendOptions<'a>,
    interrupt: BoxFuture<'a, Grace>,
    observer: Observer<'a>,
) -> LocalOperation<'a, Finished> {
    Box::pin(async move {
        check_report_path(context, options.report).await?;
        let ledger = context.ledger().await?;
        let run = match run {
            Some(run) => ledger.run(run).await?,
            None => only_resumable(context, &ledger).await?,
        };
        let why = match run.state {
            RunState::Planning if ledger.is_locked(run.id).await? => {
                Some(("its file is being read", "wait until it is sent: `sheetport runs` shows it".to_owned()))
            }
            RunState::Planning => Some((NOT_READ, begin_again(context, &run))),
            RunState::Withheld => {
                Some(("nothing of it was to be sent", "fix the rows and upload the file again".to_owned()))
            }
            // What the service has is stored after the plan.
            RunState::Planned if run.looked_at.is_none() && run.about.undo_of.is_some() => {
                let again = next_command::plan_again(context, &run).unwrap_or_default();
                Some(("planning it was cut off", format!("to begin again: `{again}`")))
            }
            RunState::Planned | RunState::Queued | RunState::Finished => None,
        };
        if options.report.is_some() {
            check_has_plan(&run, RESUMED)?;
        }
        if let Some((reason, hint)) = why {
            return Err(refused(run.id, RESUMED, reason, &hint));
        }
        let earlier = &run.about.settings;
        let overwrite_newer = options.overwrites_newer || earlier.overwrite_newer;
        let settings = RunSettings { overwrite_newer, ..options.over(earlier) };
        if options.is_to_queue && settings.fill_blank {
            return Err(not_queued());
        }
        let looks_again = !settings.needs_no_look() || run.looks_again();
        let (context, client, run) = match options.is_to_queue && !looks_again {
            true => {
                let (context, run) = bind_for_workers(&ledger, &run, context).await?;
                (context, None, run)
            }
            false => {
                let bound = bind(&ledger, &run, context, settings.concurrency, RESUMED).await?;
                (bound.context, Some(bound.client), bound.run)
            }
        };
        let settings = RunSettings { connection: context.run_connection(), ..settings };
        let run = ledger.change_settings(run, settings).await?;
        observer(Event::Resuming(run.run()));
        let sending = Sending::unattended(&context, &ledger, client, run, &options, observer);
        let finished = sending.send(interrupt).await?;
        ledger.close().await;
        Ok(finished)
    })
}

/// Says how to begin a run again whose file was not read to the end.
pub(crate) fn begin_again(context: &Context, run: &Run) -> String {
    match next_command::begin_again(context, run) {
        Some(command) => format!("to begin again: `{command}`"),
        None => "upload the file again".to_owned(),
    }
}

/// Returns the only resumable run, or the newest run if there is none. A run whose file was not read to its end is named, too.
async fn only_resumable(context: &Context, ledger: &Ledger) -> Result<Run, Error> {
    let mut found: Vec<(Run, u64)> = Vec::new();
    for id in ledger.unfinished().await? {
        let pending = ledger.accounting(id).await?.pending;
        if pending == 0 || is_unapplied_undo(ledger, &ledger.run(id).await?).await? {
            continue;
        }
        // Another process may be sending the run now.
        match ledger.lock_run(id).await {
            Ok(locked) => found.push((locked.run().clone(), pending)),
            Err(ledger::Error::Busy { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if found.len() > 1 {
        let lines = found.iter().map(|(run, pending)| {
            let command = next_command::go_on(context, run.id);
            format!("`{command}` for {pending} of {} to {}", run.about.file, run.about.base_url)
        });
        let hint = format!("name one: {}", lines.collect::<Vec<_>>().join("; "));
        return Err(Error::invalid(format!("{} runs can be resumed", found.len()), hint));
    }
    let run = match found.pop() {
        Some((run, _)) => run,
        None => match ledger.newest_unplanned().await? {
            Some(run) if !ledger.is_locked(run.id).await? => run,
            _ => ledger.run_or_newest(None).await?,
        },
    };
    if is_unapplied_undo(ledger, &run).await? {
        let hint = format!("to take the run back after all: `{}`", next_command::apply(context, run.id, None));
        return Err(refused(run.id, RESUMED, "it is an undo that nobody has applied", &hint));
    }
    Ok(run)
}

/// Whether a run is the plan of an undo to which nobody has agreed.
async fn is_unapplied_undo(ledger: &Ledger, run: &Run) -> Result<bool, Error> {
    Ok(run.about.undo_of.is_some() && run.approved_at.is_none() && !ledger.is_begun(run.id).await?)
}

/// A locked run, and everything needed to send its records.
pub(crate) struct Bound {
    /// The context of the run.
    pub context: Context,
    pub client: Arc<Client>,
    pub run: LockedRun,
}

/// Locks `run` and creates a client for the service of the run.
///
/// # Errors
/// [`Error::RunRefused`] if the context is for another service or workspace, [`ledger::Error::Busy`] if another process
/// works on the run.
///
/// [`ledger::Error::Busy`]: sheetport_ledger::Error::Busy
pub(crate) async fn bind(
    ledger: &Ledger,
    run: &Run,
    context: &Context,
    concurrency: u16,
    action: &'static str,
) -> Result<Bound, Error> {
    let context = context_of(run, context, action)?;
    let client = context.writing_client(&run.about.base_url, concurrency)?;
    let locked = lock_for(ledger, run.id, &context.workspace()).await?;
    if let Some((reason, hint)) = context.other_workspace(&locked.run().about.workspace) {
        return Err(refused(run.id, action, &reason, hint));
    }
    Ok(Bound { context, client, run: locked })
}

/// Locks `run` for workers, which use their own tokens. Returns the context of the run as well.
async fn bind_for_workers(ledger: &Ledger, run: &Run, context: &Context) -> Result<(Context, LockedRun), Error> {
    let context = context_of(run, context, RESUMED)?;
    let locked = lock_for(ledger, run.id, &context.workspace()).await?;
    Ok((context, locked))
}

/// Returns the context of a run.
///
/// # Errors
/// If the run is damaged, or the context is for another service.
fn context_of(run: &Run, context: &Context, action: &'static str) -> Result<Context, Error> {
    if let Some(what) = run.damage.clone() {
        return Err(ledger::Error::Damaged { run: run.id, what }.into());
    }
    if action != RESUMED {
        check_has_plan(run, action)?;
    }
    let context = context.for_run(run)?;
    let base_url = client::normal_address(context.base_url.as_deref().unwrap_or(&run.about.base_url))?;
    if base_url != run.about.base_url {
        let reason = format!("it was planned for {}, not for {base_url}", run.about.base_url);
        let hint = format!("use the address that it was planned for: --base-url {}", quoted(&run.about.base_url));
        return Err(refused(run.id, action, &reason, &hint));
    }
    Ok(context)
}

/// Locks a run, and binds a run without a workspace to the workspace of the token.
async fn lock_for(ledger: &Ledger, run: RunId, workspace: &str) -> Result<LockedRun, Error> {
    let locked = ledger.lock_checked_run(run).await?;
    if locked.run().about.workspace.is_empty() && ledger.bind_workspace(run, workspace).await? {
        drop(locked);
        return Ok(ledger.lock_run(run).await?);
    }
    Ok(locked)
}

pub(crate) fn refused(run: RunId, action: &'static str, reason: &str, hint: &str) -> Error {
    Error::RunRefused { run, action, reason: reason.to_owned(), hint: hint.to_owned() }
}
