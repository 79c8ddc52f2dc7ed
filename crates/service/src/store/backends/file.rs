//! The database in a file of SQLite.

use std::path::Path;
use std::thread::available_parallelism;
use std::time::Duration;

use sheetport_sql::{self as sql, Transaction};
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlSafeStr};

use super::super::database::Store;
use super::super::source::Source;
use crate::error::Error;

/// Maximum wait for a lock of another process on the database, such as a backup.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "items", include_str!("../migrations/0001_items.sql")),
    (2, "item ids", include_str!("../migrations/0002_item_ids.sql")),
    (3, "records", include_str!("../migrations/0003_records.sql")),
    (4, "items listed", include_str!("../migrations/0004_items_listed.sql")),
    (5, "items as records", include_str!("../migrations/0005_items_as_records.sql")),
    (6, "external ids listed", include_str!("../migrations/0006_external_ids_listed.sql")),
    (7, "journal", include_str!("../migrations/0007_journal.sql")),
    (8, "idempotency keys", include_str!("../migrations/0008_idempotency_keys.sql")),
    (9, "idempotency keys by workspace", include_str!("../migrations/0009_idempotency_keys_by_workspace.sql")),
    (10, "lists", include_str!("../migrations/0010_lists.sql")),
];

/// Bytes of a page of a new database. A list of a hundred records needs half the reads of SQLite's usual 4,096 bytes.
const PAGE_BYTES: u32 = 8_192;

/// The number of writers. SQLite supports a single writer.
const WRITERS: usize = 1;

impl Store {
    /// Opens the database, creates it if missing, and applies pending migrations. `journal`: the number of journal entries to
    /// keep, both for requests that may write and for all others.
    pub(crate) async fn open(path: &Path, busy_timeout: Duration, journal: u64) -> Result<Store, Error> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .foreign_keys(true)
            .busy_timeout(busy_timeout)
            .disable_statement_logging();
        let for_writing = options
            .clone()
            .create_if_missing(true)
            .page_size(PAGE_BYTES)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .pragma("cache_size", "-65536");
        let for_reading = options.read_only(true).pragma("cache_size", "-16384");
        let failed = |source| Error::Database { action: "open", path: path.into(), source };
        let mut connection = for_writing.connect().await.map_err(failed)?;
        let migrated = migrate(&mut connection).await;
        connection.close().await.map_err(failed)?;
        migrated.map_err(|source| Error::Migrate { path: path.into(), source })?;

        let readers = available_parallelism().map_or(2, usize::from).clamp(2, 8);
        let readers = u32::try_from(readers).expect("at most 8");
        Store::start(Source::File(for_writing), Source::File(for_reading).readers(readers), WRITERS, journal)
            .await
            .map_err(failed)
    }
}

/// Opens the database read-only, whether or not a service uses it. All reads see the same snapshot.
pub(crate) async fn open_snapshot(path: &Path) -> Result<Transaction, Error> {
    let failed = |source| Error::Database { action: "open", path: path.into(), source };
    let options = SqliteConnectOptions::new().filename(path).read_only(true).disable_statement_logging();
    let options = options.busy_timeout(BUSY_TIMEOUT);
    let begin = async |options: SqliteConnectOptions| {
        let mut transaction = Source::File(options).pool(1).begin_reading().await?;
        let version = sql::query_scalar("SELECT max(version) FROM _sqlx_migrations");
        let version: i64 = version.fetch_one(&mut transaction).await?;
        Ok::<_, sqlx::Error>((transaction, version))
    };
    // In a read-only folder, such as a backup, SQLite can't create its additional files.
    let (transaction, version) = match begin(options.clone()).await {
        Ok(opened) => opened,
        Err(_) => begin(options.immutable(true)).await.map_err(failed)?,
    };
    match MIGRATIONS.last().is_some_and(|(newest, ..)| *newest == version) {
        true => Ok(transaction),
        false => Err(Error::OtherVersion { storage: path.display().to_string() }),
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
    use sqlx::raw_sql;

    use super::*;
    use crate::store::{Key, Kind};

    #[tokio::test]
    async fn items_of_the_first_version_are_migrated() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = SqliteConnectOptions::new().filename(folder.path().join("service.db")).create_if_missing(true);
        let mut connection = options.connect().await.expect("connected");
        let &(version, name, sql) = &MIGRATIONS[0];
        let first = Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false);
        Migrator::with_migrations(vec![first]).run(&mut connection).await.expect("migrated");
        let insert = "INSERT INTO items (id, workspace, position, external_id, price, created_at, updated_at, listed) \
                      VALUES ('1', 'w', 1, 'A', '1.50', 0, 1767225600042, '{\"id\":\"1\"}'), \
                      ('2', 'other', 1, 'A', '2', 0, 0, '{}'), ('3', 'other', 2, 'B', '3', 0, 0, '{}')";
        raw_sql(insert).execute(&mut connection).await.expect("inserted");
        drop(connection);

        let store = Store::open(&folder.path().join("service.db"), Duration::ZERO, 0).await.expect("opened");
        let page = store.page("w", Kind::Item, 1, 10).await.expect("read");
        let body = r#"{"id":"1","name":null,"price":1.50,"currency":null,"status":null,"updated_at":"2026-01-01T00:00:00.042Z","external_id":"A","description":null,"purchase_price":null,"tax":null}"#;
        assert_eq!((page.total, page.entries.as_str()), (1, body));
        let found = store.find("w", Kind::Item, Key::ExternalId, "A").await.expect("read");
        assert_eq!(found.map(|record| record.id).as_deref(), Some("1"));
        let page = store.page("other", Kind::Item, 2, 1).await.expect("read");
        assert!(page.total == 2 && page.entries.starts_with(r#"{"id":"3","#), "{}", page.entries);
        store.close().await;
    }
}
