//! Compact binary encoding of rows, for the pipe of the workbook reading process and for the ledger.
//!
//! A row is its number and cell count, followed by its cells, the number of displayed texts, and the displayed texts with their
//! columns, all in postcard. If texts have parts that are set differently, the number of displayed texts is [`WITH_PARTS`] larger,
//! and the number of parts and the parts with their columns follow. Decoding bounds the number of cells, validates every cell, and allocates only for data that is
//! present.

use serde::Serialize;

use super::cell::TextPart;
use super::{Cell, Row, Shown};

/// Mark of a row with parts of texts. No row has so many displayed texts.
const WITH_PARTS: usize = 1 << 31;
/// Maximum number of parts of texts for each cell.
const MAX_PARTS: usize = 1 << 10;

impl Row {
    /// Appends the encoded row to `bytes`.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        self.encode_first(self.len(), bytes);
    }

    /// Appends the encoded first `width` cells of the row to `bytes`.
    pub fn encode_first(&self, width: usize, bytes: &mut Vec<u8>) {
        let width = width.min(self.len());
        append(bytes, &(self.number, width));
        self.cells().take(width).for_each(|cell| append(bytes, &cell));
        let shown = || self.all_shown().take_while(|(column, _)| *column < width);
        let parts = || self.all_parts().filter(|(column, _)| *column < width);
        let count = parts().count();
        append(bytes, &(shown().count() + if count > 0 { WITH_PARTS } else { 0 }));
        shown().for_each(|shown| append(bytes, &shown));
        if count > 0 {
            append(bytes, &count);
            parts().for_each(|part| append(bytes, &part));
        }
    }

    /// Decodes a row. Returns `None` unless `bytes` are exactly one valid row.
    pub fn decode_one(&mut self, bytes: &[u8]) -> Option<()> {
        self.decode(bytes, usize::MAX)?.is_empty().then_some(())
    }

    /// Decodes the first row in `bytes` and returns the remaining bytes. Returns `None` unless `bytes` start with a valid
    /// row of at most `max_cells` cells.
    pub(super) fn decode<'a>(&mut self, bytes: &'a [u8], max_cells: usize) -> Option<&'a [u8]> {
        let ((number, len), mut rest) = postcard::take_from_bytes::<(u64, usize)>(bytes).ok()?;
        self.clear(number);
        if len > max_cells {
            return None;
        }
        for _ in 0..len {
            let (cell, after) = postcard::take_from_bytes::<Cell<'_>>(rest).ok()?;
            self.push(cell);
            rest = after;
        }
        let (shown, mut rest) = postcard::take_from_bytes::<usize>(rest).ok()?;
        let (shown, has_parts) = shown.checked_sub(WITH_PARTS).map_or((shown, false), |shown| (shown, true));
        if shown > len {
            return None;
        }
        for _ in 0..shown {
            let ((column, shown), after) = postcard::take_from_bytes::<(usize, Shown<'_>)>(rest).ok()?;
            if column >= len {
                return None;
            }
            self.show(column, shown);
            rest = after;
        }
        if !has_parts {
            return Some(rest);
        }
        let (count, mut rest) = postcard::take_from_bytes::<usize>(rest).ok()?;
        if count > len.saturating_mul(MAX_PARTS) {
            return None;
        }
        for _ in 0..count {
            let ((column, part), after) = postcard::take_from_bytes::<(usize, TextPart<'_>)>(rest).ok()?;
            if column >= len {
                return None;
            }
            self.add_part(column, part);
            rest = after;
        }
        Some(rest)
    }
}

fn append(bytes: &mut Vec<u8>, value: &impl Serialize) {
    *bytes = postcard::to_extend(value, std::mem::take(bytes)).expect("writing cells to memory cannot fail");
}

#[cfg(test)]
mod tests {
    use jiff::civil;
    use proptest::prelude::*;

    use super::*;
    use crate::cell::Setting;

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
        row.show(9, Shown { text: "31 January", is_certain: false });
        row.show(5, Shown { text: "19.00%", is_certain: true });
        row.add_part(1, TextPart { setting: Setting::Struck, text: "00" });
        row.add_part(1, TextPart { setting: Setting::Plain, text: "42" });
        row
    }

    #[test]
    fn decoding_restores_consecutive_rows() {
        let mut bytes = Vec::new();
        row().encode(&mut bytes);
        row().encode(&mut bytes);
        let mut back = Row::default();
        let rest = back.decode(&bytes, 100).expect("a row");
        let original = row();
        assert!(back.cells().eq(original.cells()) && back.all_shown().eq(original.all_shown()));
        assert_eq!((back.all_shown().count(), back.all_parts().count()), (2, 2));
        assert!(back.all_parts().eq(original.all_parts()));
        assert_eq!(back.number, 1_048_576);
        assert_eq!(back.decode(rest, 100), Some(&[][..]));
    }

    #[test]
    fn the_first_cells_of_a_row_keep_their_displayed_texts() {
        let mut bytes = Vec::new();
        row().encode_first(6, &mut bytes);
        let mut back = Row::default();
        assert_eq!(back.decode_one(&bytes), Some(()));
        assert!(back.cells().eq(row().cells().take(6)));
        assert_eq!(back.shown(5), row().shown(5));
        assert_eq!(back.all_shown().count(), 1);
    }

    #[test]
    fn decoding_rejects_truncated_wide_and_invalid_rows() {
        let mut bytes = Vec::new();
        row().encode(&mut bytes);
        for len in 0..bytes.len() {
            assert_eq!(Row::default().decode(&bytes[..len], 100), None, "{len}");
        }
        assert_eq!(Row::default().decode(&bytes, 3), None);
        // Row 1 with one text: invalid UTF-8, then a text longer than the row.
        assert_eq!(Row::default().decode(&[1, 1, 1, 1, 0xC3], 9), None);
        assert_eq!(Row::default().decode(&[1, 1, 1, 9, b'a'], 9), None);
        // A text shown for a cell beyond the end.
        assert_eq!(Row::default().decode(&[1, 1, 0, 1, 1, 1, b'a', 1], 9), None);
        assert_eq!(Row::default().decode(&[1, 255, 255, 255, 255, 15], usize::MAX), None);
    }

    proptest! {
        #[test]
        fn decoding_arbitrary_bytes_never_panics(bytes in proptest::collection::vec(0_u8..=12, 0..64)) {
            let mut row = Row::default();
            if row.decode(&bytes, 16).is_some() {
                row.cells().for_each(|cell| drop(cell.shown()));
            }
        }

        #[test]
        fn a_damaged_row_never_panics(at in 0_usize..90, byte: u8) {
            let mut bytes = Vec::new();
            row().encode(&mut bytes);
            let at = at % bytes.len();
            bytes[at] = byte;
            let mut back = Row::default();
            if back.decode(&bytes, 100).is_some() {
                back.cells().for_each(|cell| drop(cell.shown()));
            }
        }
    }
}
