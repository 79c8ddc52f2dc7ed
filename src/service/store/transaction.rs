//! Writes that depend on stored records, such as an update of an order. Run one after another within the writer's
//! transaction and complete after the commit.

use std::collections::HashMap;

use sqlx::sqlite::SqliteConnection;

use super::items::{self, ItemUpsert};
use super::model::{Key, Kind, Record, Stored};
use super::records;

/// A write for one workspace. Implementations must check everything before the first change: an error of the database rolls back the
/// whole batch, and any other result is committed.
pub(crate) trait Work: Send + 'static {
    type Done: Send + 'static;

    fn run(self, tx: &mut Transaction<'_>) -> impl Future<Output = Result<Self::Done, sqlx::Error>> + Send;
}

/// The writer's transaction, restricted to one workspace.
pub(crate) struct Transaction<'a> {
    pub(super) connection: &'a mut SqliteConnection,
    pub(super) workspace: &'a str,
    pub(super) now: i64,
}

impl Transaction<'_> {
    /// Returns the time of all changes in this transaction, in milliseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// Returns the record with this key, if it exists.
    pub(crate) async fn find(&mut self, kind: Kind, key: Key, value: &str) -> Result<Option<Record>, sqlx::Error> {
        records::find(self.connection, self.workspace, kind, key, value).await
    }

    /// Returns the record with this id, or else with this number.
    pub(crate) async fn find_by_id_or_number(
        &mut self,
        kind: Kind,
        value: &str,
    ) -> Result<Option<Record>, sqlx::Error> {
        match self.find(kind, Key::Id, value).await? {
            Some(record) => Ok(Some(record)),
            None => self.find(kind, Key::Number, value).await,
        }
    }

    /// Returns the existing items with these ids or external ids, by key.
    pub(crate) async fn find_items(
        &mut self,
        key: Key,
        values: &[&str],
    ) -> Result<HashMap<String, Record>, sqlx::Error> {
        let records = records::find_all(self.connection, self.workspace, Kind::Item, key, values).await?;
        let keyed = records.into_iter().filter_map(|record| match key {
            Key::Id => Some((record.id.clone(), record)),
            Key::Number => Some((record.number.clone()?, record)),
            Key::ExternalId => Some((record.external_id.clone()?, record)),
        });
        Ok(keyed.collect())
    }

    /// Returns a record with a new id and the next position, without other keys or content. [`Self::save`] stores it.
    pub(crate) async fn new_record(&mut self, kind: Kind) -> Result<Record, sqlx::Error> {
        let position = records::last_position(self.connection, self.workspace, kind).await? + 1;
        Ok(Record::new(position, self.now))
    }

    /// Inserts the record, or replaces it if its id exists.
    pub(crate) async fn save(&mut self, kind: Kind, record: &Record) -> Result<(), sqlx::Error> {
        records::save(self.connection, self.workspace, kind, std::slice::from_ref(record)).await
    }

    /// Applies the upserts in order. Returns one result per upsert.
    pub(crate) async fn upsert_items(&mut self, upserts: Vec<ItemUpsert>) -> Result<Vec<Stored>, sqlx::Error> {
        items::upsert(self.connection, self.workspace, upserts, self.now).await
    }
}
