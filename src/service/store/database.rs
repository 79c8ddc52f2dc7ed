//! The database: opening, migrating, reading and writing.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlSafeStr, query_scalar, raw_sql};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard, mpsc, oneshot};

use crate::service::error::Error;

use super::items::ItemUpsert;
use super::journal::{Journal, RequestEntry};
use super::model::{Key, Kind, NotStored, Origin, Page, Record, Stored};
use super::transaction::{Transaction, Work};
use super::writer::{self, Write};
use super::{records, tokens};

/// Maximum wait for a lock of another process on the database, such as a backup.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "items", include_str!("migrations/0001_items.sql")),
    (2, "item ids", include_str!("migrations/0002_item_ids.sql")),
    (3, "records", include_str!("migrations/0003_records.sql")),
    (4, "items listed", include_str!("migrations/0004_items_listed.sql")),
    (5, "items as records", include_str!("migrations/0005_items_as_records.sql")),
    (6, "external ids listed", include_str!("migrations/0006_external_ids_listed.sql")),
    (7, "journal", include_str!("migrations/0007_journal.sql")),
    (8, "idempotency keys", include_str!("migrations/0008_idempotency_keys.sql")),
];

/// An open database.
pub(crate) struct Store {
    writes: mpsc::Sender<Write>,
    /// Read-only connections, used in turn; `None` once closed.
    readers: Vec<Mutex<Option<SqliteConnection>>>,
    next_reader: AtomicUsize,
    journal: Arc<Journal>,
}

impl Store {
    /// Opens the database, creating it if missing, and applies pending migrations. The journal keeps this number of requests
    /// that write, and of others.
    pub(crate) async fn open(path: &Path, busy_timeout: Duration, journal: u64) -> Result<Store, Error> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .foreign_keys(true)
            .busy_timeout(busy_timeout)
            .disable_statement_logging();
        let for_writing = options
            .clone()
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .pragma("cache_size", "-65536");
        let for_reading = options.read_only(true).pragma("cache_size", "-16384");
        let failed = |source| Error::Database { action: "open", path: path.into(), source };
        let mut connection = for_writing.connect().await.map_err(failed)?;
        migrate(&mut connection).await.map_err(|source| Error::Migrate { path: path.into(), source })?;

        let journal = Arc::new(Journal::open(&mut connection, journal).await.map_err(failed)?);
        let mut readers = Vec::new();
        for _ in 0..available_parallelism().map_or(2, usize::from).clamp(2, 8) {
            readers.push(Mutex::new(Some(for_reading.connect().await.map_err(failed)?)));
        }
        let writes = writer::start(connection, for_writing, journal.clone());
        Ok(Store { writes, readers, next_reader: AtomicUsize::new(0), journal })
    }

    /// Waits for the reads and writes in progress, then closes the database. The writer's connection is closed last:
    /// only a connection that may write removes the write-ahead log.
    pub(crate) async fn close(&self) {
        for reader in &self.readers {
            if let Some(connection) = reader.lock().await.take()
                && let Err(error) = connection.close().await
            {
                tracing::error!(%error, "failed to close the database");
            }
        }
        let (closed, wait) = oneshot::channel();
        if self.writes.send(Write::Close(closed)).await.is_ok() {
            let _ = wait.await;
        }
    }

    /// Returns a page of a list and the total number of records, both of the same moment.
    pub(crate) async fn page(&self, workspace: &str, kind: Kind, page: u64, limit: u64) -> Result<Page, sqlx::Error> {
        records::page(&mut *self.reader().await?, workspace, kind, page, limit).await
    }

    /// Returns the record with this key, if it exists.
    pub(crate) async fn find(
        &self,
        workspace: &str,
        kind: Kind,
        key: Key,
        value: &str,
    ) -> Result<Option<Record>, sqlx::Error> {
        records::find(&mut *self.reader().await?, workspace, kind, key, value).await
    }

    /// Returns whether a refresh token was replaced by a new one, and its grace, in milliseconds, is over at `now`.
    pub(crate) async fn is_void_token(&self, id: &str, now: i64, grace: i64) -> Result<bool, sqlx::Error> {
        tokens::is_void(&mut *self.reader().await?, id, now, grace).await
    }

    /// Returns the number of the next request in the journal, or `None` without a journal.
    pub(crate) fn next_request(&self) -> Option<i64> {
        self.journal.next_number()
    }

    /// Adds a request to the journal. It is written soon.
    pub(crate) fn add_request(&self, entry: RequestEntry) {
        self.journal.add(entry);
    }

    /// Creates or changes an item. Completes when the change is on disk.
    pub(crate) async fn upsert_item(&self, origin: Origin, upsert: ItemUpsert) -> Result<Stored, NotStored> {
        let (reply, stored) = oneshot::channel();
        self.writes.send(Write::Item { origin, upsert, reply }).await.map_err(|_| NotStored)?;
        stored.await.map_err(|_| NotStored)
    }

    /// Fails unless the database can be read and written.
    pub(crate) async fn check(&self) -> Result<(), NotStored> {
        records::last_position(&mut *self.reader().await.map_err(|_| NotStored)?, "", Kind::Item)
            .await
            .map_err(|_| NotStored)?;
        self.write("", Check).await
    }

    /// Runs a [`Work`]. Completes when its changes are on disk.
    pub(crate) async fn write<W: Work>(&self, origin: impl Into<Origin>, work: W) -> Result<W::Done, NotStored> {
        let (reply, done) = oneshot::channel();
        self.writes.send(Write::work(origin.into(), work, reply)).await.map_err(|_| NotStored)?;
        done.await.map_err(|_| NotStored)
    }

    /// Returns a connection for one read.
    pub(super) async fn reader(&self) -> Result<MappedMutexGuard<'_, SqliteConnection>, sqlx::Error> {
        let turn = self.next_reader.fetch_add(1, Ordering::Relaxed) % self.readers.len();
        MutexGuard::try_map(self.readers[turn].lock().await, Option::as_mut).map_err(|_| sqlx::Error::PoolClosed)
    }
}

