//! Planning: the whole file is read, mapped and checked into the ledger before the first request.

mod assemble;
pub(super) mod columns;
pub(super) mod decision;
mod keys;
pub(super) mod part;
mod read;
mod repeated;
mod row;
pub(super) mod row_problems;
pub(super) mod source;
mod suspects;
mod waiting;
mod write;

pub use assemble::{Batch, Withdrawal};
pub use columns::ColumnMap;
pub use part::Part;
pub use read::{ReadMode, read, survey};
pub use source::{ALL_SHEETS, DataRows, Source};
pub use write::plan;
