//! CSV and TSV by RFC 4180 with any delimiter: UTF-8, CRLF line endings, quotes where needed.
//!
//! Text that a spreadsheet program would run as a formula is neutralised unless the style says otherwise.

use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;

use csv::{Terminator, Writer, WriterBuilder};

use super::defuse::defuse;
use super::sink::Sink;
use super::value::{Style, Value};
use super::whole_file::WholeFile;
use crate::{Cell, Error};

/// Size of the write buffer; the file's own buffer is as large, and is then bypassed.
const BUFFER_SIZE: usize = 128 * 1024;
/// Whole numbers below this limit are exact as `f64`, and are written as integers.
const MAX_EXACT: f64 = 9e15;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

fn writer<W: Write>(target: W, delimiter: u8) -> Writer<W> {
    let mut builder = WriterBuilder::new();
    builder.delimiter(delimiter).terminator(Terminator::CRLF).flexible(true).buffer_capacity(BUFFER_SIZE);
    builder.from_writer(target)
}

/// A delimited text under construction.
pub struct CsvTable<W: Write = WholeFile> {
    path: PathBuf,
    /// Rows with fewer fields are padded with blanks.
    columns: usize,
    style: Style,
    /// Number of texts in rows written with an apostrophe.
    defused: u64,
    writer: Writer<W>,
}

impl CsvTable {
    /// Starts a CSV file with the header row.
    pub fn create(file: WholeFile, header: &[&str], style: Style) -> Result<CsvTable, Error> {
        let path = file.path().to_owned();
        CsvTable::start(file, path, style.delimiter.unwrap_or(b','), style, header)
    }

    /// Writes a row of cells.
    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>) -> Result<(), Error> {
        let written = self.write_cells(cells);
        written.map_err(|error| self.error(error))
    }

    fn write_cells<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>) -> csv::Result<()> {
        let mut count = 0;
        for cell in cells {
            count += 1;
            match cell {
                // Only text can be a formula: a negative number is not.
                Cell::Text(text) | Cell::Error(text) | Cell::Formatted(_, text) => self.write_text(text),
                Cell::Blank => self.writer.write_field(""),
                // Compares bits to exclude negative zero, because integers have none.
                Cell::Number(number)
                    if number.abs() < MAX_EXACT && (number as i64 as f64).to_bits() == number.to_bits() =>
                {
                    self.writer.write_field(itoa::Buffer::new().format(number as i64))
                }
                cell => self.writer.write_field(&*cell.shown()),
            }?;
        }
        self.end_row(count)
    }

    /// Puts the file in place and returns its path.
    pub fn finish(self) -> Result<PathBuf, Error> {
        self.into_inner()?.finish()
    }
}

impl CsvTable<Sink> {
    /// Starts a text with the header row.
    pub fn delimited(sink: Sink, delimiter: u8, style: Style, header: &[String]) -> Result<CsvTable<Sink>, Error> {
        let path = sink.name().to_owned();
        CsvTable::start(sink, path, delimiter, style, header)
    }

    /// Continues a text of `columns` columns after its last row.
    pub fn further_rows(sink: Sink, delimiter: u8, style: Style, columns: usize) -> CsvTable<Sink> {
        let path = sink.name().to_owned();
        CsvTable { path, columns, style, defused: 0, writer: writer(sink, delimiter) }
    }

    /// Writes a row of values with their original digits.
    pub fn row(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        let written = self.write_values(values);
        written.map_err(|error| self.error(error))
    }

    fn write_values(&mut self, values: &[Value<'_>]) -> csv::Result<()> {
        for value in values {
            match value {
                Value::Blank => self.writer.write_field(""),
                Value::Text(text) => self.write_text(text),
                Value::Number(digits) => self.write_number(digits),
                Value::Digits(digits) => self.write_number(digits),
                Value::DateTime { text, .. } => self.writer.write_field(text),
                Value::Boolean(true) => self.writer.write_field("true"),
                Value::Boolean(false) => self.writer.write_field("false"),
            }?;
        }
        self.end_row(values.len())
    }

    fn write_number(&mut self, digits: &str) -> csv::Result<()> {
        match self.style.decimal_comma {
            true => self.writer.write_field(digits.replace('.', ",")),
            false => self.writer.write_field(digits),
        }
    }
}

impl<W: Write> CsvTable<W> {
    fn start(
        mut target: W,
        path: PathBuf,
        delimiter: u8,
        style: Style,
        header: &[impl AsRef<str>],
    ) -> Result<CsvTable<W>, Error> {
        if style.bom {
            target.write_all(BYTE_ORDER_MARK).map_err(|source| Error::Write { path: path.clone(), source })?;
        }
        let mut table = CsvTable { path, columns: header.len(), style, defused: 0, writer: writer(target, delimiter) };
        let written = header.iter().try_for_each(|name| table.write_text(name.as_ref()));
        let written = written.and_then(|()| table.end_row(header.len()));
        written.map_err(|error| table.error(error))?;
        table.defused = 0;
        Ok(table)
    }

    /// Returns the number of texts so far written with an apostrophe, not counting the header.
    pub(super) fn defused(&self) -> u64 {
        self.defused
    }

    fn write_text(&mut self, text: &str) -> csv::Result<()> {
        if self.style.raw {
            return self.writer.write_field(text);
        }
        let safe = defuse(text);
        self.defused += u64::from(matches!(safe, Cow::Owned(_)));
        self.writer.write_field(&*safe)
    }

    /// Ends a row of `count` fields.
    fn end_row(&mut self, count: usize) -> csv::Result<()> {
        for _ in count..self.columns {
            self.writer.write_field("")?;
        }
        self.writer.write_record(None::<&[u8]>)
    }

    /// Writes buffered rows and returns the target.
    pub fn into_inner(self) -> Result<W, Error> {
        let path = self.path;
        self.writer.into_inner().map_err(|error| Error::Write { path, source: error.into_error() })
    }

    fn error(&self, error: csv::Error) -> Error {
        Error::Write { path: self.path.clone(), source: error.into() }
    }
}
