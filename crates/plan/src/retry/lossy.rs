//! Cells with losses in reports: a CSV stores the numbers and dates of a workbook as text, and a workbook cuts long texts.
//! Spreadsheet programs turn texts of a CSV into numbers, change line ends, and may lose the number formats of a workbook.
//! If such a cell was not edited in the report, the cell in the ledger is used instead.

use std::collections::HashMap;

use sheetport_files::text_file::normalize_line_ends;
use sheetport_sheet::read::is_stored_as;
use sheetport_sheet::{Cell, Row, write};

use crate::respelled::{is_respelled, may_be_respelled};

/// Maximum bytes of cells held in memory.
const MAX_HELD: usize = 256 << 20;

/// The properties of cells lost in a report's file format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossyFields {
    /// A text file loses the types of cells.
    #[default]
    Types,
    /// A workbook loses the ends of long texts. Saved by another program, a workbook may also lose number formats, so that dates
    /// and percentages become numbers.
    LongTexts,
    /// A text file saved by another program from a workbook with cut texts.
    Both,
}

/// The original cells of rows with losses, by the index of the row in the run.
#[derive(Debug, Default)]
pub(super) struct LossyRows {
    lossy: LossyFields,
    rows: HashMap<usize, Box<[u8]>>,
    held: usize,
}

impl LossyFields {
    /// Whether a row with these encoded cells may have losses.
    pub(crate) fn may_affect(self, cells: &[u8]) -> bool {
        self != LossyFields::LongTexts || cells.len() > write::MAX_TEXT
    }

    /// Returns the text of `cell` as read from the report, or `None` for a cell without loss.
    fn written(self, cell: &Cell<'_>) -> Option<String> {
        match (self, cell) {
            (_, Cell::Blank) | (LossyFields::Types, Cell::Text(_)) => None,
            (_, Cell::Formatted(_, text)) => Some((*text).to_owned()),
            (LossyFields::LongTexts | LossyFields::Both, Cell::Text(text)) => write::cut_text(text),
            (LossyFields::LongTexts, _) => None,
            (LossyFields::Types | LossyFields::Both, cell) => Some(cell.shown().into_owned()),
        }
    }

    /// Whether `cell` may lose its number format when another program saves the report.
    fn may_lose_format(self, cell: &Cell<'_>) -> bool {
        let has_format = matches!(
            cell,
            Cell::Percent(_) | Cell::Money(..) | Cell::Rounded(..) | Cell::Date(_) | Cell::Time(_) | Cell::DateTime(_)
        );
        self == LossyFields::LongTexts && has_format
    }

    /// Writes a row of the ledger into `cut`, with long texts cut as in the report.
    pub fn cut(self, row: &Row, cut: &mut Row) {
        cut.clear(row.number);
        for (column, cell) in row.cells().enumerate() {
            match self.written(&cell).filter(|_| self == LossyFields::LongTexts) {
                Some(text) => cut.push(Cell::Text(&text)),
                None => cut.push_from(row, column),
            }
        }
    }
}

impl LossyRows {
    pub(super) fn new(lossy: LossyFields) -> LossyRows {
        LossyRows { lossy, ..LossyRows::default() }
    }

    /// Whether the row may have cut texts although the report is a text file.
    pub(super) fn may_be_cut(&self, cells: &[u8]) -> bool {
        self.lossy == LossyFields::Both && LossyFields::LongTexts.may_affect(cells)
    }

    /// Adds the encoded cells of a row with losses. Returns false if the memory limit is exceeded.
    pub(super) fn add(&mut self, index: usize, cells: &[u8], row: &mut Row) -> bool {
        if row.decode_one(cells).is_none() {
            return true;
        }
        let has_losses = |column: usize| {
            let cell = row.get(column);
            self.lossy.written(&cell).is_some()
                || self.lossy.may_lose_format(&cell)
                || row.shown(column).is_some()
                || matches!(cell, Cell::Text(text) if may_be_respelled(text) || text.contains('\r'))
        };
        if (0..row.len()).any(has_losses) {
            // Other cells are not needed.
            let (mut kept, mut bytes) = (Row::default(), Vec::new());
            kept.clear(row.number);
            for column in 0..row.len() {
                match has_losses(column) {
                    true => kept.push_from(row, column),
                    false => kept.push(Cell::Blank),
                }
            }
            kept.encode(&mut bytes);
            self.held += bytes.len();
            self.rows.insert(index, bytes.into());
        }
        self.held <= MAX_HELD
    }

    /// Writes the cells of `row` into `restored`, with the original cell for each unedited cell. `columns` has the
    /// column of the run for each column of the report. Returns the number of texts that a spreadsheet program changed, or
    /// `None` if the row has no losses.
    pub(super) fn restore(
        &self,
        index: usize,
        row: &Row,
        columns: &[Option<usize>],
        restored: &mut Row,
    ) -> Option<u64> {
        let mut original = Row::default();
        self.rows.get(&index).and_then(|cells| original.decode_one(cells))?;
        let mut respelled = 0;
        restored.clear(row.number);
        for (column, cell) in row.cells().enumerate() {
            let from = columns.get(column).copied().flatten();
            let known = from.map_or(Cell::Blank, |from| original.get(from));
            let written = self.lossy.written(&known);
            let is_unedited = match known {
                _ if written.is_some_and(|written| is_same(&cell.shown(), &written)) => true,
                Cell::Text(text) if has_same_lines(text, &cell) => true,
                Cell::Text(text) if is_respelled(text, &cell) => {
                    respelled += 1;
                    true
                }
                _ => cell == known || matches!(cell, Cell::Number(number) if is_stored_as(&known, number)),
            };
            match from.filter(|_| is_unedited) {
                Some(from) => restored.push_from(&original, from),
                None => restored.push_from(row, column),
            }
        }
        Some(respelled)
    }
}

