//! Rows as bytes, for the pipe between the process that reads a workbook and the one that asked for it, and for whoever
//! keeps rows.
//!
//! A row is its number, the count of its cells and of its texts' bytes, a tag for each cell with what the tag needs,
//! and then all texts end to end. Numbers without a fixed width are LEB128. What comes in is checked in full: bytes
//! that no row would give are refused, and nothing is allocated on their word alone.

use jiff::civil;

use super::{Row, Slot};
use crate::sheet::Cell;

/// The most bytes that a number without a fixed width takes.
const MAX_COUNT: usize = 10;

const BLANK: u8 = 0;
const TEXT: u8 = 1;
const NUMBER: u8 = 2;
const FALSE: u8 = 3;
const TRUE: u8 = 4;
const DATE: u8 = 5;
const TIME: u8 = 6;
const DATE_TIME: u8 = 7;
const ERROR: u8 = 8;
const PERCENT: u8 = 9;

/// A row that is made into bytes as its cells come, from left to right. This is quicker than a [`Row`] that is made into
/// bytes when it is whole.
#[derive(Debug, Default)]
pub struct Encoder {
    /// The cells' tags with what they need.
    cells: Vec<u8>,
    text: Vec<u8>,
    len: usize,
}

impl Encoder {
    pub fn clear(&mut self) {
        self.cells.clear();
        self.text.clear();
        self.len = 0;
    }

    /// The number of cells, blank ones too.
    #[inline]
    pub(in crate::sheet) fn len(&self) -> usize {
        self.len
    }

    /// The bytes of all texts together.
    #[inline]
    pub(in crate::sheet) fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Adds a cell at `index`, which is not before those that are there, with blank ones between.
    #[inline]
    pub fn put(&mut self, index: usize, cell: Cell<'_>) {
        if self.len < index {
            self.cells.resize(self.cells.len() + index - self.len, BLANK);
        }
        self.len = index + 1;
        let bytes = &mut self.cells;
        match cell {
            Cell::Blank | Cell::Text("") => bytes.push(BLANK),
            Cell::Text(text) => {
                put_tagged_count(bytes, TEXT, text.len());
                self.text.extend_from_slice(text.as_bytes());
            }
            Cell::Error(text) => {
                put_tagged_count(bytes, ERROR, text.len());
                self.text.extend_from_slice(text.as_bytes());
            }
            Cell::Number(number) => put_number(bytes, NUMBER, number),
            Cell::Percent(number) => put_number(bytes, PERCENT, number),
            Cell::Boolean(false) => bytes.push(FALSE),
            Cell::Boolean(true) => bytes.push(TRUE),
            Cell::Date(date) => {
                bytes.push(DATE);
                put_date(bytes, date);
            }
            Cell::Time(time) => {
                bytes.push(TIME);
                put_time(bytes, time);
            }
            Cell::DateTime(at) => {
                bytes.push(DATE_TIME);
                put_date(bytes, at.date());
                put_time(bytes, at.time());
            }
        }
    }

    /// Adds the row to `bytes`.
    pub fn finish(&self, number: u64, bytes: &mut Vec<u8>) {
        bytes.reserve(3 * MAX_COUNT + self.cells.len() + self.text.len());
        put_count(bytes, number);
        put_count(bytes, self.len as u64);
        put_count(bytes, self.text.len() as u64);
        bytes.extend_from_slice(&self.cells);
        bytes.extend_from_slice(&self.text);
    }

    /// Gives back the memory of an uncommonly large row.
    pub(in crate::sheet) fn shed(&mut self) {
        self.cells.shrink_to(64 * 1024);
        self.text.shrink_to(64 * 1024);
    }
}

impl Row {
    /// Adds the row to `bytes`.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let mut encoder = Encoder::default();
        self.cells().enumerate().for_each(|(index, cell)| encoder.put(index, cell));
        encoder.finish(self.number, bytes);
    }

    /// Fills the row from bytes that are one row. Nothing: they are not.
    pub fn decode_one(&mut self, bytes: &[u8]) -> Option<()> {
        self.decode(bytes, usize::MAX)?.is_empty().then_some(())
    }

    /// Fills the row from the beginning of `bytes` and gives what follows it. Nothing: they hold no row of at most
    /// `columns` cells.
    pub(in crate::sheet) fn decode<'a>(&mut self, mut bytes: &'a [u8], columns: usize) -> Option<&'a [u8]> {
        let input = &mut bytes;
        self.clear(take_count(input)?);
        let cells = usize::try_from(take_count(input)?).ok().filter(|cells| *cells <= columns)?;
        let text_len = usize::try_from(take_count(input)?).ok()?;
        let mut start: usize = 0;
        for _ in 0..cells {
            let tag = take::<1>(input)?[0];
            let slot = match tag {
                BLANK => Slot::Blank,
                TEXT | ERROR => {
                    let end = start.checked_add(usize::try_from(take_count(input)?).ok()?)?;
                    let slot = if tag == TEXT { Slot::Text { start, end } } else { Slot::Error { start, end } };
                    start = end;
                    slot
                }
                NUMBER => Slot::Number(f64::from_le_bytes(take(input)?)),
                PERCENT => Slot::Percent(f64::from_le_bytes(take(input)?)),
                FALSE => Slot::Boolean(false),
                TRUE => Slot::Boolean(true),
                DATE => Slot::Date(take_date(input)?),
                TIME => Slot::Time(take_time(input)?),
                DATE_TIME => Slot::DateTime(take_date(input)?.to_datetime(take_time(input)?)),
                _ => return None,
            };
            self.slots.push(slot);
        }
        let text = std::str::from_utf8(input.get(..text_len).filter(|_| start == text_len)?).ok()?;
        // Texts that are broken at their seams can make a valid whole.
        let whole = text.is_ascii()
            || self.slots.iter().all(|slot| match slot {
                Slot::Text { end, .. } | Slot::Error { end, .. } => text.is_char_boundary(*end),
                _ => true,
            });
        self.text.push_str(text);
        whole.then_some(&input[text_len..])
    }
}

