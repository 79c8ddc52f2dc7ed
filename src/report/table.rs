//! A report as a table, CSV or XLSX: the original columns in their order, then ours.

use super::row::{ReportRow, our_header};
use super::{Error, Request, Written, row};
use crate::ledger::{Ledger, Run};
use crate::sheet::Cell;
use crate::sheet::write::{Format, Mark, Table};

/// What a report of several sheets calls the one that it has.
const ALL_ROWS: &str = "Rows";

pub(super) async fn write(ledger: &Ledger, run: &Run, request: &Request<'_>, format: Format) -> Result<Written, Error> {
    let ours = our_header(run);
    let header: Vec<&str> = run.about.header.iter().chain(&ours).map(String::as_str).collect();
    let sheet = if run.about.reads_several_sheets() { ALL_ROWS } else { &run.about.sheet };
    let mut table = Table::create(request.path, format, request.existing, sheet, &header)?;
    let rows = row::each_row(ledger, run, request.only, |row| write_row(&mut table, row)).await?;
    Ok(Written { path: table.finish()?, rows, left_out: 0 })
}

fn write_row(table: &mut Table, row: &ReportRow<'_>) -> Result<(), Error> {
    let (errors, fields) = (row.errors(), row.fields());
    let cells: Vec<Cell<'_>> = row.cells.cells().chain(row.ours(&errors, &fields)).collect();
    let marks = row.faults.iter().filter_map(|fault| Some(Mark { column: fault.column?, note: &fault.words }));
    table.row(&cells, &marks.collect::<Vec<_>>())?;
    Ok(())
}
