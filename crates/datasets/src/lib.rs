//! Tables with typed columns, as Parquet files and in SQLite databases.
//!
//! Knows no service, no ledger and no exports: a caller names lists, columns and their types, and passes rows. Values come as JSON has
//! them, with all digits. A value is stored exactly, or refused: nothing is rounded.
//!
//! | module | purpose |
//! |---|---|
//! | [`kind`] | the types of columns, and values |
//! | [`exact`] | numbers with all digits |
//! | [`moment`] | times as microseconds |
//! | [`observed`] | which type holds all values of a column, and which values an earlier type does not hold |
//! | `parquet/on.rs` | the writer of Parquet files, with the feature `parquet`; `parquet/off.rs` has the same interface and writes none |
//! | [`sqlite`] | databases that are updated: upserts, removed records, a table of changes |
//! | `testing.rs` | reading back, for tests |
//!
//! Begin with [`kind`], then [`observed`]. SQLite is used through rusqlite, which links the same library as sqlx: rows are written one by one
//! on a thread of the caller, for which an asynchronous connection would need a message each.

mod error;
mod exact;
mod kind;
mod moment;
mod observed;
mod parquet;
mod sqlite;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use self::error::Error;
pub use self::kind::{Column, Kind, Store, Value};
pub use self::observed::{Misfits, Observed};
pub use self::parquet::{HAS_PARQUET, ParquetTable};
pub use self::sqlite::{Counts, Database, DatabaseColumn, DatabaseList, Found, Key, ListInDatabase};
