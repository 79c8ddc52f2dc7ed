//! The database of the service and all of its SQL, in the subset that SQLite and PostgreSQL share. Independent of HTTP;
//! does not validate input.
//!
//! `database` opens it. One task writes (`writer`, in batches), several connections read. A write completes when the
//! data is on disk.

mod answers;
mod database;
mod items;
mod journal;
mod model;
mod overview;
mod records;
mod tokens;
mod transaction;
mod writer;

pub(super) use self::answers::KeptAnswer;
pub(super) use self::database::{BUSY_TIMEOUT, Store};
pub(super) use self::items::ItemUpsert;
pub(super) use self::journal::RequestEntry;
pub(super) use self::model::{Key, Kind, NotStored, Origin, Record, merge, to_json};
pub use self::model::{Stored, WriteOutcome};
pub(super) use self::overview::{Change, Overview, StoredRequest};
pub(super) use self::tokens::ReplaceToken;
pub(super) use self::transaction::{Transaction, Work};
