//! A table as CSV by RFC 4180: UTF-8, with a byte order mark where somebody wants one, commas, CRLF, quotes where they
//! are needed. Text that a spreadsheet would run is defused.

use std::io::Write as _;
use std::path::PathBuf;

use csv::{Terminator, Writer, WriterBuilder};

use super::defuse::defuse;
use super::whole_file::WholeFile;
use crate::sheet::{Cell, Error};

/// As much as the file's own buffer, which is then passed by.
const BUFFER: usize = 128 * 1024;
/// Whole numbers below this are exact, and written as what they are.
const EXACT: f64 = 9e15;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

pub struct CsvTable {
    path: PathBuf,
    columns: usize,
    writer: Writer<WholeFile>,
}

impl CsvTable {
    pub fn create(mut file: WholeFile, header: &[&str], has_bom: bool) -> Result<CsvTable, Error> {
        let path = file.path().to_owned();
        if has_bom {
            file.write_all(BYTE_ORDER_MARK).map_err(|source| Error::Write { path: path.clone(), source })?;
        }
        let writer =
            WriterBuilder::new().terminator(Terminator::CRLF).flexible(true).buffer_capacity(BUFFER).from_writer(file);
        let mut table = CsvTable { path, columns: header.len(), writer };
        table.row(header.iter().map(|name| Cell::Text(name)))?;
        Ok(table)
    }

    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>) -> Result<(), Error> {
        let mut written = 0;
        for cell in cells {
            written += 1;
            match cell {
                // Only a person's text can be a formula: a negative number is not.
                Cell::Text(text) | Cell::Error(text) => self.writer.write_field(defuse(text).as_bytes()),
                Cell::Blank => self.writer.write_field(""),
                // The negative zero is shown with its sign, like all that is not whole.
                Cell::Number(number)
                    if number.abs() < EXACT && (number as i64 as f64).to_bits() == number.to_bits() =>
                {
                    self.writer.write_field(itoa::Buffer::new().format(number as i64))
                }
                cell => self.writer.write_field(cell.shown().as_bytes()),
            }
            .map_err(|error| self.failed(error))?;
        }
        for _ in written..self.columns {
            self.writer.write_field("").map_err(|error| self.failed(error))?;
        }
        self.writer.write_record(None::<&[u8]>).map_err(|error| self.failed(error))
    }

    pub fn finish(self) -> Result<PathBuf, Error> {
        let path = self.path;
        let file = self.writer.into_inner().map_err(|error| Error::Write { path, source: error.into_error() })?;
        file.finish()
    }

    fn failed(&self, error: csv::Error) -> Error {
        Error::Write { path: self.path.clone(), source: error.into() }
    }
}
