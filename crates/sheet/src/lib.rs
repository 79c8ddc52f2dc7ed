//! Reading and writing of spreadsheets. This crate does not know what the rows mean: no template, no record, no run.
//!
//! - [`open`] detects the format of a file; [`Book::rows`] streams the rows of a sheet into a reusable [`Row`].
//! - [`run_reader_if_asked`] must be the first call in `main`, so that workbooks are read in a separate process.
//! - [`mod@write`] writes tables as text or XLSX. A file appears complete or not at all ([`write::WholeFile`]).
//!
//! | module | purpose |
//! |---|---|
//! | [`cell`], [`row`], [`table`] | typed cells, rows in two reusable buffers, a sheet as a clean table |
//! | [`read`] | formats of files; `read::text` for delimited text, `read::workbook` for everything else |
//! | [`mod@write`] | CSV, TSV, NDJSON and XLSX, with exact digits and without formulas |
//! | [`encoding`] | rows in bytes, for the pipe of the reading process and for the ledger; validated when read |
//! | [`report_words`], `read/report_columns.rs` | titles of a report's columns; every reader gets the columns of the sheet first |
//! | [`json`], [`compression`], [`private_file`], [`unsplit`] | rows as JSON, compressed texts, private copies, rows not split into columns |
//!
//! Begin with `read/open.rs` and `read/book.rs`. Memory is bounded for any input: texts go through a window, workbooks through a process with
//! limits. The process that plans and sends never parses a workbook, a web page or an archive.

pub mod cell;
pub mod compression;
mod encoding;
pub mod error;
pub mod json;
mod private_file;
pub mod read;
mod report_words;
pub mod row;
pub mod table;
mod unsplit;
pub mod write;

pub use cell::{Cell, Shown, column_letters};
pub use error::Error;
pub use private_file::PrivateFile;
pub use read::{
    Appearance, Attempt, Book, Confidence, Dialect, Doubt, EncodingDoubt, MergedCells, Options, Protections, Rows,
    open, read_workbooks_with, run_reader_if_asked, try_protections,
};
pub use report_words::{ReportWords, english_state};
pub use row::Row;
pub use table::Table;
pub use unsplit::{UNSPLIT_HINT, is_unsplit};

/// Prefix of column titles reserved for Sheetport's reports. Templates ignore such columns.
pub const RESERVED_PREFIX: &str = "sheetport_";
