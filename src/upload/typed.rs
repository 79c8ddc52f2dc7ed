//! Cells that a text file can't hold as they were: a report as CSV of a workbook's rows has its numbers and dates as
//! texts, which the template would read by the ways of another sheet. Where such a text is as it was written, the cell
//! is what the ledger has.

use std::collections::HashMap;

use crate::sheet::{Cell, Row};

/// As much as is held for rows that are to be mapped again.
const MOST_HELD: usize = 256 << 20;

/// The cells of rows of which some are no texts, by the rows' places among the run's.
#[derive(Debug, Default)]
pub struct TypedCells {
    rows: HashMap<usize, Box<[u8]>>,
    held: usize,
}

impl TypedCells {
    /// Takes in a row's cells as the ledger has them. False: there are too many.
    pub fn take(&mut self, place: usize, cells: &[u8], row: &mut Row) -> bool {
        let has_types =
            row.decode_one(cells).is_some() && row.cells().any(|cell| !matches!(cell, Cell::Blank | Cell::Text(_)));
        if has_types {
            self.held += cells.len();
            self.rows.insert(place, cells.into());
        }
        self.held <= MOST_HELD
    }

    /// Writes the cells of `row` into `typed`, those that are as they were with their types. `columns` says for each of
    /// them which it was in the run. False: there is nothing to write.
    pub fn restore(&self, place: usize, row: &Row, columns: &[Option<usize>], typed: &mut Row) -> bool {
        let mut was = Row::default();
        let cells = self.rows.get(&place).and_then(|cells| was.decode_one(cells));
        if cells.is_none() {
            return false;
        }
        typed.clear(row.number);
        for (column, cell) in row.cells().enumerate() {
            let before = columns.get(column).copied().flatten().map_or(Cell::Blank, |column| was.get(column));
            let is_typed = !matches!(before, Cell::Blank | Cell::Text(_));
            typed.push(if is_typed && cell.shown().trim() == before.shown() { before } else { cell });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_text_that_is_as_it_was_written_is_the_cell_again() {
        let mut cells = TypedCells::default();
        let bytes = |cells: &[Cell<'_>]| {
            let (mut row, mut bytes) = (Row::default(), Vec::new());
            cells.iter().for_each(|cell| row.push(*cell));
            row.encode(&mut bytes);
            bytes
        };
        let day = Cell::Date(date(2025, 12, 31));
        let was = bytes(&[Cell::Text("A"), Cell::Number(1.234), day, Cell::Boolean(true), Cell::Number(7.0)]);
        assert!(cells.take(3, &was, &mut Row::default()));
        assert!(cells.take(4, &bytes(&[Cell::Text("A"), Cell::Blank]), &mut Row::default()));
        let mut row = Row::default();
        row.clear(9);
        ["2025-12-31", "1.234", "8", "A", "TRUE"].into_iter().for_each(|text| row.push(Cell::Text(text)));
        let mut typed = Row::default();
        let columns = [Some(2), Some(1), Some(4), Some(0), None];
        assert!(cells.restore(3, &row, &columns, &mut typed));
        let expected =
            [Cell::Date(date(2025, 12, 31)), Cell::Number(1.234), Cell::Text("8"), Cell::Text("A"), Cell::Text("TRUE")];
        assert!(typed.cells().eq(expected), "{typed:?}");
        assert_eq!(typed.number, 9);
        assert!(!cells.restore(4, &row, &columns, &mut typed), "it has texts alone");
    }
}
