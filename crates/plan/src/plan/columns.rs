//! Common columns of several sheets: positions of columns in a single table of all rows. Pure.
//!
//! Columns mapped to the same field share a common column regardless of names, because reports are read with the same
//! template. Other columns are matched by name.

use sheetport_mapping::Layout;
use sheetport_sheet::Row;

/// The positions of a sheet's columns among the common columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnMap {
    /// The common column of each column of the sheet. `None` if the sheet has exactly the common columns.
    positions: Option<Vec<usize>>,
    /// The number of common columns with a name.
    named: usize,
}

impl ColumnMap {
    /// Returns the common column of a column. Columns without a header follow all others.
    pub fn of(&self, column: usize) -> usize {
        match &self.positions {
            None => column,
            Some(positions) => {
                let unnamed = || self.named + column.saturating_sub(positions.len());
                positions.get(column).copied().unwrap_or_else(unnamed)
            }
        }
    }

    pub fn is_identity(&self) -> bool {
        self.positions.is_none()
    }

    /// Writes the first `width` cells of `row` to the common columns in `target`.
    pub(crate) fn lay_out(&self, row: &Row, width: usize, target: &mut Row) {
        target.clear(row.number);
        (0..width.min(row.len())).for_each(|column| target.put_from(self.of(column), row, column));
    }
}

/// Returns the names of the common columns, and the column map of each sheet.
pub(crate) fn merge_columns<'a>(layouts: impl Iterator<Item = &'a Layout>) -> (Vec<String>, Vec<ColumnMap>) {
    let mut names: Vec<String> = Vec::new();
    // The common column of each field of the template.
    let mut fields: Vec<Option<usize>> = Vec::new();
    let mut all = Vec::new();
    for layout in layouts {
        let own = &layout.header.names[..layout.width];
        let positions =
            if names.is_empty() { (0..own.len()).collect() } else { positions(layout, own, &names, &fields) };
        for (name, position) in own.iter().zip(&positions) {
            if *position >= names.len() {
                names.resize(position + 1, String::new());
                names[*position].clone_from(name);
            }
        }
        fields.resize(layout.columns.len(), None);
        for (field, columns) in fields.iter_mut().zip(&layout.columns) {
            // A column to the right of the header has no position.
            *field = field.or(columns.first().and_then(|column| positions.get(column).copied()));
        }
        all.push(positions);
    }
    let column_map = |positions: Vec<usize>| {
        let is_identity = positions.iter().copied().eq(0..names.len());
        ColumnMap { positions: (!is_identity).then_some(positions), named: names.len() }
    };
    let maps = all.into_iter().map(column_map).collect();
    (names, maps)
}

/// Returns the common column of each of the columns `own`: the column of the same field, else a column with
/// the same name, else a new column.
fn positions(layout: &Layout, own: &[String], names: &[String], fields: &[Option<usize>]) -> Vec<usize> {
    let mut taken = vec![false; names.len()];
    let mut positions: Vec<Option<usize>> = vec![None; own.len()];
    let mut assign = |column: usize, position: usize| {
        if positions.get(column).is_some_and(Option::is_none) && !std::mem::replace(&mut taken[position], true) {
            positions[column] = Some(position);
        }
    };
    for (columns, position) in layout.columns.iter().zip(fields) {
        if let (Some(column), Some(position)) = (columns.first(), position) {
            assign(column, *position);
        }
    }
    for (column, name) in own.iter().enumerate() {
        let same = names.iter().enumerate().filter(|(_, common)| common.trim() == name.trim());
        same.for_each(|(position, _)| assign(column, position));
    }
    let mut next = names.len();
    let mut new = || {
        next += 1;
        next - 1
    };
    positions.into_iter().map(|position| position.unwrap_or_else(&mut new)).collect()
}

#[cfg(test)]
mod tests {
    use sheetport_mapping::Header;
    use sheetport_mapping::bind::Columns;
    use sheetport_mapping::facts::Facts;
    use sheetport_sheet::Cell;

