//! Connections and transactions.

use std::time::Duration;

use futures_util::TryStreamExt;
use futures_util::future::BoxFuture;
use sqlx::postgres::{PgConnection, PgPool, PgRow};
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use sqlx::{Error, Executor as _, Sqlite};
use tokio::time::timeout;

use super::dialect::Dialect;
use super::postgres_transaction::{Borrowed, PostgresTransaction, QUERY};
use super::row::Row;
use super::statement::Statement;

/// Time for closing connections, whose server may not answer.
const CLOSING: Duration = Duration::from_secs(10);
/// Begins a reading transaction of a server.
const READING: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Connections to the database.
#[derive(Clone, Debug)]
pub enum Pool {
    Sqlite(SqlitePool),
    Postgres {
        pool: PgPool,
        /// Whether sessions may keep prepared statements. If not, every statement is part of a transaction: a pooler may give
        /// the preparation and the execution to different sessions otherwise.
        keeps_statements: bool,
    },
}

/// A transaction. Rolled back on drop.
pub enum Transaction {
    Sqlite(sqlx::Transaction<'static, Sqlite>),
    Postgres { transaction: PostgresTransaction, keeps_statements: bool },
}

/// A pool or transaction to run statements on. Futures are boxed, so that the code of the drivers is compiled here and not once more in
/// each crate with statements.
pub trait Executor: Send {
    fn dialect(&self) -> Dialect;

    fn rows<'e>(self, statement: Statement) -> BoxFuture<'e, Result<Vec<Row>, Error>>
    where
        Self: 'e;

    /// Returns the first row, if any.
    fn first_row<'e>(self, statement: Statement) -> BoxFuture<'e, Result<Option<Row>, Error>>
    where
        Self: Sized + 'e,
    {
        Box::pin(async move { Ok(self.rows(statement).await?.into_iter().next()) })
    }

    /// Returns the number of rows affected.
    fn execute<'e>(self, statement: Statement) -> BoxFuture<'e, Result<u64, Error>>
    where
        Self: 'e;
}

impl Pool {
    pub fn dialect(&self) -> Dialect {
        match self {
            Pool::Sqlite(_) => Dialect::Sqlite,
            Pool::Postgres { .. } => Dialect::Postgres,
        }
    }

    /// Begins a writing transaction. Writers of SQLite wait for each other here.
    pub fn begin(&self) -> BoxFuture<'_, Result<Transaction, Error>> {
        Box::pin(async move {
            Ok(match self {
                Pool::Sqlite(pool) => Transaction::Sqlite(pool.begin_with("BEGIN IMMEDIATE").await?),
                Pool::Postgres { pool, keeps_statements } => {
                    let transaction = PostgresTransaction::begin(pool, "BEGIN ISOLATION LEVEL READ COMMITTED").await?;
                    Transaction::Postgres { transaction, keeps_statements: *keeps_statements }
                }
            })
        })
    }

    /// Begins a reading transaction. All its statements see the same snapshot.
    pub fn begin_reading(&self) -> BoxFuture<'_, Result<Transaction, Error>> {
        Box::pin(async move {
            Ok(match self {
                Pool::Sqlite(pool) => Transaction::Sqlite(pool.begin().await?),
                Pool::Postgres { pool, keeps_statements } => {
                    let transaction = PostgresTransaction::begin(pool, READING).await?;
                    Transaction::Postgres { transaction, keeps_statements: *keeps_statements }
                }
            })
        })
    }

    /// Does the same as [`Pool::begin_reading`], for a transaction that may be idle for any time.
    pub fn begin_snapshot(&self) -> BoxFuture<'_, Result<Transaction, Error>> {
        Box::pin(async move {
            Ok(match self {
                Pool::Sqlite(_) => self.begin_reading().await?,
                Pool::Postgres { pool, keeps_statements } => {
                    let transaction = PostgresTransaction::begin_unlimited(pool, READING.to_owned()).await?;
                    Transaction::Postgres { transaction, keeps_statements: *keeps_statements }
                }
            })
        })
    }

    /// Runs a statement without parameters by one message on a server, with a short time limit. Returns the row.
    pub fn raw_row(&self, patience: Duration, statement: String) -> BoxFuture<'_, Result<Option<PgRow>, Error>> {
        Box::pin(async move {
            match self {
                Pool::Sqlite(_) => Ok(None),
                Pool::Postgres { pool, .. } => Borrowed::from(pool).await?.raw_row(patience, statement).await,
            }
        })
    }

    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match self {
                Pool::Sqlite(pool) => pool.close().await,
                // The server closes what is left.
                Pool::Postgres { pool, .. } => drop(timeout(CLOSING, pool.close()).await),
            }
        })
    }
}

impl Transaction {
    pub fn dialect(&self) -> Dialect {
        match self {
            Transaction::Sqlite(_) => Dialect::Sqlite,
            Transaction::Postgres { .. } => Dialect::Postgres,
        }
    }

    /// Undoes all changes and releases all locks now. Dropping the transaction does so only when the runtime next polls the
    /// connection.
    pub fn rollback(self) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            match self {
                Transaction::Sqlite(transaction) => transaction.rollback().await,
                Transaction::Postgres { transaction, .. } => transaction.rollback().await,
            }
        })
    }

    /// Runs statements without parameters by one message, on a server. Returns the first row.
    pub fn raw_row(&mut self, statements: String) -> BoxFuture<'_, Result<Option<PgRow>, Error>> {
        Box::pin(async move {
            match self {
                Transaction::Sqlite(_) => Ok(None),
                Transaction::Postgres { transaction, .. } => {
                    transaction.borrowed.raw_row(transaction.patience, statements).await
                }
            }
        })
    }

    /// Sets the time limit of further statements. After a timeout, the statement fails and the connection is closed.
    pub fn set_patience(&mut self, patience: Duration) {
        if let Transaction::Postgres { transaction, .. } = self {
            transaction.patience = patience;
        }
    }

    pub fn commit(self) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            match self {
                Transaction::Sqlite(transaction) => transaction.commit().await,
                Transaction::Postgres { transaction, .. } => transaction.commit().await,
            }
        })
    }
}

