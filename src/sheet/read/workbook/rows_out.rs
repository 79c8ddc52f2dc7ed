//! Cells on their way out of the reader: made into rows, the rows put in order, and sent in batches.
//!
//! Spreadsheet programs store rows in order, but not every program that writes a workbook does. The first rows are
//! held back for a while. If they turn out to be in disorder, so are all others, and the sheet is sorted before it is
//! sent; otherwise rows are sent as they come, and one that is out of its place after all is a fault.

use std::io::{self, Write};

use super::frame::{self, BATCH, Kind};
use crate::sheet::RowEncoder;
use crate::sheet::read::text::{MAX_COLUMNS, MAX_RECORD};
use crate::sheet::{Cell, Row};

/// The last row that there is.
const MAX_ROWS: u64 = 1_048_576;
/// Rows are held back until they are this many, or have this many bytes.
const HELD_ROWS: usize = 1024;
const HELD_BYTES: usize = 2 * BATCH;
/// A sheet may give this many bytes, and more only if its file is not a small part of them.
const FREE_BYTES: u64 = 64 << 20;
const BYTES_PER_FILE_BYTE: u64 = 200;
/// After so many cells that were passed over, it is asked whether any are still wanted.
const PASSED_OVER: u32 = 1 << 16;

/// Why no more cells are wanted.
#[derive(Debug)]
pub enum Stop {
    /// The asking side has enough, or is gone.
    Unwanted,
    /// The sheet can't be read on, for this reason.
    Fault(String),
}

impl From<String> for Stop {
    fn from(reason: String) -> Stop {
        Stop::Fault(reason)
    }
}

pub struct RowsOut<'a, W> {
    output: &'a mut W,
    is_wanted: &'a dyn Fn() -> bool,
    /// The number of the row under way; 0 when there is none.
    number: u64,
    row: RowEncoder,
    /// The row under way once its cells turned out to be in disorder.
    disordered: Option<Row>,
    bytes: Vec<u8>,
    /// While rows are held back: their numbers and where they begin in `bytes`.
    held: Option<Vec<(u64, usize)>>,
    in_order: bool,
    last: u64,
    sent: u64,
    most: u64,
    passed_over: u32,
}

impl<'a, W: Write> RowsOut<'a, W> {
    /// `file_len` is the workbook's size; `is_wanted` is asked once for each batch, and now and then
    /// while cells are passed over.
    pub fn new(output: &'a mut W, file_len: u64, is_wanted: &'a dyn Fn() -> bool) -> Self {
        RowsOut {
            output,
            is_wanted,
            number: 0,
            row: RowEncoder::default(),
            disordered: None,
            bytes: Vec::new(),
            held: Some(Vec::new()),
            in_order: true,
            last: 0,
            sent: 0,
            most: FREE_BYTES.max(file_len.saturating_mul(BYTES_PER_FILE_BYTE)),
            passed_over: 0,
        }
    }

    /// Takes the cell at `row` and `column`, both from 0. Blank ones need not be given.
    #[inline]
    pub fn cell(&mut self, row: u32, column: u32, cell: Cell<'_>) -> Result<(), Stop> {
        if matches!(cell, Cell::Blank | Cell::Text("")) {
            return Ok(());
        }
        let (number, column) = (u64::from(row) + 1, column as usize);
        if number != self.number {
            self.finish_row()?;
            self.number = number;
        }
        if number > MAX_ROWS {
            return Err(format!("it has a row {number}, and row {MAX_ROWS} is the last that there is").into());
        }
        if column >= MAX_COLUMNS {
            return Err(format!("row {number} has a cell past column XFD, the last that there is").into());
        }
        let text = if let Cell::Text(text) | Cell::Error(text) = cell { text.len() } else { 0 };
        let before = self.disordered.as_ref().map_or(self.row.text_len(), Row::text_len);
        if before + text > MAX_RECORD {
            return Err(format!("row {number} is longer than 16 MiB").into());
        }
        if column >= self.row.len() && self.disordered.is_none() {
            self.row.put(column, cell);
        } else {
            self.disordered()?.put(column, cell);
        }
        Ok(())
    }

    /// To be called for each cell that is read and not given, because it was given before or something else is looked
    /// for.
    #[inline]
    pub fn pass_over(&mut self) -> Result<(), Stop> {
        self.passed_over = self.passed_over.wrapping_add(1);
        if self.passed_over.is_multiple_of(PASSED_OVER) { self.still_wanted() } else { Ok(()) }
    }

    /// An error when nobody wants any more.
    pub fn still_wanted(&self) -> Result<(), Stop> {
        if (self.is_wanted)() { Ok(()) } else { Err(Stop::Unwanted) }
    }

    /// Sends what is left, and that this is the end.
    pub fn finish(mut self) -> Result<(), Stop> {
        self.finish_row()?;
        self.release()?;
        self.send()?;
        frame::write(self.output, Kind::End, &[]).map_err(gone)
    }

    /// The row under way, as one whose cells may come in any order.
    #[cold]
    fn disordered(&mut self) -> Result<&mut Row, Stop> {
        if self.disordered.is_none() {
            let (mut bytes, mut row) = (Vec::new(), Row::default());
            self.row.finish(self.number, &mut bytes);
            row.decode(&bytes, MAX_COLUMNS).ok_or_else(|| "its rows can't be put in order".to_owned())?;
            self.disordered = Some(row);
        }
        Ok(self.disordered.get_or_insert_default())
    }

