//! Collects cells into rows, puts the rows in order, and sends them in batches.
//!
//! Most programs store rows in order. The first rows are held back: if they are out of order, the whole sheet is sorted before
//! sending. Otherwise rows are sent immediately, and a later row out of order is an error.

use std::io::{self, Write};
use std::rc::Rc;

use super::fault::Fault;
use super::formats::{RichTexts, matter};
use super::protocol::{self, BATCH, Kind};
use super::styles::ShownText;
use crate::cell::{STORED_TWICE, Setting, TextPart};
use crate::read::appearance::Appearance;
use crate::read::{MAX_COLUMNS, MAX_RECORD};
use crate::{Cell, Row, Shown};

const MAX_ROWS: u64 = 1_048_576;
/// Rows are held back up to this number or size.
const HELD_ROWS: usize = 1024;
const HELD_BYTES: usize = 2 * BATCH;
/// Maximum size of rows without a check against the file size, in bytes. A larger sheet may have [`BYTES_PER_FILE_BYTE`] times
/// its file's size.
const FREE_BYTES: u64 = 64 << 20;
const BYTES_PER_FILE_BYTE: u64 = 200;
/// Number of skipped cells between two checks whether rows are still wanted.
const SKIPPED_CELLS: u32 = 1 << 16;

/// Why no more cells are sent.
#[derive(Debug)]
pub(super) enum Stop {
    /// The receiver has enough rows or has ended.
    Unwanted,
    /// The sheet cannot be read any further.
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

impl From<String> for Stop {
    fn from(reason: String) -> Stop {
        Stop::Fault(Fault::new(reason))
    }
}

pub(super) struct RowSender<'a> {
    output: &'a mut dyn Write,
    is_wanted: &'a dyn Fn() -> bool,
    /// The current row.
    row: Row,
    bytes: Vec<u8>,
    /// Numbers and start offsets in `bytes` of the held-back rows.
    held: Option<Vec<(u64, usize)>>,
    is_sorted: bool,
    last: u64,
    sent: u64,
    max_bytes: u64,
    skipped: u32,
    /// Texts with parts that are set differently.
    rich: Rc<RichTexts>,
}

impl<'a> RowSender<'a> {
    /// `file_len` is the size of the workbook. `is_wanted` is called for each batch, and sometimes while cells are skipped.
    pub(super) fn new(output: &'a mut dyn Write, file_len: u64, is_wanted: &'a dyn Fn() -> bool) -> Self {
        RowSender {
            output,
            is_wanted,
            row: Row::default(),
            bytes: Vec::new(),
            held: Some(Vec::new()),
            is_sorted: true,
            last: 0,
            sent: 0,
            max_bytes: FREE_BYTES.max(file_len.saturating_mul(BYTES_PER_FILE_BYTE)),
            skipped: 0,
            rich: Rc::default(),
        }
    }

    /// From now on, texts get these parts.
    pub(super) fn set_rich_texts(&mut self, rich: &Rc<RichTexts>) {
        self.rich = Rc::clone(rich);
    }

    /// Adds to the texts with parts.
    pub(super) fn add_rich_texts(&mut self, add: impl FnOnce(&mut RichTexts)) {
        let mut rich = RichTexts::clone(&self.rich);
        add(&mut rich);
        self.rich = Rc::new(rich);
    }

    /// Adds the cell at the zero-based `row` and `column`. Blank cells are ignored.
    pub(super) fn cell(&mut self, row: u32, column: u32, cell: Cell<'_>) -> Result<(), Stop> {
        if matches!(cell, Cell::Blank | Cell::Text("")) {
            return Ok(());
        }
        let (number, column) = (u64::from(row) + 1, column as usize);
        if number != self.row.number {
            self.finish_row()?;
            self.row.clear(number);
        }
        check_place(number, column)?;
        let text = if let Cell::Text(text) | Cell::Error(text) = cell { text.len() } else { 0 };
        if self.row.text_len() + text > MAX_RECORD {
            return Err(format!("row {number} is longer than 16 MiB").into());
        }
        let cell = if is_other(self.row.get(column), cell) { Cell::Error(STORED_TWICE) } else { cell };
        self.row.put(column, cell);
        if let Cell::Text(text) = cell {
            self.rich.parts(text).for_each(|part| self.row.add_part(column, part));
        }
        Ok(())
    }

