//! A database on a PostgreSQL server: connecting, and creating the tables.

use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::migrate::{Migration, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection, Executor as _, Row as _};

use super::address::ServerAddress;

/// Time for the first connection.
const CONNECTING: Duration = Duration::from_secs(15);
/// Time for a server of several to say whether it can be written.
const LOOK: Duration = Duration::from_secs(3);
/// The number of the advisory lock for creating the tables.
const CREATING: i64 = 0x7368_6565_7470;
/// The table of migrations.
const MIGRATIONS: &str = "_sqlx_migrations";
/// The same table as sqlx creates.
const CREATE_MIGRATIONS: &str = "CREATE TABLE IF NOT EXISTS _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL, \
                                 installed_on TIMESTAMPTZ NOT NULL DEFAULT now(), success BOOLEAN NOT NULL, checksum BYTEA NOT NULL, \
                                 execution_time BIGINT NOT NULL)";
const REACH: &str = "check the name and the port of the server, and that it accepts connections from this machine";

/// The tables of a database.
pub struct Tables {
    /// The content in words, such as `ledger`.
    pub content: &'static str,
    /// A table that no other program creates.
    pub mark: &'static str,
    pub migrator: Migrator,
}

/// Why a database on a server can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("{reason}")]
    Unusable { reason: String, remedy: String },
    #[error("a newer version of sheetport has used it")]
    NewerVersion,
    #[error("it was created by a development version of sheetport that was never released")]
    DevelopmentVersion,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

fn unusable(reason: impl Into<String>, remedy: impl Into<String>) -> ServerError {
    ServerError::Unusable { reason: reason.into(), remedy: remedy.into() }
}

impl Tables {
    /// Connects to the database, fails if it belongs to another program, and creates the tables. Returns the options for further
    /// connections.
    pub fn prepare<'a>(&'a self, address: &'a ServerAddress) -> BoxFuture<'a, Result<PgConnectOptions, ServerError>> {
        Box::pin(async move {
            let servers = address.options().map_err(|why| unusable(why, "correct the address"))?;
            let mut failed = None;
            for options in servers {
                match self.prepare_on(&options).await {
                    Ok(()) => return Ok(options),
                    // Of several servers, one is a replica, and one may be down.
                    Err(error @ ServerError::Unusable { .. }) => failed = Some(or_more(failed, error)),
                    Err(error) => return Err(error),
                }
            }
            Err(failed.unwrap_or_else(|| unusable("it names no server", "correct the address")))
        })
    }

    async fn prepare_on(&self, options: &PgConnectOptions) -> Result<(), ServerError> {
        let mut connection = tokio::time::timeout(CONNECTING, PgConnection::connect_with(options))
            .await
            .map_err(|_| unusable("it does not answer", REACH))?
            .map_err(|error| connecting_error(options, &error))?;
        let prepared = self.check_and_create(&mut connection).await;
        // The server closes the connection otherwise.
        let _ = connection.close().await;
        prepared
    }

    async fn check_and_create(&self, connection: &mut PgConnection) -> Result<(), ServerError> {
        let about = "SELECT COALESCE(current_schema(), ''), pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";
        let about = connection.fetch_one(sqlx::raw_sql(about)).await?;
        let (schema, is_replica, is_read_only): (String, bool, bool) =
            (about.try_get(0)?, about.try_get(1)?, about.try_get(2)?);
        if is_replica || is_read_only {
            let what = if is_replica { "it is a read-only replica" } else { "its transactions are read-only" };
            return Err(unusable(what, "name the primary server, whose database can be written"));
        }
        if schema.is_empty() {
            let remedy = "create a schema of the user's name, or grant the user the use of the schema public";
            return Err(unusable("its user has no schema for tables", remedy));
        }
        let tables = "SELECT relname::TEXT FROM pg_catalog.pg_class WHERE relkind IN ('r', 'p') \
                      AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = current_schema())";
        let tables = connection.fetch_all(sqlx::raw_sql(tables)).await?;
        let tables: Vec<String> = tables.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        let is_ours = tables.iter().any(|table| table == self.mark) || tables.iter().all(|table| table == MIGRATIONS);
        if !is_ours {
            let remedy = format!("create a database of its own for the {}; nothing was changed", self.content);
            return Err(unusable(format!("its schema {schema} has tables of another program"), remedy));
        }
        if tables.iter().any(|table| table == MIGRATIONS) && self.is_complete(connection).await? {
            return Ok(());
        }
        self.create(connection).await.map_err(|error| match code(&error).as_deref() {
            Some("42501") => {
                let remedy =
                    "let its owner run a command first, or grant the user the right to create tables in the schema";
                unusable(format!("its user may not create tables: {}", message(&error)), remedy)
            }
            _ => ServerError::Database(error),
        })
    }

