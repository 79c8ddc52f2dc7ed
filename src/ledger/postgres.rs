//! The ledger on a PostgreSQL server.

use std::path::Path;
use std::time::Duration;

use sqlx::migrate::Migration;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, Executor as _, Row as _};

use super::address::ServerAddress;
use super::database::{Ledger, migrator};
use super::error::Error;
use super::lease::Leases;
use super::sql::{Dialect, Pool};
use crate::readers::create_private_folder;

/// Time for the first connection.
const CONNECTING: Duration = Duration::from_secs(15);
/// The number of the lock under which the tables are created.
const CREATING: i64 = 0x7368_6565_7470;
/// The table of migrations.
const MIGRATIONS: &str = "_sqlx_migrations";
/// The same table as sqlx creates.
const CREATE_MIGRATIONS: &str = "CREATE TABLE IF NOT EXISTS _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL, \
                                 installed_on TIMESTAMPTZ NOT NULL DEFAULT now(), success BOOLEAN NOT NULL, checksum BYTEA NOT NULL, \
                                 execution_time BIGINT NOT NULL)";

impl Ledger {
    /// Opens the ledger at `address`, and creates its tables if the database is empty. Files that belong to this machine are in
    /// `folder`.
    ///
    /// # Errors
    /// [`Error::Connect`] if the database can't be used, [`Error::OtherVersion`] if it was created by another version.
    pub async fn connect(address: &ServerAddress, folder: &Path) -> Result<Ledger, Error> {
        let shown = address.to_string();
        let failed =
            |reason: String, remedy: &str| Error::Connect { ledger: shown.clone(), reason, remedy: remedy.to_owned() };
        create_private_folder(&folder.join("locks"))
            .map_err(|error| Error::Open { path: folder.join("locks"), reason: error.to_string() })?;
        let options = address.options().map_err(|why| failed(why, "correct the address"))?;
        let mut connection = tokio::time::timeout(CONNECTING, PgConnection::connect_with(&options))
            .await
            .map_err(|_| failed("it does not answer".to_owned(), REACH))?
            .map_err(|error| connecting_error(address, &options, &error))?;
        let prepared = prepare(address, &mut connection).await;
        // The server closes the connection otherwise.
        let _ = connection.close().await;
        prepared?;
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
        })
    }
}

const REACH: &str = "check the name and the port of the server, and that it accepts connections from this machine";

/// Checks that the database is ours, or empty, and creates the tables.
async fn prepare(address: &ServerAddress, connection: &mut PgConnection) -> Result<(), Error> {
    let failed = |reason: &str, remedy: &str| Error::Connect {
        ledger: address.to_string(),
        reason: reason.to_owned(),
        remedy: remedy.to_owned(),
    };
    let about =
        "SELECT COALESCE(current_schema(), ''), pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";
    let about = connection.fetch_one(sqlx::raw_sql(about)).await?;
    let (schema, is_replica, is_read_only): (String, bool, bool) =
        (about.try_get(0)?, about.try_get(1)?, about.try_get(2)?);
    if is_replica || is_read_only {
        let what = if is_replica { "it is a read-only replica" } else { "its transactions are read-only" };
        return Err(failed(what, "name the primary server, whose database can be written"));
    }
    if schema.is_empty() {
        let remedy = "create a schema of the user's name, or grant the user the use of the schema public";
        return Err(failed("its user has no schema for tables", remedy));
    }
    let tables = "SELECT relname::TEXT FROM pg_catalog.pg_class WHERE relkind IN ('r', 'p') \
                  AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = current_schema())";
    let tables = connection.fetch_all(sqlx::raw_sql(tables)).await?;
    let tables: Vec<String> = tables.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let is_ours = tables.iter().any(|table| table == "record_block") || tables.iter().all(|table| table == MIGRATIONS);
    if !is_ours {
        let what = format!("its schema {schema} has tables of another program");
        return Err(failed(&what, "create a database of its own for the ledger; nothing was changed"));
    }
    if tables.iter().any(|table| table == MIGRATIONS) && is_complete(address, connection).await? {
        return Ok(());
    }
    create(connection).await.map_err(|error| match code(&error).as_deref() {
        Some("42501") => {
            let remedy =
                "let its owner run a command first, or grant the user the right to create tables in the schema";
            failed(&format!("its user may not create tables: {error}"), remedy)
        }
        _ => Error::Database(error),
    })
}

