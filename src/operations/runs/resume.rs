//! Resuming a run from the ledger, and binding an operation to an existing run.

use std::sync::Arc;
use std::time::Duration;

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::report::check_report_path;
use super::super::send::{Finished, SendOptions, Sending};
use crate::client::Client;
use crate::ledger::{Ledger, LockedRun, Run, RunId, RunState};

const RESUMED: &str = "resumed";

/// Resumes a run, the newest if `None`. The spreadsheet is not read again.
pub async fn resume(
    context: &Context,
    run: Option<RunId>,
    options: SendOptions<'_>,
    interrupt: impl Future<Output = Duration>,
    observer: Observer<'_>,
) -> Result<Finished, Error> {
    options.report.map_or(Ok(()), check_report_path)?;
    let ledger = context.ledger().await?;
    let run = ledger.run_or_newest(run).await?;
    let why = match run.state {
        RunState::Planning => Some(("its file was not read to the end, so nothing was sent", "upload the file again")),
        RunState::Withheld => Some((
            "some of its rows can't be sent, and it was uploaded with --all-or-nothing",
            "fix the rows and upload the file again",
        )),
        RunState::Planned | RunState::Finished => None,
    };
    if let Some((reason, hint)) = why {
        return Err(refused(run.id, RESUMED, reason, hint));
    }
    let (client, run) = bind(&ledger, &run, context, options.concurrency, RESUMED).await?;
    observer(Event::Resuming(run.run()));
    let sending = Sending::new(context, &ledger, client, run, options, observer);
    let finished = sending.send(interrupt).await?;
    ledger.close().await;
    Ok(finished)
}

/// Locks `run` and creates a client for the service of the run.
///
/// # Errors
/// [`Error::RunRefused`] if the context is for another service or workspace, [`ledger::Error::Busy`] if another process
/// works on the run.
///
/// [`ledger::Error::Busy`]: crate::ledger::Error::Busy
pub(in crate::operations) async fn bind(
    ledger: &Ledger,
    run: &Run,
    context: &Context,
    concurrency: u16,
    action: &'static str,
) -> Result<(Arc<Client>, LockedRun), Error> {
    let id = run.id;
    let client = context.writing_client(context.base_url.as_deref().unwrap_or(&run.about.base_url), concurrency)?;
    if client.address() != run.about.base_url {
        let reason = format!("it was planned for {}, not for {}", run.about.base_url, client.address());
        return Err(refused(id, action, &reason, "use the address that it was planned for"));
    }
    let mut locked = ledger.lock_run(id).await?;
    let workspace = context.workspace();
    if locked.run().about.workspace.is_empty() && ledger.bind_workspace(id, &workspace).await? {
        drop(locked);
        locked = ledger.lock_run(id).await?;
    }
    let planned = &locked.run().about.workspace;
    if workspace != *planned {
        let reason = format!("it was planned for the workspace '{planned}', but the token is for '{workspace}'");
        return Err(refused(id, action, &reason, "use a token of that workspace"));
    }
    Ok((client, locked))
}

pub(in crate::operations) fn refused(run: RunId, action: &'static str, reason: &str, hint: &str) -> Error {
    Error::RunRefused { run, action, reason: reason.to_owned(), hint: hint.to_owned() }
}
