//! Databases to connect to: a file of SQLite, or a PostgreSQL server.

pub(super) mod file;
pub(super) mod server;
mod signing_key;

pub(crate) use signing_key::shared_signing_key;
