//! The ledger on a PostgreSQL server.

use std::path::Path;
use std::sync::Arc;

use sheetport_files::readers::create_private_folder;
use sheetport_sql::{Dialect, Pool, ServerAddress, ServerError, Tables};
use sqlx::postgres::PgPoolOptions;

use super::super::error::Error;
use super::super::locks::Leases;
use super::ledger::Ledger;
use super::tables::{STEPS, migrator};

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
        let pool = |connections| Pool::Postgres {
            pool: PgPoolOptions::new().max_connections(connections).connect_lazy_with(options.clone()),
            keeps_statements,
        };
        Ok(Ledger {
            writer: pool(1),
            reader: pool(2),
            folder: folder.to_owned(),
            file: None,
            leases: Leases::on(options.clone()),
            waits: Arc::default(),
            is_borrowed: false,
            mark: None,
        })
    }
}
