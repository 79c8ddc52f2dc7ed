//! Sending a locked run, then the accounting and the report.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::context::{Context, now};
use super::error::Error;
use super::event::{Event, Observer};
use super::next_command;
use super::report::{choices, has_bom, report_format};
use super::report_path::beside;
use crate::client::{Client, Speed};
use crate::ledger::{Accounting, Causes, Ledger, LockedRun, Run, RunState};
use crate::report::{self, Request};
use crate::sheet;
use crate::sheet::write::Existing;
use crate::upload::{self, StopReason, send};

/// Maximum number of refused records grouped by cause in the result. A report has all refused records.
const MAX_REFUSED: u32 = 2_000;

/// How to send a run.
#[derive(Clone, Copy, Debug)]
pub struct SendOptions<'a> {
    /// Requests in flight at the same time.
    pub concurrency: u16,
    /// The rate of the context if `None`.
    pub rate: Option<Speed>,
    /// Stops the run after more refused records than this.
    pub max_errors: Option<u64>,
    /// Path of the report. If `None`, a report is written next to the file when a row has a problem.
    pub report: Option<&'a Path>,
}

/// A sent, stopped or withheld run.
#[derive(Debug)]
pub struct Finished {
    pub run: Run,
    pub accounting: Accounting,
    /// Why the run stopped before its end.
    pub stopped: Option<StopReason>,
    /// The run had no pending records left before this operation.
    pub was_finished: bool,
    /// Path of the report, if written, or the error.
    pub report: Result<Option<PathBuf>, report::Error>,
    /// The service's refusals, grouped by cause.
    pub refused: Causes,
    /// The next command to run.
    pub next: Option<String>,
}

/// A planned run, ready to be sent.
pub(super) struct Sending<'a> {
    pub context: &'a Context,
    pub ledger: &'a Ledger,
    pub client: Arc<Client>,
    pub run: LockedRun,
    pub options: SendOptions<'a>,
    /// The ledger is temporary, so the run can't be continued.
    pub is_rehearsal: bool,
    pub observer: Observer<'a>,
}

impl Sending<'_> {
    /// Sends the pending records, then writes the report if needed.
    pub async fn send(self, interrupt: impl Future<Output = Duration>) -> Result<Finished, Error> {
        let run = self.run.id();
        let before = self.ledger.accounting(run).await?;
        let was_finished = before.pending == 0 && self.run.run().state == RunState::Finished;
        let stopped = match before.pending {
            0 if was_finished => None,
            0 => {
                self.ledger.end_sending(run, 0, None, 0, now()).await?;
                None
            }
            pending => self.send_pending(pending, interrupt).await?,
        };
        let accounting = self.ledger.accounting(run).await?;
        let refused = match accounting.failed {
            0 => Causes::default(),
            _ => report::refused(self.ledger, self.run.run(), MAX_REFUSED).await?,
        };
        // The report of a stopped run is written after resuming; the report of a finished run exists already.
        let only_if_named = stopped.is_some() || was_finished || self.is_rehearsal;
        let next = |report: Option<&Path>| {
            let next = || next_command::after_run(self.run.run(), &accounting, stopped.is_some(), report);
            if self.is_rehearsal { None } else { next() }
        };
        let report = self.write_report(&accounting, only_if_named, next).await;
        let next = next(report.as_ref().ok().and_then(Option::as_deref));
        let run = self.ledger.run(run).await?;
        Ok(Finished { run, accounting, stopped, was_finished, report, refused, next })
    }

    /// Marks the run as never to be sent, because some rows can't be sent and the caller asked for all or nothing.
    pub async fn withhold(self) -> Result<Finished, Error> {
        self.ledger.withhold(self.run.id()).await?;
        let accounting = self.ledger.accounting(self.run.id()).await?;
        let next = |report: Option<&Path>| {
            let command = next_command::after_fixing(self.run.run(), report);
            let all_or_nothing = if report.is_some() { " --all-or-nothing" } else { "" };
            (!self.is_rehearsal).then(|| format!("{command}{all_or_nothing}"))
        };
        let report = self.write_report(&accounting, self.is_rehearsal, next).await;
        let next = next(report.as_ref().ok().and_then(Option::as_deref));
        let run = self.ledger.run(self.run.id()).await?;
        let refused = Causes::default();
        Ok(Finished { run, accounting, stopped: None, was_finished: false, report, refused, next })
    }

    async fn send_pending(
        &self,
        pending: u64,
        interrupt: impl Future<Output = Duration>,
    ) -> Result<Option<StopReason>, Error> {
        let about = &self.run.run().about;
        let (base_url, workspace) = (&about.base_url, &about.workspace);
        let rate = match self.options.rate.or(self.context.rate) {
            Some(Speed::Auto(_)) => Some(Speed::Auto(self.ledger.learned_rate(base_url, workspace).await?)),
            rate => rate,
        };
        (self.observer)(Event::Sending { pending, rate });
        let work = upload::Work {
            ledger: self.ledger,
            client: Arc::clone(&self.client),
            run: &self.run,
            kind: about.record,
            concurrency: usize::from(self.options.concurrency),
            rate,
            rate_file: Some(&self.ledger.rate_file(base_url, workspace)),
            max_errors: self.options.max_errors,
            wall: now,
        };
        let show = |progress: &upload::Progress| (self.observer)(Event::Sent { progress, pending });
        let ended = send::send(&work, interrupt, &show).await?;
        if let Some(rate) = ended.learned_rate {
            self.ledger.store_rate(base_url, workspace, rate, now()).await?;
        }
        let left = self.ledger.accounting(self.run.id()).await?.pending;
        (self.observer)(Event::SendingEnded { done: pending.saturating_sub(left) });
        let why = ended.stopped.as_ref().map(ToString::to_string);
        self.ledger.end_sending(self.run.id(), left, why.as_deref(), ended.millis, now()).await?;
        Ok(ended.stopped)
    }

    /// Writes the report to the requested path, or next to the file if a row has a problem and not `only_if_named`.
    async fn write_report(
        &self,
        accounting: &Accounting,
        only_if_named: bool,
        next: impl Fn(Option<&Path>) -> Option<String>,
    ) -> Result<Option<PathBuf>, report::Error> {
        if let Some(path) = self.options.report {
            return self.write_report_to(path, next(Some(path))).await.map(Some);
        }
        if only_if_named || !next_command::has_problems(accounting) {
            return Ok(None);
        }
        for path in beside(Path::new(&self.run.run().about.file)).filter(|path| !path.exists()) {
            match self.write_report_to(&path, next(Some(&path))).await {
                // Another process took the name in the meantime.
                Err(report::Error::Sheet(sheet::Error::Exists { .. })) => {}
                written => return written.map(Some),
            }
        }
        Ok(None)
    }

    async fn write_report_to(&self, path: &Path, next: Option<String>) -> Result<PathBuf, report::Error> {
        let format = report_format(path).expect("the path of a report is checked before sending");
        // Reloads the run for the final state.
        let run = self.ledger.run(self.run.id()).await?;
        let request = Request {
            path,
            format,
            existing: Existing::Keep,
            rows: format.default_rows(),
            next: next.as_deref(),
            is_kept: !self.is_rehearsal,
            choices: &choices(&run, format, self.observer),
            has_bom: has_bom(Path::new(&run.about.file)),
        };
        Ok(report::write(self.ledger, &run, &request).await?.path)
    }
}
