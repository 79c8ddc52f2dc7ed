//! The rows of a text file: its records with their numbers, out of a window that slides over the text.
//!
//! `grammar` says where the fields are; what is done here is to keep the window filled and bounded, to count rows as
//! spreadsheet programs do, and to say what stopped the reading and where.

use std::fs::File;
use std::path::{Path, PathBuf};

use encoding_rs::UTF_8;

use super::dialect::Dialect;

pub use super::grammar::MAX_COLUMNS;
use super::grammar::{Fields, Outcome};
use super::source::{Fault, Source};
use crate::sheet::{Error, Row, column_letters};

/// A record longer than this is taken for a quote that was never closed.
pub const MAX_RECORD: usize = 16 * 1024 * 1024;
/// How much text is at hand, unless a record needs more.
const WINDOW: usize = 256 * 1024;

/// Rows are numbered as spreadsheet programs show them: a blank line is a row, and so is a record that spans several
/// lines; a line ends with `\n`, `\r\n` or `\r`; a first line `sep=;` is not a row. Blank lines are not given.
pub struct TextRows {
    path: PathBuf,
    dialect: Dialect,
    source: Source,
    window: Vec<u8>,
    /// The text not yet used is `window[at..end]`.
    at: usize,
    end: usize,
    /// Nothing follows the window.
    at_end: bool,
    /// What stopped the text behind the window.
    pending: Option<Fault>,
    fields: Fields,
    number: u64,
    mended: u64,
}

impl TextRows {
    pub fn open(path: &Path, dialect: Dialect) -> Result<TextRows, Error> {
        let open = |source| Error::Open { path: path.to_owned(), source };
        let source = Source::new(File::open(path).map_err(open)?, dialect.packing, dialect.found).map_err(open)?;
        let mut rows = TextRows {
            path: path.to_owned(),
            dialect,
            source,
            window: vec![0; WINDOW],
            at: 0,
            end: 0,
            at_end: false,
            pending: None,
            fields: Fields::default(),
            number: 0,
            mended: 0,
        };
        while rows.end < rows.dialect.directive && !rows.at_end {
            rows.fill().map_err(|fault| rows.fault(fault))?;
        }
        rows.at = rows.dialect.directive.min(rows.end);
        Ok(rows)
    }

    pub fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        if !self.skip_blank_lines()? {
            return Ok(false);
        }
        self.number += 1;
        let len = self.record()?;
        let record = &self.window[self.at..self.at + len];
        let spans = self.fields.spans.iter();
        let filled = if self.fields.spill.is_empty() {
            row.fill(self.number, record, spans.map(|span| (span.start, span.end)))
        } else {
            let spilled = self.fields.spill.len();
            self.fields.spill.extend_from_slice(record);
            let moved = |start: usize, spilled_text: bool| if spilled_text { start } else { start + spilled };
            let spans = spans.map(|span| (moved(span.start, span.spilled), moved(span.end, span.spilled)));
            row.fill(self.number, &self.fields.spill, spans)
        };
        filled.map_err(|column| self.undecodable(Some(column)))?;
        self.at += len;
        Ok(true)
    }

    /// How many rows so far had a quote that stands where none can.
    pub fn mended(&self) -> u64 {
        self.mended
    }

    /// Counts the blank lines before the next record. False at the end of the file.
    fn skip_blank_lines(&mut self) -> Result<bool, Error> {
        loop {
            match self.window[self.at..self.end] {
                [b'\r'] if !self.at_end => {}
                [b'\r', b'\n', ..] => {
                    self.at += 2;
                    self.number += 1;
                    continue;
                }
                [b'\r' | b'\n', ..] => {
                    self.at += 1;
                    self.number += 1;
                    continue;
                }
                [_, ..] => return Ok(true),
                [] if self.at_end => return Ok(false),
                [] => {}
            }
            if let Err(fault) = self.fill() {
                // A fault that stands between two rows belongs to the one that would have followed.
                self.number += 1;
                return Err(self.fault(fault));
            }
        }
    }

    /// Finds the fields of the record that begins the window, and the record's length.
    fn record(&mut self) -> Result<usize, Error> {
        loop {
            let text = &self.window[self.at..self.end];
            match self.dialect.grammar.record(text, self.at_end, &mut self.fields) {
                Outcome::Record { len, strays } => {
                    self.mended += u64::from(strays);
                    return Ok(len);
                }
                Outcome::More | Outcome::Unclosed if text.len() > MAX_RECORD => {
                    let reason = "it is longer than 16 MiB; a quote opened here may never be closed";
                    return Err(self.unreadable(reason.to_owned()));
                }
                Outcome::Unclosed => {
                    let reason = "a quote opened here is never closed, and takes in all lines that follow";
                    return Err(self.unreadable(reason.to_owned()));
                }
                Outcome::TooWide => {
                    return Err(self.unreadable(format!("it has more than {MAX_COLUMNS} columns")));
                }
                Outcome::More => self.fill().map_err(|fault| self.fault(fault))?,
            }
        }
    }

    /// Gets more text behind what is not yet used.
    fn fill(&mut self) -> Result<(), Fault> {
        if let Some(fault) = self.pending.take() {
            return Err(fault);
        }
        self.window.copy_within(self.at..self.end, 0);
        self.end -= self.at;
        self.at = 0;
        // A long record is looked at again from its beginning each time, hence the doubling.
        if self.end > self.window.len() / 2 {
            self.window.resize(self.window.len() * 2, 0);
        }
        let wanted = self.end.max(WINDOW / 2);
        let before = self.end;
        while self.end - before < wanted && self.end < self.window.len() - 16 {
            match self.source.read(&mut self.window[self.end..]) {
                Ok(0) => {
                    self.at_end = true;
                    break;
                }
                Ok(len) => self.end += len,
                // What came before the fault is given first.
                Err(fault) => {
                    self.pending = Some(fault);
                    break;
                }
            }
        }
        Ok(())
    }

    fn fault(&self, fault: Fault) -> Error {
        match fault {
            Fault::Io(source) => self.unreadable(source.to_string()),
            Fault::Malformed => self.undecodable(None),
        }
    }

    fn undecodable(&self, column: Option<usize>) -> Error {
        let cell = column.map_or(String::new(), |column| format!(" in column {}", column_letters(column)));
        let encoding = self.dialect.found.encoding;
        let example = if encoding == UTF_8 { "windows-1252" } else { "utf-8" };
        self.unreadable(format!(
            "the text{cell} is not {name}, the encoding that the file seems to have; \
             if you know it, give it, such as {example}",
            name = encoding.name()
        ))
    }

    fn unreadable(&self, reason: String) -> Error {
        Error::Unreadable { path: self.path.clone(), place: format!(" at row {}", self.number), reason }
    }
}
