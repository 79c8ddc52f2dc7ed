//! Planning a run, and sending a locked run with accounting and report.

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
use crate::ledger::{Accounting, Causes, Ledger, LockedRun, NewRun, Run, RunCommand, RunState, UploadLock};
use crate::report::{self, Format, Request};
use crate::sheet;
use crate::sheet::write::Existing;
use crate::template::Template;
use crate::upload::sent_before::{self, AllowRepeat, Compared, LeftOut};
use crate::upload::{self, Source, StopReason, Tally, send};

/// Maximum number of refused records grouped by cause in the result. A report has all refused records.
const MAX_REFUSED: u32 = 2_000;
/// Maximum number of records whose warnings are grouped by cause in the result.
const MAX_WARNED: usize = 2_000;

/// How to send a run.
#[derive(Clone, Copy, Debug)]
pub struct SendOptions<'a> {
    /// Requests in flight at the same time.
    pub concurrency: u16,
    /// The rate of the context if `None`.
    pub rate: Option<Speed>,
    /// Stops the run after more refused records than this.
    pub max_errors: Option<u64>,
    /// Path of the report. If `None`, a workbook is written next to the file when a row has a problem.
    pub report: Option<&'a Path>,
}

/// Why a run is not sent at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// A row can't be sent, and all rows or none were wanted.
    RowsNeedFixing,
    /// The file as a whole has a warning, and warnings count as problems.
    Warnings,
    /// A person has seen the warnings and decided not to send.
    Declined,
}

/// A sent, stopped or withheld run.
#[derive(Debug)]
pub struct Finished {
    pub run: Run,
    pub accounting: Accounting,
    pub withheld: Option<Withheld>,
    /// Why the run stopped before its end.
    pub stopped: Option<StopReason>,
    /// The run had no pending records left before this operation.
    pub was_finished: bool,
    /// Path of the report, if written, or the error.
    pub report: Result<Option<PathBuf>, report::Error>,
    /// The service's refusals, grouped by cause.
    pub refused: Causes,
    /// The warnings of the file and its records, grouped by cause.
    pub warnings: Causes,
    /// Records that an earlier run sent.
    pub left_out: Vec<LeftOut>,
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
    /// Why nothing is to be sent, if that is known beforehand.
    pub declined: Option<Withheld>,
    /// Sends nothing if a record can't be sent.
    pub all_or_nothing: bool,
    /// Records to send although they were sent before.
    pub allow_repeat: AllowRepeat,
    pub observer: Observer<'a>,
}

impl<'a> Sending<'a> {
    /// Sends the pending records of a run that somebody has decided to send.
    pub(super) fn new(
        context: &'a Context,
        ledger: &'a Ledger,
        client: Arc<Client>,
        run: LockedRun,
        options: SendOptions<'a>,
        observer: Observer<'a>,
    ) -> Sending<'a> {
        Sending {
            context,
            ledger,
            client,
            run,
            options,
            is_rehearsal: false,
            declined: None,
            all_or_nothing: false,
            allow_repeat: AllowRepeat::None,
            observer,
        }
    }
}

/// Plans the run described by `about` and returns the locked run.
pub(super) async fn plan_run(
    ledger: &Ledger,
    about: &NewRun,
    lock: UploadLock,
    source: Source,
    template: Arc<Template>,
    observer: Observer<'_>,
) -> Result<(LockedRun, Tally), Error> {
    observer(Event::Opened { source: &source, template: &template });
    let show = |rows| observer(Event::Reading { rows });
    // A retry has a part of a file, which says little about the whole.
    let history = (about.command == RunCommand::Upload).then_some(ledger);
    let (run, tally) = upload::plan::plan(ledger, history, about, Arc::new(source), template, now(), &show).await?;
    observer(Event::Checked(&tally));
    Ok((ledger.lock_run_with(lock, run).await?, tally))
}