/// Whether `cell` differs from `original` only in line ends, after saving by another program.
fn has_same_lines(original: &str, cell: &Cell<'_>) -> bool {
    let Cell::Text(text) = *cell else { return false };
    original.contains('\r') && normalize_line_ends(text) == normalize_line_ends(original)
}

fn is_same(text: &str, other: &str) -> bool {
    normalize_line_ends(text.trim()) == normalize_line_ends(other.trim())
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn unedited_texts_are_restored_to_their_original_cells() {
        let mut cells = LossyRows::default();
        let bytes = |cells: &[Cell<'_>]| {
            let (mut row, mut bytes) = (Row::default(), Vec::new());
            cells.iter().for_each(|cell| row.push(*cell));
            row.encode(&mut bytes);
            bytes
        };
        let day = Cell::Date(date(2025, 12, 31));
        let was = bytes(&[Cell::Text("A"), Cell::Number(1.234), day, Cell::Boolean(true), Cell::Number(7.0)]);
        assert!(cells.add(3, &was, &mut Row::default()));
        assert!(cells.add(4, &bytes(&[Cell::Text("A"), Cell::Blank]), &mut Row::default()));
        let mut row = Row::default();
        row.clear(9);
        ["2025-12-31", "1.234", "8", "A", "TRUE"].into_iter().for_each(|text| row.push(Cell::Text(text)));
        let mut typed = Row::default();
        let columns = [Some(2), Some(1), Some(4), Some(0), None];
        assert_eq!(cells.restore(3, &row, &columns, &mut typed), Some(0));
        let expected =
            [Cell::Date(date(2025, 12, 31)), Cell::Number(1.234), Cell::Text("8"), Cell::Text("A"), Cell::Text("TRUE")];
        assert!(typed.cells().eq(expected), "{typed:?}");
        assert_eq!(typed.number, 9);
        assert_eq!(cells.restore(4, &row, &columns, &mut typed), None, "the row has only texts");
    }

    #[test]
    fn values_without_their_number_format_are_restored_in_a_workbook() {
        let (mut row, mut bytes) = (Row::default(), Vec::new());
        let original = [Cell::Date(date(2026, 1, 2)), Cell::Percent(0.19), Cell::Percent(0.07), Cell::Number(5.0)];
        original.into_iter().for_each(|cell| row.push(cell));
        row.encode(&mut bytes);
        let mut cells = LossyRows::new(LossyFields::LongTexts);
        assert!(cells.add(0, &bytes, &mut Row::default()));
        row.clear(5);
        [46_024.0, 0.19, 0.16, 5.0].into_iter().for_each(|number| row.push(Cell::Number(number)));
        let mut restored = Row::default();
        assert_eq!(cells.restore(0, &row, &[Some(0), Some(1), Some(2), Some(3)], &mut restored), Some(0));
        let expected = [Cell::Date(date(2026, 1, 2)), Cell::Percent(0.19), Cell::Number(0.16), Cell::Number(5.0)];
        assert!(restored.cells().eq(expected), "{restored:?}");
    }

    #[test]
    fn line_ends_are_restored_in_unedited_texts() {
        let (mut row, mut bytes) = (Row::default(), Vec::new());
        ["one\r\ntwo", "=1\r\n+2", "a\r\nb"].into_iter().for_each(|text| row.push(Cell::Text(text)));
        row.encode(&mut bytes);
        let mut cells = LossyRows::default();
        assert!(cells.add(0, &bytes, &mut Row::default()));
        row.clear(5);
        ["one\ntwo", "=1\n+2", "a\nc"].into_iter().for_each(|text| row.push(Cell::Text(text)));
        let mut restored = Row::default();
        assert_eq!(cells.restore(0, &row, &[Some(0), Some(1), Some(2)], &mut restored), Some(0));
        assert!(restored.cells().eq(["one\r\ntwo", "=1\r\n+2", "a\nc"].map(Cell::Text)), "{restored:?}");
    }

    #[test]
    fn texts_that_became_numbers_are_restored_in_every_format() {
        for lossy in [LossyFields::Types, LossyFields::LongTexts, LossyFields::Both] {
            let mut cells = LossyRows::new(lossy);
            let (mut row, mut bytes) = (Row::default(), Vec::new());
            ["000042", "Nut", "4006381333948", "007"].into_iter().for_each(|text| row.push(Cell::Text(text)));
            row.encode(&mut bytes);
            assert!(cells.add(0, &bytes, &mut Row::default()));
            row.clear(5);
            [Cell::Number(42.0), Cell::Text("Nuts"), Cell::Text("4.00638E+12"), Cell::Text("8")]
                .into_iter()
                .for_each(|cell| row.push(cell));
            let mut restored = Row::default();
            assert_eq!(cells.restore(0, &row, &[Some(0), Some(1), Some(2), Some(3)], &mut restored), Some(2));
            let expected = ["000042", "Nuts", "4006381333948", "8"].map(Cell::Text);
            assert!(restored.cells().eq(expected), "{restored:?}");
        }
    }
}