    /// Adds a text of parts, like [`RowSender::cell`].
    pub(super) fn text_in_parts(&mut self, row: u32, column: u32, parts: Vec<(Setting, String)>) -> Result<(), Stop> {
        let text: String = parts.iter().map(|(_, text)| text.as_str()).collect();
        self.cell(row, column, Cell::Text(&text))?;
        if matter(&parts) {
            self.add_parts(column, parts.iter().map(|(setting, text)| TextPart { setting: *setting, text }));
        }
        Ok(())
    }

    /// Adds the parts of the text of the last cell, which is at `column`.
    pub(super) fn add_parts<'p>(&mut self, column: u32, parts: impl Iterator<Item = TextPart<'p>>) {
        parts.for_each(|part| self.row.add_part(column as usize, part));
    }

    /// Strikes the last cell through, which is at `column`, if its text has no parts of its own.
    pub(super) fn strike(&mut self, column: u32) {
        let column = column as usize;
        let text = self.row.get(column).shown().trim().to_owned();
        if matter(&[(Setting::Struck, text.clone())]) && self.row.parts(column).next().is_none() {
            self.row.add_part(column, TextPart { setting: Setting::Struck, text: &text });
        }
    }

    /// Adds a cell, like [`RowSender::cell`], and its displayed text.
    pub(super) fn shown_cell(
        &mut self,
        row: u32,
        column: u32,
        cell: Cell<'_>,
        shown: Option<ShownText>,
    ) -> Result<(), Stop> {
        self.cell(row, column, cell)?;
        if let Some(shown) = shown.filter(|shown| !shown.is_certain || shown.text != cell.shown()) {
            self.row.show(column as usize, Shown { text: &shown.text, is_certain: shown.is_certain });
        }
        Ok(())
    }

    /// Counts a skipped cell.
    pub(super) fn skip(&mut self) -> Result<(), Stop> {
        self.skipped = self.skipped.wrapping_add(1);
        if self.skipped.is_multiple_of(SKIPPED_CELLS) { self.check_wanted() } else { Ok(()) }
    }

    /// # Errors
    /// [`Stop::Unwanted`] if no more rows are wanted.
    pub(super) fn check_wanted(&self) -> Result<(), Stop> {
        if (self.is_wanted)() { Ok(()) } else { Err(Stop::Unwanted) }
    }

    /// Sends the remaining rows and the end of the sheet, with its appearance.
    pub(super) fn finish(mut self, appearance: &Appearance) -> Result<(), Stop> {
        self.finish_row()?;
        self.release()?;
        self.send()?;
        let appearance = serde_json::to_vec(appearance).expect("numbers can be written as JSON");
        protocol::write(self.output, Kind::End, &appearance).map_err(receiver_ended)
    }

    fn finish_row(&mut self) -> Result<(), Stop> {
        if self.row.is_empty() {
            return Ok(());
        }
        let number = self.row.number;
        if number <= self.last {
            self.is_sorted = false;
        }
        if let Some(held) = &mut self.held {
            held.push((number, self.bytes.len()));
        } else if !self.is_sorted {
            let last = self.last;
            return Err(format!("row {number} is stored out of order, after row {last}").into());
        }
        self.last = self.last.max(number);
        self.row.encode(&mut self.bytes);
        self.row.clear(0);
        self.row.shrink();
        match &self.held {
            Some(held) if self.is_sorted && (held.len() >= HELD_ROWS || self.bytes.len() >= HELD_BYTES) => {
                self.release()
            }
            Some(_) => Ok(()),
            None if self.bytes.len() >= BATCH => self.send(),
            None => Ok(()),
        }
    }

    /// Sends the held rows in order.
    fn release(&mut self) -> Result<(), Stop> {
        let Some(mut held) = self.held.take() else { return Ok(()) };
        if self.is_sorted {
            return self.send();
        }
        // A row may be stored in several parts.
        held.sort_by_key(|(number, _)| *number);
        let bytes = std::mem::take(&mut self.bytes);
        let (mut row, mut part) = (Row::default(), Row::default());
        for parts in held.chunk_by(|a, b| a.0 == b.0) {
            row.clear(parts[0].0);
            for (_, start) in parts {
                part.decode(&bytes[*start..], MAX_COLUMNS).expect("an encoded row can be decoded");
                for column in (0..part.len()).filter(|column| part.get(*column) != Cell::Blank) {
                    match is_other(row.get(column), part.get(column)) {
                        true => row.put(column, Cell::Error(STORED_TWICE)),
                        false => row.put_from(column, &part, column),
                    }
                }
            }
            row.encode(&mut self.bytes);
            if self.bytes.len() >= BATCH {
                self.send()?;
            }
        }
        self.send()
    }

    fn send(&mut self) -> Result<(), Stop> {
        self.check_wanted()?;
        if self.bytes.is_empty() {
            return Ok(());
        }
        self.sent += self.bytes.len() as u64;
        if self.sent > self.max_bytes {
            return Err("one of its sheets is more than 200 times as large as the file, as in a hostile workbook"
                .to_owned()
                .into());
        }
        protocol::write(self.output, Kind::Rows, &self.bytes).map_err(receiver_ended)?;
        self.bytes.clear();
        Ok(())
    }
}

