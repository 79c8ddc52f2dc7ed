//! What the service keeps, and all of its SQL, in the subset that SQLite and PostgreSQL share. It checks no input and
//! knows nothing of HTTP.
//!
//! One task writes (`writer`), a few connections read (`readers`). A write is acknowledged once it is on disk.

use std::path::Path;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, SqlSafeStr};
use tokio::sync::{mpsc, oneshot};

use super::error::Error;

use self::readers::Readers;
use self::work::Pending;
use self::writer::{Write, WriterHandle};

mod items;
mod merge;
mod readers;
mod records;
mod statements;
mod work;
mod writer;

pub use self::items::{Catalogued, EntryPage, ItemKey};
pub use self::merge::{Change, ItemFields, ItemUpsert, Outcome, Stored};
pub use self::records::{Key, Kind, Record, to_json};
pub use self::work::{Tx, Work};
pub use self::writer::NotStored;

/// How long a write waits for another process that has the database locked, such as a backup.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "items", include_str!("migrations/0001_items.sql")),
    (2, "item ids", include_str!("migrations/0002_item_ids.sql")),
    (3, "records", include_str!("migrations/0003_records.sql")),
    (4, "items listed", include_str!("migrations/0004_items_listed.sql")),
];

pub struct Store {
    writes: mpsc::Sender<Write>,
    readers: Arc<Readers>,
}

/// Closes what [`Store::open`] opened.
pub struct Closer {
    writer: WriterHandle,
    readers: Arc<Readers>,
}

impl Store {
    pub async fn open(path: &Path, busy_timeout: Duration) -> Result<(Store, Closer), Error> {
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
        let failed = |source| Error::Database { what: "open", path: path.into(), source };
        let mut connection = for_writing.connect().await.map_err(failed)?;
        migrate(&mut connection).await.map_err(|source| Error::Migrate { path: path.into(), source })?;
        items::list_anew(&mut connection).await.map_err(failed)?;

        let count = available_parallelism().map_or(2, usize::from).clamp(2, 8) as u32;
        let for_reading = options.read_only(true).pragma("cache_size", "-16384");
        let readers = Arc::new(Readers::open(&for_reading, count).await.map_err(failed)?);

        let (writes, writer) = writer::start(connection, for_writing);
        Ok((Store { writes, readers: readers.clone() }, Closer { writer, readers }))
    }

    /// One page of a workspace's items and how many it has, both of the same moment.
    pub async fn item_page(&self, workspace: &str, page: u64, limit: u64) -> Result<EntryPage, sqlx::Error> {
        items::page(&self.readers, workspace, page, limit).await
    }

    /// Creates or changes an item; answers once that is on disk.
    pub async fn upsert_item(&self, upsert: ItemUpsert) -> Result<Stored, NotStored> {
        let (reply, stored) = oneshot::channel();
        self.writes.send(Write::Item { upsert, reply }).await.map_err(|_| NotStored)?;
        stored.await.map_err(|_| NotStored)?
    }

    /// One page of a workspace's records of a kind and how many it has, both of the same moment.
    pub async fn record_page(
        &self,
        workspace: &str,
        kind: Kind,
        page: u64,
        limit: u64,
    ) -> Result<EntryPage, sqlx::Error> {
        records::page(&self.readers, workspace, kind, page, limit).await
    }

    pub async fn find(&self, workspace: &str, kind: Kind, key: Key<'_>) -> Result<Option<Record>, sqlx::Error> {
        records::find(self.readers.get().await?.connection()?, workspace, kind, key).await
    }

    /// Carries out a piece of work; answers once what it wrote is on disk.
    pub async fn carry_out<W: Work>(&self, work: W) -> Result<W::Done, NotStored> {
        let (pending, done) = Pending::new(work);
        self.writes.send(Write::Work(Box::new(pending))).await.map_err(|_| NotStored)?;
        done.await.map_err(|_| NotStored)?
    }
}

impl Closer {
    /// Carries out the writes that are waiting, then closes the database, which tidies its write-ahead log away.
    pub async fn close(self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

async fn migrate(connection: &mut SqliteConnection) -> Result<(), sqlx::migrate::MigrateError> {
    let migrations = MIGRATIONS.iter().map(|&(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect()).run(connection).await
}

#[cfg(test)]
mod tests {
    use sqlx::raw_sql;

    use super::*;

    #[tokio::test]
    async fn items_of_an_earlier_version_are_brought_along() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("service.db");
        let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
        let mut connection = options.connect().await.expect("connected");
        let &(version, name, sql) = &MIGRATIONS[0];
        let first = Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false);
        Migrator::with_migrations(vec![first]).run(&mut connection).await.expect("migrated");
        let insert = "INSERT INTO items (id, workspace, position, external_id, price, created_at, updated_at, listed) \
                      VALUES ('1', 'w', 1, 'A', '1.50', 0, 0, '{\"id\":\"1\"}')";
        raw_sql(insert).execute(&mut connection).await.expect("inserted");
        drop(connection);

        let (store, closer) = Store::open(&path, Duration::from_secs(1)).await.expect("opened");
        let page = store.item_page("w", 1, 10).await.expect("read");
        let listed = r#"{"id":"1","name":null,"price":1.50,"currency":null,"status":null,"updated_at":"1970-01-01T00:00:00.000Z","external_id":"A","description":null,"purchase_price":null,"tax":null}"#;
        assert_eq!((page.total, page.entries.as_str()), (1, listed));
        let fields = ItemFields { price: Change::Set("1.50".to_owned()), ..ItemFields::default() };
        let upsert = ItemUpsert { workspace: "w".into(), id: None, external_id: "A".to_owned(), fields };
        let stored = store.upsert_item(upsert).await;
        assert_eq!(stored, Ok(Stored { outcome: Outcome::Unchanged, id: "1".to_owned() }));
        closer.close().await;
    }
}
