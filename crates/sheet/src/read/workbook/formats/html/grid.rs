//! The position of the next cell in a table, beside cells that span several columns or rows.

/// Limits of the HTML standard.
pub(super) const MAX_COLUMN_SPAN: usize = 1000;
pub(super) const MAX_ROW_SPAN: usize = 65_534;
/// Maximum number of cells over several rows at the same time.
const MAX_SPANNING: usize = 16_384;

#[derive(Debug, Default)]
pub(super) struct Grid {
    /// The number of the current row, from 1.
    pub row: u64,
    column: usize,
    /// Columns covered by cells of rows above.
    spanning: Vec<Spanning>,
}

#[derive(Debug)]
struct Spanning {
    first: usize,
    /// The column after the last covered column.
    end: usize,
    /// The last row.
    last_row: u64,
}

impl Grid {
    pub(super) fn start_row(&mut self) {
        self.row += 1;
        self.column = 0;
        let row = self.row;
        self.spanning.retain(|cell| cell.last_row >= row);
    }

    /// Returns the column of the next cell. `columns` and `rows` are its spans.
    pub(super) fn place(&mut self, columns: usize, rows: usize) -> usize {
        let mut column = self.column;
        while let Some(cell) = self.spanning.iter().find(|cell| (cell.first..cell.end).contains(&column)) {
            column = cell.end;
        }
        self.column = column.saturating_add(columns);
        if rows > 1 && self.spanning.len() < MAX_SPANNING {
            let last_row = self.row + rows as u64 - 1;
            self.spanning.push(Spanning { first: column, end: self.column, last_row });
        }
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_placed_beside_spanning_cells() {
        let mut grid = Grid::default();
        grid.start_row();
        assert_eq!([grid.place(1, 2), grid.place(2, 1), grid.place(1, 3)], [0, 1, 3]);
        grid.start_row();
        assert_eq!([grid.place(1, 1), grid.place(1, 1), grid.place(1, 1)], [1, 2, 4]);
        grid.start_row();
        assert_eq!([grid.place(3, 1), grid.place(1, 1)], [0, 4]);
        grid.start_row();
        assert_eq!((grid.place(1, 1), grid.row), (0, 4));
    }
}
