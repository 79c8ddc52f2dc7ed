//! What evidence finds in a row.

use sheetport_findings::Code;

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