impl Executor for &Pool {
    fn dialect(&self) -> Dialect {
        Pool::dialect(self)
    }

    fn rows<'e>(self, statement: Statement) -> BoxFuture<'e, Result<Vec<Row>, Error>>
    where
        Self: 'e,
    {
        Box::pin(async move {
            match self {
                Pool::Sqlite(pool) => sqlite_rows(&mut *pool.acquire().await?, statement).await,
                Pool::Postgres { pool, keeps_statements: true } => {
                    let mut borrowed = Borrowed::from(pool).await?;
                    let (connection, is_stalled) = borrowed.parts()?;
                    Borrowed::in_time(QUERY, is_stalled, postgres_rows(connection, statement, true)).await
                }
                Pool::Postgres { pool, keeps_statements: false } => {
                    let mut transaction = PostgresTransaction::begin(pool, "BEGIN").await?;
                    let (connection, is_stalled) = transaction.borrowed.parts()?;
                    let statement = postgres_rows(connection, statement, false);
                    let rows = Borrowed::in_time(QUERY, is_stalled, statement).await?;
                    transaction.commit().await?;
                    Ok(rows)
                }
            }
        })
    }

    fn execute<'e>(self, statement: Statement) -> BoxFuture<'e, Result<u64, Error>>
    where
        Self: 'e,
    {
        Box::pin(async move {
            match self {
                Pool::Sqlite(pool) => sqlite_execute(&mut *pool.acquire().await?, statement).await,
                Pool::Postgres { pool, keeps_statements: true } => {
                    let mut borrowed = Borrowed::from(pool).await?;
                    let (connection, is_stalled) = borrowed.parts()?;
                    Borrowed::in_time(QUERY, is_stalled, postgres_execute(connection, statement, true)).await
                }
                Pool::Postgres { pool, keeps_statements: false } => {
                    let mut transaction = PostgresTransaction::begin(pool, "BEGIN").await?;
                    let (connection, is_stalled) = transaction.borrowed.parts()?;
                    let statement = postgres_execute(connection, statement, false);
                    let changed = Borrowed::in_time(QUERY, is_stalled, statement).await?;
                    transaction.commit().await?;
                    Ok(changed)
                }
            }
        })
    }
}

impl Executor for &mut Transaction {
    fn dialect(&self) -> Dialect {
        Transaction::dialect(self)
    }

    fn rows<'e>(self, statement: Statement) -> BoxFuture<'e, Result<Vec<Row>, Error>>
    where
        Self: 'e,
    {
        Box::pin(async move {
            match self {
                Transaction::Sqlite(transaction) => sqlite_rows(transaction, statement).await,
                Transaction::Postgres { transaction, keeps_statements } => {
                    let (connection, is_stalled) = transaction.borrowed.parts()?;
                    let statement = postgres_rows(connection, statement, *keeps_statements);
                    Borrowed::in_time(transaction.patience, is_stalled, statement).await
                }
            }
        })
    }

    fn execute<'e>(self, statement: Statement) -> BoxFuture<'e, Result<u64, Error>>
    where
        Self: 'e,
    {
        Box::pin(async move {
            match self {
                Transaction::Sqlite(transaction) => sqlite_execute(transaction, statement).await,
                Transaction::Postgres { transaction, keeps_statements } => {
                    let (connection, is_stalled) = transaction.borrowed.parts()?;
                    let statement = postgres_execute(connection, statement, *keeps_statements);
                    Borrowed::in_time(transaction.patience, is_stalled, statement).await
                }
            }
        })
    }
}

pub(super) async fn sqlite_rows(connection: &mut SqliteConnection, statement: Statement) -> Result<Vec<Row>, Error> {
    let (sql, arguments, is_kept) = statement.into_sqlite()?;
    let query = sqlx::query_with(sql, arguments).persistent(is_kept);
    let mut results = connection.fetch_many(query);
    let mut rows = Vec::new();
    while let Some(result) = results.try_next().await? {
        rows.extend(result.right().map(Row::Sqlite));
    }
    Ok(rows)
}

async fn postgres_rows(
    connection: &mut PgConnection,
    statement: Statement,
    keeps_statements: bool,
) -> Result<Vec<Row>, Error> {
    let (sql, arguments, is_kept) = statement.into_postgres(keeps_statements)?;
    let query = sqlx::query_with(sql, arguments).persistent(is_kept);
    let mut results = connection.fetch_many(query);
    let mut rows = Vec::new();
    while let Some(result) = results.try_next().await? {
        rows.extend(result.right().map(Row::Postgres));
    }
    Ok(rows)
}

async fn sqlite_execute(connection: &mut SqliteConnection, statement: Statement) -> Result<u64, Error> {
    let (sql, arguments, is_kept) = statement.into_sqlite()?;
    Ok(connection.execute(sqlx::query_with(sql, arguments).persistent(is_kept)).await?.rows_affected())
}

async fn postgres_execute(
    connection: &mut PgConnection,
    statement: Statement,
    keeps_statements: bool,
) -> Result<u64, Error> {
    let (sql, arguments, is_kept) = statement.into_postgres(keeps_statements)?;
    Ok(connection.execute(sqlx::query_with(sql, arguments).persistent(is_kept)).await?.rows_affected())
}
