//! What evidence finds in a row.

use sheetport_findings::Code;
use sheetport_sheet::Row;

/// A finding about a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: Code,
    /// The column, counted from 0.
    pub column: usize,
    /// The field that the template maps the column to; empty if it maps none.
    pub field: &'static str,
    pub value: String,
    pub message: String,
    pub remedy: String,
    /// Whether the row is sent all the same. Otherwise it waits until a person accepts findings of this code ([`Code::asks`]).
    pub is_warning: bool,
}

impl Finding {
    /// Returns a question about a value, or about the one that it contradicts.
    pub(super) fn unlike_others((column, field): (usize, &'static str), value: String, message: String) -> Finding {
        let remedy = "correct the cell that is wrong; if both are right, send the row with --accept unlike-others";
        let code = Code::UnlikeOthers;
        Finding { code, column, field, value, message, remedy: remedy.to_owned(), is_warning: false }
    }
}

/// The rows of a sheet that other rows contradict, with what is wrong in a column of each.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OddRows {
    code: Code,
    column: usize,
    field: &'static str,
    /// The numbers of the rows in their order, each with what is wrong.
    pub(super) rows: Vec<(u64, String)>,
}

impl OddRows {
    pub(super) fn new(code: Code, (column, field): (usize, &'static str), mut rows: Vec<(u64, String)>) -> OddRows {
        rows.sort();
        OddRows { code, column, field, rows }
    }

    /// Returns how many rows are odd.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn judge(&self, row: &Row) -> Option<Finding> {
        let place = self.rows.binary_search_by_key(&row.number, |(number, _)| *number).ok()?;
        let (_, message) = self.rows.get(place)?;
        let value = row.get(self.column).shown().trim().to_owned();
        Some(Finding {
            code: self.code,
            remedy: format!("correct it; if it is right, send the row with --accept {}", self.code),
            ..Finding::unlike_others((self.column, self.field), value, message.clone())
        })
    }
}
