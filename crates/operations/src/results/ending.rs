//! The result of a run: counts, problems grouped by cause, report, and next command.

use std::path::{Path, PathBuf};
use std::sync::Once;

use sheetport_findings::Code;
use sheetport_ledger::{Accounting, Causes, FIRST_ROWS, Ledger, Run, RunCommand, RunId};
use sheetport_plan::sent_before::LeftOut;
use sheetport_report::{self as report, Format, Request};
use sheetport_send::StopReason;
use sheetport_sheet as sheet;
use sheetport_sheet::write::Existing;
use sheetport_storage::ObjectAddress;

use super::super::approval::LeftOutRows;
use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::files::inbox_path::before_taking;
use super::super::files::{
    beside, check_report_path, is_name_taken, is_taken, lasting, numbered, report_format, reports_folder, write_report,
};
use super::super::uploads::Rehearsed;
use super::next_command;
use super::report::{choices, words};

/// Maximum number of refused records grouped by cause in the result. A report has all refused records.
pub(crate) const MAX_REFUSED: u32 = 100_000;
/// Maximum number of records whose warnings are grouped by cause.
const MAX_WARNED: usize = 2_000;

/// Why a run is not sent at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// Some rows can't be sent, and the user asked for all or none.
    RowsNeedFixing,
    /// The file as a whole has a warning, and warnings count as problems.
    Warnings,
    /// There is a question about the file, and nobody who answers it.
    Questions,
    /// A person has seen the warnings and decided not to send.
    Declined,
}

/// A sent, stopped or withheld run.
#[derive(Debug)]
pub struct Finished {
    pub run: Run,
    pub accounting: Accounting,
    pub withheld: Option<Withheld>,
    /// The reason for an early stop.
    pub stopped: Option<StopReason>,
    /// The run had no pending records left before this operation.
    pub was_finished: bool,
    /// Path of the report, if written, or the error.
    pub report: Result<Option<PathBuf>, Error>,
    /// The service's refusals, grouped by cause.
    pub refused: Causes,
    /// The warnings about the file and its records, grouped by cause.
    pub warnings: Causes,
    /// Records already sent by an earlier run.
    pub left_out: Vec<LeftOut>,
    /// Records whose keys a newer run has sent.
    pub superseded: Vec<LeftOut>,
    /// Records of an approved plan that were not approved.
    pub not_approved: LeftOutRows,
    /// Records of an approved plan that somebody has changed in the service since.
    pub moved_on: LeftOutRows,
    /// Records that an undo leaves as they are, because somebody has edited them since.
    pub kept: LeftOutRows,
    /// Records that an undo can't take back.
    pub cannot_undo: LeftOutRows,
    /// The pending records are left to workers.
    pub is_queued: bool,
    /// The suggested next command. `None` for a rehearsal.
    pub next: Option<String>,
    /// Number of requests apart from sending records: connection checks, comparisons with lists, and token renewals.
    pub other_requests: u64,
    /// The content of the service in a rehearsal.
    pub rehearsed: Option<Rehearsed>,
}

/// An ended run, and the destination of its report.
pub(crate) struct Ending<'a> {
    /// The context of the run.
    pub context: &'a Context,
    pub ledger: &'a Ledger,
    /// The report path given for this operation.
    pub report: Option<&'a Path>,
    /// The run was sent by other processes, perhaps from a file that is not here any more.
    pub is_of_others: bool,
    pub observer: Observer<'a>,
    /// Whether the place of a report that can't be written next to its file was said.
    pub told: Once,
}

/// How a run ended.
#[derive(Debug, Default)]
pub(crate) struct How {
    pub withheld: Option<Withheld>,
    pub stopped: Option<StopReason>,
    pub was_finished: bool,
    pub is_queued: bool,
    /// Another process has asked for the report.
    pub is_watched: bool,
    pub left_out: Vec<LeftOut>,
    pub superseded: Vec<LeftOut>,
    /// An earlier run with the unknown outcomes of rejected records, and the number of such records.
    pub in_doubt: Option<(RunId, u64)>,
}

