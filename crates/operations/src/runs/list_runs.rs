//! The history of runs.

use sheetport_ledger::{self as ledger, Accounting, Action, Activity, Ledger, Run, RunEvent, RunId, RunState};
use sheetport_values::date::local_minute;

use super::super::context::Context;
use super::super::error::Error;
use super::super::files::shown_file;
use crate::operation::Operation;

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
    /// Reading the file was cut off, so nothing was sent.
    Aborted,
    /// A living process reads the file or sends the records.
    Running,
    /// The file was read, and nothing was sent yet.
    Planned,
    Stopped,
    /// Workers send the pending records.
    Queued,
    Done,
    Withheld,
    /// Something of the run was lost or altered in the ledger.
    Damaged,
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
    pub status: RunStatus,
    /// The run that retried this run.
    pub retried_by: Option<RunId>,
    /// The newest run that was planned to take this run back, and is not withheld.
    pub undone_by: Option<RunId>,
    /// Who has done what, in order.
    pub history: Vec<RunEvent>,
}

impl RunStatus {
    /// Returns the state of a run. The lock tells whether a process works on it now.
    pub(crate) async fn of(ledger: &Ledger, run: &Run, accounting: &Accounting) -> Result<RunStatus, ledger::Error> {
        let status = RunStatus::at_rest(run, accounting);
        let may_run = matches!(status, RunStatus::Aborted | RunStatus::Planned | RunStatus::Stopped);
        Ok(match status {
            _ if may_run && ledger.is_worked_on(run.id).await? => RunStatus::Running,
            // Killed before the first answer.
            RunStatus::Planned if ledger.is_begun(run.id).await? => RunStatus::Stopped,
            status => status,
        })
    }

    /// Returns the state of a run that no process works on.
    pub(crate) fn at_rest(run: &Run, accounting: &Accounting) -> RunStatus {
        match run.state {
            _ if run.damage.is_some() => RunStatus::Damaged,
            RunState::Planning => RunStatus::Aborted,
            RunState::Planned if accounting.pending > 0 => {
                let is_begun = accounting.requests > 0 || run.millis > 0 || run.stopped_why.is_some();
                if is_begun { RunStatus::Stopped } else { RunStatus::Planned }
            }
            RunState::Queued => RunStatus::Queued,
            RunState::Planned | RunState::Finished => RunStatus::Done,
            RunState::Withheld => RunStatus::Withheld,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            RunStatus::Aborted => "aborted",
            RunStatus::Running => "running",
            RunStatus::Planned => "planned",
            RunStatus::Stopped => "stopped",
            RunStatus::Queued => "queued",
            RunStatus::Done => "done",
            RunStatus::Withheld => "withheld",
            RunStatus::Damaged => "damaged",
            RunStatus::Unknown => "unknown",
            RunStatus::Problems => "problems",
        }
    }

    /// Whether a filter for this state selects a run in the state `status`.
    fn matches(self, status: RunStatus, accounting: &Accounting) -> bool {
        match self {
            RunStatus::Unknown => accounting.unknown > 0,
            RunStatus::Problems => accounting.rejected + accounting.failed + accounting.unknown > 0,
            wanted => wanted == status,
        }
    }
}

/// A run of the history.
#[derive(Clone, Debug)]
pub enum ListedRun {
    Known(Box<Run>, Accounting, RunStatus),
    /// An unreadable run.
    Damaged {
        run: RunId,
        what: String,
    },
}

/// Returns the newest matching runs, newest first, at most `limit`. Unreadable runs match unless the filter requires another
/// state.
pub fn list_runs<'a>(context: &'a Context, filter: RunFilter<'a>, limit: usize) -> Operation<'a, Vec<ListedRun>> {
    Box::pin(async move {
        let ledger = context.readable_ledger().await?;
        let runs = newest_of(&ledger, filter, limit).await?;
        ledger.close().await;
        Ok(runs)
    })
}

/// Returns what [`list_runs`] does, and the newest exports and runs of jobs, newest first, at most `limit`. None of these with a filter by kind of
/// record or state, which are those of uploads.
pub fn list_runs_and_activities<'a>(
    context: &'a Context,
    filter: RunFilter<'a>,
    limit: usize,
) -> Operation<'a, (Vec<ListedRun>, Vec<Activity>)> {
    Box::pin(async move {
        let ledger = context.readable_ledger().await?;
        let runs = newest_of(&ledger, filter, limit).await?;
        let activities = match (filter.status, filter.record) {
            (None, None) => ledger.activities(filter.file, limit).await?,
            _ => Vec::new(),
        };
        ledger.close().await;
        Ok((runs, activities))
    })
}

