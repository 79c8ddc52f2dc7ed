//! Connections and transactions.

use std::time::Duration;

use futures_util::TryStreamExt;
use futures_util::future::BoxFuture;
use sqlx::postgres::{PgPool, PgRow};
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use sqlx::{Either, Error, Executor as _, Sqlite};
use tokio::time::timeout;

use super::dialect::Dialect;
use super::postgres_transaction::{Borrowed, PostgresTransaction, QUERY, Seats, limited};
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
        seats: Seats,
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

/// What a statement has returned.
#[derive(Default)]
pub struct Results {
    pub(super) rows: Vec<Row>,
    /// Number of rows affected.
    pub(super) changed: u64,
}

impl Results {
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the number of rows affected.
    pub fn changed(&self) -> u64 {
        self.changed
    }
}

/// A pool or transaction to run statements on. Futures are boxed, so that the code of the drivers is compiled here and not once more in
/// each crate with statements.
pub trait Executor: Send {
    fn dialect(&self) -> Dialect;

    fn run<'e>(self, statement: Statement) -> BoxFuture<'e, Result<Results, Error>>
    where
        Self: 'e;

    /// Returns the first row, if any.
    fn first_row<'e>(self, statement: Statement) -> BoxFuture<'e, Result<Option<Row>, Error>>
    where
        Self: Sized + 'e,
    {
        Box::pin(async move { Ok(self.run(statement).await?.rows.into_iter().next()) })
    }
}

impl Pool {
    /// Returns connections to a server. `keeps_statements`: whether its sessions may keep prepared statements.
    pub fn of_server(pool: PgPool, keeps_statements: bool) -> Pool {
        let connections = usize::try_from(pool.options().get_max_connections()).unwrap_or(1);
        Pool::Postgres { pool, seats: Seats::new(connections), keeps_statements }
    }

    pub fn dialect(&self) -> Dialect {
        match self {
            Pool::Sqlite(_) => Dialect::Sqlite,
            Pool::Postgres { .. } => Dialect::Postgres,
        }
    }

    /// Begins a writing transaction. Writers of SQLite wait for each other here.
    pub fn begin(&self) -> BoxFuture<'_, Result<Transaction, Error>> {
        self.begin_with("BEGIN IMMEDIATE", limited("BEGIN ISOLATION LEVEL READ COMMITTED"))
    }

    /// Begins a reading transaction. All its statements see the same snapshot.
    pub fn begin_reading(&self) -> BoxFuture<'_, Result<Transaction, Error>> {
        self.begin_with("BEGIN", limited(READING))
    }

    /// Does the same as [`Pool::begin_reading`], for a transaction that may be idle as long as people take to read, such as the output
    /// of a command.
    pub fn begin_snapshot(&self) -> BoxFuture<'_, Result<Transaction, Error>> {
        self.begin_with("BEGIN", READING.to_owned())
    }

    fn begin_with(&self, sqlite: &'static str, postgres: String) -> BoxFuture<'_, Result<Transaction, Error>> {
        Box::pin(async move {
            Ok(match self {
                Pool::Sqlite(pool) => Transaction::Sqlite(pool.begin_with(sqlite).await?),
                Pool::Postgres { pool, seats, keeps_statements } => {
                    let transaction = PostgresTransaction::begin(pool, seats, postgres).await?;
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
                Pool::Postgres { pool, seats, .. } => {
                    Borrowed::from(pool, seats).await?.raw_row(patience, statement).await
                }
            }
        })
    }

    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match self {
                Pool::Sqlite(pool) => pool.close().await,
                Pool::Postgres { pool, seats, .. } => {
                    seats.clear();
                    // The server closes what is left.
                    let _ = timeout(CLOSING, pool.close()).await;
                }
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
                    let results = transaction.run_text(statements).await?;
                    Ok(results.into_iter().find_map(|(rows, _)| rows.into_iter().next()))
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

    fn run<'e>(self, statement: Statement) -> BoxFuture<'e, Result<Results, Error>>
    where
        Self: 'e,
    {
        Box::pin(async move {
            match self {
                Pool::Sqlite(pool) => run_on_sqlite(&mut *pool.acquire().await?, statement).await,
                Pool::Postgres { pool, seats, keeps_statements: true } => {
                    run_on_server(&mut Borrowed::from(pool, seats).await?, QUERY, statement, true).await
                }
                Pool::Postgres { pool, seats, .. } if statement.fits_text() => {
                    let text = statement.into_text()?;
                    Ok(last(Borrowed::from(pool, seats).await?.run_text(QUERY, text).await?))
                }
                Pool::Postgres { pool, seats, .. } => {
                    let mut transaction = PostgresTransaction::begin(pool, seats, limited("BEGIN")).await?;
                    let results = run_on_server(transaction.borrowed().await?, QUERY, statement, false).await?;
                    transaction.commit().await?;
                    Ok(results)
                }
            }
        })
    }
}

impl Executor for &mut Transaction {
    fn dialect(&self) -> Dialect {
        Transaction::dialect(self)
    }

    fn run<'e>(self, statement: Statement) -> BoxFuture<'e, Result<Results, Error>>
    where
        Self: 'e,
    {
        Box::pin(async move {
            match self {
                Transaction::Sqlite(transaction) => run_on_sqlite(transaction, statement).await,
                Transaction::Postgres { transaction, keeps_statements: false } if statement.fits_text() => {
                    Ok(last(transaction.run_text(statement.into_text()?).await?))
                }
                Transaction::Postgres { transaction, keeps_statements } => {
                    let patience = transaction.patience;
                    run_on_server(transaction.borrowed().await?, patience, statement, *keeps_statements).await
                }
            }
        })
    }
}

pub(super) async fn run_on_sqlite(connection: &mut SqliteConnection, statement: Statement) -> Result<Results, Error> {
    let (sql, arguments, is_kept) = statement.into_sqlite()?;
    let query = sqlx::query_with(sql, arguments).persistent(is_kept);
    let mut steps = connection.fetch_many(query);
    let mut results = Results::default();
    while let Some(step) = steps.try_next().await? {
        match step {
            Either::Left(done) => results.changed += done.rows_affected(),
            Either::Right(row) => results.rows.push(Row::Sqlite(row)),
        }
    }
    Ok(results)
}

/// Returns the result of the last statement of a message.
fn last(mut results: Vec<(Vec<PgRow>, u64)>) -> Results {
    results.pop().map(of_server).unwrap_or_default()
}

pub(super) fn of_server((rows, changed): (Vec<PgRow>, u64)) -> Results {
    Results { rows: rows.into_iter().map(Row::Postgres).collect(), changed }
}

async fn run_on_server(
    borrowed: &mut Borrowed,
    patience: Duration,
    statement: Statement,
    keeps_statements: bool,
) -> Result<Results, Error> {
    let (connection, health) = borrowed.parts()?;
    let (sql, arguments, is_kept) = statement.into_postgres(keeps_statements)?;
    Borrowed::in_time(patience, health, async {
        let mut steps = connection.fetch_many(sqlx::query_with(sql, arguments).persistent(is_kept));
        let mut results = Results::default();
        while let Some(step) = steps.try_next().await? {
            match step {
                Either::Left(done) => results.changed += done.rows_affected(),
                Either::Right(row) => results.rows.push(Row::Postgres(row)),
            }
        }
        Ok(results)
    })
    .await
}
