//! The problems of a sheet, kept up to date with its edits.

mod checked_sheet;
mod keys_of_rows;
mod not_sent;
mod revise;

pub use checked_sheet::{CauseOfRows, CheckedSheet, examine};
pub(super) use checked_sheet::{ProblemPlace, open_as_upload};
pub use revise::RowVerdict;
