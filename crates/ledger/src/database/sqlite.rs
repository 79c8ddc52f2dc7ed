//! The ledger in a file of SQLite.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sheetport_files::readers::create_private_folder;
use sheetport_sql::{self as sql, Dialect, Pool};
use sqlx::migrate::MigrateError;
use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlitePool};

use super::super::error::Error;
use super::super::locks::Leases;
use super::ledger::{FILE, Ledger};
use super::shared_folder::served_by;
use super::tables::{ALTERED, STEPS, Step, are_as_defined, migrator};
use super::waits::ATTEMPT;

/// The code of SQLITE_READONLY_ROLLBACK.
const READONLY_ROLLBACK: &str = "776";

impl Ledger {
    /// Opens the ledger in `folder`. Creates both if necessary, and brings the tables of an earlier version up to date.
    ///
    /// # Errors
    /// [`Error::DamagedFile`] if the tables were altered, and [`Error::NewerVersion`] if a newer version has changed the tables.
    pub async fn open(folder: &Path) -> Result<Ledger, Error> {
        Ledger::open_with(folder, STEPS).await
    }

    /// Opens a damaged ledger in `folder` for reading what can still be read. SQLite refuses every change.
    pub async fn open_damaged(folder: &Path) -> Result<Ledger, Error> {
        let path = folder.join(FILE);
        let pool = SqlitePoolOptions::new().max_connections(2).connect_with(options(&path).read_only(true)).await;
        let reader = pool.map_err(|error| opening_error(&path, error))?;
        Ok(Ledger::over(folder, reader.clone(), reader))
    }

    async fn open_with(folder: &Path, steps: &[Step]) -> Result<Ledger, Error> {
        let path = folder.join(FILE);
        let failed = |reason: String| Error::Open { path: path.clone(), reason };
        if let Some(system) = served_by(folder) {
            return Err(Error::SharedFolder { folder: folder.to_owned(), system });
        }
        create_private_folder(&folder.join("locks")).map_err(|error| failed(error.to_string()))?;
        if let Some(current) = Ledger::open_current(folder, steps).await? {
            return Ok(current);
        }
        // Without a lock, two processes starting at once would both create the tables.
        let opening = folder.join("locks").join("opening.lock");
        let _opening = tokio::task::spawn_blocking(move || {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(opening)?;
            file.lock().map(|()| file)
        })
        .await
        .unwrap_or_else(|error| Err(std::io::Error::other(error)))
        .map_err(|error| failed(error.to_string()))?;
        refuse_foreign(&path).await?;
        let options = options(&path).create_if_missing(true).journal_mode(SqliteJournalMode::Wal);
        // Takes effect when the file is created: the space of removed plans can be returned to the system.
        let creating = options.clone().auto_vacuum(SqliteAutoVacuum::Incremental);
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(creating).await;
        let writer = pool.map_err(|error| opening_error(&path, error))?;
        make_private(&path).map_err(|error| failed(error.to_string()))?;
        if !are_as_defined(&writer, steps).await.map_err(|error| opening_error(&path, error))? {
            return Err(Error::DamagedFile { path, what: ALTERED.to_owned() });
        }
        migrator(Dialect::Sqlite, steps).run(&writer).await.map_err(|error| match error {
            MigrateError::VersionMissing(_) => {
                Error::NewerVersion { ledger: path.display().to_string(), is_server: false }
            }
            MigrateError::VersionMismatch(_) => {
                Error::DevelopmentVersion { ledger: path.display().to_string(), is_server: false }
            }
            MigrateError::Execute(error) => opening_error(&path, error),
            error => failed(error.to_string()),
        })?;
        name_origin(&writer).await.map_err(|error| opening_error(&path, error))?;
        // From now on, whoever waits for another program does so in steps: see `waiting`.
        let patience = format!("PRAGMA busy_timeout = {}", ATTEMPT.as_millis());
        sqlx::query(sqlx::AssertSqlSafe(patience))
            .execute(&writer)
            .await
            .map_err(|error| opening_error(&path, error))?;
        let reader = SqlitePoolOptions::new().max_connections(2).connect_with(options.read_only(true)).await;
        let reader = reader.map_err(|error| opening_error(&path, error))?;
        Ok(Ledger::over(folder, writer, reader))
    }

    /// Opens a ledger that has all tables of this version. Nothing is written, so this needs no lock, and works while another
    /// program writes. Returns `None` for a ledger that has to be created or changed first.
    async fn open_current(folder: &Path, steps: &[Step]) -> Result<Option<Ledger>, Error> {
        let path = folder.join(FILE);
        let failed = |reason: String| Error::Open { path: path.clone(), reason };
        if !path.metadata().is_ok_and(|file| file.len() > 0) {
            return Ok(None);
        }
        refuse_foreign(&path).await?;
        let reader = SqlitePoolOptions::new().max_connections(2).connect_with(options(&path).read_only(true)).await;
        let Ok(reader) = reader else { return Ok(None) };
        if !is_current(&reader, steps).await.unwrap_or(false) {
            reader.close().await;
            return Ok(None);
        }
        if !are_as_defined(&reader, steps).await.map_err(|error| opening_error(&path, error))? {
            return Err(Error::DamagedFile { path, what: ALTERED.to_owned() });
        }
        make_private(&path).map_err(|error| failed(error.to_string()))?;
        // Whoever waits for another program does so in steps: see `waiting`.
        let writer = options(&path).busy_timeout(ATTEMPT);
        let writer = SqlitePoolOptions::new().max_connections(1).connect_with(writer).await;
        let writer = writer.map_err(|error| opening_error(&path, error))?;
        Ok(Some(Ledger::over(folder, writer, reader)))
    }

