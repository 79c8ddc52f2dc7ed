//! The ledger in a file of SQLite.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};

use super::database::{FILE, Ledger, migrator};
use super::error::Error;
use super::integrity::log::loses_commits;
use super::lease::Leases;
use crate::readers::create_private_folder;
use crate::sql::{Dialect, Pool};

/// The code of SQLITE_READONLY_ROLLBACK.
const READONLY_ROLLBACK: &str = "776";

impl Ledger {
    /// Opens the ledger in `folder`. Creates both if necessary.
    ///
    /// # Errors
    /// [`Error::DamagedFile`] if the latest changes would be lost.
    pub async fn open(folder: &Path) -> Result<Ledger, Error> {
        Ledger::open_as_is(folder, false).await
    }

    /// Opens the ledger in `folder`. `accepts_loss` drops the latest changes if they can't be read.
    pub(super) async fn open_as_is(folder: &Path, accepts_loss: bool) -> Result<Ledger, Error> {
        let path = folder.join(FILE);
        let failed = |reason: String| Error::Open { path: path.clone(), reason };
        create_private_folder(&folder.join("locks")).map_err(|error| failed(error.to_string()))?;
        // Without a lock, two processes starting at once would both create the tables.
        let opening = folder.join("locks").join("opening.lock");
        let _opening = tokio::task::spawn_blocking(move || {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(opening)?;
            file.lock().map(|()| file)
        })
        .await
        .unwrap_or_else(|error| Err(std::io::Error::other(error)))
        .map_err(|error| failed(error.to_string()))?;
        if !accepts_loss && loses_commits(&path).map_err(|error| failed(error.to_string()))? {
            let what = "its latest changes can't be read".to_owned();
            return Err(Error::DamagedFile { path, what });
        }
        refuse_foreign(&path).await?;
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(30))
            // Reports a damaged page on reading, instead of misreading the page.
            .pragma("cell_size_check", "ON")
            .disable_statement_logging();
        // Takes effect when the file is created: the space of removed plans can be returned to the system.
        let creating = options.clone().auto_vacuum(SqliteAutoVacuum::Incremental);
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(creating).await;
        let writer = pool.map_err(|error| opening_error(&path, error))?;
        make_private(&path).map_err(|error| failed(error.to_string()))?;
        migrator(Dialect::Sqlite).run(&writer).await.map_err(|error| match error {
            MigrateError::VersionMissing(step) | MigrateError::VersionMismatch(step) => {
                Error::OtherVersion { ledger: path.display().to_string(), step }
            }
            MigrateError::Execute(error) => opening_error(&path, error),
            error => failed(error.to_string()),
        })?;
        let reader = SqlitePoolOptions::new().max_connections(2).connect_with(options.read_only(true)).await;
        let reader = reader.map_err(|error| opening_error(&path, error))?;
        let ledger = Ledger {
            writer: Pool::Sqlite(writer),
            reader: Pool::Sqlite(reader),
            folder: folder.to_owned(),
            file: Some(path),
            leases: Leases::default(),
        };
        if !accepts_loss {
            ledger.verify_tables().await?;
        }
        Ok(ledger)
    }
}

/// Refuses a database of another program, without changing the file.
async fn refuse_foreign(path: &Path) -> Result<(), Error> {
    if !path.metadata().is_ok_and(|file| file.len() > 0) {
        return Ok(());
    }
    let tables = match tables(path, true).await {
        // A process killed during a transaction leaves a journal. Only a writer can roll back a journal.
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(READONLY_ROLLBACK) => {
            tables(path, false).await
        }
        tables => tables,
    };
    let tables = tables.map_err(|error| opening_error(path, error))?;
    // After an interrupted creation, a ledger has no tables or only the table of migrations.
    let is_ours =
        tables.iter().any(|table| table == "record_block") || tables.iter().all(|table| table == "_sqlx_migrations");
    if is_ours {
        Ok(())
    } else {
        let reason = "it is a database of another program, or damaged".to_owned();
        Err(Error::Open { path: path.to_owned(), reason })
    }
}

/// Returns the error of opening the database: damaged, or not accessible.
fn opening_error(path: &Path, error: sqlx::Error) -> Error {
    let (path, reason) = (path.to_owned(), error.to_string());
    match Error::Database(error).is_damage() && !reason.contains("not a database") {
        true => Error::DamagedFile { path, what: reason },
        false => Error::Open { path, reason },
    }
}

/// Returns the names of the tables. Fails if a definition is not text; the driver would panic later.
async fn tables(path: &Path, read_only: bool) -> Result<Vec<String>, sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(read_only)
        .busy_timeout(Duration::from_secs(30))
        .disable_statement_logging();
    let mut connection = options.connect().await?;
    let tables = sqlx::query_as("SELECT type, name, CAST(sql AS BLOB) FROM sqlite_master");
    let tables: Vec<(String, String, Option<Vec<u8>>)> = tables.fetch_all(&mut connection).await?;
    connection.close().await?;
    let decoded = tables.iter().flat_map(|(.., sql)| sql).try_for_each(|sql| str::from_utf8(sql).map(|_| ()));
    decoded.map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(tables.into_iter().filter(|(kind, ..)| kind == "table").map(|(_, name, _)| name).collect())
}

/// Restricts access to the owner, because the ledger contains customer data.
fn make_private(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let _ = path;
    Ok(())
}
