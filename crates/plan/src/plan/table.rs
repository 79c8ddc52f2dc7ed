//! A table to read: a sheet bound to the template.

use sheetport_ledger::Problem;
use sheetport_mapping::Layout;
use sheetport_mapping::problem::excerpt;

use super::columns::ColumnMap;

/// A sheet to read, with its columns.
#[derive(Debug)]
pub struct Table {
    /// The index in `Book::sheets`.
    pub sheet: usize,
    pub layout: Layout,
    /// The layouts of cells that are separate records, in the order of [`Layout::cells`].
    pub cells: Vec<Layout>,
    /// The positions of the columns in the common header.
    pub columns: ColumnMap,
}

impl Table {
    /// Returns a problem of a whole column, with its name and with its position in the common header.
    pub(super) fn of_column(&self, column: usize, problem: Problem) -> Problem {
        let header = self.layout.header.names.get(column).map(|name| excerpt(name)).unwrap_or_default();
        Problem { column: Some(self.columns.of(column)), header, ..problem }
    }
}
