//! Connections and transactions of PostgreSQL whose statements have a time limit: a connection that is swallowed, without an answer and
//! without a reset, must not hold up a process for ever.
//!
//! sqlx gives a connection back by a message that waits for its answer, so that a pool would lose a swallowed one. Here, giving back
//! has a time limit, too, after which the connection is closed.

use std::io;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnection, PgPool, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, Error, Executor as _, Postgres};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Time limit of a statement outside a transaction, and of a commit.
pub(super) const QUERY: Duration = Duration::from_secs(120);
/// Time for a statement of another transaction, such as the removal of many rows.
const WRITE: Duration = Duration::from_secs(600);
/// Maximum idle time within a transaction, enforced by the server: nobody else would end the transaction of a process that was suspended.
const IDLE: Duration = Duration::from_secs(60);
/// Time for a statement that does next to nothing, and for giving a connection back.
const SHORT: Duration = Duration::from_secs(10);

/// A connection that returns to its pool on drop, or is closed if stalled.
pub(super) struct Borrowed {
    /// `None` at the end.
    connection: Option<PoolConnection<Postgres>>,
    /// Whether a statement got no answer in time.
    is_stalled: bool,
    /// Whether a transaction is open.
    is_open: bool,
}

impl Borrowed {
    pub(super) async fn from(pool: &PgPool) -> Result<Borrowed, Error> {
        let connection = match pool.acquire().await {
            Err(Error::PoolTimedOut) => return Err(why_none(pool).await),
            connection => connection?,
        };
        Ok(Borrowed { connection: Some(connection), is_stalled: false, is_open: false })
    }

    /// Waits for the result of a statement on this connection, at most for this time.
    pub(super) async fn in_time<T>(
        patience: Duration,
        is_stalled: &mut bool,
        statement: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match timeout(patience, statement).await {
            Ok(result) => result,
            Err(_) => {
                *is_stalled = true;
                Err(Error::Io(io::Error::new(io::ErrorKind::TimedOut, "the server does not answer")))
            }
        }
    }

    /// Returns the connection, and where to note that it is stalled.
    pub(super) fn parts(&mut self) -> Result<(&mut PgConnection, &mut bool), Error> {
        let Borrowed { connection, is_stalled, .. } = self;
        Ok((connection.as_deref_mut().ok_or(Error::PoolClosed)?, is_stalled))
    }

    /// Runs statements without parameters in one message. Returns the first row.
    pub(super) async fn raw_row(&mut self, patience: Duration, statements: String) -> Result<Option<PgRow>, Error> {
        let (connection, is_stalled) = self.parts()?;
        Borrowed::in_time(patience, is_stalled, async {
            connection.fetch_optional(sqlx::raw_sql(AssertSqlSafe(statements))).await
        })
        .await
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        match Handle::try_current() {
            Ok(runtime) if !self.is_stalled => drop(runtime.spawn(give_back(connection, self.is_open))),
            _ => drop(connection.detach()),
        }
    }
}

/// Returns why a pool has no connection: it hides the reason for which the server refuses one, such as too many connections.
async fn why_none(pool: &PgPool) -> Error {
    match timeout(SHORT, PgConnection::connect_with(&pool.connect_options())).await {
        Ok(Err(error)) => error,
        Ok(Ok(connection)) => {
            let _ = timeout(SHORT, connection.close()).await;
            Error::PoolTimedOut
        }
        Err(_) => Error::PoolTimedOut,
    }
}

/// Returns a connection to the pool, or closes it after a timeout. `is_open`: whether a transaction must be rolled back.
async fn give_back(mut connection: PoolConnection<Postgres>, is_open: bool) {
    if is_open && !matches!(timeout(SHORT, connection.execute(sqlx::raw_sql("ROLLBACK"))).await, Ok(Ok(_))) {
        drop(connection.detach());
        return;
    }
    // Dropped, the future closes the connection.
    let _ = timeout(SHORT, connection.return_to_pool()).await;
}

/// Returns the statements that begin a transaction, which the server ends if it is idle for too long.
pub(super) fn limited(begin: &str) -> String {
    format!("{begin}; SET LOCAL idle_in_transaction_session_timeout = '{}s'", IDLE.as_secs())
}

/// A transaction. Rolled back on drop.
pub struct PostgresTransaction {
    pub(super) borrowed: Borrowed,
    /// Time for each statement.
    pub(super) patience: Duration,
}

impl PostgresTransaction {
    /// Begins by one message.
    pub(super) async fn begin(pool: &PgPool, begin: String) -> Result<PostgresTransaction, Error> {
        let mut borrowed = Borrowed::from(pool).await?;
        borrowed.is_open = true;
        borrowed.raw_row(SHORT, begin).await?;
        Ok(PostgresTransaction { borrowed, patience: WRITE })
    }

    pub(super) async fn commit(mut self) -> Result<(), Error> {
        self.borrowed.raw_row(self.patience.min(QUERY), "COMMIT".to_owned()).await?;
        self.borrowed.is_open = false;
        Ok(())
    }

    pub(super) async fn rollback(mut self) -> Result<(), Error> {
        self.borrowed.raw_row(SHORT, "ROLLBACK".to_owned()).await?;
        self.borrowed.is_open = false;
        Ok(())
    }
}
