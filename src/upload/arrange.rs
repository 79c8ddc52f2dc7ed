//! The common columns of several sheets: where each sheet's columns go in one table of all their rows. Pure.
//!
//! Columns that become the same field go together whatever each sheet calls them, because a report is sent again by the
//! same template. The others go together by their names.

use crate::sheet::Row;
use crate::template::Layout;

/// Where a sheet's columns are among the common ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// For each of the sheet's own columns; nothing where they are the common ones.
    moved: Option<Vec<usize>>,
    /// How many common columns have a name.
    named: usize,
}

impl Places {
    /// Where the sheet's column is among the common ones. Columns without a header come behind all others.
    pub fn of(&self, column: usize) -> usize {
        match &self.moved {
            None => column,
            Some(moved) => moved.get(column).copied().unwrap_or(self.named + column.saturating_sub(moved.len())),
        }
    }

    pub fn are_moved(&self) -> bool {
        self.moved.is_some()
    }

    /// Lays the first `width` cells of `row` out in the common columns.
    pub fn lay_out(&self, row: &Row, width: usize, into: &mut Row) {
        into.clear(row.number);
        row.cells().take(width).enumerate().for_each(|(column, cell)| into.put(self.of(column), cell));
    }
}

/// The names of the common columns, and where each sheet's columns are among them.
pub fn arrange<'a>(layouts: impl Iterator<Item = &'a Layout>) -> (Vec<String>, Vec<Places>) {
    let mut names: Vec<String> = Vec::new();
    // For each of the template's fields, the common column that it comes from.
    let mut fields: Vec<Option<usize>> = Vec::new();
    let mut all = Vec::new();
    for layout in layouts {
        let own = &layout.header.names[..layout.width];
        let moved = if names.is_empty() { (0..own.len()).collect() } else { places(layout, own, &names, &fields) };
        for (name, place) in own.iter().zip(&moved) {
            if *place >= names.len() {
                names.resize(place + 1, String::new());
                names[*place].clone_from(name);
            }
        }
        fields.resize(layout.columns.len(), None);
        for (field, column) in fields.iter_mut().zip(&layout.columns) {
            // A column past the header has no place among the names.
            *field = field.or(column.first().and_then(|column| moved.get(column).copied()));
        }
        all.push(moved);
    }
    let places = |moved: Vec<usize>| {
        let is_same = moved.len() == names.len() && moved.iter().enumerate().all(|(column, place)| column == *place);
        Places { moved: (!is_same).then_some(moved), named: names.len() }
    };
    let places = all.into_iter().map(places).collect();
    (names, places)
}

/// Where the columns `own` go: to the common column of their field, else to one of their name, else behind.
fn places(layout: &Layout, own: &[String], names: &[String], fields: &[Option<usize>]) -> Vec<usize> {
    let mut taken = vec![false; names.len()];
    let mut places: Vec<Option<usize>> = vec![None; own.len()];
    let mut put = |places: &mut Vec<Option<usize>>, column: usize, place: usize| {
        if places.get(column).is_some_and(Option::is_none) && !std::mem::replace(&mut taken[place], true) {
            places[column] = Some(place);
        }
    };
    for (column, place) in layout.columns.iter().zip(fields) {
        if let (Some(column), Some(place)) = (column.first(), place) {
            put(&mut places, column, *place);
        }
    }
    for (column, name) in own.iter().enumerate() {
        let alike = names.iter().enumerate().filter(|(_, common)| common.trim() == name.trim());
        alike.for_each(|(place, _)| put(&mut places, column, place));
    }
    let mut behind = names.len()..;
    places.into_iter().map(|place| place.unwrap_or_else(|| behind.next().unwrap_or(usize::MAX))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::Cell;
    use crate::template::Header;
    use crate::template::bind::Columns;

    /// A sheet with this header, of which the fields come from these columns.
    fn layout(names: &[&str], columns: &[Option<usize>]) -> Layout {
        Layout {
            header: Header { row: 1, names: names.iter().map(|name| (*name).to_owned()).collect() },
            columns: columns.iter().map(|column| column.map_or(Columns::None, Columns::One)).collect(),
            group: Vec::new(),
            skip_column: None,
            fill_down: Vec::new(),
            fill_within: Vec::new(),
            width: names.len(),
            is_report: false,
            is_defused: false,
            status: None,
            unused: Vec::new(),
            drifted: Vec::new(),
            found: 0,
        }
    }

    #[track_caller]
    fn check(sheets: &[Layout], names: &[&str], moved: &[&[usize]]) {
        let (common, places) = arrange(sheets.iter());
        assert_eq!(common, names);
        for (sheet, (places, expected)) in places.iter().zip(moved).enumerate() {
            let width = sheets[sheet].width;
            assert_eq!((0..width).map(|column| places.of(column)).collect::<Vec<_>>(), *expected, "sheet {sheet}");
            // What has no header stands behind everything that has one.
            assert_eq!(places.of(width), names.len(), "sheet {sheet}");
        }
    }

    #[test]
    fn one_sheet_and_sheets_alike_stay_as_they_are() {
        let sheet = || layout(&["SKU", "Note", "Note", ""], &[Some(0)]);
        check(&[sheet()], &["SKU", "Note", "Note", ""], &[&[0, 1, 2, 3]]);
        check(&[sheet(), sheet()], &["SKU", "Note", "Note", ""], &[&[0, 1, 2, 3], &[0, 1, 2, 3]]);
        assert!(arrange([sheet(), sheet()].iter()).1.iter().all(|places| !places.are_moved()));
    }

    #[test]
    fn columns_go_together_by_their_field_then_by_their_name() {
        let first = layout(&["SKU", "Name"], &[Some(0), Some(1), None]);
        let second = layout(&["Shelf", "Bezeichnung", "Artikelnummer", "Preis"], &[Some(2), Some(1), Some(3)]);
        let third = layout(&["Price", "Shelf", "SKU"], &[Some(2), None, Some(0)]);
        check(&[first, second, third], &["SKU", "Name", "Shelf", "Preis"], &[&[0, 1], &[2, 1, 0, 3], &[3, 2, 0]]);
    }

    #[test]
    fn two_fields_of_one_column_do_not_lose_a_column_elsewhere() {
        let first = layout(&["SKU"], &[Some(0), Some(0)]);
        let second = layout(&["Name", "SKU"], &[Some(1), Some(0)]);
        check(&[first, second], &["SKU", "Name"], &[&[0], &[1, 0]]);
    }

    #[test]
    fn a_row_is_laid_out_with_blanks_for_what_its_sheet_does_not_have() {
        let sheets = [layout(&["SKU", "Name"], &[Some(0)]), layout(&["Name", "Price", "SKU"], &[Some(2)])];
        let (_, places) = arrange(sheets.iter());
        let (mut row, mut laid_out) = (Row::default(), Row::default());
        row.clear(7);
        [1.0, 2.0, 3.0, 4.0].map(Cell::Number).into_iter().for_each(|cell| row.push(cell));
        places[1].lay_out(&row, row.len(), &mut laid_out);
        assert_eq!(laid_out.number, 7);
        let cells: Vec<_> = laid_out.cells().collect();
        assert_eq!(cells, [3.0, 1.0, 2.0, 4.0].map(Cell::Number));
    }
}
