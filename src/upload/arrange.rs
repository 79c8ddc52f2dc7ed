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
