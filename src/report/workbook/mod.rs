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
use super::row::{ERRORS, Fault, ReportRow, STATUS, Subject, WARNINGS, each_row};
use crate::ledger::Ledger;
use crate::sheet::write::WholeFile;

/// Name of the sheet of rows if the run read several sheets.
const ALL_ROWS: &str = "Rows";

pub(super) async fn write(
    ledger: &Ledger,
    subject: &Subject<'_>,
    request: &Request<'_>,
    file: WholeFile,
) -> Result<Written, Error> {
    let (run, added) = (&*subject.run, subject.columns());
    let header: Vec<&str> = run.about.header.iter().chain(&added).map(String::as_str).collect();
    let original = run.about.header.len();
    let columns = Columns {
        sheet: run.about.sheet.name().unwrap_or(ALL_ROWS),
        header: &header,
        original,
        status: original + STATUS,
        texts: [original + ERRORS, original + WARNINGS],
        choices: request.choices,
    };
    let mut workbook = ReportWorkbook::create(file, &columns)?;
    let mut summary = Summary::of_file(run);
    let rows = each_row(ledger, subject, request.rows, |row| {
        summary.add(row);
        write_row(&mut workbook, row)
    })
    .await?;
    let accounting = ledger.accounting(run.id).await?;
    let sheet = summary.sheet(run, &accounting, request, workbook.omissions());
    Ok(Written { path: workbook.finish(&sheet)?, rows, left_out: 0 })
}

fn write_row(workbook: &mut ReportWorkbook, row: &ReportRow<'_>) -> Result<(), Error> {
    let texts = row.texts();
    let marks = row.faults.iter().filter_map(|fault| mark(fault, false));
    let marks = marks.chain(row.warnings.iter().filter_map(|fault| mark(fault, true)));
    let cells = row.cells.cells().chain(row.report_cells(&texts));
    Ok(workbook.row(cells, &marks.collect::<Vec<_>>())?)
}

fn mark<'a>(fault: &'a Fault<'_>, is_warning: bool) -> Option<Mark<'a>> {
    Some(Mark { column: fault.column?, note: &fault.words, is_warning })
}
