//! Reviewing a spreadsheet before it is sent: its rows in windows, the template as people change it, the problems of each row, and
//! edits that everything else sees as the sheet itself.

mod checked_sheet;
mod column_key;
mod draft;
mod edit_log;
mod fixes;
mod keys_of_rows;
mod mapping;
mod reading;
mod remember;
mod revise;
mod row_store;
mod run_result;
mod service_difference;
mod skip_where;
mod template_edit;

use std::path::{Path, PathBuf};

use super::context::Context;
use super::error::Error;
use super::input::Spreadsheet;
use super::report::{ReportRequest, report};
use super::report_path::unused;
use super::runs::list_runs::show_run;
use crate::ledger::{Problem, Run, RunId};
use crate::readers::create_private_folder;
use crate::report::{RowFilter, refused_rows};
use crate::upload::Source;

pub use checked_sheet::{CauseOfRows, CheckedSheet, examine};
pub use draft::{Draft, DraftOrigin, FieldReason, propose};
pub use edit_log::{EditLog, EditStore, edits_of_file};
pub use fixes::{CauseRows, Fix, FixChoice, FixPreview, MadeFix};
pub use mapping::{MappedColumn, MappedField, Mapping, TemplateMistake, mapping, mistakes};
pub use reading::{OpenSheet, Reading, open_sheet};
pub use remember::{NotRemembered, Sendable, sendable};
pub use revise::RowVerdict;
pub use row_store::{Extent, RowStore};
pub use run_result::{RunResult, run_result};
pub use service_difference::{ServiceDifference, compare_with_service, pace};
pub use template_edit::TemplateEdit;

/// The folder of reports, below the home folder.
const REPORTS: &str = "reports";
/// Maximum number of refused records that come back as problems.
const MAX_REFUSED: u32 = 100_000;
/// Maximum number of runs among which one of the same file is looked for.
const MAX_RUNS: u32 = 200;

/// Returns the newest run that has sent the file with this hash, and the problems of the records that the service has refused,
/// each with its row.
pub async fn last_run(context: &Context, file_hash: &str) -> Result<Option<(Run, Vec<(u64, Problem)>)>, Error> {
    let Some(ledger) = context.existing_ledger().await? else { return Ok(None) };
    let runs = ledger.runs(MAX_RUNS).await?;
    let base_url = context.base_url.as_deref().and_then(|url| crate::client::normal_address(url).ok());
    let is_it = |run: &Run| run.about.file_hash == file_hash && Some(&run.about.base_url) == base_url.as_ref();
    let found = match runs.into_iter().find(is_it) {
        Some(run) => {
            let refused = refused_rows(&ledger, &run, MAX_REFUSED).await?;
            Some((run, refused))
        }
        None => None,
    };
    ledger.close().await;
    Ok(found)
}

/// Writes the rows of a run that were not accepted as a report, to be reviewed and sent again.
///
/// # Errors
/// If there is no such run, the ledger has no plan of it any more, or it was for another service or workspace, where its records
/// would be new.
pub async fn report_to_review(context: &Context, run: RunId) -> Result<PathBuf, Error> {
    let details = show_run(context, Some(run)).await?;
    let about = &details.run.about;
    if let Some(base_url) = context.base_url.as_deref()
        && (about.base_url != crate::client::normal_address(base_url)? || about.workspace != context.workspace())
    {
        let message =
            format!("run {run} was sent to {} {}, and this is another service", about.base_url, about.workspace);
        return Err(Error::invalid(
            message.replace(" ,", ","),
            "start review with the --profile or --base-url of the run",
        ));
    }
    let name = Path::new(&details.run.about.file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let path = unused(&reports(context)?.join(format!("{name}.run-{run}.csv")));
    let request =
        ReportRequest { rows: Some(RowFilter::Problems), has_next: false, ..ReportRequest::of_run(run, &path) };
    report(context, &request, &|_| {}).await?;
    Ok(path)
}

/// Returns the folder of reports, which only this user can read.
///
/// # Errors
/// If it can't be created.
pub fn reports(context: &Context) -> Result<PathBuf, Error> {
    let folder = context.home.join(REPORTS);
    create_private_folder(&folder).map_err(|error| Error::Local {
        message: format!("{} can't be created: {error}", folder.display()),
        hint: "check the permissions of the folder above".to_owned(),
    })?;
    Ok(folder)
}

/// Opens the file and finds the columns of its template.
///
/// # Errors
/// If the file lacks columns that the template needs.
pub fn bind(input: &Spreadsheet<'_>) -> Result<Source, Error> {
    input.open()
}
