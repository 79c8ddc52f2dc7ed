//! Planning: the whole file is read, mapped and checked into the ledger before the first request.
//!
//! `check` and `--dry-run` consist of exactly this pass (`read`), and cannot disagree with `upload`. Some properties need a whole column:
//! the order of day and month, the decimal separator, and the evidence of `sheetport_checks`. The first rows decide; if a later
//! row contradicts, the plan is cleared and the sheet is read again.
//!
//! Rows of one record may be anywhere in the sheet, so all records are held until the end, up to 1 GiB. With `rows = "together"`, only one
//! record is held at a time. `Mapper::finish` checks properties of complete records, such as missing required fields.
//!
//! With `[unpivot]`, `read` repeats a row for each filled cell. Each repetition is mapped, reviewed and stored like a row: `SourceRow::cell`
//! names the column, so `ledger::retries` can follow every cell through the retries. Reports join the entries of a row again.

mod assemble;
pub(super) mod checks;
mod column_profile;
pub(super) mod columns;
pub(super) mod decision;
mod file_keys;
mod gone;
mod judge;
mod read;
pub(super) mod request;
mod row;
pub(super) mod source;
mod standing;
pub(super) mod table;
mod waiting;
mod write;

pub use assemble::Batch;
pub use checks::duplicates::Withdrawal;
pub use column_profile::column_profile;
pub use columns::ColumnMap;
pub use file_keys::{FileKeys, file_keys};
pub use gone::GoneRecord;
pub use judge::{Judge, Judged, Verdict};
pub use read::{ReadMode, read, read_surveyed, survey, values_of_rules};
pub use row::{Known, ledger_problem};
pub use sheetport_checks::ColumnProfile;
pub use source::{ALL_SHEETS, DataRows, Source, unanswered};
pub use table::Table;
pub use write::plan;
