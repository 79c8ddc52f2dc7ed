//! An open database: reading and writing.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use sheetport_sql::{Dialect, Executor, Readers};
use tokio::sync::{mpsc, oneshot};

use super::model::{Key, Kind, NotStored, Origin, Page, Record, Stored};
use super::source::Source;
use super::tables::items::ItemUpsert;
use super::tables::journal::{Journal, RequestEntry};
use super::tables::{Transaction, Work, records, tokens};
use super::writer::{self, Write};

/// An open database.
pub(crate) struct Store {
    /// The queues of the writers. All writes of a workspace go to the same.
    writers: Vec<mpsc::Sender<Write>>,
    /// The queue of a separate writer for the journal, if there is one.
    journal_writer: Option<mpsc::Sender<Write>>,
    readers: Readers,
    journal: Arc<Journal>,
}

impl Store {
    /// Starts the writers of an open database.
    pub(super) async fn start(
        source: Source,
        readers: Readers,
        writers: usize,
        journal: u64,
    ) -> Result<Store, sqlx::Error> {
        let journal = Arc::new(Journal::open(&readers, journal).await?);
        // On a server, every workspace has separate transactions, and the journal need not wait for any of these.
        let has_own_writer = source.dialect() == Dialect::Postgres;
        let of_writers = || (!has_own_writer).then(|| journal.clone());
        Ok(Store {
            writers: (0..writers).map(|_| writer::start(source.clone(), of_writers())).collect(),
            journal_writer: has_own_writer.then(|| writer::start(source.clone(), Some(journal.clone()))),
            readers,
            journal,
        })
    }

    /// Waits for the reads and writes in progress, then closes the database. Writers close last: only a connection that may
    /// write removes the write-ahead log of SQLite.
    pub(crate) async fn close(&self) {
        self.readers.close().await;
        for writer in self.writers.iter().chain(&self.journal_writer) {
            let (closed, wait) = oneshot::channel();
            if writer.send(Write::Close(closed)).await.is_ok() {
                let _ = wait.await;
            }
        }
    }

    /// Returns a page of a list and the total number of records, both of the same moment.
    pub(crate) async fn page(&self, workspace: &str, kind: Kind, page: u64, limit: u64) -> Result<Page, sqlx::Error> {
        records::page(&self.readers, workspace, kind, page, limit).await
    }

    /// Returns the record with this key, if any.
    pub(crate) async fn find(
        &self,
        workspace: &str,
        kind: Kind,
        key: Key,
        value: &str,
    ) -> Result<Option<Record>, sqlx::Error> {
        records::find(&self.readers, workspace, kind, key, value).await
    }

