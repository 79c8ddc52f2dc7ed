//! Spreadsheets: what a file turns out to be, its rows as cells with their positions, and files written whole.
//!
//! Nothing here knows what the rows mean, and nothing here imports another room. Reading streams: the memory that a
//! file needs does not grow with its rows, save for what its format forces (a workbook's shared strings).
//!
//! - [`run_reader_if_asked`] is for the first line of a program's `main`: workbooks are then read in processes of it.
//! - [`open`] finds out what a file is; [`Book::rows`] reads one sheet of it, row by row, into a reused [`Row`].
//! - [`mod@write`] writes tables as CSV or XLSX; a file appears under its name whole or not at all.

pub mod cell;
mod encoding;
pub mod error;
pub mod json;
pub mod read;
pub mod row;
pub mod table;
pub mod write;

pub use cell::{Cell, column_letters};
pub use encoding::RowEncoder;
pub use error::Error;
pub use read::{Book, Dialect, Options, Rows, Sure, open, read_workbooks_with, run_reader_if_asked};
pub use row::Row;
pub use table::Table;

/// Prefix of column titles reserved for Sheetport's reports. Templates ignore such columns.
pub const RESERVED_PREFIX: &str = "sheetport_";

/// Names of the summary sheet that a report begins with: the second one if the rows have the first. Uploads skip it.
pub const SUMMARY_SHEETS: [&str; 2] = ["Summary", "Report"];
