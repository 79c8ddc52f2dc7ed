//! Cells that a report can't hold as they were: a CSV of a workbook's rows has its numbers and dates as texts, which the
//! template would read by the ways of another sheet, and a workbook has no more of a text than fits into a cell. Where
//! such a cell is as it was written, it is what the ledger has.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::sheet::{Cell, Row, write};

/// As much as is held for rows that are to be mapped again.
const MOST_HELD: usize = 256 << 20;

/// What a kind of file can't hold of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lost {
    /// Of a text file: which cells are numbers, dates and the like.
    #[default]
    Types,
    /// Of a workbook: the ends of texts that are longer than its cells can be.
    Ends,
    /// Of a text file that another program made of a workbook: either, where it has texts with the mark of cut ones.
    Both,
}

/// The cells of rows that lost something, by the rows' places among the run's.
#[derive(Debug, Default)]
pub(super) struct LostCells {
    lost: Lost,
    rows: HashMap<usize, Box<[u8]>>,
    held: usize,
}

impl Lost {
    /// Whether a row whose cells are these in the ledger may have lost something.
    pub fn may_be_of(self, cells: &[u8]) -> bool {
        self != Lost::Ends || cells.len() > write::MAX_TEXT
    }

    /// What the file has for a cell as the ledger has it; nothing where that is all of it.
    fn of(self, cell: &Cell<'_>) -> Option<String> {
        match (self, cell) {
            (_, Cell::Blank) | (Lost::Types, Cell::Text(_)) => None,
            (Lost::Ends | Lost::Both, Cell::Text(text)) => write::cut_text(text),
            (Lost::Ends, _) => None,
            (Lost::Types | Lost::Both, cell) => Some(cell.shown().into_owned()),
        }
    }

    /// Writes a row of the ledger into `kept` as the file has it.
    pub fn from(self, row: &Row, kept: &mut Row) {
        kept.clear(row.number);
        for cell in row.cells() {
            match self.of(&cell).filter(|_| self == Lost::Ends) {
                Some(text) => kept.push(Cell::Text(write::restore(&text))),
                None => kept.push(cell),
            }
        }
    }
}

impl LostCells {
    pub fn new(lost: Lost) -> LostCells {
        LostCells { lost, ..LostCells::default() }
    }

    /// Whether the file may have the row with cut texts though it is a text file, which has them whole otherwise.
    pub fn may_be_cut(&self, cells: &[u8]) -> bool {
        self.lost == Lost::Both && Lost::Ends.may_be_of(cells)
    }

    /// Takes in a row's cells as the ledger has them. False: there are too many.
    pub fn take(&mut self, place: usize, cells: &[u8], row: &mut Row) -> bool {
        let has_lost = self.lost.may_be_of(cells)
            && row.decode_one(cells).is_some()
            && row.cells().any(|cell| self.lost.of(&cell).is_some());
        if has_lost {
            self.held += cells.len();
            self.rows.insert(place, cells.into());
        }
        self.held <= MOST_HELD
    }

    /// Writes the cells of `row` into `typed`, those that are as they were with what they lost. `columns` says for each
    /// of them which it was in the run. False: there is nothing to write.
    pub fn restore(&self, place: usize, row: &Row, columns: &[Option<usize>], typed: &mut Row) -> bool {
        let mut was = Row::default();
        let cells = self.rows.get(&place).and_then(|cells| was.decode_one(cells));
        if cells.is_none() {
            return false;
        }
        typed.clear(row.number);
        for (column, cell) in row.cells().enumerate() {
            let before = columns.get(column).copied().flatten().map_or(Cell::Blank, |column| was.get(column));
            match (self.lost.of(&before).filter(|was| is_same(&cell.shown(), was)), before) {
                (None, _) => typed.push(cell),
                // As the others of the report, which all are taken for defused.
                (Some(_), Cell::Text(text)) => typed.push(Cell::Text(&write::defuse(text))),
                (Some(_), before) => typed.push(before),
            }
        }
        true
    }
}

fn is_same(text: &str, other: &str) -> bool {
    with_plain_ends(text.trim()) == with_plain_ends(other.trim())
}

/// The text with its lines ended by one character, as programs may do that save a file.
pub(super) fn with_plain_ends(text: &str) -> Cow<'_, str> {
    match text.contains('\r') {
        true => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_text_that_is_as_it_was_written_is_the_cell_again() {
        let mut cells = LostCells::default();
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
