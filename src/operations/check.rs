//! Checking a spreadsheet in full without sending anything, and previewing the first requests.

use std::path::Path;
use std::sync::Arc;

use super::compare::{ComparePace, compare_keys, compare_references};
use super::context::{Context, now};
use super::error::Error;
use super::event::{Event, Observer};
use super::input::{Spreadsheet, new_run};
use super::report::{check_report_path, choices, has_bom, report_format};
use crate::ledger::{Disposition, Ledger, PlannedRecord, RunCommand, Seq};
use crate::records::{Method, RecordKind};
use crate::report::{self, Request, RowFilter};
use crate::sheet::write::Existing;
use crate::template::Template;
use crate::upload::compare::Connection;
use crate::upload::plan::{Batch, ReadMode, plan, read};
use crate::upload::{Source, Tally, profile};

/// Requests in a preview.
const PREVIEWED: usize = 3;
/// Limits of the records held for a preview, because later rows can still reject earlier records.
const MAX_HELD: usize = 64;
const MAX_HELD_BYTES: usize = 16 << 20;

/// The result of a pass over a file without sending.
#[derive(Debug)]
pub struct Preview {
    pub tally: Tally,
    /// The first requests of an upload.
    pub requests: Vec<PreviewedRequest>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewedRequest {
    pub method: Method,
    pub path: String,
    pub body: String,
}

/// A spreadsheet to check.
#[derive(Debug)]
pub struct Check<'a> {
    pub input: Spreadsheet<'a>,
    /// Path of a report of the problems, if wanted.
    pub report: Option<&'a Path>,
    /// The command that sends the valid records.
    pub next: &'a str,
    /// Compares identifiers and references with the service, at this pace.
    pub online: Option<ComparePace>,
}

/// Checks a spreadsheet.
pub async fn check(context: &Context, check: Check<'_>, observer: Observer<'_>) -> Result<Tally, Error> {
    let Check { input, report, next, online } = check;
    report.map_or(Ok(()), check_report_path)?;
    let mut source = input.open_for_sending(context).await?;
    observer(Event::Opened { source: &source, template: &input.template });
    if let Some(pace) = online {
        let base_url = context.base_url()?;
        let client = context.client(base_url, pace.concurrency)?;
        let speed = context.measured_speed(pace.rate, base_url).await?;
        let connection = Connection::new(&client, speed, pace.concurrency);
        compare_keys(&connection, &mut source, &input.template, false, observer).await?;
        compare_references(&connection, &mut source, &input.template, observer).await?;
    }
    if let Some(path) = report {
        return check_with_report(context, input, source, path, next, observer).await;
    }
    let mut rows = 0;
    let mut tally = read(&source, &input.template, ReadMode::TallyOnly, |batch| {
        rows = if batch.restarts { 0 } else { rows + batch.read };
        observer(Event::Reading { rows });
        true
    })?;
    warn_of_changes(context, &input.template, &mut tally).await?;
    observer(Event::Checked(&tally));
    Ok(tally)
}

/// Plans into a temporary ledger, because reports are written from a ledger.
async fn check_with_report(
    context: &Context,
    input: Spreadsheet<'_>,
    source: Source,
    path: &Path,
    next: &str,
    observer: Observer<'_>,
) -> Result<Tally, Error> {
    let folder = tempfile::tempdir().map_err(|error| Error::no_temporary_files(&error))?;
    let ledger = Ledger::open(folder.path()).await?;
    let about = new_run(RunCommand::Check, context, "", input.file, &source, &input.template)?;
    let show = |rows| observer(Event::Reading { rows });
    let template = Arc::new(input.template);
    let history = context.existing_ledger().await?;
    let (run, tally) = plan(&ledger, history.as_ref(), &about, Arc::new(source), template, now(), &show).await?;
    if let Some(history) = history {
        history.close().await;
    }
    observer(Event::Checked(&tally));
    let run = ledger.run(run).await?;
    let format = report_format(path)?;
    let request = Request {
        path,
        format,
        existing: Existing::Keep,
        // Valid records are pending here, and are left out of a page of problems.
        rows: if format.is_editable() { RowFilter::All } else { RowFilter::Problems },
        next: Some(next).filter(|_| tally.to_send > 0),
        is_kept: false,
        choices: &choices(&run, format, observer),
        has_bom: has_bom(&input.file.path),
    };
    report::write(&ledger, &run, &request).await?;
    ledger.close().await;
    Ok(tally)
}

/// Adds a warning for each change against the last upload with the template.
async fn warn_of_changes(context: &Context, template: &Template, tally: &mut Tally) -> Result<(), Error> {
    if let Some(ledger) = context.existing_ledger().await? {
        profile::warn_of_changes(&ledger, &template.name, template.record, tally).await?;
        ledger.close().await;
    }
    Ok(())
}

/// Reads the whole file and returns the first requests of an upload. Compares the values with those of earlier runs in
/// the ledger of `history`.
pub(super) async fn preview(
    history: Option<&Context>,
    source: &Source,
    template: &Template,
    observer: Observer<'_>,
) -> Result<Preview, Error> {
    observer(Event::Opened { source, template });
    let mut first = FirstRequests::default();
    let mut tally = read(source, template, ReadMode::Records, |batch| first.add(batch))?;
    if let Some(context) = history {
        warn_of_changes(context, template, &mut tally).await?;
    }
    observer(Event::Checked(&tally));
    let requests = first.records.into_iter().take(PREVIEWED);
    let requests = requests.filter_map(|(_, record)| request_of(template.record, &record)).collect();
    Ok(Preview { tally, requests })
}

/// Returns the request for a record, or `None` if the record is not sent.
pub(super) fn request_of(kind: RecordKind, record: &PlannedRecord) -> Option<PreviewedRequest> {
    let Disposition::Send(body) = &record.disposition else { return None };
    let target = record.target.as_deref();
    let call = kind.input().call(target.is_some())?;
    Some(PreviewedRequest { method: call.method, path: call.path(target.unwrap_or(""))?, body: body.to_string() })
}

#[derive(Default)]
struct FirstRequests {
    next: Seq,
    bytes: usize,
    records: Vec<(Seq, PlannedRecord)>,
}

impl FirstRequests {
    /// Adds the first records to send, and removes records rejected by a later row. Never stops reading.
    fn add(&mut self, batch: Batch) -> bool {
        if batch.restarts {
            *self = FirstRequests::default();
        }
        for record in batch.records {
            if let Disposition::Send(body) = &record.disposition
                && self.records.len() < MAX_HELD
                && self.bytes < MAX_HELD_BYTES
            {
                self.bytes += body.len();
                self.records.push((self.next, record));
            }
            self.next += 1;
        }
        for withdrawal in batch.withdrawn {
            self.records.retain(|(seq, _)| *seq != withdrawal.seq);
        }
        true
    }
}
