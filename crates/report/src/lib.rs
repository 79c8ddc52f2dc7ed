//! Reports of a run, made from the ledger alone, at any time: each source row with its outcome and problems, as CSV, workbook or page.
//!
//! Knows neither the file of the upload nor the service. A report replaces another file only if its request says so.
//!
//! | module | purpose |
//! |---|---|
//! | [`rows`] | the content: windows of rows with the outcomes of their records, as text in the language of the report; begin here |
//! | [`workbook`], [`csv`], [`html`] | the three forms |
//! | [`options`] | format, rows, destination, drop-down lists, the delimiter of a CSV by locale |
//! | [`error`] | errors of writing |
//!
//! Rows are read in windows (`rows/windows.rs`). Within a window, records are looked up in their order, so the scattered rows of a record
//! do not each load a block. With `[unpivot]`, the entries of a row are joined again. No text runs as a formula, and the web page allows only
//! its embedded script and style, by their hashes. Reports for a supplier show nothing but the sheet (`rows/supplier/`).

mod csv;
mod error;
mod html;
mod options;
mod rows;
mod workbook;

use std::collections::BTreeSet;
use std::path::Path;

use futures_util::future::BoxFuture;

use sheetport_files::readers::Readers;
use sheetport_ledger::{Causes, Ledger, Problem, Run};
use sheetport_sheet::{self as sheet, write::WholeFile};

pub use self::error::Error;
pub use self::options::{Choices, CsvForm, Format, MAX_CHOICES, Request, RowFilter, Written};
pub use self::rows::Translator;
pub use self::rows::{COLUMNS, COLUMNS_IN_FRONT, CheckedRow, each_checked_row};
use self::rows::{Subject, column_of, records, report_columns};

/// Refused records in memory at a time.
const REFUSALS: usize = 2_000;

/// Writes the report of `run`.
///
/// # Errors
/// Errors of the ledger, and of creating or writing the file.
pub fn write<'a>(ledger: &'a Ledger, run: &'a Run, request: &'a Request<'a>) -> BoxFuture<'a, Result<Written, Error>> {
    Box::pin(async move {
        let file = create(run, request)?;
        let subject = Subject::new(run, request.for_supplier, request.words);
        // A supplier has neither the ledger nor the file of the next command.
        let is_own = !request.for_supplier;
        let request =
            &Request { next: request.next.filter(|_| is_own), is_kept: request.is_kept && is_own, ..*request };
        match request.format {
            Format::Csv => csv::write(ledger, &subject, request, file).await,
            Format::Xlsx => workbook::write(ledger, &subject, request, file).await,
            Format::Html => html::write(ledger, &subject, request, file).await,
        }
    })
}

/// Creates the file of a report. The report gets no more readers than the sheet had during the run and has now.
fn create(run: &Run, request: &Request<'_>) -> Result<WholeFile, sheet::Error> {
    let sheet = Path::new(&run.about.file);
    let now = if sheet.exists() { Readers::of(sheet) } else { Readers::Everyone };
    WholeFile::create_for(run.about.readers.both(now), request.path, request.existing)
}

/// Returns the number of columns in a report of `run`: the columns of the file and the added columns.
pub fn columns(run: &Run) -> usize {
    run.about.header.len() + report_columns(run, false).len()
}

/// Groups the warnings of the file and of the first `limit` records with warnings. Each warning has the title of its source
/// column.
pub fn warned<'a>(ledger: &'a Ledger, run: &'a Run, limit: usize) -> BoxFuture<'a, Result<Causes, Error>> {
    Box::pin(async move {
        let mut causes = Causes::default();
        run.warnings.iter().for_each(|warning| {
            causes.add(warning.row.unwrap_or_default(), warning);
        });
        for (_, record) in ledger.warned(run.id, limit).await? {
            for warning in &record.warnings {
                causes.add(warning.row.or(record.rows.first().copied()).unwrap_or_default(), warning);
            }
        }
        Ok(causes)
    })
}

/// Returns the problems of the first `limit` refused records, each with the number of its row, or else of the record's first row.
pub fn refused_rows<'a>(
    ledger: &'a Ledger,
    run: &'a Run,
    limit: u32,
) -> BoxFuture<'a, Result<Vec<(u64, Problem)>, Error>> {
    Box::pin(async move {
        let mut rows = Vec::new();
        each_refusal(ledger, run, limit, |number, problem, _| {
            rows.push((number, Problem { column: column_of(&problem, run), ..problem }));
        })
        .await?;
        rows.sort_by_key(|(number, _)| *number);
        Ok(rows)
    })
}

/// Groups the problems of the first `limit` refused records by cause. Each problem has the title of its source column.
pub fn refused<'a>(ledger: &'a Ledger, run: &'a Run, limit: u32) -> BoxFuture<'a, Result<Causes, Error>> {
    Box::pin(async move {
        let mut causes = Causes::default();
        each_refusal(ledger, run, limit, |number, problem, names| {
            causes.add_of(number, &problem, names);
        })
        .await?;
        Ok(causes)
    })
}

/// Calls `each` with every problem of the first `limit` refused records: the number of its row, or else of the record's first row, or 0
/// if it has none, the problem with the title of its source column, and the names of the record.
async fn each_refusal(
    ledger: &Ledger,
    run: &Run,
    limit: u32,
    mut each: impl FnMut(u64, Problem, &[&str]),
) -> Result<(), Error> {
    let seqs = ledger.failed(run.id, limit).await?;
    for chunk in seqs.chunks(REFUSALS) {
        let seqs = BTreeSet::from_iter(chunk.iter().copied());
        for record in records::load(ledger, run.id, &seqs).await?.into_values() {
            let number = record.rows.first().copied().unwrap_or(0);
            for problem in &record.outcome.problems {
                let column = column_of(problem, run);
                let header = column.and_then(|column| run.about.header.get(column)).cloned().unwrap_or_default();
                let problem = Problem { header, sheet: record.sheet.clone(), ..problem.clone() };
                each(problem.row.unwrap_or(number), problem, &record.names());
            }
        }
    }
    Ok(())
}
