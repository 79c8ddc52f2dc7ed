//! Filling of blank cells from the rows above.

use super::super::bind::Layout;
use crate::sheet::{Cell, Row};

/// Maximum number of bytes filled in. A cell can be megabytes long, and every row below may repeat it.
const MAX_FILLED: u64 = 4 << 30;

/// Fills blank cells, row by row in the order of the sheet.
#[derive(Debug, Default)]
pub struct Filler {
    columns: Vec<usize>,
    within: Vec<usize>,
    /// The last cell of each column in `columns`, or blank.
    above: Row,
    next: Row,
    /// The cells of the columns in `within` of the last row.
    group: Row,
    next_group: Row,
    filled: u64,
}

impl Filler {
    pub fn new(layout: &Layout) -> Filler {
        Filler { columns: layout.fill_down.clone(), within: layout.fill_within.clone(), ..Filler::default() }
    }

    /// Fills the blank cells of the next row.
    pub fn row(&mut self, row: &mut Row) {
        if self.columns.is_empty() {
            return;
        }
        self.fill(row);
        self.remember(row);
    }

    fn fill(&mut self, row: &mut Row) {
        copy(row, &self.within, &mut self.next_group);
        if !self.next_group.cells().eq(self.group.cells()) {
            self.above.clear(0);
        }
        std::mem::swap(&mut self.group, &mut self.next_group);
        for (nth, column) in self.columns.iter().enumerate() {
            let above = self.above.get(nth);
            if row.get(*column).is_blank() && above != Cell::Blank {
                self.filled += text_len(above) as u64;
                row.put(*column, above);
            }
        }
    }

    /// Returns the column with the longest text if too much has been filled in.
    pub fn overflow(&self) -> Option<usize> {
        let longest = || self.columns.iter().zip(self.above.cells()).max_by_key(|(_, cell)| text_len(*cell));
        if self.filled > MAX_FILLED { longest().map(|(column, _)| *column) } else { None }
    }

    fn remember(&mut self, row: &Row) {
        copy(row, &self.columns, &mut self.next);
        std::mem::swap(&mut self.above, &mut self.next);
    }

    /// Adds a row without filling, for rows that were filled before.
    pub fn pass(&mut self, row: &Row) {
        copy(row, &self.within, &mut self.group);
        self.remember(row);
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
    fn blank_cells_repeat_the_last_value_above() {
        let rows: &[&[&str]] = &[&["", "1"], &["bolts", "2"], &[" ", "3"], &["", "4"], &["nuts", "5"], &["", ""]];
        assert_eq!(filled(&[0], &[], rows), ["|1", "bolts|2", "bolts|3", "bolts|4", "nuts|5", "nuts|"]);
        assert_eq!(filled(&[], &[], rows)[2], " |3");
    }

    #[test]
    fn values_are_not_repeated_in_another_group() {
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
    fn short_rows_are_extended() {
        assert_eq!(filled(&[2], &[], &[&["a", "b", "c"], &["d"]]), ["a|b|c", "d||c"]);
    }
}
