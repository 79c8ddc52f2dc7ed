//! Planning a run, and sending a locked run with accounting and report.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::context::{Context, now};
use super::error::Error;
use super::event::{Event, Observer};
use super::learned::{load_sizes, store_learned_sizes};
use super::next_command;
use super::report::{choices, report_format};
use super::report_path::{beside, numbered};
use super::service::rehearsal::Rehearsed;
use crate::client::{Client, Rate, Speed};
use crate::ledger::{
    self, Accounting, Causes, Ledger, LockedRun, NewRun, Run, RunCommand, RunRate, RunSettings, RunState, UploadLock,
};
use crate::report::{self, Format, Request};
use crate::sheet;
use crate::sheet::write::Existing;
use crate::template::Template;
use crate::upload::compare::{Connection, server_diff};
use crate::upload::sent_before::{self, Compared, LeftOut};
use crate::upload::{self, Grace, SendResult, Source, StopReason, Tally, send, superseded};

/// Maximum number of refused records grouped by cause in the result. A report has all refused records.
const MAX_REFUSED: u32 = 2_000;
/// Maximum number of records whose warnings are grouped by cause in the result.
const MAX_WARNED: usize = 2_000;

/// Requests in flight at the same time, unless another number is asked for.
pub const DEFAULT_CONCURRENCY: u16 = 8;

/// How to send a run. What is `None` is as in the run that is resumed or retried, or as usual for a new run.
#[derive(Clone, Copy, Debug, Default)]
pub struct SendOptions<'a> {
    /// Requests in flight at the same time.
    pub concurrency: Option<u16>,
    pub rate: Option<Speed>,
    /// Stops the run after more refused and unknown records than this.
    pub max_errors: Option<u64>,
    /// Sends records although a newer upload has sent their keys.
    pub overwrites_newer: bool,
    /// Path of the report. If there is none, a workbook is written next to the file when a row has a problem.
    pub report: Option<&'a Path>,
    /// Leaves out of the report what a supplier should not know.
    pub for_supplier: Option<bool>,
}

impl SendOptions<'_> {
    /// Returns the settings of a new run.
    pub(super) fn settings(&self, context: &Context) -> RunSettings {
        let usual = RunSettings {
            profile: context.profile.clone(),
            rate: context.base_url.as_deref().and_then(|url| context.speed(None, url)).map(run_rate),
            concurrency: DEFAULT_CONCURRENCY,
            connection: context.run_connection(),
            ..RunSettings::default()
        };
        self.over(&usual)
    }

    /// Returns the settings of a resumed or retried run: those of `run`, with what is asked for otherwise.
    pub(super) fn over(&self, run: &RunSettings) -> RunSettings {
        let report = self.report.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        RunSettings {
            rate: self.rate.map(run_rate).or(run.rate),
            concurrency: self.concurrency.unwrap_or(run.concurrency),
            max_errors: self.max_errors.or(run.max_errors),
            report: report.or_else(|| run.report.clone()),
            for_supplier: self.for_supplier.unwrap_or(run.for_supplier),
            // Not for a retry of a run that did so.
            overwrite_newer: self.overwrites_newer,
            ..run.clone()
        }
    }
}

fn run_rate(speed: Speed) -> RunRate {
    match speed {
        Speed::Auto(_) => RunRate::Auto,
        Speed::Fixed(rate) => {
            let (requests, seconds) = rate.parts();
            RunRate::Fixed { requests, seconds }
        }
    }
}

/// Returns the rate of a run, or that of the context for a run without one.
pub(super) fn speed(settings: &RunSettings, context: &Context) -> Result<Option<Speed>, Error> {
    match settings.rate {
        None => Ok(context.base_url.as_deref().and_then(|url| context.speed(None, url))),
        Some(RunRate::Auto) => Ok(Some(Speed::Auto(None))),
        Some(RunRate::Fixed { requests, seconds }) => {
            let rate = Rate::new(requests, seconds).map_err(ledger::Error::Corrupt)?;
            Ok(Some(Speed::Fixed(rate)))
        }
    }
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
    /// Records with keys that a newer run has sent.
    pub superseded: Vec<LeftOut>,
    /// The next command to run. A rehearsal has none.
    pub next: Option<String>,
    /// Requests of this operation besides those for its records: whether the service answers, comparisons with its lists, and
    /// renewals of the token.
    pub other_requests: u64,
    /// What the service of a rehearsal had.
    pub rehearsed: Option<Rehearsed>,
}

