//! Names, dates and currencies that stand only on the first of several rows, as in lists of variants or of a day's movements: the rows below
//! would be records without them.

use sheetport_documents::write::quoted;
use sheetport_findings::Code;
use sheetport_sheet::Row;

use super::finding::Finding;
use super::roles::Roles;

/// Counts of rows with and without a value in a column.
#[derive(Clone, Debug)]
pub(super) struct BlankCounts {
    column: usize,
    field: &'static str,
    rows: u64,
    /// Rows of a record without a value, below one with a value.
    blank: u64,
    first_filled: Option<u64>,
}

/// A column with values on the first of several rows only.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BlankBelow {
    column: usize,
    field: &'static str,
    /// The first row with a value.
    first: u64,
}

impl BlankCounts {
    pub(super) fn new(column: usize, field: &'static str) -> BlankCounts {
        BlankCounts { column, field, rows: 0, blank: 0, first_filled: None }
    }

    pub(super) fn row(&mut self, roles: &Roles, row: &Row) {
        if !is_record(roles, row) {
            return;
        }
        self.rows += 1;
        if !row.get(self.column).is_blank() {
            self.first_filled.get_or_insert(row.number);
        } else if self.first_filled.is_some() {
            self.blank += 1;
        }
    }

    /// Makes all further rows come below a row with a value, if there was any.
    pub(super) fn begin_anywhere(&mut self) {
        self.first_filled = self.first_filled.map(|_| 0);
    }

    /// Returns what the rows show if a third of them, and at least two, lack the value below the first one. Single blanks are mistakes of
    /// their rows, footers have no name either, and a list with hardly any name is an update of other fields.
    pub(super) fn below(&self) -> Option<BlankBelow> {
        let are_blank = self.blank >= 2 && self.blank * 3 >= self.rows;
        let has_values = self.blank * 20 < self.rows * 19;
        let first = self.first_filled.filter(|_| are_blank && has_values)?;
        Some(BlankBelow { column: self.column, field: self.field, first })
    }
}

impl BlankBelow {
    pub(super) fn judge(&self, roles: &Roles, row: &Row) -> Option<Finding> {
        if row.number <= self.first || !row.get(self.column).is_blank() || !is_record(roles, row) {
            return None;
        }
        let (header, field) = (quoted(roles.name_of(self.column)), self.field);
        Some(Finding {
            code: Code::NoName,
            remedy: format!(
                "fill it in; if the cell above is meant, add fill_down = [{header}] to [sheet] in the template; if records without it are \
                 right, set damaged = \"accept\" for {field}"
            ),
            ..Finding::unlike_others(
                (self.column, field),
                String::new(),
                "is blank, though rows above are filled".to_owned(),
            )
        })
    }
}

/// Whether a row has an identifier of a record, or a number if the kind of record has none.
fn is_record(roles: &Roles, row: &Row) -> bool {
    let is_filled = |column: usize| !row.get(column).is_blank();
    match roles.keys.is_empty() {
        true => roles.numbers.iter().any(|(column, _)| is_filled(*column)),
        false => roles.keys.iter().any(|key| is_filled(*key)),
    }
}
