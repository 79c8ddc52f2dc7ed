//! The definitions of the tables: a flipped bit in a definition could change the meaning of a statement.

use super::super::database::{Ledger, TABLES};
use super::super::error::Error;
use crate::sql;

impl Ledger {
    /// Compares the definitions of the tables with the original definitions.
    ///
    /// # Errors
    /// [`Error::DamagedFile`] if they differ.
    pub(in crate::ledger) async fn verify_tables(&self) -> Result<(), Error> {
        let Some(path) = &self.file else { return Ok(()) };
        let query =
            "SELECT name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name <> '_sqlx_migrations'";
        let definitions: Vec<(String, String, String)> = sql::query_as(query).fetch_all(&self.reader).await?;
        let is_as_created = definitions.len() == TABLES.matches("\nCREATE ").count()
            && definitions.iter().all(|(name, table, sql)| {
                // SQLite keeps the text of the statement.
                let is_named = match name == table {
                    true => sql.starts_with(&format!("CREATE TABLE {name} (")),
                    false => sql.contains(&format!("INDEX {name} ON {table} (")),
                };
                is_named && TABLES.contains(sql)
            });
        match is_as_created {
            true => Ok(()),
            false => {
                let what = "the definition of a table was altered".to_owned();
                Err(Error::DamagedFile { path: path.clone(), what })
            }
        }
    }
}