    use super::*;

    /// A layout with this header and the column of each field.
    fn layout(names: &[&str], columns: &[Option<usize>]) -> Layout {
        Layout {
            header: Header { row: 1, names: names.iter().map(|name| (*name).to_owned()).collect() },
            columns: columns.iter().map(|column| column.map_or(Columns::None, Columns::One)).collect(),
            numbered_lines: Vec::new(),
            cells: Vec::new(),
            group: Vec::new(),
            skip: Vec::new(),
            keep: Vec::new(),
            warn: Vec::new(),
            fill_down: Vec::new(),
            fill_within: Vec::new(),
            width: names.len(),
            is_report: false,
            is_defused: false,
            status: None,
            unused: Vec::new(),
            nameless: Vec::new(),
            rivals: Vec::new(),
            drifted: Vec::new(),
            facts: Facts::default(),
            found: 0,
        }
    }

    #[track_caller]
    fn check(sheets: &[Layout], names: &[&str], positions: &[&[usize]]) {
        let (common, maps) = merge_columns(sheets.iter());
        assert_eq!(common, names);
        for (sheet, (map, expected)) in maps.iter().zip(positions).enumerate() {
            let width = sheets[sheet].width;
            assert_eq!((0..width).map(|column| map.of(column)).collect::<Vec<_>>(), *expected, "sheet {sheet}");
            // Columns without a header follow all named columns.
            assert_eq!(map.of(width), names.len(), "sheet {sheet}");
        }
    }

    #[test]
    fn sheets_with_the_same_header_keep_their_columns() {
        let sheet = || layout(&["SKU", "Note", "Note", ""], &[Some(0)]);
        check(&[sheet()], &["SKU", "Note", "Note", ""], &[&[0, 1, 2, 3]]);
        check(&[sheet(), sheet()], &["SKU", "Note", "Note", ""], &[&[0, 1, 2, 3], &[0, 1, 2, 3]]);
        assert!(merge_columns([sheet(), sheet()].iter()).1.iter().all(ColumnMap::is_identity));
    }

    #[test]
    fn columns_are_matched_by_field_then_by_name() {
        let first = layout(&["SKU", "Name"], &[Some(0), Some(1), None]);
        let second = layout(&["Shelf", "Bezeichnung", "Artikelnummer", "Preis"], &[Some(2), Some(1), Some(3)]);
        let third = layout(&["Price", "Shelf", "SKU"], &[Some(2), None, Some(0)]);
        check(&[first, second, third], &["SKU", "Name", "Shelf", "Preis"], &[&[0, 1], &[2, 1, 0, 3], &[3, 2, 0]]);
    }

    #[test]
    fn two_fields_from_one_column_keep_all_columns_of_other_sheets() {
        let first = layout(&["SKU"], &[Some(0), Some(0)]);
        let second = layout(&["Name", "SKU"], &[Some(1), Some(0)]);
        check(&[first, second], &["SKU", "Name"], &[&[0], &[1, 0]]);
    }

    #[test]
    fn missing_columns_are_blank_in_the_laid_out_row() {
        let sheets = [layout(&["SKU", "Name"], &[Some(0)]), layout(&["Name", "Price", "SKU"], &[Some(2)])];
        let (_, maps) = merge_columns(sheets.iter());
        let (mut row, mut laid_out) = (Row::default(), Row::default());
        row.clear(7);
        [1.0, 2.0, 3.0, 4.0].map(Cell::Number).into_iter().for_each(|cell| row.push(cell));
        maps[1].lay_out(&row, row.len(), &mut laid_out);
        assert_eq!(laid_out.number, 7);
        let cells: Vec<_> = laid_out.cells().collect();
        assert_eq!(cells, [3.0, 1.0, 2.0, 4.0].map(Cell::Number));
    }
}
