//! Reports as workbooks: a summary sheet, then the original columns and the report's own.

pub(super) mod choices;
mod styles;
mod summary;
mod summary_sheet;
mod writer;

use self::summary::Summary;
use self::writer::{Columns, Mark, ReportWorkbook};
use super::error::Error;
use super::model::{Request, Written};
use super::row::{ERRORS, ReportRow, STATUS, each_row, report_columns};
use crate::ledger::{Ledger, Run};
use crate::sheet::write::WholeFile;

/// Name of the sheet of rows if the run read several sheets.
const ALL_ROWS: &str = "Rows";

pub(super) async fn write(ledger: &Ledger, run: &Run, request: &Request<'_>) -> Result<Written, Error> {
    let added = report_columns(run);
    let header: Vec<&str> = run.about.header.iter().chain(&added).map(String::as_str).collect();
    let original = run.about.header.len();
    let columns = Columns {
        sheet: run.about.sheet.name().unwrap_or(ALL_ROWS),
        header: &header,
        original,
        status: original + STATUS,
        errors: original + ERRORS,
        choices: request.choices,
    };
    let mut workbook = ReportWorkbook::create(WholeFile::create(request.path, request.existing)?, &columns)?;
    let mut summary = Summary::default();
    let rows = each_row(ledger, run, request.rows, |row| {
        summary.add(row);
        write_row(&mut workbook, row)
    })
    .await?;
    let accounting = ledger.accounting(run.id).await?;
    let sheet = summary.sheet(run, &accounting, request, workbook.omissions());
    Ok(Written { path: workbook.finish(&sheet)?, rows, left_out: 0 })
}

fn write_row(workbook: &mut ReportWorkbook, row: &ReportRow<'_>) -> Result<(), Error> {
    let (errors, fields) = (row.errors(), row.fields());
    let marks = row.faults.iter().filter_map(|fault| Some(Mark { column: fault.column?, note: &fault.words }));
    let cells = row.cells.cells().chain(row.report_cells(&errors, &fields));
    Ok(workbook.row(cells, &marks.collect::<Vec<_>>())?)
}
