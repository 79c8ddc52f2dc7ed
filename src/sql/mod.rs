//! One set of statements for SQLite and PostgreSQL, used by the ledger and the service's store. The statements themselves are
//! there.
//!
//! A statement is text with `$1` parameters and their values; [`dialect`] has the few differing parts. The drivers of sqlx are
//! used directly, because its `Any` driver copies every value and takes options from an address only. [`server`] connects to a
//! server and creates the tables.

mod address;
mod dialect;
mod pool;
mod postgres_transaction;
mod query;
mod readers;
mod row;
mod server;
mod statement;
mod value;

pub use address::ServerAddress;
pub(crate) use dialect::Dialect;
pub(crate) use pool::{Executor, Pool, Transaction};
pub(crate) use query::{Builder, Query, query, query_as, query_scalar};
pub(crate) use readers::Readers;
pub(crate) use row::Row;
pub(crate) use server::{ServerError, Tables, message};
pub(crate) use value::{Value, storable};
