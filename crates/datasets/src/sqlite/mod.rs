//! SQLite databases that exports update.
//!
//! A database has a table for each list, with a row for each record by its id. A record that is gone keeps its row, with the time of the
//! export in `deleted_at`. The table `changes` has a row for each record that was added, changed or removed. The tables
//! `sheetport_lists` and `sheetport_columns` say what is ours, and the number in the header of the file that the database is an export.
//!
//! A database that exists is updated in place, in one transaction with a rollback journal: other programs see the state before or after
//! it, the tables and views of others stay, and the file alone is whole, so that it can be copied. A new database is built elsewhere by the
//! caller's choice of path, without a journal, and then moved.
//!
//! Columns have the types TEXT, INTEGER, NUMERIC, TIMESTAMP and BOOLEAN. SQLite stores times as text in UTC, true and false as 1 and 0,
//! and numbers as integers of 64 bits or as doubles, which have room for 15 digits: other numbers are refused before
//! ([`crate::observed`]). A column without values has no type yet.

mod cells;
mod columns;
mod failure;
mod open;
mod tables;
#[cfg(test)]
mod tests;
mod writer;

pub use self::columns::{DatabaseColumn, ListInDatabase};
pub use self::open::Found;
pub use self::tables::DatabaseList;
pub use self::writer::{Counts, Database, Key};
