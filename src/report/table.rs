//! A report as a table, CSV or XLSX: the original columns in their order, then ours.

use super::row::{self, ReportRow, our_header};
use super::summary::Summary;
use super::{Error, Request, Written};
use crate::ledger::{Ledger, Run};
use crate::sheet::write::{Format, Mark, Outline, Table};

/// What a report of several sheets calls the one that it has.
const ALL_ROWS: &str = "Rows";

pub(super) async fn write(ledger: &Ledger, run: &Run, request: &Request<'_>, format: Format) -> Result<Written, Error> {
    let ours = our_header(run);
    let header: Vec<&str> = run.about.header.iter().chain(&ours).map(String::as_str).collect();
    let own = run.about.header.len();
    let outline = Outline {
        sheet: if run.about.reads_several_sheets() { ALL_ROWS } else { &run.about.sheet },
        header: &header,
        own,
        status: Some(own + row::STATUS),
        sentences: Some(own + row::ERRORS),
        choices: request.choices,
        has_front: true,
        has_bom: request.has_bom,
    };
    let mut table = Table::create(request.path, format, request.existing, &outline)?;
    let mut summary = Summary::default();
    let is_workbook = format == Format::Xlsx;
    let rows = row::each_row(ledger, run, request.only, |row| {
        if is_workbook {
            summary.add(row);
        }
        write_row(&mut table, row)
    })
    .await?;
    let path = match is_workbook {
        true => {
            let accounting = ledger.accounting(run.id).await?;
            let front = summary.front(run, &accounting, request, table.left_out());
            table.finish(Some(&front))?
        }
        false => table.finish(None)?,
    };
    Ok(Written { path, rows, left_out: 0 })
}

fn write_row(table: &mut Table, row: &ReportRow<'_>) -> Result<(), Error> {
    let (errors, fields) = (row.errors(), row.fields());
    let marks = row.faults.iter().filter_map(|fault| Some(Mark { column: fault.column?, note: &fault.words }));
    table.row(row.cells.cells().chain(row.ours(&errors, &fields)), &marks.collect::<Vec<_>>())?;
    Ok(())
}
