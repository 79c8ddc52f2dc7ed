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
pub use dialect::Dialect;
pub use pool::{Executor, Pool, Transaction};
pub use query::{Builder, Query, query, query_as, query_scalar};
pub use readers::Readers;
pub use row::Row;
pub use server::{ServerError, Tables, message};
pub use value::{Value, storable};
