//! Conversion of calamine's cells, and errors in damaged workbooks.

use calamine::{Data, DataRef, Range};

use crate::sheet::Cell;
use crate::sheet::cell::NOT_CALCULATED;
use crate::sheet::read::workbook::dates;
use crate::sheet::read::workbook::row_sender::{RowSender, Stop};
use crate::sheet::read::workbook::styles::NumberFormat;

/// What calamine does not tell of a cell.
pub(super) enum Known<'f> {
    /// A number whose format matters.
    Formatted(f64, &'f NumberFormat),
    Boolean(bool),
    /// A formula that the program that wrote it did not calculate.
    Uncalculated,
}

/// Sends the cells of a sheet that calamine read as a whole. `known` returns what else is known of a cell, by its zero-based
/// row and column.
pub(super) fn send_range<'f>(
    range: &Range<Data>,
    is_1904: bool,
    known: impl Fn((u32, u32), &Data) -> Option<Known<'f>>,
    rows: &mut RowSender<'_>,
) -> Result<(), Stop> {
    let mut text = String::new();
    let (top, left) = range.start().unwrap_or_default();
    for (row, column, value) in range.used_cells() {
        let at = (top.saturating_add(row as u32), left.saturating_add(column as u32));
        if let Some(known) = known(at, value) {
            let cell = match known {
                Known::Formatted(number, format) => format.cell(number, &mut text).unwrap_or(Cell::Number(number)),
                Known::Boolean(boolean) => Cell::Boolean(boolean),
                Known::Uncalculated => Cell::Error(NOT_CALCULATED),
            };
            rows.cell(at.0, at.1, cell)?;
            continue;
        }
        let value = match value {
            Data::Empty => continue,
            Data::Int(number) => DataRef::Int(*number),
            Data::Float(number) => DataRef::Float(*number),
            Data::String(text) => DataRef::SharedString(text),
            Data::Bool(boolean) => DataRef::Bool(*boolean),
            Data::Error(error) => DataRef::Error(error.clone()),
            Data::DateTime(when) => DataRef::DateTime(*when),
            Data::DateTimeIso(text) => DataRef::DateTimeIso(text.clone()),
            Data::DurationIso(text) => DataRef::DurationIso(text.clone()),
        };
        send(rows, at, &value, is_1904)?;
    }
    Ok(())
}

/// Returns the number of a cell.
pub(super) fn number(value: &Data) -> Option<f64> {
    match value {
        Data::Int(number) => Some(*number as f64),
        Data::Float(number) => Some(*number),
        _ => None,
    }
}

/// Sends a cell by its value; the format was handled before.
pub(super) fn send(
    rows: &mut RowSender<'_>,
    (row, column): (u32, u32),
    value: &DataRef<'_>,
    is_1904: bool,
) -> Result<(), Stop> {
    let elapsed;
    let cell = match value {
        DataRef::Empty => return Ok(()),
        DataRef::Int(number) => Cell::Number(*number as f64),
        DataRef::Float(number) => Cell::Number(*number),
        DataRef::String(text) => Cell::Text(text),
        DataRef::SharedString(text) => Cell::Text(text),
        DataRef::Bool(boolean) => Cell::Boolean(*boolean),
        DataRef::Error(error) => return rows.cell(row, column, Cell::Error(&error.to_string())),
        DataRef::DateTime(when) if !when.is_duration() => dates::from_serial(when.as_f64(), is_1904),
        DataRef::DateTime(when) => {
            elapsed = dates::from_elapsed_days(when.as_f64());
            cell_or_text(&elapsed)
        }
        DataRef::DateTimeIso(text) => dates::from_iso(text),
        DataRef::DurationIso(text) => {
            elapsed = dates::from_iso_duration(text);
            cell_or_text(&elapsed)
        }
    };
    rows.cell(row, column, cell)
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
