//! One set of statements over two databases: SQLite and PostgreSQL.
//!
//! A statement is text with `$1` parameters and their values; [`dialect`] has the few parts that differ. The drivers of
//! sqlx are used directly: its `Any` driver copies every value and takes its options from an address only.

mod dialect;
mod pool;
mod query;
mod row;
mod statement;
mod value;

pub(super) use dialect::Dialect;
pub(super) use pool::{Executor, Pool, Transaction};
pub(super) use query::{Builder, Query, query, query_as, query_scalar};
pub(super) use row::Row;
pub(super) use value::{Value, storable};
