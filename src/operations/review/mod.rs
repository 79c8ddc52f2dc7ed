//! Reviewing a spreadsheet before it is sent: its rows in windows, the template as people change it, the problems of each row, and
//! edits that everything else sees as the sheet itself.

mod checked_sheet;
mod draft;
mod edit_log;
mod fixes;
mod keys_of_rows;
mod mapping;
mod reading;
mod revise;
mod row_store;
mod template_edit;

use super::context::Context;
use super::error::Error;
use super::input::Spreadsheet;
use crate::ledger::{Problem, Run};
use crate::report;
use crate::upload::Source;

pub use checked_sheet::{CauseOfRows, CheckedSheet, RowProblem, examine};
pub use draft::{Draft, DraftOrigin, FieldReason, propose};
pub use edit_log::{EditLog, edits_of_file};
pub use fixes::{CauseRows, Fix, FixChoice, FixPreview};
pub use mapping::{MappedColumn, MappedField, Mapping, TemplateMistake, mapping, mistakes};
pub use reading::{OpenSheet, Reading, open_sheet};
pub use revise::RowVerdict;
pub use row_store::{Extent, RowStore};
pub use template_edit::{ColumnKey, TemplateEdit};

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
            let refused = report::refused_rows(&ledger, &run, MAX_REFUSED).await?;
            Some((run, refused))
        }
        None => None,
    };
    ledger.close().await;
    Ok(found)
}

/// Opens the file and finds the columns of its template.
///
/// # Errors
/// If the file lacks columns that the template needs.
pub fn bind(input: &Spreadsheet<'_>) -> Result<Source, Error> {
    input.open()
}
