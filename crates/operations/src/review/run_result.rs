//! A run of the history, as the page shows it.

use sheetport_ledger::{Accounting, Causes, Run, RunId};
use sheetport_report as report;

use super::super::context::Context;
use super::super::results::{MAX_REFUSED, next_command};
use super::super::runs::list_runs::RunStatus;
use crate::operation::Operation;

/// A run, its counts, and the reasons for refused records.
#[derive(Debug)]
pub struct RunResult {
    pub run: Run,
    pub accounting: Accounting,
    pub status: RunStatus,
    /// The first refusals, grouped by cause.
    pub refused: Causes,
    /// The run that retried this run.
    pub retried_by: Option<RunId>,
    /// The next command to run, if something is left to do.
    pub next: Option<String>,
}

/// Returns the current result of a run.
///
/// # Errors
/// If there is no such run, or the ledger can't be read.
pub fn run_result(context: &Context, run: RunId) -> Operation<'_, RunResult> {
    Box::pin(async move {
        let ledger = context.ledger().await?;
        let run = ledger.run(run).await?;
        let accounting = ledger.accounting(run.id).await?;
        let status = RunStatus::of(&ledger, &run, &accounting).await?;
        let retried_by = ledger.retried_by(run.id).await?;
        let refused = match accounting.failed {
            0 => Causes::default(),
            _ => report::refused(&ledger, &run, MAX_REFUSED).await?,
        };
        let next = next_command::after_resolving(context, &run, &accounting);
        ledger.close().await;
        Ok(RunResult { run, accounting, status, refused, retried_by, next })
    })
}
