//! A table as CSV by RFC 4180: UTF-8, with a byte order mark where somebody wants one, commas, CRLF, quotes where they
//! are needed. Text that a spreadsheet would run is defused.

use std::io::Write as _;
use std::path::PathBuf;

use csv::{Terminator, Writer, WriterBuilder};

use super::Outline;
use super::defuse::defuse;
use super::whole::WholeFile;
use crate::sheet::{Cell, Error};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

pub struct CsvTable {
    path: PathBuf,
    columns: usize,
    writer: Writer<WholeFile>,
}

impl CsvTable {
    pub fn create(mut file: WholeFile, outline: &Outline<'_>) -> Result<CsvTable, Error> {
        let path = file.path().to_owned();
        if outline.has_bom {
            file.write_all(BYTE_ORDER_MARK).map_err(|source| Error::Write { path: path.clone(), source })?;
        }
        let writer = WriterBuilder::new().terminator(Terminator::CRLF).flexible(true).from_writer(file);
        let mut table = CsvTable { path, columns: outline.header.len(), writer };
        let cells: Vec<Cell<'_>> = outline.header.iter().map(|name| Cell::Text(name)).collect();
        table.row(&cells)?;
        Ok(table)
    }

    pub fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Error> {
        for cell in cells {
            match cell {
                // Only a person's text can be a formula: a negative number is not.
                Cell::Text(text) | Cell::Error(text) => self.writer.write_field(defuse(text).as_bytes()),
                Cell::Blank => self.writer.write_field(""),
                cell => self.writer.write_field(cell.shown().as_bytes()),
            }
            .map_err(|error| self.failed(error))?;
        }
        for _ in cells.len()..self.columns {
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
