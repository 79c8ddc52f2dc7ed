//! Blank cells that mean "as above": how sheets are read that write a value once and leave it out in the rows below.

use super::bind::Layout;
use crate::sheet::{Cell, Row};

/// Bytes that are filled in, at most: a cell can be megabytes long, and all rows below may repeat it.
pub const MOST_FILLED: u64 = 4 << 30;

/// Fills blank cells from the rows above. Rows are given to it in the sheet's order.
#[derive(Debug, Default)]
pub struct Filler {
    columns: Vec<usize>,
    within: Vec<usize>,
    /// For each of the columns the cell that is above the next row, or blank.
    above: Row,
    next: Row,
    /// What the columns of `within` held in the row above, one after the other.
    place: Row,
    next_place: Row,
    filled: u64,
}

impl Filler {
    pub fn new(layout: &Layout) -> Filler {
        Filler { columns: layout.fill_down.clone(), within: layout.fill_within.clone(), ..Filler::default() }
    }

    pub fn row(&mut self, row: &mut Row) {
        if self.columns.is_empty() {
            return;
        }
        self.fill(row);
        self.see(row);
    }

    /// Fills the row's blanks from above.
    fn fill(&mut self, row: &mut Row) {
        copy(row, &self.within, &mut self.next_place);
        if !self.next_place.cells().eq(self.place.cells()) {
            self.above.clear(0);
        }
        std::mem::swap(&mut self.place, &mut self.next_place);
        for (nth, column) in self.columns.iter().enumerate() {
            let above = self.above.get(nth);
            if row.get(*column).is_blank() && above != Cell::Blank {
                self.filled += text_len(above) as u64;
                row.put(*column, above);
            }
        }
    }

    /// The column with the longest text, once more was filled in than is reasonable.
    pub fn overflow(&self) -> Option<usize> {
        let longest = || self.columns.iter().zip(self.above.cells()).max_by_key(|(_, cell)| text_len(*cell));
        if self.filled > MOST_FILLED { longest().map(|(column, _)| *column) } else { None }
    }

    /// Takes note of a row that is above the next one.
    fn see(&mut self, row: &Row) {
        copy(row, &self.columns, &mut self.next);
        std::mem::swap(&mut self.above, &mut self.next);
    }

    /// A row that was filled before, when other rows may have been above it: its blanks are blanks.
    pub fn pass(&mut self, row: &Row) {
        copy(row, &self.within, &mut self.place);
        self.see(row);
    }
}

fn copy(from: &Row, columns: &[usize], to: &mut Row) {
    to.clear(0);
    for column in columns {
        match from.get(*column) {
            cell if cell.is_blank() => to.push(Cell::Blank),
            cell => to.push(cell),
        }
    }
}

fn text_len(cell: Cell<'_>) -> usize {
    if let Cell::Text(text) = cell { text.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(columns: &[usize], within: &[usize], rows: &[&[&str]]) -> Vec<String> {
        let mut filler = Filler { columns: columns.to_vec(), within: within.to_vec(), ..Filler::default() };
        let fill = |cells: &&[&str]| {
            let mut row = Row::default();
            cells.iter().for_each(|cell| row.push(Cell::Text(cell)));
            filler.row(&mut row);
            row.cells().map(|cell| cell.shown().into_owned()).collect::<Vec<_>>().join("|")
        };
        rows.iter().map(fill).collect()
    }

    #[test]
    fn a_blank_cell_holds_what_the_last_one_above_that_is_not_blank_holds() {
        let rows: &[&[&str]] = &[&["", "1"], &["bolts", "2"], &[" ", "3"], &["", "4"], &["nuts", "5"], &["", ""]];
        assert_eq!(filled(&[0], &[], rows), ["|1", "bolts|2", "bolts|3", "bolts|4", "nuts|5", "nuts|"]);
        assert_eq!(filled(&[], &[], rows)[2], " |3");
    }

    #[test]
    fn nothing_is_carried_over_to_where_another_value_stands_in_the_columns_within() {
        let rows: &[&[&str]] = &[
            &["shirt", "Shirt", "Acme"],
            &["shirt", "", ""],
            &["cap", "Cap", ""],
            &["cap", "", ""],
            &["shirt", "", ""],
            &["", "", ""],
        ];
        let expected = ["shirt|Shirt|Acme", "shirt|Shirt|Acme", "cap|Cap|", "cap|Cap|", "shirt||", "||"];
        assert_eq!(filled(&[1, 2], &[0], rows), expected);
    }

    #[test]
    fn a_row_that_ends_before_the_column_gets_its_cell() {
        assert_eq!(filled(&[2], &[], &[&["a", "b", "c"], &["d"]]), ["a|b|c", "d||c"]);
    }
}
