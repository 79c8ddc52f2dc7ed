//! The history of runs.

use super::super::context::Context;
use super::super::error::Error;
use crate::ledger::{Accounting, Run, RunId, RunState};

/// Runs loaded at a time.
const PAGE: u32 = 100;

/// Selects runs of the history.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunFilter<'a> {
    /// Substring of the file's path.
    pub file: Option<&'a str>,
    /// Name of the record kind.
    pub record: Option<&'a str>,
    pub status: Option<RunStatus>,
}

/// State of a run as shown to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    NotRead,
    Stopped,
    Done,
    Withheld,
    /// The run has records with an unknown outcome. Only for filters.
    Unknown,
    /// The run has rejected, refused or unknown records. Only for filters.
    Problems,
}

/// A run with its counts.
#[derive(Clone, Debug)]
pub struct RunDetails {
    pub run: Run,
    pub accounting: Accounting,
    /// The run that retried this run.
    pub retried_by: Option<RunId>,
}

impl RunStatus {
    pub fn of(run: &Run, accounting: &Accounting) -> RunStatus {
        match run.state {
            RunState::Planning => RunStatus::NotRead,
            RunState::Planned if accounting.pending > 0 => RunStatus::Stopped,
            RunState::Planned | RunState::Finished => RunStatus::Done,
            RunState::Withheld => RunStatus::Withheld,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            RunStatus::NotRead => "not read",
            RunStatus::Stopped => "stopped",
            RunStatus::Done => "done",
            RunStatus::Withheld => "withheld",
            RunStatus::Unknown => "unknown",
            RunStatus::Problems => "problems",
        }
    }

    fn matches(self, run: &Run, accounting: &Accounting) -> bool {
        match self {
            RunStatus::Unknown => accounting.unknown > 0,
            RunStatus::Problems => accounting.rejected + accounting.failed + accounting.unknown > 0,
            status => RunStatus::of(run, accounting) == status,
        }
    }
}

/// Returns the newest matching runs, newest first, at most `limit`.
pub async fn list_runs(
    context: &Context,
    filter: RunFilter<'_>,
    limit: usize,
) -> Result<Vec<(Run, Accounting)>, Error> {
    let ledger = context.ledger().await?;
    let mut runs = Vec::new();
    let mut before = RunId::MAX;
    while runs.len() < limit {
        let page = ledger.runs_before(before, PAGE).await?;
        let Some(oldest) = page.last() else { break };
        before = oldest.id;
        let matches = |run: &Run| {
            filter.file.is_none_or(|text| run.about.file.contains(text))
                && filter.record.is_none_or(|record| run.about.record.name() == record)
        };
        for run in page.into_iter().filter(matches) {
            let accounting = ledger.accounting(run.id).await?;
            if runs.len() < limit && filter.status.is_none_or(|status| status.matches(&run, &accounting)) {
                runs.push((run, accounting));
            }
        }
    }
    ledger.close().await;
    Ok(runs)
}

/// Returns a run, the newest if `None`.
pub async fn show_run(context: &Context, run: Option<RunId>) -> Result<RunDetails, Error> {
    let ledger = context.ledger().await?;
    let run = ledger.run_or_newest(run).await?;
    let accounting = ledger.accounting(run.id).await?;
    let retried_by = ledger.retried_by(run.id).await?;
    ledger.close().await;
    Ok(RunDetails { run, accounting, retried_by })
}
