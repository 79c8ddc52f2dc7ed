//! Problems with the same cause, as JSON.

use serde::Serialize;
use sheetport_findings::Code;
use sheetport_ledger::{Causes, Group};
use sheetport_sheet::column_letters;

/// Problems with the same cause.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct Cause {
    pub code: Code,
    pub count: u64,
    /// The first rows with the problem.
    pub rows: Vec<u64>,
    /// Letters of the column; null if the cause is not a single cell.
    pub column: Option<String>,
    pub header: String,
    pub field: String,
    /// Value of the first row.
    pub value: String,
    pub message: String,
    pub remedy: String,
}

/// Returns the causes for a summary, largest first.
pub(in crate::commands) fn causes(causes: &Causes) -> Vec<Cause> {
    causes.groups().into_iter().map(Cause::of).collect()
}

impl Cause {
    fn of(group: &Group) -> Cause {
        let problem = group.problem.clone();
        Cause {
            code: problem.code,
            count: group.count,
            rows: group.rows.clone(),
            column: problem.column.map(column_letters),
            header: problem.header,
            field: problem.field,
            value: problem.value,
            message: problem.message,
            remedy: problem.remedy,
        }
    }
}
