//! Checksums of rows and runs, and totals of the rows of a run.

mod row;
pub(super) mod seal;
pub(super) mod totals;

pub(super) use row::Checksum;
