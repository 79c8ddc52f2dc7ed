//! The ledger on a PostgreSQL server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sheetport_files::readers::create_private_folder;
use sheetport_sql::{Dialect, Pool, ServerAddress, ServerError, Tables, writable};
use sqlx::postgres::{PgConnection, PgPoolOptions};
use sqlx::{Executor as _, Row as _};

use super::super::error::Error;
use super::super::locks::{Leases, NOW};
use super::ledger::Ledger;
use super::tables::{STEPS, migrator};

/// Time for the server to say what time it is.
const ANSWER: Duration = Duration::from_secs(15);

impl Ledger {
    /// Opens the ledger at `address`. Creates its tables if the database is empty, and brings those of an earlier version up to
    /// date. Files that belong to this machine are in `folder`.
    ///
    /// # Errors
    /// [`Error::Connect`] if the database can't be used, [`Error::NewerVersion`] if a newer version has changed the tables.
    pub async fn connect(address: &ServerAddress, folder: &Path) -> Result<Ledger, Error> {
        create_private_folder(&folder.join("locks"))
            .map_err(|error| Error::Open { path: folder.join("locks"), reason: error.to_string() })?;
        let tables = Tables { content: "ledger", mark: "record_block", migrator: migrator(Dialect::Postgres, STEPS) };
        let ledger = address.to_string();
        let options = tables.prepare(address).await.map_err(|error| match error {
            ServerError::Unusable { reason, remedy } => Error::Connect { ledger, reason, remedy },
            ServerError::NewerVersion => Error::NewerVersion { ledger, is_server: true },
            ServerError::DevelopmentVersion => Error::DevelopmentVersion { ledger, is_server: true },
            ServerError::Database(error) => error.into(),
        })?;
        let keeps_statements = address.keeps_statements();
        // A server of several may have become a replica.
        let checks = address.has_several();
        let pool = |connections| {
            let pool = PgPoolOptions::new()
                .max_connections(connections)
                .after_connect(move |connection, _| Box::pin(refuse_replica(connection, checks)))
                .connect_lazy_with(options.clone());
            Pool::of_server(pool, keeps_statements)
        };
        let ledger = Ledger {
            writer: pool(1),
            reader: pool(2),
            folder: folder.to_owned(),
            file: None,
            servers: address.has_several().then(|| Arc::new(address.clone())),
            leases: Leases::on(options.clone()),
            waits: Arc::default(),
            is_borrowed: false,
            mark: None,
        };
        ledger.read_clock().await?;
        Ok(ledger)
    }

    /// Returns how many connections the server allows this user at the same time, or `None` for a file.
    pub async fn connections(&self) -> Result<Option<usize>, Error> {
        let query = "SELECT LEAST(CAST(current_setting('max_connections') AS BIGINT), \
                     (SELECT NULLIF(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user), \
                     (SELECT NULLIF(datconnlimit, -1) FROM pg_database WHERE datname = current_database()))";
        let row = self.reader.raw_row(ANSWER, query.to_owned()).await?;
        Ok(row.map(|row| row.try_get::<i64, _>(0)).transpose()?.map(|number| usize::try_from(number).unwrap_or(0)))
    }

    /// Looks whether a newer version has changed the tables since this process has opened the ledger.
    ///
    /// # Errors
    /// [`Error::NewerVersion`] if it has.
    pub async fn refuse_newer_tables(&self) -> Result<(), Error> {
        let row = self.reader.raw_row(ANSWER, "SELECT MAX(version) FROM _sqlx_migrations".to_owned()).await?;
        let found: Option<i64> = row.map(|row| row.try_get(0)).transpose()?.flatten();
        match found > STEPS.last().map(|step| step.version) {
            true => Err(Error::NewerVersion { ledger: "of this worker".to_owned(), is_server: true }),
            false => Ok(()),
        }
    }

    /// Sets the clock of this process by that of the server.
    async fn read_clock(&self) -> Result<(), Error> {
        if let Some(row) = self.reader.raw_row(ANSWER, format!("SELECT {NOW}")).await? {
            self.leases.places().clock.set(row.try_get(0)?);
        }
        Ok(())
    }

    /// Turns to the server that can be written now, if the address names several.
    pub(super) async fn turn_to_writable(&self) {
        let Some(address) = &self.servers else { return };
        let Some(options) = writable(address).await else { return };
        for pool in [&self.writer, &self.reader] {
            if let Pool::Postgres { pool, .. } = pool {
                pool.set_connect_options(options.clone());
            }
        }
        self.leases.turn_to(options);
    }
}

/// Fails if a new connection leads to a replica, as if the server were not there.
async fn refuse_replica(connection: &mut PgConnection, checks: bool) -> Result<(), sqlx::Error> {
    if !checks {
        return Ok(());
    }
    let row = connection.fetch_one(sqlx::raw_sql("SELECT pg_is_in_recovery()")).await?;
    match row.try_get(0)? {
        true => Err(sqlx::Error::Io(std::io::Error::other("the server is a read-only replica"))),
        false => Ok(()),
    }
}
