//! Reads XLSB sheets with calamine for the values and with `records` for the parts missing in calamine.

use calamine::Xlsb;

use super::super::cells::{damaged, send};
use super::super::input::{Input, Source};
use super::records::{CellRecords, MissingValue, XlsbRecords};
use crate::Cell;
use crate::read::appearance::Appearance;
use crate::read::workbook::row_sender::{RowSender, Stop};

/// Sends all cells of a sheet. Returns its appearance.
pub(crate) fn send_sheet(
    book: &mut Xlsb<Input>,
    file: &Source,
    name: &str,
    rows: &mut RowSender<'_>,
) -> Result<Appearance, Stop> {
    let is_1904 = book.has_1904_epoch();
    let mut workbook = XlsbRecords::open(file);
    let mut records = workbook.as_mut().and_then(|workbook| workbook.cells(name));
    // Sends the cells missing in calamine, up to calamine's next cell.
    let mut next_record = |rows: &mut RowSender<'_>| {
        while let Some(record) = records.as_mut().and_then(CellRecords::next) {
            let (row, column) = record.at;
            match record.missing {
                Some(MissingValue::Error(error)) => rows.cell(row, column, Cell::Error(error))?,
                Some(MissingValue::Text(parts)) => rows.text_in_parts(row, column, parts)?,
                Some(MissingValue::Unknown) => {
                    let row = u64::from(row) + 1;
                    return Err(
                        format!("row {row} has a cell in an unknown form; save the file as .xlsx in Excel").into()
                    );
                }
                None => return Ok(Some(record)),
            }
        }
        Ok::<_, Stop>(None)
    };
    let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
    while let Some(cell) = cells.next_cell().map_err(damaged)? {
        let at = cell.get_position();
        match next_record(rows)?.filter(|record| record.at == at).and_then(|record| record.format) {
            Some(format) => {
                send(rows, at, &format.value(cell.get_value(), is_1904), format.number.as_ref(), is_1904)?;
            }
            None => send(rows, at, cell.get_value(), None, is_1904)?,
        }
    }
    next_record(rows)?;
    drop(cells);
    Ok(records.map(CellRecords::finish).unwrap_or_default())
}
