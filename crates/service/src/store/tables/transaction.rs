//! Writes that depend on stored records, such as an update of an order. They run one after another within the transaction of the
//! writer, and complete after the commit.

use std::collections::HashMap;

use serde_json::{Map, Value};
use sheetport_sql as sql;

use super::super::model::{Key, Kind, Record, Stored, WriteOutcome};
use super::items::{self, ItemUpsert};
use super::journal::{Change, differences};
use super::records;

/// A write for one workspace. Implementations must check everything before the first change: an error of the database rolls back the
/// whole batch, and any other result is committed.
pub(crate) trait Work: Send + 'static {
    type Done: Send + 'static;

    fn run(self, tx: &mut Transaction<'_>) -> impl Future<Output = Result<Self::Done, sqlx::Error>> + Send;
}

/// The transaction of a writer, restricted to a workspace.
pub(crate) struct Transaction<'a> {
    pub(crate) sql: &'a mut sql::Transaction,
    pub(crate) workspace: &'a str,
    pub(crate) now: i64,
    /// Number of the request in the journal, if any.
    pub(crate) request: Option<i64>,
    /// The changes made by the work.
    pub(crate) changes: Vec<Change>,
    /// Records as read, for the journal.
    pub(crate) read: HashMap<(Kind, String), Record>,
}

impl Transaction<'_> {
    /// Returns the time of all changes in this transaction, in milliseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// Returns the record with this key, if any.
    pub(crate) async fn find(&mut self, kind: Kind, key: Key, value: &str) -> Result<Option<Record>, sqlx::Error> {
        let found = records::find(&mut *self.sql, self.workspace, kind, key, value).await?;
        if let (Some(_), Some(record)) = (self.request, &found) {
            self.read.entry((kind, record.id.clone())).or_insert_with(|| record.clone());
        }
        Ok(found)
    }

    /// Returns the record with the first of these keys that has this value, if any.
    pub(crate) async fn find_by(
        &mut self,
        kind: Kind,
        keys: &[Key],
        value: &str,
    ) -> Result<Option<Record>, sqlx::Error> {
        for key in keys {
            if let Some(record) = self.find(kind, *key, value).await? {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Returns the existing items with these ids or external ids, by key.
    pub(crate) async fn find_items(
        &mut self,
        key: Key,
        values: &[&str],
    ) -> Result<HashMap<String, Record>, sqlx::Error> {
        let records = records::find_all(self.sql, self.workspace, Kind::Item, key, values).await?;
        let keyed = records.into_iter().filter_map(|record| match key {
            Key::Id => Some((record.id.clone(), record)),
            Key::Number => Some((record.number.clone()?, record)),
            Key::ExternalId => Some((record.external_id.clone()?, record)),
        });
        Ok(keyed.collect())
    }

    /// Returns a record with a new id and the next position, without other keys or content. [`Self::save`] stores it.
    pub(crate) async fn new_record(&mut self, kind: Kind) -> Result<Record, sqlx::Error> {
        let (list, newest) = records::newest(self.sql, self.workspace, kind).await?;
        Ok(Record::new(list, newest + 1, self.now))
    }

    /// Inserts the record, or replaces the record with the same id.
    pub(crate) async fn save(&mut self, kind: Kind, record: &Record) -> Result<(), sqlx::Error> {
        records::save(self.sql, std::slice::from_ref(record)).await?;
        let before = self.read.remove(&(kind, record.id.clone()));
        let (outcome, fields) = match before {
            Some(before) => (WriteOutcome::Updated, Some(changed_fields(&before, record))),
            None => (WriteOutcome::Created, None),
        };
        self.note(kind, &record.id, outcome, fields);
        Ok(())
    }

    /// Records in the journal that a request has left a record unchanged.
    pub(crate) fn note_unchanged(&mut self, kind: Kind, id: &str) {
        self.note(kind, id, WriteOutcome::Unchanged, None);
    }

    fn note(&mut self, kind: Kind, id: &str, outcome: WriteOutcome, fields: Option<Map<String, Value>>) {
        if let Some(request) = self.request {
            self.changes.push(Change { request, kind, id: id.to_owned(), outcome, fields });
        }
    }

    /// Applies the upserts in order. Returns one result per upsert.
    pub(crate) async fn upsert_items(&mut self, upserts: Vec<ItemUpsert>) -> Result<Vec<Stored>, sqlx::Error> {
        let upserts = upserts.into_iter().map(|upsert| (self.request, upsert)).collect();
        items::upsert(self.sql, self.workspace, upserts, self.now, &mut self.changes).await
    }
}

/// Returns the changed fields of a record. The lines of an order count as a field.
fn changed_fields(before: &Record, after: &Record) -> Map<String, Value> {
    let fields = |record: &Record| {
        let mut fields: Map<String, Value> = serde_json::from_str(&record.body).unwrap_or_default();
        let state: Map<String, Value> =
            record.state.as_deref().and_then(|state| serde_json::from_str(state).ok()).unwrap_or_default();
        fields.extend(state.into_iter().filter(|(name, _)| name == "lines"));
        fields
    };
    differences(&fields(before), &fields(after))
}
