//! The definitions of the tables: a flipped bit in one of them could change what a statement means.

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};

use super::super::database::{Ledger, TABLES};
use super::super::error::Error;

/// Type, name, table and statement of each definition.
type Definitions = Vec<(String, String, String, Option<String>)>;

impl Ledger {
    /// Checks that the tables are defined as when they were created.
    ///
    /// # Errors
    /// [`Error::DamagedFile`] if they are not.
    pub(in crate::ledger) async fn verify_tables(&self) -> Result<(), Error> {
        let mut connection = self.reader.acquire().await?;
        let actual = definitions(&mut connection).await?;
        drop(connection);
        let mut empty = SqliteConnectOptions::new().in_memory(true).disable_statement_logging().connect().await?;
        sqlx::raw_sql(TABLES).execute(&mut empty).await?;
        let expected = definitions(&mut empty).await?;
        empty.close().await?;
        match actual == expected {
            true => Ok(()),
            false => {
                let what = "the definition of a table was altered".to_owned();
                Err(Error::DamagedFile { path: self.path(), what })
            }
        }
    }
}

async fn definitions(connection: &mut SqliteConnection) -> Result<Definitions, Error> {
    let query =
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE tbl_name <> '_sqlx_migrations' ORDER BY name";
    Ok(sqlx::query_as(query).fetch_all(connection).await?)
}
