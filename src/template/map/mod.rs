//! Mapping of rows: cells to JSON values, rows to parts of records, and parts to request bodies or problems.
//!
//! With one row per record, the row's part is the whole record. With several rows, [`Mapper::merge`] joins their parts. In both
//! cases, [`Mapper::finish`] checks the record and [`Mapper::body`] builds the request. [`survey`] finds the notation of numbers
//! and dates before the first row, and [`fill_down`] fills blank cells from above.

mod conditions;
mod convert;
mod currencies;
pub mod explain;
pub mod fill_down;
mod finish;
mod json;
mod lines;
mod mapper;
mod no_record;
mod numbers;
mod parts;
mod price_unit;
mod problems;
mod row_context;
mod row_survey;
mod special_rules;
pub mod survey;
mod turned_dates;

pub use finish::Names;
pub use json::unquoted;
pub use mapper::{Draft, Mapper, RowKind, SEPARATOR, SkipCause};
pub use parts::Parts;
