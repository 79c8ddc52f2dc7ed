//! From an entry's JSON to a row: the contract's fields in its order, then fields met that it does not name.

use std::borrow::Cow;

use jiff::civil;
use serde_json::{Map, Value};

use super::Error;
use crate::records::List;
use crate::sheet::Cell;
use crate::sheet::write::{Format, Table};

/// The most digits that a workbook's number keeps; longer ones are written as text.
const EXACT_DIGITS: usize = 15;

pub(super) struct Columns {
    columns: Vec<Column>,
}

struct Column {
    name: String,
    is_date_time: bool,
}

impl Columns {
    pub fn new(list: &List) -> Columns {
        let column = |field: &crate::records::field::ListedField| Column {
            name: field.name.to_owned(),
            is_date_time: field.is_date_time,
        };
        Columns { columns: list.fields.iter().map(column).collect() }
    }

    /// Takes note of the fields of an entry.
    pub fn meet(&mut self, entry: &serde_json::value::RawValue) {
        for name in fields(entry.get()).keys() {
            if !self.columns.iter().any(|column| column.name == *name) {
                self.columns.push(Column { name: name.clone(), is_date_time: false });
            }
        }
    }

    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Writes an entry as a row of `table`.
    pub fn write(&self, entry: &str, format: Format, table: &mut Table) -> Result<(), Error> {
        let fields = fields(entry);
        let texts: Vec<Cow<'_, str>> = self.columns.iter().map(|column| text(fields.get(&column.name))).collect();
        let cells: Vec<Cell<'_>> = self
            .columns
            .iter()
            .zip(&texts)
            .map(|(column, text)| cell(column, fields.get(&column.name), text, format))
            .collect();
        table.row(&cells, &[])?;
        Ok(())
    }
}

/// The fields of an entry. One that is no object is kept whole, under a name of ours.
fn fields(entry: &str) -> Map<String, Value> {
    match serde_json::from_str(entry) {
        Ok(Value::Object(fields)) => fields,
        Ok(other) => Map::from_iter([("value".to_owned(), other)]),
        Err(_) => Map::from_iter([("value".to_owned(), Value::String(entry.to_owned()))]),
    }
}

fn text(value: Option<&Value>) -> Cow<'_, str> {
    match value {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(other) => Cow::Owned(other.to_string()),
    }
}

/// A workbook gets real numbers and times where that loses nothing; text formats get what the service sent.
fn cell<'a>(column: &Column, value: Option<&Value>, text: &'a str, format: Format) -> Cell<'a> {
    match (format, value) {
        (_, None | Some(Value::Null)) => Cell::Blank,
        (Format::Xlsx, Some(Value::Bool(boolean))) => Cell::Boolean(*boolean),
        (Format::Xlsx, Some(Value::Number(number)))
            if text.bytes().filter(u8::is_ascii_digit).count() <= EXACT_DIGITS =>
        {
            number.as_f64().map_or(Cell::Text(text), Cell::Number)
        }
        (Format::Xlsx, Some(Value::String(_))) if column.is_date_time => {
            utc(text).map_or(Cell::Text(text), Cell::DateTime)
        }
        _ => Cell::Text(text),
    }
}

fn utc(text: &str) -> Option<civil::DateTime> {
    let timestamp: jiff::Timestamp = text.parse().ok()?;
    Some(timestamp.to_zoned(jiff::tz::TimeZone::UTC).datetime())
}
