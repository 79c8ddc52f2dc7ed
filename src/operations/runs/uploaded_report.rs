//! Reports that are uploaded or checked instead of retried.

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::input::{InputFile, Spreadsheet};
use super::retry_report::run_of;
use crate::client;
use crate::ledger::{AllowRepeat, Ledger, Run};
use crate::sheet::Options;
use crate::upload::Source;
use crate::upload::retry::Report;

/// What an uploaded file is a report of.
pub(in crate::operations) enum UploadedReport {
    /// No report, or one of a run that the ledger does not know.
    No,
    /// A report of a run in this ledger with the same service, workspace and kind.
    OfRun,
    OfOtherService,
}

/// Finds out whether the file is a report. The ledger knows better than the report which of its rows were sent, equal rows
/// can only be told apart by their row numbers, and identifiers that lost their zeros are those of the original file.
///
/// # Errors
/// If the report has lost our columns, or if flags are given that a report can't have.
pub(in crate::operations) async fn uploaded_report(
    context: &Context,
    input: &Spreadsheet<'_>,
    allow_repeat: &AllowRepeat,
    source: &Source,
    observer: Observer<'_>,
) -> Result<UploadedReport, Error> {
    if !source.is_report() {
        return Ok(UploadedReport::No);
    }
    let Spreadsheet { file, template, sheet, rows, .. } = input;
    let must_not_repeat = template.record.input().must_not_repeat();
    let Some(ledger) = context.existing_ledger().await? else { return Ok(UploadedReport::No) };
    let found = run_of_uploaded(&ledger, file, &input.text, must_not_repeat).await;
    ledger.close().await;
    let Some(run) = found? else { return Ok(UploadedReport::No) };
    let (about, name) = (&run.about, file.name.display());
    // A check needs no address; the report is then of the service of its run.
    let is_service = match context.base_url.as_deref() {
        Some(base_url) => about.base_url == client::normal_address(base_url)? && about.workspace == context.workspace(),
        None => true,
    };
    if !is_service || about.record != template.record {
        observer(Event::Warning(&format!(
            "{name} is a report of run {}, which sent {} to {}; here all of its rows are new",
            run.id,
            about.record.input().plural,
            about.base_url
        )));
        return Ok(UploadedReport::OfOtherService);
    }
    let flags = [
        ("--sheet", sheet.is_some()),
        ("--rows", rows.is_some()),
        ("--allow-repeat", *allow_repeat != AllowRepeat::None),
    ];
    if let Some((flag, _)) = flags.into_iter().find(|(_, is_given)| *is_given) {
        let message = format!("{name} is a report of run {}, and {flag} is not possible for reports", run.id);
        let hint =
            format!("leave out {flag}; to upload it as a new file, delete the columns that begin with sheetport_");
        return Err(Error::invalid(message, hint));
    }
    if must_not_repeat {
        observer(Event::Warning(&format!(
            "{name} is a report of run {}: only the rows that were not accepted yet are sent, as with `sheetport retry`",
            run.id
        )));
    }
    Ok(UploadedReport::OfRun)
}

/// Returns the run of which a file is a report, or `None` for other files, and reports of which the ledger knows no run.
pub(in crate::operations) async fn run_of_report(
    context: &Context,
    file: &InputFile,
    text: &Options,
) -> Result<Option<Run>, Error> {
    let Some(ledger) = context.existing_ledger().await? else { return Ok(None) };
    // What keeps the file from being read is told when its rows are read.
    let found = match Report::open(&file.path, &file.name, text) {
        Ok(report) if !report.sheets.is_empty() => run_of(&ledger, file, &report).await.ok(),
        _ => None,
    };
    ledger.close().await;
    Ok(found)
}

/// Returns the run of a report that is uploaded instead of retried, or `None` for the report of a check, or of a run that
/// the ledger does not know.
///
/// # Errors
/// If the file has the status of records that must not be sent twice, but not the columns that name their rows.
async fn run_of_uploaded(
    ledger: &Ledger,
    file: &InputFile,
    text: &Options,
    must_not_repeat: bool,
) -> Result<Option<Run>, Error> {
    let report = Report::open(&file.path, &file.name, text)?;
    match report.missing {
        Some(column) if must_not_repeat => {
            let message = format!(
                "{} has no column {column}, so it is not known which of its rows were sent",
                file.name.display()
            );
            let hint =
                "hand the report back with all of its sheetport_ columns, or delete all of them to upload a new file";
            Err(Error::invalid(message, hint))
        }
        _ => Ok(run_of(ledger, file, &report).await.ok()),
    }
}
