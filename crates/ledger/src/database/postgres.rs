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
        let pool = |connections| Pool::Postgres {
            pool: PgPoolOptions::new()
                .max_connections(connections)
                .after_connect(move |connection, _| Box::pin(refuse_replica(connection, checks)))
                .connect_lazy_with(options.clone()),
            keeps_statements,
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
