//! Reports as workbooks: a summary sheet, then the rows.

mod drop_downs;
mod styles;
mod summary;
mod summary_sheet;
mod writer;

use sheetport_ledger::Ledger;
use sheetport_sheet::write::WholeFile;

use self::summary::Summary;
use self::writer::{Columns, Mark, ReportWorkbook};
use super::error::Error;
use super::options::{Choices, Request, Written};
use super::rows::{COLUMNS_IN_FRONT, ERRORS, Fault, ReportRow, STATUS, Subject, WARNINGS, each_row};

/// Name of the sheet of rows if the run read several sheets.
const ALL_ROWS: &str = "Rows";

pub(super) async fn write(
    ledger: &Ledger,
    subject: &Subject<'_>,
    request: &Request<'_>,
    file: WholeFile,
) -> Result<Written, Error> {
    let (run, header) = (&*subject.run, subject.header());
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let in_report = |choices: &Choices| Choices { column: COLUMNS_IN_FRONT + choices.column, ..choices.clone() };
    let choices: Vec<Choices> = request.choices.iter().map(in_report).collect();
    let has_warnings = ledger.accounting(run.id).await?.warned > 0;
    let columns = Columns {
        sheet: run.about.sheet.name().unwrap_or(subject.language.label(ALL_ROWS)),
        header: &header,
        original: COLUMNS_IN_FRONT..COLUMNS_IN_FRONT + run.about.header.len(),
        status: STATUS,
        texts: [ERRORS, WARNINGS],
        in_sight: if has_warnings { WARNINGS + 1 } else { ERRORS + 1 },
        choices: &choices,
        words: request.words,
        language: subject.language,
    };
    let mut workbook = ReportWorkbook::create(file, &columns)?;
    let mut summary = Summary::of_file(run, subject.language);
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
    Ok(workbook.row(row.report_cells(&texts), &marks.collect::<Vec<_>>())?)
}

fn mark<'a>(fault: &'a Fault<'_>, is_warning: bool) -> Option<Mark<'a>> {
    Some(Mark { column: COLUMNS_IN_FRONT + fault.column?, note: &fault.words, is_warning })
}
