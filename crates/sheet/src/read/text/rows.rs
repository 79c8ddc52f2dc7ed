//! The rows of a text file, read through a sliding window of bounded size. `grammar` finds the fields of a record.

use std::fs::File;
use std::path::{Path, PathBuf};

use memchr::memchr;

use super::decoder::{Fault, TextDecoder};
use super::dialect::Dialect;
use super::doubt::{Doubt, Widths, has_other_delimiter, swallows_records};
use super::grammar::{Fields, MAX_COLUMNS, Outcome};
use crate::read::decompress::Decompressed;
use crate::{Cell, Error, Row};

/// Maximum length of a record, in bytes. Longer records usually have an unclosed quote.
pub(crate) const MAX_RECORD: usize = 16 * 1024 * 1024;
/// Size of the window, unless a record needs more.
const WINDOW: usize = 256 * 1024;

/// Rows are numbered as in spreadsheet programs: a blank line counts as a row, and so does a record over several lines. A
/// line ends with `\n`, `\r\n` or `\r`. A first line `sep=;` does not count. Blank lines are skipped.
pub(crate) struct TextRows {
    path: PathBuf,
    dialect: Dialect,
    decoder: TextDecoder<Decompressed>,
    window: Vec<u8>,
    /// The unread text is `window[at..end]`.
    at: usize,
    end: usize,
    /// The window contains the end of the text.
    at_end: bool,
    /// An error after the text in the window.
    pending: Option<Fault>,
    fields: Fields,
    number: u64,
    stray_quotes: u64,
    widths: Widths,
    /// The doubt about the last row.
    doubt: Option<Doubt>,
}

impl TextRows {
    /// Opens the file `at`. Messages show `path`.
    pub(crate) fn open(at: &Path, path: &Path, dialect: Dialect) -> Result<TextRows, Error> {
        let open = |source| Error::Open { path: path.to_owned(), source };
        let file = File::open(at).map_err(open)?;
        let input = Decompressed::new(file, dialect.compression).map_err(open)?;
        let decoder = TextDecoder::new(input, dialect.encoding).map_err(open)?;
        let mut rows = TextRows {
            path: path.to_owned(),
            dialect,
            decoder,
            window: vec![0; WINDOW],
            at: 0,
            end: 0,
            at_end: false,
            pending: None,
            fields: Fields::default(),
            number: 0,
            stray_quotes: 0,
            widths: Widths::default(),
            doubt: None,
        };
        while rows.end < rows.dialect.directive && !rows.at_end {
            rows.fill().map_err(|fault| rows.fault(fault))?;
        }
        rows.at = rows.dialect.directive.min(rows.end);
        Ok(rows)
    }

    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
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
        if filled.is_err() {
            self.fill_replaced(row, len);
        }
        if self.doubt.is_none() {
            self.doubt = self.doubt_of(len);
        }
        self.at += len;
        Ok(true)
    }

    /// Fills `row` with the fields of a record with invalid UTF-8. Each invalid byte becomes a replacement character.
    fn fill_replaced(&mut self, row: &mut Row, len: usize) {
        row.clear(self.number);
        let spilled = self.fields.spill.len().saturating_sub(len);
        let record = &self.window[self.at..self.at + len];
        for span in &self.fields.spans {
            let text = match self.fields.spill.is_empty() {
                true => &record[span.start..span.end],
                false if span.spilled => &self.fields.spill[span.start..span.end],
                false => &self.fields.spill[span.start + spilled..span.end + spilled],
            };
            row.push(Cell::Text(&String::from_utf8_lossy(text)));
        }
    }

    fn doubt_of(&mut self, len: usize) -> Option<Doubt> {
        let (record, grammar) = (&self.window[self.at..self.at + len], &self.dialect.grammar);
        let fields = self.fields.spans.len();
        let has_ending = matches!(record, [.., b'\n' | b'\r']);
        if fields == 1 && has_other_delimiter(record, grammar) {
            Some(Doubt::OtherDelimiter)
        } else if self.widths.add(fields, grammar.columns, has_ending) {
            Some(Doubt::CutOff)
        } else {
            let may_swallow = grammar.quote.is_some_and(|quote| memchr(quote, record).is_some());
            (may_swallow && swallows_records(record, grammar)).then_some(Doubt::SwallowedRecords)
        }
    }

    /// Returns the number of rows so far with a quote in an invalid position.
    pub(crate) fn rows_with_stray_quotes(&self) -> u64 {
        self.stray_quotes
    }

    /// Returns why the cells of the last row may be wrong, if so.
    pub(crate) fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// Skips and counts blank lines. Returns false at the end of the file.
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
                // An error between two rows is reported for the second row.
                self.number += 1;
                return Err(self.fault(fault));
            }
        }
    }

    /// Finds the fields of the first record in the window and returns the length of the record.
    fn record(&mut self) -> Result<usize, Error> {
        loop {
            let text = &self.window[self.at..self.end];
            match self.dialect.grammar.record(text, self.at_end, &mut self.fields) {
                Outcome::Record { len, strays } => {
                    self.stray_quotes += u64::from(strays);
                    self.doubt = strays.then_some(Doubt::StrayQuote);
                    return Ok(len);
                }
                Outcome::More | Outcome::Unclosed if text.len() > MAX_RECORD => {
                    let reason = "it is longer than 16 MiB; a quote may not be closed";
                    return Err(self.unreadable(reason.to_owned()));
                }
                Outcome::Unclosed => {
                    let reason = "a quote is opened here and never closed";
                    return Err(self.unreadable(reason.to_owned()));
                }
                Outcome::TooWide => {
                    return Err(self.unreadable(format!("it has more than {MAX_COLUMNS} columns")));
                }
                Outcome::More => self.fill().map_err(|fault| self.fault(fault))?,
            }
        }
    }

    /// Reads more text into the window.
    fn fill(&mut self) -> Result<(), Fault> {
        if let Some(fault) = self.pending.take() {
            return Err(fault);
        }
        self.window.copy_within(self.at..self.end, 0);
        self.end -= self.at;
        self.at = 0;
        // Each attempt scans a long record from the start, so the window doubles.
        if self.end > self.window.len() / 2 {
            self.window.resize(self.window.len() * 2, 0);
        }
        let wanted = self.end.max(WINDOW / 2);
        let before = self.end;
        while self.end - before < wanted && self.end < self.window.len() - 16 {
            match self.decoder.decode(&mut self.window[self.end..]) {
                Ok(0) => {
                    self.at_end = true;
                    break;
                }
                Ok(len) => self.end += len,
                // The text before the error is returned first.
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
            Fault::Malformed => self.undecodable(),
        }
    }

    fn undecodable(&self) -> Error {
        self.unreadable(format!(
            "the text is not {name}, the detected encoding; specify the right one with --encoding, such as utf-8",
            name = self.dialect.encoding.encoding.name()
        ))
    }

    fn unreadable(&self, reason: String) -> Error {
        Error::Unreadable { path: self.path.clone(), place: format!(" at row {}", self.number), reason }
    }
}
