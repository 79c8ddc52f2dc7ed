//! The first rows of a sheet: the row of headers, the values of each column, and rows that are not records.

mod column_profile;
mod extra_rows;
mod first_rows;

pub(super) use column_profile::{ColumnProfile, RATE_IN_TEXT};
pub(super) use extra_rows::ExtraRows;
pub(super) use first_rows::Column;
pub use first_rows::Sample;
