//! Reviews a spreadsheet before sending: windows of its rows, a template that people can change, the problems of each row, and
//! edits. Everything else sees the edited cells as the content of the sheet.

mod changes;
mod edit_log;
mod fixes;
mod problems;
mod refused;
mod run_result;
mod service_difference;
mod sheet;
mod template;

use std::path::{Path, PathBuf};

use sheetport_ledger::{Problem, Run, RunId};
use sheetport_plan::Source;
use sheetport_report::{RowFilter, refused_rows};

use super::context::Context;
use super::error::Error;
use super::files::{Spreadsheet, reports_folder, unused};
use super::results::{ReportRequest, report};
use super::runs::list_runs::show_run;
use crate::operation::Operation;

pub use changes::{ApprovedCounts, ChangeFilter, ChangeList, Decision, PlanReview, PlannedChange, plan_to_review};
pub use edit_log::{EditLog, EditStore, edits_of_file};
pub use fixes::{CauseRows, Fix, FixChoice, FixPreview, MadeFix, NotRemembered, Sendable, sendable};
pub use problems::{CauseOfRows, CheckedSheet, RowVerdict, examine};
pub use refused::Refused;
pub use run_result::{RunResult, run_result};
pub use service_difference::{ServiceDifference, compare_with_service, pace};
pub use sheet::{Extent, OpenSheet, Reading, RowStore, open_sheet};
pub use template::{
    ColumnLook, Draft, DraftOrigin, FieldChoice, FieldReason, MappedColumn, MappedField, Mapping, OpenField,
    TemplateEdit, TemplateMistake, ValueLook, column_looks, mapping, mistakes, propose,
};

/// Maximum number of refused records shown as problems.
const MAX_REFUSED: u32 = 100_000;
/// Maximum number of runs searched for a run of the same file.
const MAX_RUNS: u32 = 200;

/// A run, and the problems of its refused records, each with its row.
type RunWithRefusals = (Run, Vec<(u64, Problem)>);

/// Returns the newest run that has sent the file with this hash. A plan that nobody has applied is none, nor is an undo.
pub fn last_run<'a>(context: &'a Context, file_hash: &'a str) -> Operation<'a, Option<RunWithRefusals>> {
    Box::pin(async move {
        let Some(ledger) = context.existing_ledger().await? else { return Ok(None) };
        let runs = ledger.runs(MAX_RUNS).await?;
        let base_url = context.base_url.as_deref().and_then(|url| sheetport_client::normal_address(url).ok());
        let is_it = |run: &Run| {
            run.about.file_hash == file_hash
                && Some(&run.about.base_url) == base_url.as_ref()
                && run.about.undo_of.is_none()
        };
        let mut found = None;
        for run in runs.into_iter().filter(is_it) {
            if run.looked_at.is_some() && !ledger.is_begun(run.id).await? {
                continue;
            }
            let refused = refused_rows(&ledger, &run, MAX_REFUSED).await?;
            found = Some((run, refused));
            break;
        }
        ledger.close().await;
        Ok(found)
    })
}

/// Writes a report with the rows of a run that were not accepted, for review and another upload.
///
/// # Errors
/// If there is no such run, the ledger no longer has its plan, or the run belongs to another service or workspace: there, the
/// records would be new.
pub fn report_to_review(context: &Context, run: RunId) -> Operation<'_, PathBuf> {
    Box::pin(async move {
        let details = show_run(context, Some(run)).await?;
        let about = &details.run.about;
        if let Some(base_url) = context.base_url.as_deref()
            && (about.base_url != sheetport_client::normal_address(base_url)? || about.workspace != context.workspace())
        {
            let message =
                format!("run {run} was sent to {} {}, and this is another service", about.base_url, about.workspace);
            return Err(Error::invalid(
                message.replace(" ,", ","),
                "start review with the --profile or --base-url of the run",
            ));
        }
        let name = Path::new(&details.run.about.file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let path = unused(&reports_folder(context)?.join(format!("{name}.run-{run}.csv")));
        let request =
            ReportRequest { rows: Some(RowFilter::Problems), has_next: false, ..ReportRequest::of_run(run, &path) };
        report(context, &request, &|_| {}).await?;
        Ok(path)
    })
}

/// Opens the file and finds the columns of its template.
///
/// # Errors
/// If the file lacks columns that the template needs.
pub fn bind(input: &Spreadsheet<'_>) -> Result<Source, Error> {
    input.open()
}