/// Whether a cell was stored before with another value. Nobody knows which of the two is right.
fn is_other(before: Cell<'_>, cell: Cell<'_>) -> bool {
    before != Cell::Blank && before != cell
}

/// Checks a row number and a zero-based column against the limits of a sheet. The error is the reason.
pub(super) fn check_place(number: u64, column: usize) -> Result<(), String> {
    if number > MAX_ROWS {
        return Err(format!("it has a row {number}, but a sheet has at most {MAX_ROWS} rows"));
    }
    if column >= MAX_COLUMNS {
        return Err(format!("row {number} has a cell past column XFD, the last column of a sheet"));
    }
    Ok(())
}

fn receiver_ended(_: io::Error) -> Stop {
    Stop::Unwanted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends cells and returns the received rows with the result.
    fn sent(cells: impl IntoIterator<Item = (u32, u32, f64)>) -> (Vec<String>, Result<(), Stop>) {
        let mut pipe = Vec::new();
        let mut out = RowSender::new(&mut pipe, 0, &|| true);
        let run = || cells.into_iter().try_for_each(|(row, column, value)| out.cell(row, column, Cell::Number(value)));
        let outcome = run();
        let outcome = outcome.and_then(|()| out.finish(&Appearance::default()));
        let (mut input, mut body, mut row, mut rows) = (pipe.as_slice(), Vec::new(), Row::default(), Vec::new());
        while let Ok(Kind::Rows) = protocol::read(&mut input, &mut body) {
            let mut bytes = body.as_slice();
            while !bytes.is_empty() {
                bytes = row.decode(bytes, MAX_COLUMNS).expect("a row");
                let cells: Vec<_> = row.cells().map(|cell| cell.shown().into_owned()).collect();
                rows.push(format!("{}: {}", row.number, cells.join("|")));
            }
        }
        (rows, outcome)
    }

    #[test]
    fn rows_out_of_order_are_sorted_and_their_parts_merged() {
        let (rows, outcome) = sent([(4, 1, 1.0), (0, 0, 2.0), (4, 2, 3.0), (4, 0, 4.0), (2, 0, 5.0), (4, 1, 6.0)]);
        assert!(outcome.is_ok(), "{outcome:?}");
        assert_eq!(rows, ["1: 2", "3: 5", "5: 4|#STORED TWICE|3"]);
        let (rows, _) = sent([(1, 0, 1.0), (1, 1, 2.0), (1, 1, 3.0), (1, 0, 1.0)]);
        assert_eq!(rows, ["2: 1|#STORED TWICE"]);
    }

    #[test]
    fn a_late_row_out_of_order_is_an_error() {
        let (rows, outcome) = sent((0..5000).map(|row| (row, 0, 1.0)));
        assert!(outcome.is_ok());
        assert_eq!(rows.len(), 5000);
        let late = (0..5000).chain([4000]).map(|row| (row, 0, 1.0));
        let (rows, outcome) = sent(late);
        assert!(rows.len() < 5000);
        assert!(matches!(outcome, Err(Stop::Fault(fault)) if fault.reason.contains("row 4001 is stored out of order")));
        // Some programs sort row numbers as text: 1, 10, 100, 1000, 10000, 1001.
        let mut numbers: Vec<_> = (1..=20_000_u32).collect();
        numbers.sort_by_key(u32::to_string);
        let (rows, outcome) = sent(numbers.iter().map(|number| (number - 1, 0, f64::from(*number))));
        assert!(outcome.is_ok());
        assert!(rows.iter().enumerate().all(|(index, row)| *row == format!("{0}: {0}", index + 1)));
    }

    #[test]
    fn cells_beyond_a_sheet_s_limits_are_errors() {
        for (row, column) in [(1_048_576, 0), (0, 16_384), (u32::MAX, u32::MAX)] {
            assert!(matches!(sent([(row, column, 1.0)]).1, Err(Stop::Fault(_))));
        }
    }
}
