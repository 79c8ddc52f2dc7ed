//! What was approved of a plan, as counts with the first rows.

use sheetport_ledger::FIRST_ROWS;

/// What was approved of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approval {
    pub approved: u64,
    /// Approved records with fewer fields than planned, and the number of the fields that they lack.
    pub partly: u64,
    pub fields: u64,
    /// Records that were not approved, with their first rows: by a no or a blank cell, and by the loss of their rows in the file.
    pub declined: LeftOutRows,
    pub removed: LeftOutRows,
    /// Rows of the file with a yes whose records are not to be sent anyway.
    pub ignored: LeftOutRows,
}

/// Records with the first of their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOutRows {
    pub records: u64,
    pub first: Vec<u64>,
}

impl LeftOutRows {
    pub(crate) fn add(&mut self, row: Option<u64>) {
        self.records += 1;
        if self.first.len() < FIRST_ROWS {
            self.first.extend(row);
        }
    }
}