impl Ending<'_> {
    /// Returns how the run ended, after writing the report if needed.
    pub(crate) async fn finish(&self, run: RunId, how: How) -> Result<Finished, Error> {
        let How { withheld, stopped, was_finished, is_queued, is_watched, left_out, superseded, in_doubt } = how;
        let ledger = self.ledger;
        let accounting = ledger.accounting(run).await?;
        let run = ledger.run(run).await?;
        let is_rehearsal = is_rehearsal(&run);
        let (mut not_approved, mut moved_on) = (LeftOutRows::default(), LeftOutRows::default());
        if run.looks_again() && run.has_plan {
            not_approved = self.skipped_as(run.id, Code::NotApproved).await?;
            moved_on = self.skipped_as(run.id, Code::MovedOn).await?;
        }
        let (mut kept, mut cannot_undo) = (LeftOutRows::default(), LeftOutRows::default());
        if run.about.undo_of.is_some() && run.has_plan {
            kept = self.skipped_as(run.id, Code::EditedSince).await?;
            cannot_undo = self.skipped_as(run.id, Code::CannotUndo).await?;
        }
        let stays = moved_on.records + kept.records + cannot_undo.records > 0;
        let refused = match accounting.failed {
            0 => Causes::default(),
            _ => report::refused(ledger, &run, MAX_REFUSED).await?,
        };
        let mut warnings = match accounting.warned > 0 || !run.warnings.is_empty() {
            true => report::warned(ledger, &run, MAX_WARNED).await?,
            false => Causes::default(),
        };
        for left_out in &left_out {
            warnings.add_counted(left_out.records, &left_out.rows, &left_out.warning(&run));
        }
        let next = |report: Option<&Path>| {
            if is_queued {
                return Some(next_command::wait(self.context, run.id));
            }
            if matches!(withheld, Some(Withheld::Warnings | Withheld::Questions | Withheld::Declined)) {
                return None;
            }
            if let Some((earlier, records)) = in_doubt
                && accounting.rejected == records
                && accounting.failed + accounting.unknown + accounting.pending == 0
            {
                // No row needs fixing.
                return Some(next_command::resolve(self.context, earlier)).filter(|_| !is_rehearsal);
            }
            let command = next_command::after_run(self.context, &run, &accounting, stopped.as_ref(), report);
            let plan_again = || next_command::plan_again(self.context, &run).filter(|_| moved_on.records > 0);
            let command = command.or_else(plan_again);
            command.filter(|_| !is_rehearsal)
        };
        // The report of a stopped run is written after resuming; the report of a finished run exists already.
        let only_if_named = stopped.is_some() || was_finished || is_rehearsal;
        let report = match is_queued || is_watched {
            true => Ok(None),
            false => self.write_report(&run, &accounting, stays, only_if_named, next).await.map_err(|error| {
                match is_rehearsal {
                    true => error,
                    false => {
                        let command = next_command::report(self.context, run.id);
                        error.with_hint(&format!(
                            "the outcomes of all rows are saved; to write the report elsewhere: `{command}`"
                        ))
                    }
                }
            }),
        };
        let next = next(report.as_ref().ok().and_then(Option::as_deref));
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
            superseded,
            not_approved,
            moved_on,
            kept,
            cannot_undo,
            is_queued,
            next,
            other_requests: 0,
            rehearsed: None,
        })
    }

    /// Returns the records that were left out of an approved plan for this reason, with their first rows.
    async fn skipped_as(&self, run: RunId, code: Code) -> Result<LeftOutRows, Error> {
        let seqs = self.ledger.skipped_as(run, code).await?;
        let mut rows = LeftOutRows { records: seqs.len() as u64, first: Vec::new() };
        for seq in seqs.into_iter().take(FIRST_ROWS) {
            let Some(block) = self.ledger.records_without_bodies(run, seq, 1).await? else { break };
            let mut records = block.numbered().filter(|(known, _)| *known == seq);
            rows.first.extend(records.next().and_then(|(_, record)| record.rows.first()));
        }
        Ok(rows)
    }

    /// Writes the report to the path given for this operation. Without a path and unless `only_if_named`, writes a report if a
    /// row has a problem, or if the upload was to write a report: under a free name like the one of the earlier report, next to
    /// the file, or in the current folder.
    pub(crate) async fn write_report(
        &self,
        run: &Run,
        accounting: &Accounting,
        stays_otherwise: bool,
        only_if_named: bool,
        next: impl Fn(Option<&Path>) -> Option<String>,
    ) -> Result<Option<PathBuf>, Error> {
        if let Some(path) = self.report {
            return self.write_report_to(run, path, next(Some(path))).await.map(Some);
        }
        let is_wanted = run.about.settings.report.is_some() && run.about.command == RunCommand::Upload;
        let has_problems = stays_otherwise || next_command::has_problems(accounting);
        if only_if_named || !is_wanted && !has_problems {
            return Ok(None);
        }
        self.warn_of_format(run);
        loop {
            let path = self.place(run).await?;
            match self.write_report_to(run, &path, next(Some(&path))).await {
                // Another process took the name in the meantime.
                Err(error) if is_name_taken(&error) => {}
                written => return written.map(Some),
            }
        }
    }

    /// Checks that a report of the run could be written now, before anything is sent: without it, nobody sees which rows were
    /// accepted.
    ///
    /// # Errors
    /// If the report can't be written to its place.
    pub(crate) async fn check_report(&self, run: &Run) -> Result<(), Error> {
        if self.report.is_some() || is_rehearsal(run) {
            return check_report_path(self.context, self.report).await;
        }
        let found = self.place(run).await;
        found.map(drop).map_err(|error| error.with_hint("--report FILE.xlsx writes the report elsewhere"))
    }

    /// Returns a free path for a report without a path for this operation: next to the file. Where that can't be written, says so and
    /// takes the current folder, then the home's folder of reports.
    ///
    /// # Errors
    /// If no place can be written; why the usual one can't.
    async fn place(&self, run: &Run) -> Result<PathBuf, Error> {
        // Keeps an existing report, because a person may have edited it. A path that was once named is the only place.
        if let Some(path) = run.about.settings.report.as_deref() {
            return self.free_path(numbered(path)).await;
        }
        let extension = default_format(run).extension();
        let usual = self.usual_place(run);
        let refused = match self.free_path(beside(&usual, extension)).await {
            Ok(path) => return Ok(path),
            Err(refused) => refused,
        };
        let first = beside(&usual, extension).next();
        let Some(name) = first.as_deref().and_then(Path::file_name).map(Path::new) else { return Err(refused) };
        for is_in_home in [false, true] {
            let file = match is_in_home {
                false => Ok(lasting(name)),
                true => reports_folder(self.context).map(|folder| folder.join(name)),
            };
            if let Ok(file) = file
                && let Ok(path) = self.free_path(beside(&file, extension)).await
            {
                self.told.call_once(|| {
                    let message = format!("{refused}; the report goes to {} instead", path.display());
                    (self.observer)(Event::Warning(&message));
                });
                return Ok(path);
            }
        }
        Err(refused)
    }

    /// Returns the first free path.
    ///
    /// # Errors
    /// If it can't be written.
    async fn free_path(&self, names: impl Iterator<Item = PathBuf> + Send) -> Result<PathBuf, Error> {
        for path in names {
            if !is_taken(self.context, &path).await? {
                check_report_path(self.context, Some(&path)).await?;
                return Ok(path);
            }
        }
        unreachable!("some number is not taken")
    }

    /// Returns the path next to which the report is written by default. After waiting for others, reports of files that an inbox has
    /// taken, and of files in folders of another machine, go to the current folder.
    fn usual_place(&self, run: &Run) -> PathBuf {
        let file = Path::new(&run.about.file);
        let is_taken = before_taking(file).is_some();
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let is_elsewhere = !ObjectAddress::is_meant(file) && folder.is_some_and(|folder| !folder.is_dir());
        match file.file_name().filter(|_| self.is_of_others && (is_taken || is_elsewhere)) {
            Some(name) => lasting(Path::new(name)),
            None => file.to_owned(),
        }
    }

    /// Says if the default format of the report is not a workbook.
    fn warn_of_format(&self, run: &Run) {
        if run.about.settings.report.is_none() && default_format(run) == Format::Csv {
            let (columns, room) = (report::columns(run), sheet::write::MAX_COLUMNS);
            (self.observer)(Event::Warning(&format!(
                "the report is a CSV file, because it has {columns} columns and a workbook has room for {room}"
            )));
        }
    }

    async fn write_report_to(&self, run: &Run, path: &Path, next: Option<String>) -> Result<PathBuf, Error> {
        let for_supplier = run.about.settings.for_supplier;
        let format = report_format(path).expect("the path of a report is checked before sending");
        let request = Request {
            path,
            format,
            existing: Existing::Keep,
            rows: format.default_rows(),
            next: next.as_deref(),
            is_kept: !is_rehearsal(run),
            choices: &choices(run, format, for_supplier, self.observer),
            csv: self.context.csv_form(),
            words: words(self.context, run, format),
            for_supplier,
        };
        Ok(write_report(self.context, self.ledger, run, &request).await?.path)
    }
}

/// Returns the default format of reports: a workbook, or CSV for files with too many columns.
fn default_format(run: &Run) -> Format {
    if report::columns(run) <= sheet::write::MAX_COLUMNS { Format::Xlsx } else { Format::Csv }
}

/// Returns whether the ledger is temporary, so that the run can't be continued.
pub(crate) fn is_rehearsal(run: &Run) -> bool {
    run.about.command == RunCommand::Rehearse
}
