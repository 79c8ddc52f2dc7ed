//! The database of the service with all its SQL, over SQLite and PostgreSQL. Independent of HTTP; does not validate input.
//!
//! `database` is the open database; `backends` opens it, in a file or on a server. Writers commit in batches (`writer`), while
//! several connections read. A write completes when the data is on disk. A write that depends on existing data runs inside the transaction of
//! the writer and sees only its own workspace.

mod backends;
mod database;
mod model;
mod overview;
mod source;
mod tables;
mod writer;

pub(super) use self::backends::file::BUSY_TIMEOUT;
pub(super) use self::backends::shared_signing_key;
pub(super) use self::database::Store;
pub(super) use self::model::{Key, Kind, NotStored, Origin, Record, merge, to_json};
pub use self::model::{Stored, WriteOutcome};
pub(super) use self::overview::{Change, Overview, StoredRequest};
pub(super) use self::tables::items::ItemUpsert;
pub(super) use self::tables::journal::RequestEntry;
pub(super) use self::tables::tokens::ReplaceToken;
pub(super) use self::tables::{KeptAnswer, Transaction, Work};