/// Like [`list_runs`], but returns no runs instead of creating a missing ledger.
pub fn list_existing_runs<'a>(
    context: &'a Context,
    filter: RunFilter<'a>,
    limit: usize,
) -> Operation<'a, Vec<ListedRun>> {
    Box::pin(async move {
        match context.has_ledger() {
            true => list_runs(context, filter, limit).await,
            false => Ok(Vec::new()),
        }
    })
}

async fn newest_of(ledger: &Ledger, filter: RunFilter<'_>, limit: usize) -> Result<Vec<ListedRun>, Error> {
    let mut runs = Vec::new();
    let mut ids = ledger.run_ids();
    while runs.len() < limit
        && let Some(id) = ids.next().await?
    {
        runs.extend(listed(ledger, id, filter).await?);
    }
    Ok(runs)
}

/// Returns a run if it matches the filter.
async fn listed(ledger: &Ledger, id: RunId, filter: RunFilter<'_>) -> Result<Option<ListedRun>, Error> {
    let damaged = |error: ledger::Error| match error.is_damage() {
        true => {
            let is_wanted = filter.status.is_none_or(|status| status == RunStatus::Damaged);
            Ok(is_wanted.then(|| ListedRun::Damaged { run: id, what: damage(error) }))
        }
        false => Err(error.into()),
    };
    let run = match ledger.run(id).await {
        Ok(run) => run,
        Err(error) => return damaged(error),
    };
    let is_selected = filter.file.is_none_or(|text| run.about.file.contains(text) || shown_file(&run).contains(text))
        && filter.record.is_none_or(|record| run.about.record.name() == record);
    if !is_selected {
        return Ok(None);
    }
    match ledger.accounting(id).await {
        Ok(accounting) => {
            let status = RunStatus::of(ledger, &run, &accounting).await?;
            let is_wanted = filter.status.is_none_or(|wanted| wanted.matches(status, &accounting));
            Ok(is_wanted.then(|| ListedRun::Known(Box::new(run), accounting, status)))
        }
        // Known by a repair of an earlier version.
        Err(_) if let Some(what) = run.damage => damaged(ledger::Error::Damaged { run: id, what }),
        Err(error) => damaged(error),
    }
}

/// Returns a description of the damage, without the name of the run.
pub(crate) fn damage(error: ledger::Error) -> String {
    match error {
        ledger::Error::Damaged { what, .. } => what,
        error => error.to_string(),
    }
}

/// Returns a run, the newest if `None`.
pub fn show_run(context: &Context, run: Option<RunId>) -> Operation<'_, RunDetails> {
    Box::pin(async move {
        let ledger = context.readable_ledger().await?;
        let run = match ledger.run_or_newest(run).await {
            Err(ledger::Error::NoSuchRun(id)) => return Err(gone(&ledger, id).await?),
            run => run?,
        };
        let accounting = ledger.accounting(run.id).await?;
        let status = RunStatus::of(&ledger, &run, &accounting).await?;
        let retried_by = ledger.retried_by(run.id).await?;
        let mut undone_by = None;
        for undo in ledger.undone_by(run.id).await? {
            if ledger.run(undo).await?.state != RunState::Withheld {
                undone_by = Some(undo);
            }
        }
        let history = ledger.history(run.id).await?;
        ledger.close().await;
        Ok(RunDetails { run, accounting, status, retried_by, undone_by, history })
    })
}

/// Returns the error for a missing run. The error names the person who removed the run, if it ever existed.
pub(super) async fn gone(ledger: &Ledger, run: RunId) -> Result<Error, Error> {
    let history = ledger.history(run).await?;
    let removed = history.into_iter().find(|event| event.action == Action::Removed);
    Ok(match removed {
        Some(RunEvent { who, at, .. }) => {
            let at = local_minute(at);
            Error::invalid(
                format!("there is no run {run} any more: {who} removed it, {at}"),
                "`sheetport runs` lists the runs",
            )
        }
        None => ledger::Error::NoSuchRun(run).into(),
    })
}
