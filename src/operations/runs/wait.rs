//! Waits for a run sent by other processes.

use std::path::Path;
use std::time::{Duration, Instant};

use super::super::context::{Context, now};
use super::super::ending::{Ending, Finished, How};
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::stored_files::check_report_path;
use super::resume::refused;
use crate::ledger::{Ledger, Run, RunId, RunState};
use crate::upload::{Progress, StopReason};

/// Interval of looking at the run.
const POLL: Duration = Duration::from_millis(500);
/// Time without a lock after which a run that is neither queued nor finished counts as stopped. Before, a process may be about to
/// send the run.
const IDLE: Duration = Duration::from_secs(3);

/// Waits until nobody sends a run any more: workers, or an upload on any machine. `stop` ends the waiting, and not the run.
/// Returns `None` then. Unless `watches_only`, the report is written as after an upload.
///
/// # Errors
/// If the run does not exist, was not planned to its end, or the ledger can't be used for some time.
pub async fn wait(
    context: &Context,
    run: Option<RunId>,
    report: Option<&Path>,
    watches_only: bool,
    stop: impl Future<Output = ()>,
    observer: Observer<'_>,
) -> Result<Option<Finished>, Error> {
    check_report_path(context, report).await?;
    let ledger = context.ledger().await?;
    let run = ledger.run_or_newest(run).await?;
    observer(Event::Resuming(&run));
    let ended = tokio::select! {
        ended = until_ended(&ledger, &run, observer) => ended?,
        () = stop => return Ok(None),
    };
    let stopped = ended.stopped_why.clone().filter(|_| ended.state != RunState::Finished).map(StopReason::Elsewhere);
    let context = &context.for_run(&ended)?;
    let ending = Ending { context, ledger: &ledger, report, observer };
    let finished = ending.finish(ended.id, How { stopped, is_watched: watches_only, ..How::default() }).await?;
    ledger.close().await;
    Ok(Some(finished))
}

/// Shows the progress of a run until no process sends it any more.
async fn until_ended(ledger: &Ledger, run: &Run, observer: Observer<'_>) -> Result<Run, Error> {
    let mut accounting = ledger.accounting(run.id).await?;
    let before = accounting;
    let pending = before.pending;
    let mut is_shown = false;
    let mut idle_since: Option<Instant> = None;
    loop {
        let now = ledger.run(run.id).await?;
        if is_shown {
            let progress = Progress {
                sent: (accounting.sent + accounting.unchanged + accounting.skipped)
                    .saturating_sub(before.sent + before.unchanged + before.skipped),
                failed: accounting.failed.saturating_sub(before.failed),
                unknown: accounting.unknown.saturating_sub(before.unknown),
                retries: accounting.retries.saturating_sub(before.retries),
                ..Progress::default()
            };
            observer(Event::Sent { progress: &progress, pending });
        }
        let is_sent = match now.state {
            RunState::Planning | RunState::Planned => {
                let is_locked = ledger.is_locked(run.id).await?;
                let since = *idle_since.get_or_insert_with(Instant::now);
                if is_locked {
                    idle_since = None;
                }
                is_locked || accounting.pending > 0 && now.stopped_why.is_none() && since.elapsed() < IDLE
            }
            RunState::Queued => true,
            RunState::Finished | RunState::Withheld => false,
        };
        if !is_sent && now.state == RunState::Planning {
            let reason = "its file was not read to the end, so nothing was sent";
            return Err(refused(run.id, "waited for", reason, "upload the file again"));
        }
        if !is_sent {
            if is_shown {
                observer(Event::SendingEnded { done: pending.saturating_sub(accounting.pending) });
            }
            return Ok(now);
        }
        if !is_shown {
            observer(Event::Sending { pending, rate: None });
            is_shown = true;
        }
        tokio::time::sleep(POLL).await;
        accounting = ledger.accounting(run.id).await?;
    }
}

/// Takes a queued run away from the workers. Requests in flight end as usual.
///
/// # Errors
/// If the run is not queued.
pub async fn stop_run(context: &Context, run: RunId, who: &str) -> Result<(), Error> {
    let ledger = context.ledger().await?;
    let state = ledger.run(run).await?.state;
    if !ledger.stop_queued(run, Some(who), &format!("{who} stopped it"), now()).await? {
        let hint = match state {
            RunState::Planned => "a command that sends it is stopped by Ctrl-C",
            _ => "`sheetport runs` shows the queued ones",
        };
        return Err(refused(run, "stopped", "no workers send it", hint));
    }
    ledger.close().await;
    Ok(())
}