    /// Copies the ledger as of now into a new file, also while others write.
    pub async fn copy_into(&self, path: &Path) -> Result<(), Error> {
        sql::query("VACUUM INTO $1").bind(path.display().to_string()).execute(&self.reader).await?;
        Ok(())
    }

    fn over(folder: &Path, writer: SqlitePool, reader: SqlitePool) -> Ledger {
        Ledger {
            writer: Pool::Sqlite(writer),
            reader: Pool::Sqlite(reader),
            folder: folder.to_owned(),
            file: Some(folder.join(FILE)),
            servers: None,
            leases: Leases::default(),
            waits: Arc::default(),
            is_borrowed: false,
            mark: None,
        }
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(30))
        // Reports a damaged page on reading, instead of misreading the page.
        .pragma("cell_size_check", "ON")
        .disable_statement_logging()
}

/// Whether exactly the steps were applied to the file, whose log is that of a ledger.
async fn is_current(pool: &SqlitePool, steps: &[Step]) -> Result<bool, sqlx::Error> {
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(pool).await?;
    let query = "SELECT version, checksum FROM _sqlx_migrations WHERE success ORDER BY version";
    let applied: Vec<(i64, Vec<u8>)> = sqlx::query_as(query).fetch_all(pool).await?;
    let migrator = migrator(Dialect::Sqlite, steps);
    let known = migrator.iter().map(|step| (step.version, step.checksum.as_ref()));
    if mode != "wal" || !applied.iter().map(|(version, sum)| (*version, sum.as_slice())).eq(known) {
        return Ok(false);
    }
    sqlx::query_scalar("SELECT COUNT(*) = 1 FROM origin").fetch_one(pool).await
}

/// Gives a ledger its name. Everything is then in the file itself and not in its log, so that a copy of the file alone is
/// recognised as one that lacks what followed.
async fn name_origin(pool: &SqlitePool) -> Result<(), sqlx::Error> {
    let named = "INSERT INTO origin (id) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM origin)";
    let named = sqlx::query(named).bind(uuid::Uuid::now_v7().simple().to_string()).execute(pool).await?;
    if named.rows_affected() > 0 {
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(pool).await?;
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps of a later version, whose second one changes and adds tables.
    fn later() -> Vec<Step> {
        let sql = "ALTER TABLE outcome ADD COLUMN noted TEXT; CREATE INDEX outcome_noted ON outcome (noted); \
                   CREATE TABLE note (run BIGINT PRIMARY KEY); INSERT INTO note (run) SELECT run FROM total;";
        [STEPS, &[Step { version: 1 + STEPS.len() as i64, name: "notes", sql, postgres: "" }]].concat()
    }

    async fn execute(ledger: &Ledger, statement: &'static str) {
        sql::query(statement).execute(&ledger.writer).await.expect("a statement");
    }

    #[tokio::test]
    async fn a_ledger_of_an_earlier_version_is_brought_up_to_date_and_newer_ones_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::open(folder.path()).await.expect("a ledger");
        execute(&ledger, "INSERT INTO total SELECT 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0").await;
        ledger.close().await;

        let later = later();
        for _ in 0..2 {
            let ledger = Ledger::open_with(folder.path(), &later).await.expect("the ledger of the version before");
            let notes: Vec<i64> =
                sql::query_scalar("SELECT run FROM note").fetch_all(&ledger.reader).await.expect("notes");
            assert_eq!(notes, [7]);
            ledger.close().await;
        }
        let before = std::fs::read(folder.path().join(FILE)).expect("the file");
        assert!(matches!(Ledger::open(folder.path()).await, Err(Error::NewerVersion { .. })));
        assert!(std::fs::read(folder.path().join(FILE)).expect("the file") == before);
    }

    #[tokio::test]
    async fn an_altered_table_is_noticed_before_a_step_changes_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::open(folder.path()).await.expect("a ledger");
        execute(&ledger, "CREATE INDEX other ON outcome (at)").await;
        ledger.close().await;
        for steps in [STEPS, &later()] {
            assert!(matches!(Ledger::open_with(folder.path(), steps).await, Err(Error::DamagedFile { .. })));
        }
        let damaged = Ledger::open_damaged(folder.path()).await.expect("opened for reading");
        assert!(matches!(damaged.verify_tables().await, Err(Error::DamagedFile { .. })));
        assert!(damaged.runs(1).await.expect("read").is_empty());
        sql::query("DELETE FROM run").execute(&damaged.writer).await.expect_err("read-only");
    }
}
