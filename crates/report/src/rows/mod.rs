//! The rows of a report with the results of their records, as text in the language of the report.

mod checked_rows;
pub(super) mod records;
mod row;
mod supplier;
mod translator;
mod windows;

pub use checked_rows::{CheckedRow, each_checked_row};
pub use row::{COLUMNS, COLUMNS_IN_FRONT};
pub(super) use row::{
    ERRORS, Fault, ReportRow, STATUS, Subject, WARNINGS, column_of, each_row, place_of, report_columns, shortened,
    state_name,
};
pub use translator::Translator;
