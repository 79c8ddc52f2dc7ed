//! The database on a PostgreSQL server, shared by any number of services.

use std::borrow::Cow;

use sheetport_sql::{ServerAddress, ServerError, Tables};
use sqlx::SqlStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

use super::super::database::Store;
use super::super::source::Source;
use crate::error::Error;

/// Together, they create the tables that the migrations of SQLite end with.
const MIGRATIONS: [(i64, &str, &str); 2] = [
    (1, "service", include_str!("../migrations/server_tables.sql")),
    (2, "lists", include_str!("../migrations/server_lists.sql")),
];
/// The number of writers of a service. The writes of a workspace go to the same.
const WRITERS: usize = 4;
const READERS: u32 = 4;

impl Store {
    /// Opens the database, and creates the tables in an empty database.
    pub(crate) async fn connect(address: &ServerAddress, journal: u64) -> Result<Store, Error> {
        let source = connect(address).await?;
        let readers = source.readers(READERS);
        Store::start(source, readers, WRITERS, journal).await.map_err(|error| failed(address, error.into()))
    }
}

/// Checks that the database is ours or empty, and creates the tables. Returns the connection options.
pub(crate) async fn connect(address: &ServerAddress) -> Result<Source, Error> {
    let migrations = MIGRATIONS.map(|(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, SqlStr::from_static(sql), false)
    });
    let migrator = Migrator { migrations: Cow::Owned(migrations.into()), ..Migrator::DEFAULT };
    let tables = Tables { content: "service", mark: "idempotency_keys", migrator };
    let options = tables.prepare(address).await.map_err(|error| failed(address, error))?;
    Ok(Source::Server { options, keeps_statements: address.keeps_statements() })
}

pub(crate) fn failed(address: &ServerAddress, error: ServerError) -> Error {
    let storage = address.to_string();
    match error {
        ServerError::Unusable { reason, remedy } => Error::Server { storage, reason, remedy },
        ServerError::NewerVersion | ServerError::DevelopmentVersion => Error::OtherVersion { storage },
        ServerError::Database(error) => Error::Server {
            storage,
            reason: error.to_string(),
            remedy: "check that the database can be reached and that its disk is not full".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sheetport_sql::{self as sql, Executor};

    use super::*;

    /// Returns the tables with their columns.
    async fn columns(on: impl Executor) -> BTreeSet<(String, String)> {
        let columns = "SELECT tables.name, columns.name FROM sqlite_schema AS tables \
                       JOIN pragma_table_info(tables.name) AS columns WHERE tables.name NOT LIKE '\\_%' ESCAPE '\\'";
        sql::query_as(columns).fetch_all(on).await.expect("columns").into_iter().collect()
    }

    #[tokio::test]
    async fn both_databases_have_the_same_columns() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("service.db"), std::time::Duration::ZERO, 0).await.expect("opened");
        let other = folder.path().join("other.db");
        let other = Source::File(sqlx::sqlite::SqliteConnectOptions::new().filename(other).create_if_missing(true));
        let pool = other.pool(1);
        // What only a server has.
        let only_servers = |name: &str| name == "signing_key";
        for (.., migration) in MIGRATIONS {
            for statement in migration.split(";\n").filter(|statement| statement.contains(" TABLE ")) {
                let statement = statement.replace("GENERATED ALWAYS AS IDENTITY", "");
                sql::query(statement).execute(&pool).await.expect("executed");
            }
        }
        let mut on_server = columns(&pool).await;
        on_server.retain(|(table, _)| !only_servers(table));
        assert_eq!(columns(store.readers()).await, on_server);
        store.close().await;
    }
}
