//! How spreadsheet programs show a sheet: hidden rows, hidden columns, and merged cells.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::MAX_COLUMNS;
use crate::cell::{column_index, column_letters};

/// Maximum number of ranges of each kind. Further ranges are left out.
const MAX_RANGES: usize = 10_000;

/// The appearance of a sheet, known after its last row. Empty for a text.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Appearance {
    hidden_rows: Vec<(u64, u64)>,
    hidden_columns: Vec<(u64, u64)>,
    merged: Vec<MergedCells>,
    merged_across: Vec<MergedCells>,
}

/// A range of cells that is shown as one cell over several rows or columns.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MergedCells {
    /// Counted from 1.
    pub first_row: u64,
    pub last_row: u64,
    /// Counted from 0.
    pub first_column: usize,
    pub last_column: usize,
}

impl Appearance {
    /// Returns the appearance of a sheet without hidden rows, hidden columns and merged cells.
    pub(super) const fn plain() -> Appearance {
        Appearance {
            hidden_rows: Vec::new(),
            hidden_columns: Vec::new(),
            merged: Vec::new(),
            merged_across: Vec::new(),
        }
    }

    /// Returns the first and last rows of the ranges of hidden rows, possibly out of order and overlapping.
    pub fn hidden_rows(&self) -> &[(u64, u64)] {
        &self.hidden_rows
    }

    /// Returns whether the column is hidden, counted from 0.
    pub fn hides_column(&self, column: usize) -> bool {
        self.hidden_columns.iter().any(|(first, last)| (*first..=*last).contains(&(column as u64)))
    }

    /// Returns the merged cells that cover several rows.
    pub fn merged(&self) -> &[MergedCells] {
        &self.merged
    }

    /// Returns the merged cells within a row.
    pub fn merged_across(&self) -> &[MergedCells] {
        &self.merged_across
    }

    /// Hides `count` rows from `first` on, counted from 1. Rows come in order.
    pub(super) fn hide_rows(&mut self, first: u64, count: u64) {
        add(&mut self.hidden_rows, first, count);
    }

    /// Hides `count` columns from `first` on, counted from 0. Columns come in order.
    pub(super) fn hide_columns(&mut self, first: u64, count: u64) {
        add(&mut self.hidden_columns, first, count);
    }

    /// Adds merged cells. Ignores single cells, and ranges that are not in a sheet.
    pub(super) fn merge(&mut self, merged: MergedCells) {
        let ranges = match merged.first_row < merged.last_row {
            true => &mut self.merged,
            false => &mut self.merged_across,
        };
        let is_single = merged.first_row == merged.last_row && merged.first_column == merged.last_column;
        if merged.is_in_a_sheet() && !is_single && ranges.len() < MAX_RANGES {
            ranges.push(merged);
        }
    }

    /// Returns whether the reading process may have sent this.
    pub(super) fn is_valid(&self) -> bool {
        let are_ranges =
            |ranges: &[(u64, u64)]| ranges.len() <= MAX_RANGES && ranges.iter().all(|(first, last)| first <= last);
        are_ranges(&self.hidden_rows)
            && are_ranges(&self.hidden_columns)
            && [&self.merged, &self.merged_across]
                .iter()
                .all(|ranges| ranges.len() <= MAX_RANGES && ranges.iter().all(MergedCells::is_in_a_sheet))
    }
}

impl MergedCells {
    /// Returns the cells from a row, counted from 1, and a column, counted from 0, over some rows and columns.
    pub(super) fn spanning((row, rows): (u64, u64), (column, columns): (usize, usize)) -> MergedCells {
        MergedCells {
            first_row: row,
            last_row: row.saturating_add(rows.saturating_sub(1)),
            first_column: column,
            last_column: column.saturating_add(columns.saturating_sub(1)).min(MAX_COLUMNS - 1),
        }
    }

    /// Parses a range such as `B2:C5`, in any notation: `$C$5:$B$2`, `b2:c5`.
    pub(super) fn parse(range: &str) -> Option<MergedCells> {
        let range = range.replace('$', "").to_ascii_uppercase();
        let (one, other) = range.split_once(':')?;
        let (one, other) = (position(one)?, position(other)?);
        Some(MergedCells {
            first_row: one.1.min(other.1),
            last_row: one.1.max(other.1),
            first_column: one.0.min(other.0),
            last_column: one.0.max(other.0),
        })
    }