impl Sending<'_> {
    /// Returns why nothing is to be sent.
    pub(super) async fn withheld(&self) -> Result<Option<Withheld>, Error> {
        let needs_fixing = self.all_or_nothing && self.ledger.accounting(self.run.id()).await?.rejected > 0;
        Ok(self.declined.or(needs_fixing.then_some(Withheld::RowsNeedFixing)))
    }

    /// Leaves out records that were sent before, and sends the other pending records. Then writes the report if needed.
    pub(super) async fn send(self, interrupt: impl Future<Output = Duration>) -> Result<Finished, Error> {
        let (ledger, id) = (self.ledger, self.run.id());
        let mut compared = Compared::default();
        if self.withheld().await?.is_none() {
            compared = sent_before::compare(ledger, self.run.run(), &self.allow_repeat, now()).await?;
            (self.observer)(Event::Compared { compared: &compared, kind: self.run.run().about.record });
        }
        let withheld = self.withheld().await?;
        let before = ledger.accounting(id).await?;
        let was_finished = before.pending == 0 && self.run.run().state == RunState::Finished;
        let mut stopped = None;
        if withheld.is_some() {
            ledger.withhold(id).await?;
        } else if before.pending > 0 {
            stopped = self.send_pending(before.pending, interrupt).await?;
        } else if !was_finished {
            ledger.end_sending(id, 0, None, 0, now()).await?;
        }
        let accounting = ledger.accounting(id).await?;
        let refused = match accounting.failed {
            0 => Causes::default(),
            _ => report::refused(ledger, self.run.run(), MAX_REFUSED).await?,
        };
        let run = ledger.run(id).await?;
        let warnings = match accounting.warned > 0 || !run.warnings.is_empty() {
            true => report::warned(ledger, &run, MAX_WARNED).await?,
            false => Causes::default(),
        };
        let next = |report: Option<&Path>| {
            if matches!(withheld, Some(Withheld::Warnings | Withheld::Declined)) {
                return None;
            }
            let command = next_command::after_run(&run, &accounting, stopped.is_some(), report)?;
            let all_or_nothing =
                if withheld == Some(Withheld::RowsNeedFixing) && report.is_some() { " --all-or-nothing" } else { "" };
            (!self.is_rehearsal).then(|| format!("{command}{all_or_nothing}"))
        };
        // The report of a stopped run is written after resuming; the report of a finished run exists already.
        let only_if_named = stopped.is_some() || was_finished || self.is_rehearsal;
        let report = self.write_report(&run, &accounting, only_if_named, next).await;
        let next = next(report.as_ref().ok().and_then(Option::as_deref));
        let left_out = compared.left_out;
        Ok(Finished { run, accounting, withheld, stopped, was_finished, report, refused, warnings, left_out, next })
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
        run: &Run,
        accounting: &Accounting,
        only_if_named: bool,
        next: impl Fn(Option<&Path>) -> Option<String>,
    ) -> Result<Option<PathBuf>, report::Error> {
        if let Some(path) = self.options.report {
            return self.write_report_to(run, path, next(Some(path))).await.map(Some);
        }
        if only_if_named || !next_command::has_problems(accounting) {
            return Ok(None);
        }
        let format = self.default_format(run);
        for path in beside(Path::new(&run.about.file), format.extension()).filter(|path| !path.exists()) {
            match self.write_report_to(run, &path, next(Some(&path))).await {
                // Another process took the name in the meantime.
                Err(report::Error::Sheet(sheet::Error::Exists { .. })) => {}
                written => return written.map(Some),
            }
        }
        Ok(None)
    }

    /// Returns the format of reports that nobody chose: a workbook, or CSV for the few files that are too wide.
    fn default_format(&self, run: &Run) -> Format {
        let (columns, room) = (report::columns(run), sheet::write::MAX_COLUMNS);
        if columns <= room {
            return Format::Xlsx;
        }
        (self.observer)(Event::Warning(&format!(
            "the report is a CSV file, because it has {columns} columns and a workbook has room for {room}"
        )));
        Format::Csv
    }

    async fn write_report_to(&self, run: &Run, path: &Path, next: Option<String>) -> Result<PathBuf, report::Error> {
        let format = report_format(path).expect("the path of a report is checked before sending");
        let request = Request {
            path,
            format,
            existing: Existing::Keep,
            rows: format.default_rows(),
            next: next.as_deref(),
            is_kept: !self.is_rehearsal,
            choices: &choices(run, format, self.observer),
            has_bom: has_bom(Path::new(&run.about.file)),
        };
        Ok(report::write(self.ledger, run, &request).await?.path)
    }
}
