//! Checking a spreadsheet in full without sending anything.

use std::path::Path;
use std::sync::Arc;

use sheetport_findings::Code;
use sheetport_ledger::{AllowRepeat, Ledger, Problem, RunCommand};
use sheetport_mapping::Template;
use sheetport_plan::compare::{Connection, suspicious_keys};
use sheetport_plan::plan::{ReadMode, plan, read};
use sheetport_plan::{Source, Tally};
use sheetport_report::{Request, RowFilter, each_checked_row};
use sheetport_sheet::write::Existing;

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::files::{
    InputFile, Spreadsheet, TemporaryFolder, check_report_path, new_run, report_format, write_report,
};
use super::super::learned::{load_sizes, store_learned_sizes};
use super::super::results::{choices, words};
use super::super::send::SendOptions;
use super::compare::{ComparePace, compare_keys, look_up_for_check, note_lookups};
use super::preview::warn_of_changes;
use super::retry_report::{RetryReport, open_report};
use super::upload::keeps_lines_of;
use super::uploaded_report::{UploadedReport, uploaded_report};
use crate::operation::Operation;

/// A spreadsheet to check.
#[derive(Debug)]
pub struct Check<'a> {
    pub input: Spreadsheet<'a>,
    /// Path of a report of the problems, if wanted.
    pub report: Option<&'a Path>,
    /// Hides data in the report that a supplier should not see.
    pub for_supplier: bool,
    /// Tells the observer of each row.
    pub has_rows: bool,
    /// The command for sending the valid records.
    pub next: &'a str,
    /// Compares identifiers and references with the service, at this pace.
    pub online: Option<ComparePace>,
    /// Whether the upload is to send the service's other lines of an order with those of the file.
    pub keep_lines: bool,
}

/// A checked spreadsheet.
#[derive(Debug)]
pub struct CheckedFile {
    pub tally: Tally,
    /// Number of requests for the comparison with the service.
    pub requests: u64,
}

/// Checks a spreadsheet.
pub fn check<'a>(context: &'a Context, check: Check<'a>, observer: Observer<'a>) -> Operation<'a, CheckedFile> {
    Box::pin(async move {
        let Check { input, report, for_supplier, has_rows, next, online, keep_lines } = check;
        check_report_path(context, report).await?;
        if keep_lines {
            keeps_lines_of(&input.template)?;
        }
        let report = report.map(|path| CheckReport { path, for_supplier, next });
        let mut source = input.open_for_sending(context)?;
        let reported = uploaded_report(context, &input, &AllowRepeat::None, &source, observer).await?;
        let file = input.file;
        let template = match reported {
            UploadedReport::OfRun => {
                let retry = RetryReport::of_uploaded(input, SendOptions::default());
                let opened = open_report(context, retry, observer).await?;
                source = opened.0;
                opened.1
            }
            UploadedReport::OfOtherService => {
                source.ignore_status();
                Arc::new(input.template)
            }
            UploadedReport::No => Arc::new(input.template),
        };
        observer(Event::Opened { source: &source, template: &template });
        let mut requests = 0;
        if let Some(pace) = online {
            let base_url = context.base_url()?;
            let client = context.client(base_url, pace.concurrency)?;
            let speed = context.measured_speed(pace.rate, base_url).await?;
            let connection = Connection::new(&client, speed, pace.concurrency);
            load_sizes(context, &connection, base_url).await;
            compare_keys(&connection, &mut source, &template, false, observer).await?;
            look_up_for_check(context, &client, &connection, &mut source, &template, keep_lines, observer).await?;
            store_learned_sizes(context, &connection, base_url).await;
            requests = client.requests();
        } else {
            source.warnings.extend(not_compared(suspicious_keys(&source, &template)?));
            note_lookups(&source, &template, observer)?;
        }
        if report.is_some() || has_rows {
            let tally = check_with_report(context, file, template, source, (report, has_rows), observer).await?;
            return Ok(CheckedFile { tally, requests });
        }
        let mut rows = 0;
        let mut tally = read(&source, &template, ReadMode::TallyOnly, |batch| {
            rows = if batch.restarts { 0 } else { rows + batch.read };
            observer(Event::Reading { rows });
            true
        })?;
        warn_of_changes(context, &template, &mut tally).await?;
        observer(Event::Checked(&tally));
        Ok(CheckedFile { tally, requests })
    })
}

/// Returns the warning about identifiers of an export that were not compared with the service.
fn not_compared(rows: u64) -> Option<Problem> {
    let message = match rows {
        0 => return None,
        1 => "1 identifier of this export may have lost zeros or digits in a spreadsheet program".to_owned(),
        rows => format!("{rows} identifiers of this export may have lost zeros or digits in a spreadsheet program"),
    };
    let remedy = "compare them with the service: add --online; an upload compares them before it sends".to_owned();
    Some(Problem { remedy, ..Problem::of_record(Code::NotCompared, message) })
}

/// A report of a check.
#[derive(Clone, Copy)]
struct CheckReport<'a> {
    path: &'a Path,
    for_supplier: bool,
    next: &'a str,
}

/// Plans into a temporary ledger, the source for both the report and the problems of the rows.
async fn check_with_report(
    context: &Context,
    file: &InputFile,
    template: Arc<Template>,
    source: Source,
    (report, has_rows): (Option<CheckReport<'_>>, bool),
    observer: Observer<'_>,
) -> Result<Tally, Error> {
    let folder = TemporaryFolder::create()?;
    let ledger = Ledger::open(folder.path()).await?;
    let about = new_run(RunCommand::Check, context, "", file, &source, &template)?;
    let show = |rows| observer(Event::Reading { rows });
    let history = context.existing_ledger().await?;
    let (run, tally) = plan(&ledger, history.as_ref(), &about, Arc::new(source), template, ledger.now(), &show).await?;
    if let Some(history) = history {
        history.close().await;
    }
    observer(Event::Checked(&tally));
    let run = ledger.run(run).await?;
    if has_rows {
        each_checked_row(&ledger, &run, |row| observer(Event::CheckedRow(row))).await?;
    }
    let Some(CheckReport { path, for_supplier, next }) = report else {
        ledger.close().await;
        return Ok(tally);
    };
    let format = report_format(path)?;
    let request = Request {
        path,
        format,
        existing: Existing::Keep,
        // Valid records are pending here, and are left out of a page of problems.
        rows: if format.is_editable() { RowFilter::All } else { RowFilter::Problems },
        next: Some(next).filter(|_| tally.to_send > 0),
        is_kept: false,
        choices: &choices(&run, format, for_supplier, observer),
        csv: context.csv_form(),
        words: words(context, &run, format),
        for_supplier,
    };
    write_report(context, &ledger, &run, &request).await?;
    ledger.close().await;
    Ok(tally)
}
