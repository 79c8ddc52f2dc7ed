//! Mapping of rows: cells to JSON values, rows to parts of records, and parts to request bodies or problems.
//!
//! With one row per record, the row's part is the whole record. With several rows, [`Mapper::merge`] joins their parts. In both
//! cases, [`Mapper::finish`] checks the record and [`Mapper::body`] builds the request. [`survey`] finds the notation of numbers
//! and dates before the first row, and [`fill_down`] fills blank cells from above.

mod checks;
mod convert;
pub mod explain;
pub mod fill_down;
mod finish;
mod json;
mod lines;
mod mapper;
mod parts;
mod problems;
mod resolved;
mod row_context;
mod special_rules;
pub mod survey;

pub use finish::Names;
pub use json::unquoted;
pub use mapper::{Draft, Mapper, RowKind, SEPARATOR};
pub use parts::Parts;
pub use resolved::Resolved;