    /// Returns the record with the first of these keys that has this value, if any.
    pub(crate) async fn find_by(
        &self,
        workspace: &str,
        kind: Kind,
        keys: &[Key],
        value: &str,
    ) -> Result<Option<Record>, sqlx::Error> {
        for key in keys {
            if let Some(record) = self.find(workspace, kind, *key, value).await? {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Returns the existing records with these ids, in any order.
    pub(crate) async fn find_all(&self, workspace: &str, kind: Kind, ids: &[&str]) -> Result<Vec<Record>, sqlx::Error> {
        let mut records = Vec::with_capacity(ids.len());
        for ids in ids.chunks((&self.readers).dialect().rows_per_statement()) {
            records.extend(records::find_some(&self.readers, workspace, kind, Key::Id, ids).await?);
        }
        Ok(records)
    }

    /// Returns whether a refresh token was replaced, and its grace period in milliseconds is over at `now`.
    pub(crate) async fn is_void_token(&self, id: &str, now: i64, grace: i64) -> Result<bool, sqlx::Error> {
        tokens::is_void(&self.readers, id, now, grace).await
    }

    /// Returns the number of the next request in the journal, or `None` without a journal.
    pub(crate) async fn next_request(&self) -> Option<i64> {
        self.journal.next_number(&self.readers).await
    }

    /// Adds a request to the journal, to be written soon.
    pub(crate) fn add_request(&self, entry: RequestEntry) {
        self.journal.add(entry);
    }

    /// Creates or changes an item. Completes when the change is on disk.
    pub(crate) async fn upsert_item(&self, origin: Origin, upsert: ItemUpsert) -> Result<Stored, NotStored> {
        let (reply, stored) = oneshot::channel();
        let writer = self.writer(&origin.workspace);
        writer.send(Write::Item { origin, upsert, reply }).await.map_err(|_| NotStored)?;
        stored.await.map_err(|_| NotStored)
    }

    /// Fails unless the database can be read and written.
    pub(crate) async fn check(&self) -> Result<(), NotStored> {
        records::page(&self.readers, "", Kind::Item, 1, 1).await.map_err(|_| NotStored)?;
        self.write("", Check).await
    }

    /// Runs a [`Work`]. Completes when the changes are on disk.
    pub(crate) async fn write<W: Work>(&self, origin: impl Into<Origin>, work: W) -> Result<W::Done, NotStored> {
        let (reply, done) = oneshot::channel();
        let origin = origin.into();
        let writer = self.writer(&origin.workspace);
        writer.send(Write::work(origin, work, reply)).await.map_err(|_| NotStored)?;
        done.await.map_err(|_| NotStored)
    }

    fn writer(&self, workspace: &str) -> &mpsc::Sender<Write> {
        let mut hasher = DefaultHasher::new();
        workspace.hash(&mut hasher);
        &self.writers[(hasher.finish() % self.writers.len() as u64) as usize]
    }

    #[cfg(test)]
    pub(super) fn readers(&self) -> &Readers {
        &self.readers
    }
}

/// Begins and ends a transaction of a writer.
struct Check;

impl Work for Check {
    type Done = ();

    async fn run(self, _: &mut Transaction<'_>) -> Result<(), sqlx::Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use sqlx::sqlite::SqliteConnectOptions;
    use sqlx::{ConnectOptions, raw_sql};

    use super::*;
    use crate::store::WriteOutcome;

    async fn open(folder: &tempfile::TempDir) -> Store {
        Store::open(&folder.path().join("service.db"), Duration::from_millis(1), 100).await.expect("opened")
    }

    async fn upsert(store: &Store, external_id: &str) -> Result<Stored, NotStored> {
        let changes = json!({"price": 1.5}).as_object().cloned().expect("an object");
        store.upsert_item("w".into(), ItemUpsert { external_id: external_id.to_owned(), changes }).await
    }

    async fn outcome(store: &Store, external_id: &str) -> Result<WriteOutcome, NotStored> {
        upsert(store, external_id).await.map(|stored| stored.outcome)
    }

    #[tokio::test]
    async fn the_writer_recovers_from_failed_batches() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(&folder).await;
        assert_eq!(outcome(&store, "A").await, Ok(WriteOutcome::Created));

        let options = SqliteConnectOptions::new().filename(folder.path().join("service.db"));
        let mut other = options.connect().await.expect("connected");
        raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.expect("locked");
        assert_eq!(outcome(&store, "B").await, Err(NotStored));
        raw_sql("ROLLBACK").execute(&mut other).await.expect("unlocked");
        assert_eq!(outcome(&store, "B").await, Ok(WriteOutcome::Created));

        raw_sql("ALTER TABLE records RENAME TO renamed").execute(&mut other).await.expect("renamed");
        assert_eq!(outcome(&store, "C").await, Err(NotStored));
        raw_sql("ALTER TABLE renamed RENAME TO records").execute(&mut other).await.expect("renamed");
        assert_eq!(outcome(&store, "C").await, Ok(WriteOutcome::Created));

        let page = store.page("w", Kind::Item, 1, 10).await.expect("read");
        assert_eq!(page.total, 3, "failures leave no gaps in the positions");
        drop(other);
        store.close().await;
    }

    #[tokio::test]
    async fn concurrent_upserts_create_each_item_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(&folder).await;
        let external_ids: Vec<_> = (0..300).map(|n| format!("{}", n % 150)).collect();
        let upserts = external_ids.iter().map(|external_id| upsert(&store, external_id));
        let stored = futures_util::future::join_all(upserts).await;
        let stored: Vec<Stored> = stored.into_iter().collect::<Result<_, _>>().expect("stored");
        assert_eq!(stored.iter().filter(|stored| stored.outcome == WriteOutcome::Created).count(), 150);
        assert!(stored[..150].iter().zip(&stored[150..]).all(|(first, second)| first.id == second.id));

        let mut listed = Vec::new();
        for number in 1..=2 {
            let page = store.page("w", Kind::Item, number, 100).await.expect("read");
            assert_eq!(page.total, 150);
            let entries: Vec<serde_json::Value> = serde_json::from_str(&format!("[{}]", page.entries)).expect("JSON");
            listed.extend(entries.iter().filter_map(|entry| entry["id"].as_str().map(str::to_owned)));
        }
        let mut ids: Vec<String> = stored[..150].iter().map(|stored| stored.id.clone()).collect();
        listed.sort();
        ids.sort();
        assert_eq!(listed, ids);
        store.close().await;
    }

    /// Inserts a record, then fails on request.
    struct Insert {
        fails: bool,
    }

    impl Work for Insert {
        type Done = i64;

        async fn run(self, tx: &mut Transaction<'_>) -> Result<i64, sqlx::Error> {
            let mut record = tx.new_record(Kind::Job).await?;
            record.body.push_str("{}");
            tx.save(Kind::Job, &record).await?;
            if self.fails { Err(sqlx::Error::RowNotFound) } else { Ok(record.position) }
        }
    }

    #[tokio::test]
    async fn failed_work_is_rolled_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(&folder).await;
        let insert = |workspace: &str, fails| store.write(Origin::from(workspace), Insert { fails });
        assert_eq!(insert("w", false).await, Ok(1));
        assert_eq!(insert("w", true).await, Err(NotStored));
        assert_eq!(insert("w", false).await, Ok(2));
        assert_eq!(insert("other", false).await, Ok(1));
        for (workspace, total) in [("w", 2), ("other", 1), ("nobody", 0)] {
            assert_eq!(store.page(workspace, Kind::Job, 1, 10).await.expect("read").total, total);
        }
        store.close().await;
    }
}