    /// Returns whether the range has a cell in this column, counted from 0.
    pub fn covers_column(&self, column: usize) -> bool {
        (self.first_column..=self.last_column).contains(&column)
    }

    fn is_in_a_sheet(&self) -> bool {
        (1..=self.last_row).contains(&self.first_row)
            && self.first_column <= self.last_column
            && self.last_column < MAX_COLUMNS
    }
}

impl fmt::Display for MergedCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (column_letters(self.first_column), column_letters(self.last_column));
        write!(f, "{first}{}:{last}{}", self.first_row, self.last_row)
    }
}

/// Returns the column, counted from 0, and the row of a cell such as `B2`.
fn position(cell: &str) -> Option<(usize, u64)> {
    let (letters, row) = cell.split_at(cell.find(|c: char| c.is_ascii_digit())?);
    Some((column_index(letters)?, row.parse().ok()?))
}

/// Adds `count` numbers from `first` on to ranges.
fn add(ranges: &mut Vec<(u64, u64)>, first: u64, count: u64) {
    if count == 0 {
        return;
    }
    let last = first.saturating_add(count - 1);
    if ranges.last().is_some_and(|(start, end)| *start <= first && last <= *end) {
        return;
    }
    if let Some((_, end)) = ranges.last_mut().filter(|(_, end)| end.checked_add(1) == Some(first)) {
        *end = last;
    } else if ranges.len() < MAX_RANGES {
        ranges.push((first, last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_order_become_ranges() {
        let mut appearance = Appearance::default();
        [(3, 1), (4, 2), (5, 1), (7, 0), (9, 1), (u64::MAX, 5), (1, 1)]
            .iter()
            .for_each(|(first, count)| appearance.hide_rows(*first, *count));
        assert_eq!(appearance.hidden_rows(), [(3, 5), (9, 9), (u64::MAX, u64::MAX), (1, 1)]);
        appearance.hide_columns(1, 2);
        assert_eq!([0, 1, 2, 3].map(|column| appearance.hides_column(column)), [false, true, true, false]);
    }

    #[test]
    fn merged_cells_over_several_rows_are_kept() {
        let mut appearance = Appearance::default();
        let ranges = ["B2:C5", "A1:C1", "AA10:AA11", "$D$9:c7", "C5:C5", "D0:D3", "XFD1:XFE2", "B2", "B:B", "1:2", ""];
        ranges.iter().filter_map(|range| MergedCells::parse(range)).for_each(|merged| appearance.merge(merged));
        let shown: Vec<String> = appearance.merged().iter().map(MergedCells::to_string).collect();
        assert_eq!(shown, ["B2:C5", "AA10:AA11", "C7:D9"]);
        assert_eq!(appearance.merged_across().iter().map(MergedCells::to_string).collect::<Vec<_>>(), ["A1:C1"]);
        assert_eq!(MergedCells::spanning((2, 4), (1, 2)).to_string(), "B2:C5");
        assert!(!MergedCells::spanning((0, 4), (1, 2)).is_in_a_sheet());
        assert!(MergedCells::spanning((2, u64::MAX), (1, usize::MAX)).is_in_a_sheet());
    }

    #[test]
    fn the_number_of_ranges_is_limited() {
        let mut appearance = Appearance::default();
        for number in 1..20_000 {
            appearance.hide_rows(2 * number, 1);
            appearance.hide_columns(2 * number, 1);
            appearance.merge(MergedCells::spanning((2 * number, 2), (0, 1)));
        }
        let lengths = [appearance.hidden_rows.len(), appearance.hidden_columns.len(), appearance.merged.len()];
        assert_eq!(lengths, [MAX_RANGES; 3]);
        assert!(appearance.is_valid());
        appearance.merged.push(MergedCells::spanning((1, 2), (0, 1)));
        assert!(!appearance.is_valid());
        let reversed = Appearance { hidden_rows: vec![(2, 1)], ..Appearance::plain() };
        assert!(!reversed.is_valid());
    }
}
