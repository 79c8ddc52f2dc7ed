//! `resume`: carries on with a run from what the ledger holds. The spreadsheet is not read again.

use std::sync::Arc;

use super::login::check_may_write;
use super::reporting;
use super::sending::{self, Sending, no_run_to_send};
use crate::cli::Resume;
use crate::client::Client;
use crate::error::{Exit, Failure};
use crate::ledger::{Ledger, LockedRun, Run, RunState};
use crate::settings::Settings;
use crate::ui;

pub async fn run(args: &Resume, settings: &Settings) -> Result<Exit, Failure> {
    if let Some(report) = &args.report {
        reporting::check_report(report)?;
    }
    let ledger = sending::ledger(settings).await?;
    let run = ledger.run_or_newest(args.run).await?;
    if run.state == RunState::Planning {
        return Err(no_run_to_send(
            run.id,
            "its file was not read to the end, so nothing was sent",
            "upload the file again",
        ));
    }
    if run.state == RunState::Withheld {
        return Err(no_run_to_send(
            run.id,
            "it was to be sent as a whole or not at all, and has rows that can't be sent",
            "mend the rows and upload the file again",
        ));
    }
    let (client, locked) = bind(&ledger, &run, settings, usize::from(args.pacing.concurrency), Bound::Resume).await?;
    if settings.output.talks() {
        ui::line(format_args!("run {}  {}", run.id, run.about.file));
    }
    let sending = Sending {
        settings,
        ledger: &ledger,
        client: Arc::new(client),
        run: locked,
        kind: run.about.record,
        pacing: &args.pacing,
        max_errors: args.max_errors,
        report: args.report.as_deref(),
        is_rehearsal: false,
    };
    let (exit, summary) = sending.finish("resume").await?;
    ledger.close().await;
    summary.print(settings.output);
    Ok(exit)
}

/// What a run is wanted for.
#[derive(Clone, Copy)]
pub enum Bound {
    Resume,
    /// Its failed records.
    Retry,
    /// A report of it.
    Report,
}

impl Bound {
    fn word(self) -> &'static str {
        match self {
            Bound::Resume => "resumed",
            Bound::Retry | Bound::Report => "tried again",
        }
    }
}

/// A client for the service and workspace that the run belongs to, and the run's lock. Refuses any other.
pub async fn bind(
    ledger: &Ledger,
    run: &Run,
    settings: &Settings,
    concurrency: usize,
    what: Bound,
) -> Result<(Client, LockedRun), Failure> {
    let refused = |run: &Run, why: &str, hint: &str| {
        let hint = match what {
            Bound::Resume | Bound::Retry => hint.to_owned(),
            Bound::Report => format!("{hint}; --as-new sends all of its rows there as new ones"),
        };
        Failure::new(Exit::Usage, format!("run {} can't be {}: {why}", run.id, what.word()), hint)
    };
    let base = settings.base_url.as_deref().unwrap_or(&run.about.base_url);
    let client = Client::new(base, settings.credentials.clone(), concurrency)?;
    check_may_write(settings)?;
    if client.address() != run.about.base_url {
        return Err(refused(
            run,
            &format!("it was planned for {}, not for {}", run.about.base_url, client.address()),
            "name the address that it was planned for",
        ));
    }
    let mut locked = ledger.lock_run(run.id).await?;
    let workspace = settings.credentials.workspace().unwrap_or_default();
    if locked.run().about.workspace.is_empty() && ledger.bind_workspace(run.id, &workspace).await? {
        drop(locked);
        locked = ledger.lock_run(run.id).await?;
    }
    let run = locked.run();
    if workspace != run.about.workspace {
        return Err(refused(
            run,
            &format!("it was planned for the workspace '{}', and the token is for '{workspace}'", run.about.workspace),
            "use a token of its workspace",
        ));
    }
    Ok((client, locked))
}