/// A planned run, ready to be sent as its settings say.
pub(super) struct Sending<'a> {
    /// The context of the run.
    pub context: &'a Context,
    pub ledger: &'a Ledger,
    pub client: Arc<Client>,
    pub run: LockedRun,
    /// Path of the report, if it was named for this operation.
    pub report: Option<&'a Path>,
    /// A person has decided not to send.
    pub is_declined: bool,
    pub observer: Observer<'a>,
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
    fn settings(&self) -> &RunSettings {
        &self.run.run().about.settings
    }

    /// Whether the ledger is temporary, so that the run can't be continued.
    fn is_rehearsal(&self) -> bool {
        self.run.run().about.command == RunCommand::Rehearse
    }

    /// Returns why nothing is to be sent.
    async fn withheld(&self) -> Result<Option<Withheld>, Error> {
        let settings = self.settings();
        Ok(if settings.strict && !self.run.run().warnings.is_empty() {
            Some(Withheld::Warnings)
        } else if self.is_declined {
            Some(Withheld::Declined)
        } else if settings.all_or_nothing && self.ledger.accounting(self.run.id()).await?.rejected > 0 {
            Some(Withheld::RowsNeedFixing)
        } else {
            None
        })
    }

    /// Leaves out records that were sent before, and sends the other pending records. Then writes the report if needed.
    ///
    /// # Errors
    /// [`Error::InRun`] with the counts so far.
    pub(super) async fn send(self, interrupt: impl Future<Output = Grace>) -> Result<Finished, Error> {
        let (ledger, run) = (self.ledger, self.run.id());
        let next = next_command::resume(self.context, run);
        let next = Some(next).filter(|_| !self.is_rehearsal());
        match self.try_send(interrupt).await {
            Ok(finished) => Ok(finished),
            // If the ledger can't even be read, the first error is the important one.
            Err(error) => {
                let accounting = ledger.accounting(run).await.ok().map(Box::new);
                Err(Error::InRun { run, accounting, next, error: Box::new(error) })
            }
        }
    }

    async fn try_send(self, interrupt: impl Future<Output = Grace>) -> Result<Finished, Error> {
        let (ledger, id) = (self.ledger, self.run.id());
        let requests_before = ledger.accounting(id).await?.requests;
        let mut compared = Compared::default();
        if self.withheld().await?.is_none() {
            if self.settings().changed_only {
                self.skip_unchanged().await?;
            }
            compared = sent_before::compare(ledger, self.run.run(), &self.settings().allow_repeat, now()).await?;
            (self.observer)(Event::Compared { compared: &compared, kind: self.run.run().about.record });
        }
        let mut superseded = Vec::new();
        if self.withheld().await?.is_none() && !self.settings().overwrite_newer {
            superseded = superseded::leave_out(ledger, self.run.run(), now()).await?;
            self.show_superseded(&superseded);
        }
        let withheld = self.withheld().await?;
        let before = ledger.accounting(id).await?;
        let was_finished = before.pending == 0 && self.run.run().state == RunState::Finished;
        let (mut stopped, mut meanwhile) = (None, Vec::new());
        if withheld.is_some() || before.pending == 0 {
            ledger.leave_sender(id).await?;
        }
        if withheld.is_some() {
            ledger.withhold(id).await?;
        } else if before.pending > 0 {
            let ended = self.send_pending(before.pending, interrupt).await?;
            self.show_superseded(&ended.superseded);
            (stopped, meanwhile) = (ended.stopped, ended.superseded);
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
            let command = next_command::after_run(self.context, &run, &accounting, stopped.as_ref(), report);
            command.filter(|_| !self.is_rehearsal())
        };
        // The report of a stopped run is written after resuming; the report of a finished run exists already.
        let only_if_named = stopped.is_some() || was_finished || self.is_rehearsal();
        let report = self.write_report(&run, &accounting, only_if_named, next).await;
        let next = next(report.as_ref().ok().and_then(Option::as_deref));
        // A report may be handed back, which needs the plan.
        if matches!(report, Ok(None)) && !self.is_rehearsal() {
            ledger.drop_unsent_plan(id, now()).await?;
        }
        let left_out = compared.left_out;
        Ok(Finished {
            run,
            accounting,
            withheld,
            stopped,
            was_finished,
            report,
            refused,
            warnings,
            left_out,
            superseded: superseded::joined(superseded, meanwhile),
            next,
            other_requests: self.client.requests().saturating_sub(accounting.requests.saturating_sub(requests_before)),
            rehearsed: None,
        })
    }

    fn show_superseded(&self, by: &[LeftOut]) {
        if !by.is_empty() {
            let anyway = next_command::overwrite_newer(self.context, self.run.id());
            (self.observer)(Event::Superseded { by, kind: self.run.run().about.record, anyway: &anyway });
        }
    }

    /// Marks records already in the service as unchanged. All records are sent if the service's can't be read.
    async fn skip_unchanged(&self) -> Result<(), Error> {
        let (ledger, run) = (self.ledger, self.run.run());
        ledger.mark_unchanged(run, now()).await?;
        let rate = speed(self.settings(), self.context)?;
        let connection = Connection::new(&self.client, rate, self.settings().concurrency);
        load_sizes(self.context, &connection, &run.about.base_url).await;
        let compared = server_diff::mark_unchanged(ledger, run, run.about.record, &connection, now()).await?;
        store_learned_sizes(self.context, &connection, &run.about.base_url).await;
        if let Some(error) = compared.failed {
            let message =
                format!("the service's records can't be read, so every one that may have changed is sent: {error}");
            (self.observer)(Event::Warning(&message));
        }
        Ok(())
    }

    async fn send_pending(&self, pending: u64, interrupt: impl Future<Output = Grace>) -> Result<SendResult, Error> {
        let about = &self.run.run().about;
        let (base_url, workspace) = (&about.base_url, &about.workspace);
        let rate = match speed(&about.settings, self.context)? {
            Some(Speed::Auto(_)) => Some(Speed::Auto(self.ledger.learned_rate(base_url, workspace).await?)),
            rate => rate,
        };
        (self.observer)(Event::Sending { pending, rate });
        let work = upload::Work {
            ledger: self.ledger,
            client: Arc::clone(&self.client),
            run: &self.run,
            kind: about.record,
            concurrency: usize::from(about.settings.concurrency),
            rate,
            rate_file: Some(&self.ledger.rate_file(base_url, workspace)),
            max_errors: about.settings.max_errors,
            overwrites_newer: about.settings.overwrite_newer,
            keys: self.context.idempotency_keys(self.run.run()),
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
        Ok(ended)
    }

    /// Writes the report to the requested path. Unless `only_if_named`, a resumed upload writes the report that the upload
    /// was to write; otherwise the report is written next to it or the file if a row has a problem.
    async fn write_report(
        &self,
        run: &Run,
        accounting: &Accounting,
        only_if_named: bool,
        next: impl Fn(Option<&Path>) -> Option<String>,
    ) -> Result<Option<PathBuf>, report::Error> {
        if let Some(path) = self.report {
            return self.write_report_to(run, path, next(Some(path))).await.map(Some);
        }
        let remembered = run.about.settings.report.as_deref();
        let is_wanted = remembered.is_some() && run.about.command == RunCommand::Upload;
        if only_if_named || !is_wanted && !next_command::has_problems(accounting) {
            return Ok(None);
        }
        let paths: &mut dyn Iterator<Item = PathBuf> = match remembered {
            // The report of an earlier operation may have been edited, so it is kept.
            Some(path) => &mut numbered(path),
            None => &mut beside(Path::new(&run.about.file), self.default_format(run).extension()),
        };
        for path in paths.filter(|path| !path.exists()) {
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
        let for_supplier = run.about.settings.for_supplier;
        let format = report_format(path).expect("the path of a report is checked before sending");
        let request = Request {
            path,
            format,
            existing: Existing::Keep,
            rows: format.default_rows(),
            next: next.as_deref(),
            is_kept: !self.is_rehearsal(),
            choices: &choices(run, format, for_supplier, self.observer),
            bom: false,
            for_supplier,
        };
        Ok(report::write(self.ledger, run, &request).await?.path)
    }
}
