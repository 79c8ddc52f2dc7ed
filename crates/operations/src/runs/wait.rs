//! Waits for a run sent by other processes.

use std::path::Path;
use std::sync::Once;
use std::time::{Duration, Instant};

use futures_util::future::LocalBoxFuture;

use sheetport_ledger::{self as ledger, Accounting, Ledger, Run, RunId, RunState};
use sheetport_report as report;
use sheetport_send::{Progress, StopReason};

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::files::check_report_path;
use super::super::results::{Ending, Finished, How};
use super::resume::{NOT_READ, refused};
use crate::operation::{LocalOperation, Operation};

/// Interval of looking at the run.
const POLL: Duration = Duration::from_millis(500);
/// Time without a lock after which a run that is neither queued nor finished counts as stopped. Before, a process may be about to
/// send the run.
const IDLE: Duration = Duration::from_secs(3);
/// Maximum duration of an outage of the ledger's server.
const OUTAGE: Duration = Duration::from_secs(300);
/// Pause between two attempts to reach the server.
const RETRY: Duration = Duration::from_secs(2);

/// Waits until nobody sends a run any more: workers, or an upload on any machine. `stop` ends the waiting, and not the run.
/// Returns `None` then. Unless `watches_only`, the report is written as after an upload. A ledger on a server may be unreachable for
/// up to five minutes.
///
/// # Errors
/// If the run does not exist, was not planned to its end, or the ledger can't be used.
pub fn wait<'a>(
    context: &'a Context,
    run: Option<RunId>,
    report: Option<&'a Path>,
    watches_only: bool,
    stop: LocalBoxFuture<'a, ()>,
    observer: Observer<'a>,
) -> LocalOperation<'a, Option<Finished>> {
    Box::pin(async move {
        check_report_path(context, report).await?;
        // The first attempt is not repeated: the address may be wrong.
        let mut patient = PatientLedger { context, ledger: Some(context.ledger().await?), observer };
        let waited = async {
            let run = patient.read(async |ledger| Ok(ledger.run_or_newest(run).await?)).await?;
            observer(Event::Resuming(&run));
            let mut watch = Watch { run: run.id, before: None, is_shown: false, idle_since: None };
            let ended = loop {
                match patient.read(async |ledger| watch.look(ledger, observer).await).await? {
                    Some(ended) => break ended,
                    None => tokio::time::sleep(POLL).await,
                }
            };
            let stopped = ended.stopped_why.clone().filter(|_| ended.state != RunState::Finished);
            let context = &context.for_run(&ended)?;
            let finish = async |ledger: &Ledger| {
                let ending = Ending { context, ledger, report, is_of_others: true, observer, told: Once::new() };
                let stopped = stopped.clone().map(StopReason::Elsewhere);
                ending.finish(ended.id, How { stopped, is_watched: watches_only, ..How::default() }).await
            };
            let finished = patient.read(finish).await?;
            patient.close().await;
            Ok(Some(finished))
        };
        tokio::select! {
            ended = waited => ended,
            () = stop => Ok(None),
        }
    })
}

/// A ledger whose server may be restarted.
struct PatientLedger<'a> {
    context: &'a Context,
    /// `None` during an outage.
    ledger: Option<Ledger>,
    observer: Observer<'a>,
}

impl PatientLedger<'_> {
    /// Reads from the ledger, again after an outage.
    ///
    /// # Errors
    /// If reading fails for another reason, or if the outage is too long.
    async fn read<T>(&mut self, mut read: impl AsyncFnMut(&Ledger) -> Result<T, Error>) -> Result<T, Error> {
        let mut since: Option<Instant> = None;
        loop {
            let opened = match self.ledger.take() {
                Some(ledger) => Ok(ledger),
                None => self.context.ledger().await,
            };
            let result = match opened {
                Ok(ledger) => read(self.ledger.insert(ledger)).await,
                Err(error) => Err(error),
            };
            let error = match result {
                Err(error) if self.context.server.is_some() && is_of_outage(&error) => error,
                result => return result,
            };
            if since.is_none() {
                let reason = format!("the ledger can't be reached ({error}); trying again for up to 5 minutes");
                (self.observer)(Event::Warning(&reason));
            }
            if since.get_or_insert_with(Instant::now).elapsed() >= OUTAGE {
                let hint = "repeat the command when the database can be reached: it only waits for the run, which goes on without it";
                return Err(error.with_other_hint(hint.to_owned()));
            }
            // Connections of before may be broken.
            self.ledger = None;
            tokio::time::sleep(RETRY).await;
        }
    }

    async fn close(self) {
        if let Some(ledger) = self.ledger {
            ledger.close().await;
        }
    }
}

/// Whether the server can't be reached, or is being restarted.
fn is_of_outage(error: &Error) -> bool {
    match error {
        Error::Ledger(error) | Error::Report(report::Error::Ledger(error)) => {
            error.is_of_connection() || matches!(error, ledger::Error::Connect { .. })
        }
        _ => false,
    }
}

/// The progress of a run as shown so far.
struct Watch {
    run: RunId,
    /// The counts at the beginning.
    before: Option<Accounting>,
    is_shown: bool,
    idle_since: Option<Instant>,
}

impl Watch {
    /// Looks at the run once, and shows its progress. Returns the run if no process sends it any more.
    async fn look(&mut self, ledger: &Ledger, observer: Observer<'_>) -> Result<Option<Run>, Error> {
        let accounting = ledger.accounting(self.run).await?;
        let before = *self.before.get_or_insert(accounting);
        let pending = before.pending;
        let now = ledger.run(self.run).await?;
        if self.is_shown {
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
                let is_locked = ledger.is_locked(self.run).await?;
                let since = *self.idle_since.get_or_insert_with(Instant::now);
                if is_locked {
                    self.idle_since = None;
                }
                is_locked || accounting.pending > 0 && now.stopped_why.is_none() && since.elapsed() < IDLE
            }
            RunState::Queued => true,
            RunState::Finished | RunState::Withheld => false,
        };
        if !is_sent && now.state == RunState::Planning {
            return Err(refused(self.run, "waited for", NOT_READ, "upload the file again"));
        }
        if !is_sent {
            if self.is_shown {
                observer(Event::SendingEnded { done: pending.saturating_sub(accounting.pending) });
            }
            return Ok(Some(now));
        }
        if !self.is_shown {
            observer(Event::Sending { pending, rate: None });
            self.is_shown = true;
        }
        Ok(None)
    }
}

/// Takes a queued run away from the workers. Requests in flight end as usual.
///
/// # Errors
/// If the run is not queued.
pub fn stop_run<'a>(context: &'a Context, run: RunId, who: &'a str) -> Operation<'a, ()> {
    Box::pin(async move {
        let ledger = context.ledger().await?;
        let state = ledger.run(run).await?.state;
        if !ledger.stop_queued(run, Some(who), &format!("{who} stopped it"), ledger.now()).await? {
            let hint = match state {
                RunState::Planned => "a command that sends it is stopped by Ctrl-C",
                _ => "`sheetport runs` shows the queued ones",
            };
            return Err(refused(run, "stopped", "no workers send it", hint));
        }
        ledger.close().await;
        Ok(())
    })
}
