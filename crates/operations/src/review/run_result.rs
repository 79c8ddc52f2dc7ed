//! A run of the history, as the page shows it.

use sheetport_ledger::{Accounting, Causes, Ledger, Run, RunId, RunState};
use sheetport_records::RecordKind;
use sheetport_report as report;

use super::super::context::Context;
use super::super::error::Error;
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
    /// The newest run that was applied to take this run back.
    pub undone_by: Option<RunId>,
    /// Whether the run can be taken back: records of it were sent, and it is known what the service had before.
    pub can_undo: bool,
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
        let undone_by = undone_by(&ledger, run.id).await?;
        let can_undo = can_undo(&ledger, &run, &accounting).await?;
        let next = next_command::after_resolving(context, &run, &accounting);
        ledger.close().await;
        Ok(RunResult { run, accounting, status, refused, retried_by, undone_by, can_undo, next })
    })
}

/// Returns the newest run that has sent something to take a run back.
async fn undone_by(ledger: &Ledger, run: RunId) -> Result<Option<RunId>, Error> {
    let mut newest = None;
    for undo in ledger.undone_by(run).await? {
        if ledger.is_begun(undo).await? {
            newest = newest.max(Some(undo));
        }
    }
    Ok(newest)
}

async fn can_undo(ledger: &Ledger, run: &Run, accounting: &Accounting) -> Result<bool, Error> {
    let is_sent = accounting.sent + accounting.unknown > 0 && run.has_plan && run.state != RunState::Queued;
    Ok(is_sent && (run.about.record == RecordKind::InventoryTransaction || ledger.has_seen(run.id).await?))
}