    /// Whether all migrations were applied.
    async fn is_complete(&self, connection: &mut PgConnection) -> Result<bool, ServerError> {
        let applied = connection.fetch_all(sqlx::raw_sql("SELECT version, checksum FROM _sqlx_migrations")).await?;
        for row in &applied {
            let (step, checksum): (i64, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
            match self.migrator.iter().find(|migration| migration.version == step) {
                Some(migration) if *migration.checksum == checksum => {}
                Some(_) => return Err(ServerError::DevelopmentVersion),
                None => return Err(ServerError::NewerVersion),
            }
        }
        Ok(applied.len() == self.migrator.iter().count())
    }

    /// Creates the tables in one transaction, under a lock. Uses no parameters, because prepared statements could
    /// remain in a session of a pooler.
    async fn create(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let mut transaction = connection.begin().await?;
        let lock = format!("SELECT pg_advisory_xact_lock({CREATING})");
        transaction.execute(sqlx::raw_sql(AssertSqlSafe(lock))).await?;
        transaction.execute(sqlx::raw_sql(CREATE_MIGRATIONS)).await?;
        for migration in self.migrator.iter() {
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
}

/// Returns the server of an address that can be written now, or `None` if there is none.
pub fn writable(address: &ServerAddress) -> BoxFuture<'_, Option<PgConnectOptions>> {
    Box::pin(async move {
        for options in address.options().ok()? {
            if matches!(tokio::time::timeout(LOOK, can_be_written(&options)).await, Ok(Ok(true))) {
                return Some(options);
            }
        }
        None
    })
}

async fn can_be_written(options: &PgConnectOptions) -> Result<bool, sqlx::Error> {
    let mut connection = PgConnection::connect_with(options).await?;
    let query = "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'";
    let can = connection.fetch_one(sqlx::raw_sql(query)).await?.try_get(0);
    let _ = connection.close().await;
    can
}

/// Returns the reasons of several servers as one.
fn or_more(before: Option<ServerError>, error: ServerError) -> ServerError {
    match (before, error) {
        (Some(ServerError::Unusable { reason: before, remedy }), ServerError::Unusable { reason, .. }) => {
            unusable(format!("{before}; {reason}"), remedy)
        }
        (_, error) => error,
    }
}

/// Returns the reason for a failed connection, and a remedy.
fn connecting_error(options: &PgConnectOptions, error: &sqlx::Error) -> ServerError {
    let user = options.get_username();
    match (error, code(error).as_deref()) {
        (_, Some("28P01" | "28000")) => unusable(
            format!("the server refuses the user {user} or the password: {}", message(error)),
            "set PGPASSWORD, or enter the password in the file .pgpass",
        ),
        (_, Some("3D000")) => {
            unusable(message(error), "create the database, such as with createdb, or correct its name")
        }
        (_, Some("53300")) => unusable(
            message(error),
            "raise max_connections of the server, use a pooler, or lower --at-once: workers need up to four connections for each part",
        ),
        (_, Some("57P03")) => unusable(message(error), "try again later"),
        (sqlx::Error::Tls(_), _) => unusable(
            format!("the connection can't be encrypted: {error}"),
            "name the certificate of its authority with sslrootcert=FILE in the address; without encryption, sslmode=disable",
        ),
        (sqlx::Error::Io(_), _) => {
            let at = match options.get_socket() {
                Some(socket) => socket.display().to_string(),
                None => format!("{}:{}", options.get_host(), options.get_port()),
            };
            unusable(format!("{at} can't be reached: {}", message(error)), REACH)
        }
        _ => unusable(message(error), "check the address and the server"),
    }
}

/// Returns the message of a database without the driver's own words, such as the line in the server's source code.
pub fn message(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::PoolTimedOut => "no connection to the database was free for 30 seconds".to_owned(),
        error => error.to_string(),
    }
}

fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error().and_then(|error| error.code()).map(|code| code.into_owned())
}
