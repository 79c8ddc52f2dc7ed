//! Reports given to `upload` or `check` instead of `retry`.

use sheetport_client as client;
use sheetport_ledger::{AllowRepeat, Ledger, Run};
use sheetport_plan::Source;
use sheetport_plan::retry::Report;
use sheetport_sheet::Options;

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::files::{InputFile, Spreadsheet};
use super::retry_report::run_of;

/// The result of looking for the run of an uploaded report.
pub(crate) enum UploadedReport {
    /// The file is not a report, or its run is not in the ledger.
    No,
    /// A report of a run in this ledger with the same service, workspace and kind.
    OfRun,
    OfOtherService,
}

/// Detects whether the file is a report, and finds its run. The ledger is more reliable than the report about the rows already
/// sent, only row numbers can distinguish equal rows, and identifiers without their leading zeros are restored from the original
/// file.
///
/// # Errors
/// If the report lacks our columns, or if flags are given that a report does not support.
pub(crate) async fn uploaded_report(
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
    // A check needs no address; in this case the service of the run counts.
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

/// Returns the run of a report. Returns `None` for other files, and for reports of runs that are not in the ledger.
pub(crate) async fn run_of_report(context: &Context, file: &InputFile, text: &Options) -> Result<Option<Run>, Error> {
    let Some(ledger) = context.existing_ledger().await? else { return Ok(None) };
    // If the file is unreadable, reading the rows reports the error.
    let found = match Report::open(&file.path, &file.name, text) {
        Ok(report) if !report.sheets.is_empty() => run_if_known(&ledger, file, &report).await,
        _ => Ok(None),
    };
    ledger.close().await;
    found
}

/// Returns the run of a report. Returns `None` for the report of a check or rehearsal, or of a run that is not in the ledger.
async fn run_if_known(ledger: &Ledger, file: &InputFile, report: &Report) -> Result<Option<Run>, Error> {
    match run_of(ledger, file, report).await {
        Ok(run) => Ok(Some(run)),
        Err(Error::Invalid { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the run of an uploaded report. Returns `None` for the report of a check, or of a run that is not in the ledger.
///
/// # Errors
/// If the file contains the status of records that must not be sent twice, but lacks the columns for row numbers.
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
                "send the report back with all of its sheetport_ columns, or delete all of them to upload a new file";
            Err(Error::invalid(message, hint))
        }
        _ => run_if_known(ledger, file, &report).await,
    }
}