#[inline]
fn put_count(bytes: &mut Vec<u8>, mut count: u64) {
    while count > 0x7F {
        bytes.push(count as u8 | 0x80);
        count >>= 7;
    }
    bytes.push(count as u8);
}

#[inline]
fn put_tagged_count(bytes: &mut Vec<u8>, tag: u8, count: usize) {
    match u8::try_from(count) {
        Ok(count @ ..=0x7F) => bytes.extend_from_slice(&[tag, count]),
        _ => {
            bytes.push(tag);
            put_count(bytes, count as u64);
        }
    }
}

#[inline]
fn put_number(bytes: &mut Vec<u8>, tag: u8, number: f64) {
    let mut tagged = [tag; 9];
    tagged[1..].copy_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&tagged);
}

fn put_date(bytes: &mut Vec<u8>, date: civil::Date) {
    bytes.extend_from_slice(&date.year().to_le_bytes());
    bytes.extend_from_slice(&[date.month() as u8, date.day() as u8]);
}

fn put_time(bytes: &mut Vec<u8>, time: civil::Time) {
    bytes.extend_from_slice(&[time.hour() as u8, time.minute() as u8, time.second() as u8]);
    bytes.extend_from_slice(&time.subsec_nanosecond().to_le_bytes());
}

#[inline]
fn take<const N: usize>(input: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = input.split_first_chunk::<N>()?;
    *input = rest;
    Some(*taken)
}

#[inline]
fn take_count(input: &mut &[u8]) -> Option<u64> {
    let mut count = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = take(input)?;
        count |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(count);
        }
    }
    None
}

fn take_date(input: &mut &[u8]) -> Option<civil::Date> {
    let year = i16::from_le_bytes(take(input)?);
    let [month, day] = take(input)?;
    civil::Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn take_time(input: &mut &[u8]) -> Option<civil::Time> {
    let [hour, minute, second] = take(input)?;
    let nanosecond = i32::from_le_bytes(take(input)?);
    let small = |number| i8::try_from(number).ok();
    civil::Time::new(small(hour)?, small(minute)?, small(second)?, nanosecond).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row() -> Row {
        let (date, time) = (civil::date(-9999, 1, 31), civil::time(23, 59, 59, 999_999_999));
        let mut row = Row::default();
        row.clear(1_048_576);
        row.put(3, Cell::Text("ä"));
        row.put(1, Cell::Text("0042"));
        for cell in [Cell::Number(-1234.5), Cell::Percent(0.19), Cell::Boolean(true), Cell::Boolean(false)] {
            row.push(cell);
        }
        for cell in [Cell::Error("#N/A"), Cell::Date(date), Cell::Time(time), Cell::DateTime(date.to_datetime(time))] {
            row.push(cell);
        }
        row
    }

    #[test]
    fn a_row_comes_back_as_it_was() {
        let mut bytes = Vec::new();
        row().encode(&mut bytes);
        row().encode(&mut bytes);
        let mut back = Row::default();
        let rest = back.decode(&bytes, 100).expect("a row");
        assert!(back.cells().eq(row().cells()));
        assert_eq!(back.number, 1_048_576);
        assert_eq!(back.decode(rest, 100), Some(&[][..]));
    }

    #[test]
    fn what_is_no_row_is_refused() {
        let mut bytes = Vec::new();
        row().encode(&mut bytes);
        for len in 0..bytes.len() {
            assert_eq!(Row::default().decode(&bytes[..len], 100), None, "{len}");
        }
        assert_eq!(Row::default().decode(&bytes, 3), None);
        // Two texts whose seam lies within a character, and a text past its row.
        assert_eq!(Row::default().decode(&[1, 2, 2, TEXT, 1, TEXT, 1, 0xC3, 0xA4], 9), None);
        assert_eq!(Row::default().decode(&[1, 1, 1, TEXT, 2, b'a', b'b'], 9), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_row_or_refused(bytes in proptest::collection::vec(0_u8..=12, 0..64)) {
            let mut row = Row::default();
            if row.decode(&bytes, 16).is_some() {
                row.cells().for_each(|cell| drop(cell.shown()));
            }
        }
    }
}
