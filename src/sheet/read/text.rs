//! The rows of a text file, by the record parser of the csv crate.
//!
//! The parser is driven here rather than through `csv::Reader`, because three things need to be known that the reader
//! keeps to itself: how many blank lines it passed over, how long a record has grown, and whether the file ended inside
//! quotes.

use std::fs::File;
use std::path::{Path, PathBuf};

use csv_core::{ReadRecordResult, ReaderBuilder};
use encoding_rs::UTF_8;

use super::encoding::{Fault, Found, Source};
use crate::sheet::{Error, Row, column_letters};

/// A record longer than this is taken for a quote that was never closed.
pub const MAX_RECORD: usize = 16 * 1024 * 1024;
/// As many columns as a spreadsheet has.
pub const MAX_COLUMNS: usize = 16_384;

/// How a text file is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    pub found: Found,
    pub delimiter: u8,
    /// The bytes of a first line `sep=;` with its line ending, as UTF-8; 0 where there is none.
    pub directive: usize,
}

/// Rows are numbered as spreadsheet programs show them: a blank line is a row, and so is a record that spans several
/// lines; a line ends with `\n`, `\r\n` or `\r`; a first line `sep=;` is not a row. Blank lines are not given.
pub struct TextRows {
    path: PathBuf,
    found: Found,
    source: Source,
    parser: csv_core::Reader,
    fields: Vec<u8>,
    ends: Vec<usize>,
    number: u64,
    /// The last line ended with `\r`, so that a `\n` next belongs to it.
    after_return: bool,
}

impl TextRows {
    pub fn open(path: &Path, dialect: Dialect) -> Result<TextRows, Error> {
        let open = |source| Error::Open { path: path.to_owned(), source };
        let source = Source::new(File::open(path).map_err(open)?, dialect.found).map_err(open)?;
        let mut rows = TextRows {
            path: path.to_owned(),
            found: dialect.found,
            source,
            parser: ReaderBuilder::new().delimiter(dialect.delimiter).build(),
            fields: vec![0; 4096],
            ends: vec![0; 64],
            number: 0,
            after_return: false,
        };
        rows.skip(dialect.directive)?;
        Ok(rows)
    }

    pub fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        if !self.skip_blank_lines()? {
            return Ok(false);
        }
        self.number += 1;
        let columns = self.record()?;
        let end = columns.checked_sub(1).map_or(0, |last| self.ends[last]);
        row.fill(self.number, &self.fields[..end], &self.ends[..columns])
            .map_err(|column| self.undecodable(Some(column)))?;
        Ok(true)
    }

    fn skip(&mut self, mut bytes: usize) -> Result<(), Error> {
        while bytes > 0 {
            let len = match self.source.fill() {
                Ok(text) => text.len().min(bytes),
                Err(fault) => return Err(self.fault(fault)),
            };
            if len == 0 {
                break;
            }
            self.source.consume(len);
            bytes -= len;
        }
        Ok(())
    }

    /// Counts the blank lines before the next record. False at the end of the file.
    fn skip_blank_lines(&mut self) -> Result<bool, Error> {
        loop {
            let text = match self.source.fill() {
                Ok(text) => text,
                Err(fault) => return Err(self.fault_after(fault)),
            };
            if text.is_empty() {
                return Ok(false);
            }
            let mut passed = 0;
            for byte in text {
                match byte {
                    b'\n' if self.after_return => self.after_return = false,
                    b'\n' => self.number += 1,
                    b'\r' => {
                        self.number += 1;
                        self.after_return = true;
                    }
                    _ => break,
                }
                passed += 1;
            }
            let found = passed < text.len();
            self.source.consume(passed);
            if found {
                return Ok(true);
            }
        }
    }

    /// Parses one record into `fields` and `ends` and gives the number of its fields.
    fn record(&mut self) -> Result<usize, Error> {
        let (mut taken, mut written, mut columns) = (0, 0, 0);
        loop {
            let text = match self.source.fill() {
                Ok(text) => text,
                Err(fault) => return Err(self.fault(fault)),
            };
            // One line break more than the file has ends the last record, unless a quote is open.
            let at_end = text.is_empty();
            let input = if at_end { b"\n".as_slice() } else { text };
            let (result, read, out, ends) =
                self.parser.read_record(input, &mut self.fields[written..], &mut self.ends[columns..]);
            let last = read.checked_sub(1).map(|index| input[index]);
            taken += read;
            written += out;
            columns += ends;
            if !at_end {
                self.source.consume(read);
            }
            match result {
                ReadRecordResult::Record => {
                    self.after_return = last == Some(b'\r');
                    return Ok(columns);
                }
                ReadRecordResult::InputEmpty if at_end => return self.open_quote(written, columns),
                ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
                ReadRecordResult::OutputFull => self.fields.resize(self.fields.len() * 2, 0),
                ReadRecordResult::OutputEndsFull if columns >= MAX_COLUMNS => {
                    return Err(self.unreadable(format!("it has more than {MAX_COLUMNS} columns")));
                }
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
            }
            if taken > MAX_RECORD {
                let reason = "it is longer than 16 MiB; a quote opened here may never be closed";
                return Err(self.unreadable(reason.to_owned()));
            }
        }
    }

    /// The file ended inside quotes. Where they took in no line but their own, the record is given without the line
    /// breaks at its end.
    fn open_quote(&mut self, mut written: usize, mut columns: usize) -> Result<usize, Error> {
        let start = columns.checked_sub(1).map_or(0, |last| self.ends[last]);
        let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let len = self.fields[start..written].iter().rposition(|byte| !is_break(byte)).map_or(0, |last| last + 1);
        if self.fields[start..start + len].iter().any(is_break) {
            let reason = "a quote opened here is never closed, and takes in all lines that follow";
            return Err(self.unreadable(reason.to_owned()));
        }
        loop {
            let (result, _, out, ends) =
                self.parser.read_record(b"", &mut self.fields[written..], &mut self.ends[columns..]);
            written += out;
            columns += ends;
            match result {
                ReadRecordResult::OutputFull => self.fields.resize(self.fields.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                _ => break,
            }
        }
        if let Some(end) = columns.checked_sub(1).and_then(|last| self.ends.get_mut(last)) {
            *end = start + len;
        }
        Ok(columns)
    }

    fn fault(&self, fault: Fault) -> Error {
        match fault {
            Fault::Io(source) => self.unreadable(source.to_string()),
            Fault::Malformed => self.undecodable(None),
        }
    }

    /// A fault that stands between two rows belongs to the one that would have followed.
    fn fault_after(&mut self, fault: Fault) -> Error {
        self.number += 1;
        self.fault(fault)
    }

    fn undecodable(&self, column: Option<usize>) -> Error {
        let cell = column.map_or(String::new(), |column| format!(" in column {}", column_letters(column)));
        let name = self.found.encoding.name();
        let example = if self.found.encoding == UTF_8 { "windows-1252" } else { "utf-8" };
        self.unreadable(format!(
            "the text{cell} is not {name}, the encoding that the file seems to have; \
             if you know it, give it, such as {example}"
        ))
    }

    fn unreadable(&self, reason: String) -> Error {
        Error::Unreadable { path: self.path.clone(), place: format!(" at row {}", self.number), reason }
    }
}