    fn finish_row(&mut self) -> Result<(), Stop> {
        if self.row.len() == 0 {
            return Ok(());
        }
        let number = self.number;
        if number <= self.last {
            self.in_order = false;
        }
        if let Some(held) = &mut self.held {
            held.push((number, self.bytes.len()));
        } else if !self.in_order {
            let last = self.last;
            return Err(format!("row {number} is stored after row {last}, out of its place").into());
        }
        self.last = self.last.max(number);
        match self.disordered.take() {
            Some(row) => row.encode(&mut self.bytes),
            None => self.row.finish(number, &mut self.bytes),
        }
        self.row.clear();
        self.row.shrink();
        self.number = 0;
        match &self.held {
            Some(held) if self.in_order && (held.len() >= HELD_ROWS || self.bytes.len() >= HELD_BYTES) => {
                self.release()
            }
            Some(_) => Ok(()),
            None if self.bytes.len() >= BATCH => self.send(),
            None => Ok(()),
        }
    }

    /// Lets the held rows go, in order.
    fn release(&mut self) -> Result<(), Stop> {
        let Some(mut held) = self.held.take() else { return Ok(()) };
        if self.in_order {
            return self.send();
        }
        // Stable: of the parts of a row that is stored in several, the later ones count.
        held.sort_by_key(|(number, _)| *number);
        let bytes = std::mem::take(&mut self.bytes);
        let (mut row, mut part) = (Row::default(), Row::default());
        for rows in held.chunk_by(|a, b| a.0 == b.0) {
            for (index, (_, start)) in rows.iter().enumerate() {
                let into = if index == 0 { &mut row } else { &mut part };
                into.decode(&bytes[*start..], MAX_COLUMNS).ok_or_else(|| "its rows are in disorder".to_owned())?;
                if index > 0 {
                    merge(&mut row, &part);
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
        self.still_wanted()?;
        if self.bytes.is_empty() {
            return Ok(());
        }
        self.sent += self.bytes.len() as u64;
        if self.sent > self.most {
            return Err("a sheet of it is more than 200 times as long as the file, as only hostile ones are"
                .to_owned()
                .into());
        }
        frame::write(self.output, Kind::Rows, &self.bytes).map_err(gone)?;
        self.bytes.clear();
        Ok(())
    }
}

fn merge(row: &mut Row, part: &Row) {
    for (column, cell) in part.cells().enumerate().filter(|(_, cell)| !matches!(cell, Cell::Blank)) {
        row.put(column, cell);
    }
}

fn gone(_: io::Error) -> Stop {
    Stop::Unwanted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows' numbers and first cells, and how it ended.
    fn sent(cells: impl IntoIterator<Item = (u32, u32, f64)>) -> (Vec<String>, Result<(), Stop>) {
        let mut pipe = Vec::new();
        let mut out = RowsOut::new(&mut pipe, 0, &|| true);
        let run = || cells.into_iter().try_for_each(|(row, column, value)| out.cell(row, column, Cell::Number(value)));
        let outcome = run();
        let outcome = outcome.and_then(|()| out.finish());
        let (mut input, mut body, mut row, mut rows) = (pipe.as_slice(), Vec::new(), Row::default(), Vec::new());
        while let Ok(Kind::Rows) = frame::read(&mut input, &mut body) {
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
    fn rows_in_disorder_are_sorted_and_the_parts_of_one_put_together() {
        let (rows, outcome) = sent([(4, 1, 1.0), (0, 0, 2.0), (4, 2, 3.0), (4, 0, 4.0), (2, 0, 5.0), (4, 1, 6.0)]);
        assert!(outcome.is_ok(), "{outcome:?}");
        assert_eq!(rows, ["1: 2", "3: 5", "5: 4|6|3"]);
    }

    #[test]
    fn a_long_sheet_in_order_is_sent_as_it_comes_and_late_disorder_is_a_fault() {
        let (rows, outcome) = sent((0..5000).map(|row| (row, 0, 1.0)));
        assert!(outcome.is_ok());
        assert_eq!(rows.len(), 5000);
        let late = (0..5000).chain([4000]).map(|row| (row, 0, 1.0));
        let (rows, outcome) = sent(late);
        assert!(rows.len() < 5000);
        assert!(matches!(outcome, Err(Stop::Fault(reason)) if reason.contains("row 4001 is stored after row 5000")));
        // Programs that sort row numbers as text: 1, 10, 100, 1000, 10000, 1001.
        let mut numbers: Vec<_> = (1..=20_000_u32).collect();
        numbers.sort_by_key(u32::to_string);
        let (rows, outcome) = sent(numbers.iter().map(|number| (number - 1, 0, f64::from(*number))));
        assert!(outcome.is_ok());
        assert!(rows.iter().enumerate().all(|(index, row)| *row == format!("{0}: {0}", index + 1)));
    }

    #[test]
    fn what_no_spreadsheet_has_room_for_is_a_fault() {
        for (row, column) in [(1_048_576, 0), (0, 16_384), (u32::MAX, u32::MAX)] {
            assert!(matches!(sent([(row, column, 1.0)]).1, Err(Stop::Fault(_))));
        }
    }
}
