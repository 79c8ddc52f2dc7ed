//! Columns of prices and quantities that all rows but a few fill.

use sheetport_findings::Code;
use sheetport_sheet::Row;

use super::finding::Finding;

/// Fewest rows by which a blank cell is one.
const FEWEST: u64 = 20;
/// One row in so many may lack a value, beside the first: lists with a price on request in a hundred or two are usual.
const RARE: u64 = 500;

/// Counts the blank cells of a column.
#[derive(Clone, Debug)]
pub(super) struct FullCounts {
    column: usize,
    field: &'static str,
    rows: u64,
    blank: u64,
}

/// A column that all rows but a few fill.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Full {
    column: usize,
    field: &'static str,
}

impl FullCounts {
    pub(super) fn new(column: usize, field: &'static str) -> FullCounts {
        FullCounts { column, field, rows: 0, blank: 0 }
    }

    pub(super) fn row(&mut self, row: &Row) {
        // Rows with nothing else are titles of sections and remarks.
        if row.cells().filter(|cell| !cell.is_blank()).nth(1).is_some() {
            self.rows += 1;
            self.blank += u64::from(row.get(self.column).is_blank());
        }
    }

    pub(super) fn full(&self) -> Option<Full> {
        let are_few = (1..=(self.rows / RARE).max(1)).contains(&self.blank);
        (self.rows >= FEWEST && are_few).then_some(Full { column: self.column, field: self.field })
    }
}

impl Full {
    /// Warns of a blank cell: an item may be sold on request.
    pub(super) fn judge(&self, row: &Row) -> Option<Finding> {
        row.get(self.column).is_blank().then(|| Finding {
            code: Code::UnlikeOthers,
            column: self.column,
            field: self.field,
            value: String::new(),
            message: "is blank, unlike the others".to_owned(),
            remedy: "it is sent without a value; fill in the cell if one is missing".to_owned(),
            is_warning: true,
        })
    }
}
