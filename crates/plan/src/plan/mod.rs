//! Planning: the whole file is read, mapped and checked into the ledger before the first request.

mod assemble;
pub(super) mod checks;
pub(super) mod columns;
pub(super) mod decision;
mod judge;
pub(super) mod part;
mod read;
pub(super) mod request;
mod row;
pub(super) mod source;
mod waiting;
mod write;

pub use assemble::Batch;
pub use checks::duplicates::Withdrawal;
pub use columns::ColumnMap;
pub use judge::{Judge, Judged, Verdict};
pub use part::Part;
pub use read::{ReadMode, read, read_surveyed, survey, values_of_rules};
pub use row::{Known, ledger_problem};
pub use source::{ALL_SHEETS, DataRows, Source};
pub use write::plan;