/// Opens the database for reading alone, whether or not a service uses it. All reads are of the same moment.
pub(crate) async fn open_snapshot(path: &Path) -> Result<SqliteConnection, Error> {
    let failed = |source| Error::Database { action: "open", path: path.into(), source };
    let options = SqliteConnectOptions::new().filename(path).read_only(true).disable_statement_logging();
    let options = options.busy_timeout(BUSY_TIMEOUT);
    let version = "SELECT max(version) FROM _sqlx_migrations";
    let connect = async |options: SqliteConnectOptions| {
        let mut connection = options.connect().await?;
        raw_sql("BEGIN").execute(&mut connection).await?;
        let version: i64 = query_scalar(version).fetch_one(&mut connection).await?;
        Ok::<_, sqlx::Error>((connection, version))
    };
    // In a folder that can't be written, such as a backup, SQLite can't create the files beside the database.
    let (connection, version) = match connect(options.clone()).await {
        Ok(opened) => opened,
        Err(_) => connect(options.immutable(true)).await.map_err(failed)?,
    };
    match MIGRATIONS.last().is_some_and(|(newest, ..)| *newest == version) {
        true => Ok(connection),
        false => Err(Error::OtherVersion { path: path.into() }),
    }
}

/// Begins and ends a transaction of the writer.
struct Check;

impl Work for Check {
    type Done = ();

    async fn run(self, _: &mut Transaction<'_>) -> Result<(), sqlx::Error> {
        Ok(())
    }
}

async fn migrate(connection: &mut SqliteConnection) -> Result<(), MigrateError> {
    let migrations = MIGRATIONS.iter().map(|&(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect()).run(connection).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::service::store::WriteOutcome;

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
    async fn items_of_the_first_version_are_migrated() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = SqliteConnectOptions::new().filename(folder.path().join("service.db")).create_if_missing(true);
        let mut connection = options.connect().await.expect("connected");
        let &(version, name, sql) = &MIGRATIONS[0];
        let first = Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false);
        Migrator::with_migrations(vec![first]).run(&mut connection).await.expect("migrated");
        let insert = "INSERT INTO items (id, workspace, position, external_id, price, created_at, updated_at, listed) \
                      VALUES ('1', 'w', 1, 'A', '1.50', 0, 1767225600042, '{\"id\":\"1\"}')";
        raw_sql(insert).execute(&mut connection).await.expect("inserted");
        drop(connection);

        let store = open(&folder).await;
        let page = store.page("w", Kind::Item, 1, 10).await.expect("read");
        let body = r#"{"id":"1","name":null,"price":1.50,"currency":null,"status":null,"updated_at":"2026-01-01T00:00:00.042Z","external_id":"A","description":null,"purchase_price":null,"tax":null}"#;
        assert_eq!((page.total, page.entries.as_str()), (1, body));
        assert_eq!(upsert(&store, "A").await, Ok(Stored { outcome: WriteOutcome::Unchanged, id: "1".to_owned() }));
        store.close().await;
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
