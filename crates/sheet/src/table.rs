//! A sheet as a clean table: one header row, then the rows of values.
//!
//! - Titles above the table and blank rows are left out.
//! - Header rows are joined into one. Without a header row, none is invented.
//! - A repeated header ends the table. After a blank row, it starts a new page of the same table: the header and titles of
//!   that page are left out.
//!
//! Rows keep their lengths, and notes and totals are kept. Cells are unchanged, except for C1 control characters: they are
//! decoded as Windows-1252, because text converted as Latin-1 has them instead of quotation marks and dashes.

use std::collections::{HashSet, VecDeque};

use super::read::Rows;
use super::read::header::{Header, TOP, detect_header, without_mark};
use super::{Cell, Error, Row};

/// Maximum number of titles on a new page.
const MAX_TITLES: usize = 5;

/// A sheet's rows as one table.
pub struct Table {
    rows: Rows,
    /// Rows read ahead.
    ahead: VecDeque<Row>,
    header: Header,
    /// Row numbers of titles.
    titles: Vec<u64>,
    /// Row number of the first header row.
    header_row: Option<u64>,
    /// Trimmed column names, to recognize a repeated header.
    names: HashSet<String>,
    header_returned: bool,
    /// Buffer for decoding control characters.
    buffer: Row,
    after_blank: bool,
    ended_at: Option<u64>,
}

impl Table {
    /// Reads the first rows of the sheet and detects the header.
    pub fn new(mut rows: Rows) -> Result<Table, Error> {
        let mut top = Vec::new();
        let mut row = Row::default();
        while top.len() < TOP && rows.next(&mut row)? {
            top.push(row.clone());
        }
        let header = detect_header(&top);
        let last_name_row = header.body.checked_sub(1).filter(|_| header.body > header.first);
        let names = last_name_row.map(|row| name_set(&top[row])).unwrap_or_default();
        let titles = top[..header.first].iter().filter(|row| !row.is_blank()).map(|row| row.number).collect();
        let header_row = last_name_row.map(|_| top[header.first].number);
        let ahead = top.into_iter().skip(header.body).collect();
        let header_returned = header.names.is_empty();
        Ok(Table {
            rows,
            ahead,
            header,
            titles,
            header_row,
            names,
            header_returned,
            buffer: Row::default(),
            after_blank: false,
            ended_at: None,
        })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn titles(&self) -> &[u64] {
        &self.titles
    }

    pub fn header_row(&self) -> Option<u64> {
        self.header_row
    }

    /// Returns the row number of a second table, once reached.
    pub fn ended_at(&self) -> Option<u64> {
        self.ended_at
    }

    /// Returns the underlying rows of the sheet.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Reads the header, if any, and then the rows of values. Returns false at the end.
    pub fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        if !self.header_returned {
            self.header_returned = true;
            row.clear(self.header_row.expect("a header has a row number"));
            self.header.names.iter().for_each(|name| row.push(Cell::Text(name)));
            self.decode_controls(row);
            return Ok(true);
        }
        while self.ended_at.is_none() && self.read(row)? {
            if row.is_blank() {
                self.after_blank = true;
                continue;
            }
            if self.is_repeated_header(row) {
                if !self.after_blank {
                    self.ended_at = Some(row.number);
                }
                self.after_blank = false;
                continue;
            }
            if self.after_blank && self.is_title(row) && self.skip_page_titles()? {
                continue;
            }
            self.after_blank = false;
            self.decode_controls(row);
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns the next row, read ahead or from the file.
    fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        match self.ahead.pop_front() {
            Some(ahead) => {
                *row = ahead;
                Ok(true)
            }
            None => self.rows.next(row),
        }
    }

    /// Skips titles and blank rows if a repeated header follows.
    fn skip_page_titles(&mut self) -> Result<bool, Error> {
        for index in 0..MAX_TITLES {
            if index == self.ahead.len() {
                let mut row = Row::default();
                if !self.rows.next(&mut row)? {
                    return Ok(false);
                }
                self.ahead.push_back(row);
            }
            if self.is_repeated_header(&self.ahead[index]) {
                self.ahead.drain(..index);
                return Ok(true);
            }
            if !self.is_title(&self.ahead[index]) {
                return Ok(false);
            }
        }
        Ok(false)
    }

    fn decode_controls(&mut self, row: &mut Row) {
        if !row.cells().any(|cell| matches!(cell, Cell::Text(text) if text.contains(is_c1))) {
            return;
        }
        let (from, to) = (&mut self.buffer, row);
        std::mem::swap(from, to);
        to.clear(from.number);
        for cell in from.cells() {
            match cell {
                Cell::Text(text) => to.push(Cell::Text(&text.chars().map(from_windows_1252).collect::<String>())),
                cell => to.push(cell),
            }
        }
    }

    fn is_title(&self, row: &Row) -> bool {
        row.cells().filter(|cell| !cell.is_blank()).count() <= 1
    }

    /// Returns true for rows with most of the column names and few other values.
    fn is_repeated_header(&self, row: &Row) -> bool {
        if self.names.len() < 2
            || !row.first_filled_text().is_some_and(|first| self.names.contains(without_mark(first).trim()))
        {
            return false;
        }
        let again = name_set(row);
        let shared = again.intersection(&self.names).count();
        4 * shared >= 3 * again.len().max(self.names.len())
    }
}

fn name_set(row: &Row) -> HashSet<String> {
    row.cells().filter(|cell| !cell.is_blank()).map(|cell| without_mark(&cell.shown()).trim().to_owned()).collect()
}

fn is_c1(c: char) -> bool {
    ('\u{80}'..='\u{9F}').contains(&c)
}

/// Decodes a C1 control character as a Windows-1252 byte.
fn from_windows_1252(c: char) -> char {
    match c {
        '\u{80}'..='\u{9F}' => {
            let byte = [c as u32 as u8];
            let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte);
            text.chars().next().expect("a byte decodes to a character")
        }
        c => c,
    }
}
