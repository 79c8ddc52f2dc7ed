//! Planning: the whole file is read, mapped and checked into the ledger before the first request.

mod assemble;
mod blank_columns;
pub(super) mod columns;
pub(super) mod decision;
mod duplicates;
mod file_warnings;
mod keys;
mod name;
pub(super) mod part;
mod parts_read;
mod read;
mod repeated;
pub(super) mod request;
mod row;
pub(super) mod row_problems;
pub(super) mod source;
mod suspects;
mod waiting;
mod write;

pub use assemble::Batch;
pub use columns::ColumnMap;
pub use duplicates::Withdrawal;
pub use part::Part;
pub use read::{ReadMode, read, survey, values_of_rules};
pub use source::{ALL_SHEETS, DataRows, Source};
pub use write::plan;
