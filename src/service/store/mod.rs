//! The database of the service with all its SQL, over SQLite and PostgreSQL. Independent of HTTP; does not validate input.
//!
//! `database` opens the database, in a file (`file`) or on a server (`server`). Writers commit in batches (`writer`), while
//! several connections read. A write completes when the data is on disk.

mod answers;
mod database;
mod file;
mod items;
mod journal;
mod model;
mod overview;
mod records;
mod server;
mod signing_key;
mod source;
mod tokens;
mod transaction;
mod writer;

pub(super) use self::answers::KeptAnswer;
pub(super) use self::database::Store;
pub(super) use self::file::BUSY_TIMEOUT;
pub(super) use self::items::ItemUpsert;
pub(super) use self::journal::RequestEntry;
pub(super) use self::model::{Key, Kind, NotStored, Origin, Record, merge, to_json};
pub use self::model::{Stored, WriteOutcome};
pub(super) use self::overview::{Change, Overview, StoredRequest};
pub(super) use self::signing_key::shared_signing_key;
pub(super) use self::tokens::ReplaceToken;
pub(super) use self::transaction::{Transaction, Work};
