//! Columns of prices and quantities that all rows but a few fill, with more than nothing.

use sheetport_sheet::Row;

use super::finding::Finding;
use super::roles::{Meaning, Roles};
use super::whole_records::number;

/// Fewest rows by which a blank cell is one.
const FEWEST: u64 = 20;
/// One row in so many may lack a value, beside the first: lists with a price on request in a hundred or two are usual.
const RARE: u64 = 500;

/// Fewest blank cells of the only gap of a column: prices that were deleted. Articles without a price seldom stand together.
const FEWEST_OF_BLOCK: u64 = 3;

/// Counts the blank cells and the zeros of a column.
#[derive(Clone, Debug)]
pub(super) struct FullCounts {
    column: usize,
    field: &'static str,
    /// Whether the template says nothing of blank cells.
    may_be_blank: bool,
    is_count: bool,
    rows: u64,
    blank: u64,
    /// How many times a blank cell follows one that is filled.
    gaps: u64,
    was_blank: bool,
    zeros: u64,
}

/// A column that all rows but a few fill.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Full {
    column: usize,
    field: &'static str,
    is_filled: bool,
    is_more_than_zero: bool,
}

impl FullCounts {
    pub(super) fn of(roles: &Roles) -> Vec<FullCounts> {
        let meant = [Meaning::UnitPrice, Meaning::ItemPrice, Meaning::Count];
        let numbers = roles.numbers.iter().filter(|(_, quantity)| meant.contains(&quantity.meaning));
        let counts = numbers.map(|(column, quantity)| FullCounts {
            column: *column,
            field: quantity.field,
            may_be_blank: roles.full.contains(&(*column, quantity.field)),
            is_count: quantity.meaning == Meaning::Count,
            rows: 0,
            blank: 0,
            gaps: 0,
            was_blank: false,
            zeros: 0,
        });
        counts.collect()
    }

    pub(super) fn row(&mut self, row: &Row) {
        // Rows with nothing else are titles of sections and remarks.
        if row.cells().filter(|cell| !cell.is_blank()).nth(1).is_some() {
            self.rows += 1;
            let is_blank = row.get(self.column).is_blank();
            self.blank += u64::from(is_blank);
            self.gaps += u64::from(is_blank && !self.was_blank);
            self.was_blank = is_blank;
            self.zeros += u64::from(self.is_count && number(&row.get(self.column)) == Some(0.0));
        }
    }

    pub(super) fn full(&self) -> Option<Full> {
        let are_few = |rows: u64| self.rows >= FEWEST && (1..=(self.rows / RARE).max(1)).contains(&rows);
        // Gifts and samples have no price, but nobody orders none of them.
        let is_more_than_zero = self.is_count && are_few(self.zeros);
        let is_block = self.gaps == 1 && (FEWEST_OF_BLOCK..=self.rows / 4).contains(&self.blank) && self.rows >= FEWEST;
        let is_filled = self.may_be_blank && (are_few(self.blank) || is_block);
        let full = Full { column: self.column, field: self.field, is_filled, is_more_than_zero };
        (is_filled || is_more_than_zero).then_some(full)
    }
}

impl Full {
    /// Warns of a blank cell: an item may be sold on request. Asks about the only number of nothing.
    pub(super) fn judge(&self, row: &Row) -> Option<Finding> {
        let cell = row.get(self.column);
        let is_blank = self.is_filled && cell.is_blank();
        let is_zero = self.is_more_than_zero && number(&cell) == Some(0.0);
        let (message, remedy) = match is_blank {
            true => ("is blank, unlike the others", "it is sent without a value; fill in the cell if one is missing"),
            false => {
                ("is zero, unlike the others", "correct it; if it is right, send the row with --accept unlike-others")
            }
        };
        (is_blank || is_zero).then(|| Finding {
            remedy: remedy.to_owned(),
            is_warning: is_blank,
            ..Finding::unlike_others((self.column, self.field), cell.shown().trim().to_owned(), message.to_owned())
        })
    }
}
