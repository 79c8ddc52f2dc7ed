//! A sheet as one clean table: its columns' names, then its values, without what people put around them.
//!
//! - Titles above the table and blank rows are left out.
//! - Names over several rows become one row, joined with a space. Where no row names the columns, none is made up.
//! - The table ends where its names come again: what follows is another table. After a blank row the same names are
//!   a new page of the same table, and are left out together with that page's titles.
//!
//! Rows keep their lengths, and notes and totals under the values stay. Cells stay as they are, save that C1 control
//! characters become what they were in Windows-1252: text converted as if it had been Latin-1 has them where quotation
//! marks and dashes were.

use std::collections::{HashSet, VecDeque};

use super::read::Rows;
use super::read::header::{Header, TOP, guess};
use super::{Cell, Error, Row};

/// Rows after a blank one that may turn out to be a page's titles.
const MAX_TITLES: usize = 5;

/// A sheet's rows as one table.
pub struct Table {
    rows: Rows,
    /// Rows that were read ahead.
    ahead: VecDeque<Row>,
    header: Header,
    /// The rows that are titles, as the spreadsheet program counts.
    titles: Vec<u64>,
    /// The first row that names the columns.
    header_row: Option<u64>,
    /// The names, each without white space around it, by which they are known again.
    names: HashSet<String>,
    names_given: bool,
    mending: Row,
    after_blank: bool,
    ended_at: Option<u64>,
}

impl Table {
    /// Reads the sheet's first rows and finds out where the table begins.
    pub fn new(mut rows: Rows) -> Result<Table, Error> {
        let mut top = Vec::new();
        let mut row = Row::default();
        while top.len() < TOP && rows.next(&mut row)? {
            top.push(row.clone());
        }
        let header = guess(&top);
        let last_name_row = header.body.checked_sub(1).filter(|_| header.body > header.first);
        let names = last_name_row.map(|row| name_set(&top[row])).unwrap_or_default();
        let titles = top[..header.first].iter().filter(|row| !row.is_blank()).map(|row| row.number).collect();
        let header_row = last_name_row.map(|_| top[header.first].number);
        let ahead = top.into_iter().skip(header.body).collect();
        let names_given = header.names.is_empty();
        Ok(Table {
            rows,
            ahead,
            header,
            titles,
            header_row,
            names,
            names_given,
            mending: Row::default(),
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

    /// The row in which another table begins, once that was reached.
    pub fn ended_at(&self) -> Option<u64> {
        self.ended_at
    }

    /// The sheet's rows as they are, and how many of them were mended.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Gives the columns' names if there are any, then the rows of values; false after the last.
    pub fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        if !self.names_given {
            self.names_given = true;
            row.clear(self.header_row.unwrap_or(0));
            self.header.names.iter().for_each(|name| row.push(Cell::Text(name)));
            self.mend(row);
            return Ok(true);
        }
        while self.ended_at.is_none() && self.read(row)? {
            if row.is_blank() {
                self.after_blank = true;
                continue;
            }
            if self.is_header_again(row) {
                if !self.after_blank {
                    self.ended_at = Some(row.number);
                }
                self.after_blank = false;
                continue;
            }
            if self.after_blank && self.is_title(row) && self.page_begins()? {
                continue;
            }
            self.after_blank = false;
            self.mend(row);
            return Ok(true);
        }
        Ok(false)
    }

    /// The next row of the sheet, from those read ahead or from the file.
    fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        match self.ahead.pop_front() {
            Some(ahead) => {
                *row = ahead;
                Ok(true)
            }
            None => self.rows.next(row),
        }
    }

    /// Looks ahead over titles and blank rows, and leaves them out when the columns' names follow.
    fn page_begins(&mut self) -> Result<bool, Error> {
        for index in 0..MAX_TITLES {
            if index == self.ahead.len() {
                let mut row = Row::default();
                if !self.rows.next(&mut row)? {
                    return Ok(false);
                }
                self.ahead.push_back(row);
            }
            if self.is_header_again(&self.ahead[index]) {
                self.ahead.drain(..index);
                return Ok(true);
            }
            if !self.is_title(&self.ahead[index]) {
                return Ok(false);
            }
        }
        Ok(false)
    }

    fn mend(&mut self, row: &mut Row) {
        if !row.cells().any(|cell| matches!(cell, Cell::Text(text) if text.contains(is_c1))) {
            return;
        }
        let (from, to) = (&mut self.mending, row);
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

    /// Most of the names, in a row that hardly holds anything else.
    fn is_header_again(&self, row: &Row) -> bool {
        if self.names.len() < 2 || !row.first_filled_text().is_some_and(|first| self.names.contains(first.trim())) {
            return false;
        }
        let again = name_set(row);
        let shared = again.intersection(&self.names).count();
        4 * shared >= 3 * again.len().max(self.names.len())
    }
}

fn name_set(row: &Row) -> HashSet<String> {
    row.cells().filter(|cell| !cell.is_blank()).map(|cell| cell.shown().trim().to_owned()).collect()
}

fn is_c1(c: char) -> bool {
    ('\u{80}'..='\u{9F}').contains(&c)
}

/// The character whose Windows-1252 byte is the code of `c`, for C1 control characters.
fn from_windows_1252(c: char) -> char {
    match c {
        '\u{80}'..='\u{9F}' => {
            let byte = [c as u32 as u8];
            let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte);
            text.chars().next().unwrap_or(c)
        }
        c => c,
    }
}
