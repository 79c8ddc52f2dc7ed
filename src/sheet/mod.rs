//! Spreadsheets: what a file turns out to be, its rows as cells with their positions, and files written whole.
//!
//! Nothing here knows what the rows mean, and nothing here imports another room. Reading streams: the memory that a
//! file needs does not grow with its rows, save for what its format forces (a workbook's shared strings).
//!
//! - [`run_reader_if_asked`] is for the first line of a program's `main`: workbooks are then read in processes of it.
//! - [`open`] finds out what a file is; [`Book::rows`] reads one sheet of it, row by row, into a reused [`Row`].
//! - [`mod@write`] writes tables as CSV or XLSX; a file appears under its name whole or not at all.

pub mod cell;
pub mod error;
pub mod json;
pub mod read;
pub mod row;
pub mod table;
pub mod write;

pub use cell::{Cell, column_letters};
pub use error::Error;
pub use read::{Book, Dialect, Options, Rows, Sure, open, read_workbooks_with, run_reader_if_asked};
pub use row::Row;
pub use table::Table;

/// Columns that Sheetport adds to its reports begin with this; reading a report leaves them out.
pub const OUR_PREFIX: &str = "sheetport_";

/// What our workbooks call their first sheet, which says what the rows came to; the second where the rows are called
/// like the first.
pub const FRONT_SHEETS: [&str; 2] = ["Summary", "Report"];