/// Whether all migrations were applied.
async fn is_complete(address: &ServerAddress, connection: &mut PgConnection) -> Result<bool, Error> {
    let applied = connection.fetch_all(sqlx::raw_sql("SELECT version, checksum FROM _sqlx_migrations")).await?;
    let known = migrator(Dialect::Postgres);
    for row in &applied {
        let (step, checksum): (i64, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
        if !known.iter().any(|migration| migration.version == step && *migration.checksum == checksum) {
            return Err(Error::OtherVersion { ledger: address.to_string(), step });
        }
    }
    Ok(applied.len() == known.iter().count())
}

/// Creates the tables in one transaction, which others wait for. Without parameters: what sqlx would prepare for them could stay behind
/// in a session of a pooler.
async fn create(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    let lock = format!("SELECT pg_advisory_xact_lock({CREATING})");
    transaction.execute(sqlx::raw_sql(AssertSqlSafe(lock))).await?;
    transaction.execute(sqlx::raw_sql(CREATE_MIGRATIONS)).await?;
    for migration in migrator(Dialect::Postgres).iter() {
        let Migration { version, description, sql, checksum, .. } = migration;
        let applied = format!("SELECT 1 FROM {MIGRATIONS} WHERE version = {version}");
        if transaction.fetch_optional(sqlx::raw_sql(AssertSqlSafe(applied))).await?.is_some() {
            continue;
        }
        transaction.execute(sqlx::raw_sql(sql.clone())).await?;
        let checksum: String = checksum.iter().map(|byte| format!("{byte:02x}")).collect();
        let insert = format!(
            "INSERT INTO {MIGRATIONS} (version, description, success, checksum, execution_time) \
             VALUES ({version}, '{description}', TRUE, '\\x{checksum}', 0)"
        );
        transaction.execute(sqlx::raw_sql(AssertSqlSafe(insert))).await?;
    }
    transaction.commit().await
}

/// Returns why there is no connection, and how to get one.
fn connecting_error(address: &ServerAddress, options: &PgConnectOptions, error: &sqlx::Error) -> Error {
    let user = options.get_username();
    let (reason, remedy) = match (error, code(error).as_deref()) {
        (_, Some("28P01" | "28000")) => (
            format!("the server refuses the user {user} or the password: {error}"),
            "set PGPASSWORD, or enter the password in the file .pgpass".to_owned(),
        ),
        (_, Some("3D000")) => {
            (error.to_string(), "create the database, such as with createdb, or correct its name".to_owned())
        }
        (_, Some("53300" | "57P03")) => (error.to_string(), "try again later".to_owned()),
        (sqlx::Error::Tls(_), _) => (
            format!("the connection can't be encrypted: {error}"),
            "name the certificate of its authority with sslrootcert=FILE in the address; without encryption, sslmode=disable"
                .to_owned(),
        ),
        (sqlx::Error::Io(_), _) => {
            let at = match options.get_socket() {
                Some(socket) => socket.display().to_string(),
                None => format!("{}:{}", options.get_host(), options.get_port()),
            };
            (format!("{at} can't be reached: {error}"), REACH.to_owned())
        }
        _ => (error.to_string(), "check the address and the server".to_owned()),
    };
    Error::Connect { ledger: address.to_string(), reason, remedy }
}

fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error().and_then(|error| error.code()).map(|code| code.into_owned())
}
