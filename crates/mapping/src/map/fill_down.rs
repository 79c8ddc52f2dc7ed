//! Filling of blank cells from the rows above.

use sheetport_sheet::{Cell, Row};

use super::super::bind::Layout;

/// Maximum number of bytes to fill in. A cell can be megabytes long, and every row below may repeat it.
const MAX_FILLED: u64 = 4 << 30;

/// Fills blank cells, row by row in the order of the sheet.
#[derive(Debug, Default)]
pub struct Filler {
    columns: Vec<usize>,
    within: Vec<usize>,
    /// The last cell of each column in `columns`, or blank.
    above: Row,
    /// The cells of the columns in `within` of the last row.
    group: Row,
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
        let group = cells(row, &self.within);
        if !group.cells().eq(self.group.cells()) {
            self.above.clear(0);
        }
        for (index, column) in self.columns.iter().enumerate() {
            let above = self.above.get(index);
            if row.get(*column).is_blank() && above != Cell::Blank {
                self.filled += text_len(above) as u64;
                row.put_from(*column, &self.above, index);
            }
        }
        self.group = group;
        self.above = cells(row, &self.columns);
    }

    /// Returns the column with the longest text if too much has been filled in.
    pub fn overflow(&self) -> Option<usize> {
        let longest = || self.columns.iter().zip(self.above.cells()).max_by_key(|(_, cell)| text_len(*cell));
        if self.filled > MAX_FILLED { longest().map(|(column, _)| *column) } else { None }
    }

    /// Adds a row without filling, for rows that were filled before.
    pub fn pass(&mut self, row: &Row) {
        self.group = cells(row, &self.within);
        self.above = cells(row, &self.columns);
    }
}

/// Returns the cells of some columns, with all blank cells empty.
fn cells(row: &Row, columns: &[usize]) -> Row {
    let mut cells = Row::default();
    for column in columns {
        match row.get(*column) {
            cell if cell.is_blank() => cells.push(Cell::Blank),
            _ => cells.push_from(row, *column),
        }
    }
    cells
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
