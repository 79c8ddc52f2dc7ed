//! Conversion of calamine's cells, and errors in damaged workbooks.

use calamine::{Data, DataRef, DataType, Range};

use crate::Cell;
use crate::cell::NOT_CALCULATED;
use crate::read::workbook::dates;
use crate::read::workbook::row_sender::{RowSender, Stop};
use crate::read::workbook::styles::{NumberFormat, ShownText};

/// Data about a cell that calamine does not provide.
pub(super) enum Known<'f> {
    /// A value in place of calamine's, and its format if it matters.
    Formatted(DataRef<'f>, Option<&'f NumberFormat>),
    /// A boolean with the format of a number.
    Boolean(bool),
    /// A formula without a calculated result.
    Uncalculated,
}

/// Sends the cells of a sheet that calamine has read as a whole. `known` returns further data about a cell, by its zero-based row
/// and column.
pub(super) fn send_range<'f>(
    range: &'f Range<Data>,
    is_1904: bool,
    known: impl Fn((u32, u32), &DataRef<'f>) -> Option<Known<'f>>,
    rows: &mut RowSender<'_>,
) -> Result<(), Stop> {
    let (top, left) = range.start().unwrap_or_default();
    for (row, column, value) in range.used_cells() {
        let at = (top.saturating_add(row as u32), left.saturating_add(column as u32));
        let value = borrowed(value);
        if let Some(known) = known(at, &value) {
            match known {
                Known::Formatted(value, format) => send(rows, at, &value, format, is_1904)?,
                Known::Boolean(boolean) => {
                    // The program that wrote the file displays a number.
                    let shown = ShownText { text: String::new(), is_certain: false };
                    rows.shown_cell(at.0, at.1, Cell::Boolean(boolean), Some(shown))?;
                }
                Known::Uncalculated => rows.cell(at.0, at.1, Cell::Error(NOT_CALCULATED))?,
            }
            continue;
        }
        send(rows, at, &value, None, is_1904)?;
    }
    Ok(())
}

fn borrowed(value: &Data) -> DataRef<'_> {
    match value {
        Data::Empty => DataRef::Empty,
        Data::Int(number) => DataRef::Int(*number),
        Data::Float(number) => DataRef::Float(*number),
        Data::String(text) => DataRef::SharedString(text),
        Data::Bool(boolean) => DataRef::Bool(*boolean),
        Data::Error(error) => DataRef::Error(error.clone()),
        Data::DateTime(when) => DataRef::DateTime(*when),
        Data::DateTimeIso(text) => DataRef::DateTimeIso(text.clone()),
        Data::DurationIso(text) => DataRef::DurationIso(text.clone()),
    }
}

/// Sends a cell by its value and number format.
pub(super) fn send(
    rows: &mut RowSender<'_>,
    (row, column): (u32, u32),
    value: &DataRef<'_>,
    format: Option<&NumberFormat>,
    is_1904: bool,
) -> Result<(), Stop> {
    let elapsed;
    let mut text = String::new();
    // The stored number. For a date or time, the number of days.
    let mut stored = 0.0;
    let cell = match value {
        DataRef::Empty => return Ok(()),
        DataRef::Int(_) | DataRef::Float(_) => {
            stored = value.as_f64().unwrap_or_default();
            format.and_then(|format| format.cell(stored, &mut text)).unwrap_or(Cell::Number(stored))
        }
        DataRef::String(text) => Cell::Text(text),
        DataRef::SharedString(text) => Cell::Text(text),
        DataRef::Bool(boolean) => Cell::Boolean(*boolean),
        DataRef::Error(error) => return rows.cell(row, column, Cell::Error(&error.to_string())),
        DataRef::DateTime(when) => {
            stored = when.as_f64();
            elapsed = match when.is_duration() {
                true => dates::from_elapsed_days(stored),
                false => Ok(dates::from_serial(stored, is_1904)),
            };
            cell_or_text(&elapsed)
        }
        DataRef::DateTimeIso(text) => {
            let cell = dates::from_iso(text);
            stored = dates::time_of_day(&cell);
            cell
        }
        DataRef::DurationIso(text) => {
            stored = dates::iso_duration(text).unwrap_or_default();
            elapsed = dates::from_iso_duration(text);
            cell_or_text(&elapsed)
        }
    };
    // A text is displayed unchanged, whatever the format of its cell.
    let is_text = matches!(value, DataRef::String(_) | DataRef::SharedString(_));
    let shown = format.filter(|_| !is_text).and_then(|format| format.shown(&cell, stored));
    rows.shown_cell(row, column, cell, shown)
}

/// Returns the cell of an elapsed time, as text from a day on.
fn cell_or_text<'a>(elapsed: &'a Result<Cell<'a>, String>) -> Cell<'a> {
    match elapsed {
        Ok(cell) => *cell,
        Err(text) => Cell::Text(text),
    }
}

/// Describes an error of a parser.
pub(super) fn damage(error: impl std::fmt::Display) -> String {
    format!("the workbook is damaged or incomplete ({error})")
}

/// Converts an error of a parser while reading a sheet.
pub(super) fn damaged(error: impl std::fmt::Display) -> Stop {
    Stop::from(damage(error))
}
