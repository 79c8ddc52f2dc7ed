//! Mapping of rows: cells to JSON values, rows to values of records, and values to request bodies or problems.
//!
//! With one row per record, the row is the whole record. With several rows, [`Mapper::merge`] joins their values. In both
//! cases, [`Mapper::finish`] checks the record and [`Mapper::body`] builds the request. [`survey`] finds the notation of numbers
//! and dates before the first row, and [`fill_down`] fills blank cells from above.

mod checks;
mod convert;
pub mod explain;
pub mod fill_down;
mod finish;
mod gathered;
mod json;
mod key;
mod lines;
mod mapper;
mod memo;
mod number_formats;
mod problems;
mod resolved;
mod row_context;
mod special_rules;
pub mod survey;

pub use finish::Names;
pub use gathered::Gathered;
pub use json::unquoted;
pub use mapper::{Draft, Mapper, RowKind, SEPARATOR};
pub use memo::Memo;
pub use resolved::Resolved;
