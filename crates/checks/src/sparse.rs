//! Rows that lack what nearly all others have, under an identifier unlike theirs: sums of a section, headings, footers in any language.

use sheetport_mapping::words::total_rows::is_total;
use sheetport_sheet::{Cell, Row};
use sheetport_values::normalize::trimmed;

use super::finding::Finding;
use super::roles::Roles;

/// Fewest rows by which a column is filled.
const FEWEST: u64 = 12;
/// Rows by which it is known which columns are filled.
const MAX_ROWS: u64 = 2048;
/// Most columns that are looked at.
const MAX_COLUMNS: usize = 32;
/// Fewest columns that nine of ten rows fill.
const FEWEST_FILLED: usize = 3;

/// Counts of the filled cells by column.
#[derive(Clone, Debug)]
pub(super) struct SparseCounts {
    key: Option<usize>,
    filled: Vec<(usize, u64)>,
    rows: u64,
    /// Rows whose identifier has a digit, and no space.
    with_digit: u64,
    without_space: u64,
}

/// The columns that nearly all rows fill.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sparse {
    key: usize,
    field: &'static str,
    filled: Vec<usize>,
    have_digits: bool,
    have_no_space: bool,
}

impl SparseCounts {
    pub(super) fn new(roles: &Roles) -> SparseCounts {
        let columns = roles.mapped.iter().map(|(column, _)| *column).chain(roles.unmapped.iter().copied());
        SparseCounts {
            key: roles.keys.first().or(roles.group.first()).copied().filter(|_| roles.status.is_none()),
            filled: columns.take(MAX_COLUMNS).map(|column| (column, 0)).collect(),
            rows: 0,
            with_digit: 0,
            without_space: 0,
        }
    }

    pub(super) fn row(&mut self, row: &Row) {
        let Some(key) = self.key.filter(|_| self.rows < MAX_ROWS) else { return };
        self.rows += 1;
        for (column, filled) in &mut self.filled {
            *filled += u64::from(!row.get(*column).is_blank());
        }
        let cell = row.get(key);
        self.with_digit += u64::from(has_digit(&cell));
        self.without_space += u64::from(!has_space(&cell));
    }

    pub(super) fn sparse(&self, roles: &Roles) -> Option<Sparse> {
        let key = self.key.filter(|_| self.rows >= FEWEST)?;
        let are_nearly_all = |rows: u64| rows * 10 >= self.rows * 9;
        let filled = self.filled.iter().filter(|(_, rows)| are_nearly_all(*rows));
        let filled: Vec<usize> = filled.map(|(column, _)| *column).collect();
        let field = roles.mapped_at(key).map_or("", |(_, field)| field);
        let (have_digits, have_no_space) = (are_nearly_all(self.with_digit), are_nearly_all(self.without_space));
        (filled.len() >= FEWEST_FILLED).then_some(Sparse { key, field, filled, have_digits, have_no_space })
    }
}

impl Sparse {
    pub(super) fn judge(&self, row: &Row) -> Option<Finding> {
        let lacking = self.filled.iter().filter(|column| row.get(**column).is_blank()).count();
        // Most rows lack nothing.
        if lacking < 2 {
            return None;
        }
        let cell = row.get(self.key);
        let is_unlike = self.have_digits && !has_digit(&cell) || self.have_no_space && has_space(&cell);
        let is_sum = || row.cells().any(|cell| matches!(cell, Cell::Text(text) if is_total(text)));
        let is_sparse = lacking * 5 >= self.filled.len() * 3;
        (is_sparse && !cell.is_blank() && (is_unlike || is_sum())).then(|| Finding {
            remedy: "delete the row if it is no record; if it is one, send it with --accept unlike-others".to_owned(),
            ..Finding::unlike_others(
                (self.key, self.field),
                cell.shown().trim().to_owned(),
                "lacks what nearly all other rows have, as the sum of a section does".to_owned(),
            )
        })
    }
}

fn has_digit(cell: &Cell<'_>) -> bool {
    let text = cell.shown();
    text.bytes().any(|byte| byte.is_ascii_digit()) || !text.is_ascii() && text.contains(char::is_numeric)
}

fn has_space(cell: &Cell<'_>) -> bool {
    let text = cell.shown();
    let text = trimmed(&text);
    text.bytes().any(|byte| matches!(byte, b'\t'..=b'\r' | b' '))
        || !text.is_ascii() && text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_lacks_most_cells_under_another_identifier_is_no_record() {
        let roles = Roles {
            mapped: vec![(0, "externalId"), (1, "name"), (3, "price")],
            unmapped: vec![2, 4],
            keys: vec![0],
            ..Roles::default()
        };
        let row = |texts: [&str; 5]| {
            let mut row = Row::default();
            texts.iter().for_each(|text| row.push(if text.is_empty() { Cell::Blank } else { Cell::Text(text) }));
            row
        };
        let mut counts = SparseCounts::new(&roles);
        (0..24).for_each(|n| counts.row(&row([&format!("A-{n}"), "Bolt", "pc", "12.50", "7"])));
        (0..2).for_each(|_| counts.row(&row(["Totale A", "", "", "300.00", ""])));
        let sparse = counts.sparse(&roles).unwrap_or_default();
        let is_odd = |texts| sparse.judge(&row(texts)).is_some();
        assert!(
            is_odd(["Totale A", "", "", "300.00", ""])
                && is_odd(["Viti", "", "", "", ""])
                && is_odd(["A-7", "Total", "", "", ""])
        );
        assert!(!is_odd(["A-7", "", "", "1.00", ""]) && !is_odd(["Viti", "Bolt", "", "1.00", ""]));
    }
}
