//! One set of statements for SQLite and PostgreSQL, for the ledger and the service's store. The statements themselves are there.
//!
//! A statement is text with `$1` parameters and their values; [`dialect`] has the few differing parts. The drivers of sqlx are
//! used directly, because its `Any` driver copies every value, takes options from an address only, and supports neither `BEGIN IMMEDIATE` nor
//! different statements per database. This crate knows no table.
//!
//! | module | purpose |
//! |---|---|
//! | [`pool`] | connections and transactions over both databases |
//! | [`batch`] | several statements in one message |
//! | [`query`](mod@query), [`statement`], [`value`], [`row`] | statements, parameters and rows |
//! | [`dialect`] | differences between the databases |
//! | [`readers`] | read-only connections to SQLite |
//! | [`server`], [`address`] | a database on a server: connecting, creating tables, the address without the password |
//! | [`postgres_transaction`] | time limits on a server |
//!
//! # Rules for statements
//!
//! - SQL stays in the subset that SQLite and PostgreSQL share: `$1` parameters, BIGINT and TEXT, multi-row VALUES, `ON CONFLICT`. BLOB
//!   columns are BYTEA in PostgreSQL. Other differences are methods of [`Dialect`], such as lists in JSON.
//! - A transaction that changes a row it has read locks the row first ([`Dialect::for_update`]), because only SQLite makes all writers wait
//!   for each other.
//! - No statement relies on a session: a pooler may run the next transaction in another session. `idle_in_transaction_session_timeout` is set in
//!   the message of each BEGIN, for a process suspended inside a transaction.
//! - Rows are added in statements of a fixed number ([`Dialect::rows_per_statement`]), prepared once. The remaining rows get a statement
//!   that is not kept, because a connection keeps up to a hundred.
//! - A process never keeps a session while it waits for another: behind a pooler with few sessions, all of them would wait for each other.
//!   So a transaction uses a single connection, and a query is polled until the end. The losing branch of a `select!` is not
//!   polled while the winner runs, so queries in such a place run in separate tasks (`stop` in `jobs::work`), or the whole `select!` is
//!   polled at any time (`send::supply`).
//! - Each statement on a server has a time limit, and then the connection is closed: nothing else ends a connection swallowed by a firewall or a
//!   frozen pooler. The transactions and the pool of sqlx wait for the server when returning a connection, and are not
//!   used there.

mod address;
mod batch;
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
pub use pool::{Executor, Pool, Results, Transaction};
pub use query::{Builder, Query, query, query_as, query_scalar};
pub use readers::Readers;
pub use row::Row;
pub use server::{ServerError, Tables, message, writable};
pub use value::{Value, storable};
