//! Edits of cells made in a review. Applied to each row right after reading, so that all later steps see the edited sheet.

use std::collections::HashMap;

use sheetport_ledger::Edit;
use sheetport_sheet::{Cell, Row};

/// The current edits of a file: the last edit of each cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    rows: HashMap<(usize, u64), EditedRow>,
}

/// The edits of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditedRow {
    pub is_left_out: bool,
    /// The columns of edited cells with their texts, in order. Most edited rows have one: a map would take five times the memory.
    cells: Vec<(usize, String)>,
}

impl EditedRow {
    /// Returns the text of an edited cell.
    pub fn cell(&self, column: usize) -> Option<&str> {
        let at = self.cells.binary_search_by_key(&column, |(column, _)| *column).ok()?;
        Some(&self.cells[at].1)
    }

    /// Returns the columns of the edited cells, in order.
    pub fn columns(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.cells.iter().map(|(column, _)| *column)
    }

    fn set(&mut self, column: usize, text: Option<&String>) {
        let place = self.cells.binary_search_by_key(&column, |(column, _)| *column);
        match (place, text) {
            (Ok(at), Some(text)) => self.cells[at].1.clone_from(text),
            (Err(at), Some(text)) => self.cells.insert(at, (column, text.clone())),
            (Ok(at), None) => drop(self.cells.remove(at)),
            (Err(_), None) => {}
        }
    }
}

impl Edits {
    pub fn add(&mut self, edit: &Edit) {
        let place = (edit.sheet, edit.row);
        let row = self.rows.entry(place).or_default();
        match (edit.column, &edit.new) {
            (None, new) => row.is_left_out = new.is_some(),
            (Some(column), new) => row.set(column, new.as_ref()),
        }
        if *row == EditedRow::default() {
            self.rows.remove(&place);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of edited cells and the number of rows left out.
    pub fn counts(&self) -> (usize, usize) {
        let cells = self.rows.values().map(|row| row.cells.len()).sum();
        (cells, self.rows.values().filter(|row| row.is_left_out).count())
    }

    /// Returns the edits of a row.
    pub fn of_row(&self, sheet: usize, row: u64) -> Option<&EditedRow> {
        self.rows.get(&(sheet, row))
    }

    /// Returns the edited text of a cell.
    pub fn cell(&self, sheet: usize, row: u64, column: usize) -> Option<&str> {
        self.of_row(sheet, row)?.cell(column)
    }

    /// Whether a person has left the row out.
    pub fn leaves_out(&self, sheet: usize, row: u64) -> bool {
        self.of_row(sheet, row).is_some_and(|row| row.is_left_out)
    }

    /// Returns the rows of a sheet that a person has left out, in no order.
    pub fn left_out(&self, sheet: usize) -> impl Iterator<Item = u64> {
        let is_out = move |((of, _), row): &(&(usize, u64), &EditedRow)| *of == sheet && row.is_left_out;
        self.rows.iter().filter(is_out).map(|((_, number), _)| *number)
    }

    /// Replaces the edited cells of a row.
    pub fn apply(&self, sheet: usize, row: &mut Row) {
        let Some(edited) = self.of_row(sheet, row.number) else { return };
        for (column, text) in &edited.cells {
            let number = number_like(row.get(*column), text);
            match number {
                Some(number) => row.put(*column, Cell::Number(number)),
                None if text.is_empty() => row.put(*column, Cell::Blank),
                None => row.put(*column, Cell::Text(text)),
            }
        }
    }
}

/// Returns the text as a number, if it replaces a number of a workbook and is formatted like one. The style of texts in the
/// column must not affect the result.
fn number_like(old: Cell<'_>, text: &str) -> Option<f64> {
    let Cell::Number(_) = old.unformatted() else { return None };
    let number: f64 = text.parse().ok()?;
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && !text.ends_with('.');
    let has_leading_zero = digits.starts_with('0') && digits.len() > 1 && !digits.starts_with("0.");
    (is_plain && !has_leading_zero && number.is_finite()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(row: u64, column: Option<usize>, new: Option<&str>) -> Edit {
        Edit {
            step: 1,
            undoes: None,
            sheet: 0,
            row,
            column,
            old: None,
            new: new.map(str::to_owned),
            who: String::new(),
            at: 0,
        }
    }

    fn edits_of(edits: &[Edit]) -> Edits {
        let mut result = Edits::default();
        edits.iter().for_each(|edit| result.add(edit));
        result
    }

    #[test]
    fn the_last_edit_of_a_cell_counts() {
        let all = [edit(2, Some(1), Some("a")), edit(2, Some(1), Some("b")), edit(3, None, Some("left-out"))];
        let edits = edits_of(&all);
        assert_eq!((edits.cell(0, 2, 1), edits.counts()), (Some("b"), (1, 1)));
        assert!(edits.leaves_out(0, 3) && !edits.leaves_out(1, 3));
        let mut undone = edits;
        undone.add(&edit(2, Some(1), None));
        undone.add(&edit(3, None, None));
        assert!(undone.is_empty());
    }

    #[test]
    fn numbers_stay_numbers_and_other_texts_stay_texts() {
        for (old, text, new) in [
            (Cell::Number(1.0), "12.50", Cell::Number(12.5)),
            (Cell::Number(1.0), "-3", Cell::Number(-3.0)),
            (Cell::Number(1.0), "0.5", Cell::Number(0.5)),
            (Cell::Number(42.0), "0042", Cell::Text("0042")),
            (Cell::Number(1.0), "12,50", Cell::Text("12,50")),
            (Cell::Text("1"), "2", Cell::Text("2")),
            (Cell::Text("1"), "", Cell::Blank),
        ] {
            let mut row = Row::default();
            row.clear(2);
            row.push(old);
            edits_of(&[edit(2, Some(0), Some(text))]).apply(0, &mut row);
            assert_eq!(row.get(0), new, "{text}");
        }
    }
}
