//! Connections and transactions of PostgreSQL whose statements have a time limit: a connection that is swallowed, without an answer and
//! without a reset, must not hold up a process for ever.
//!
//! sqlx gives a connection back by a message that waits for its answer, so that a pool would lose a swallowed one. Here, giving back
//! has a time limit, too, after which the connection is closed.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnection, PgPool, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, Either, Error, Executor as _, Postgres};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Time limit of a statement outside a transaction, and of a commit.
pub(super) const QUERY: Duration = Duration::from_secs(120);
/// Time for a statement of another transaction, such as the removal of many rows.
const WRITE: Duration = Duration::from_secs(600);
/// Maximum idle time within a transaction, enforced by the server: nobody else would end the transaction of a process that was suspended.
const IDLE: Duration = Duration::from_secs(60);
/// Time for a statement that does next to nothing, and for giving a connection back.
const SHORT: Duration = Duration::from_secs(10);

/// A connection that was idle for longer is tested before its next use: a firewall may have forgotten it.
const FRESH: Duration = Duration::from_secs(5);

/// A connection that returns to its pool on drop, or is closed if stalled.
pub(super) struct Borrowed {
    /// `None` at the end.
    connection: Option<PoolConnection<Postgres>>,
    health: Health,
    /// Whether a transaction is open.
    is_open: bool,
    seats: Seats,
    _seat: OwnedSemaphorePermit,
}

/// What is known of a connection by its last statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    Good,
    /// The statement failed, so that the connection has to be tested before its next use.
    Failed,
    /// There was no answer in time.
    Stalled,
}

/// Connections of a pool that were used a moment ago, ready without a test. A pool asks the server twice, when it gets a connection back and when
/// it gives it away again, and a round trip may take as long as a transaction.
#[derive(Clone, Debug)]
pub struct Seats {
    /// One for each connection of the pool, so that nobody waits in the pool for a connection that is kept here.
    free: Arc<Semaphore>,
    kept: Arc<Mutex<Kept>>,
}

/// Connections, each with the time of its last use.
#[derive(Debug, Default)]
struct Kept(Vec<(PoolConnection<Postgres>, Instant)>);

impl Drop for Kept {
    fn drop(&mut self) {
        if Handle::try_current().is_err() {
            // They return to their pool by a task.
            self.0.drain(..).for_each(|(connection, _)| drop(connection.detach()));
        }
    }
}

impl Seats {
    pub(super) fn new(connections: usize) -> Seats {
        Seats { free: Arc::new(Semaphore::new(connections)), kept: Arc::default() }
    }

    /// Takes out the connection that was used last, unless it has been idle for long.
    fn take(&self) -> Option<PoolConnection<Postgres>> {
        let (connection, since) = self.locked().0.pop()?;
        (since.elapsed() < FRESH).then_some(connection)
    }

    fn keep(&self, connection: PoolConnection<Postgres>) {
        if !self.free.is_closed() {
            self.locked().0.push((connection, Instant::now()));
        }
    }

    /// Gives the connections back to the pool.
    pub(super) fn clear(&self) {
        self.free.close();
        self.locked().0.clear();
    }

    fn locked(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Borrowed {
    pub(super) async fn from(pool: &PgPool, seats: &Seats) -> Result<Borrowed, Error> {
        let seat = timeout(pool.options().get_acquire_timeout(), Arc::clone(&seats.free).acquire_owned()).await;
        let seat = match seat {
            Ok(seat) => seat.map_err(|_| Error::PoolClosed)?,
            Err(_) => return Err(why_none(pool).await),
        };
        let connection = match seats.take() {
            Some(connection) => connection,
            None => match pool.acquire().await {
                Err(Error::PoolTimedOut) => return Err(why_none(pool).await),
                connection => connection?,
            },
        };
        let seats = seats.clone();
        Ok(Borrowed { connection: Some(connection), health: Health::Good, is_open: false, seats, _seat: seat })
    }

    /// Runs statements in one message. Returns the rows and the number of rows changed of each.
    pub(super) async fn run_text(&mut self, patience: Duration, text: String) -> Result<Vec<(Vec<PgRow>, u64)>, Error> {
        let (connection, health) = self.parts()?;
        Borrowed::in_time(patience, health, async {
            let mut steps = connection.fetch_many(sqlx::raw_sql(AssertSqlSafe(text)));
            let (mut results, mut rows) = (Vec::new(), Vec::new());
            while let Some(step) = steps.try_next().await? {
                match step {
                    Either::Left(done) => results.push((std::mem::take(&mut rows), done.rows_affected())),
                    Either::Right(row) => rows.push(row),
                }
            }
            Ok(results)
        })
        .await
    }

    /// Does the same as [`Borrowed::run_text`] for the text of a whole transaction.
    pub(super) async fn run_whole(
        &mut self,
        patience: Duration,
        text: String,
    ) -> Result<Vec<(Vec<PgRow>, u64)>, Error> {
        // An error leaves the transaction open.
        self.is_open = true;
        let results = self.run_text(patience, text).await?;
        self.is_open = false;
        Ok(results)
    }

    /// Runs statements without parameters in one message. Returns the first row.
    pub(super) async fn raw_row(&mut self, patience: Duration, statements: String) -> Result<Option<PgRow>, Error> {
        let results = self.run_text(patience, statements).await?;
        Ok(results.into_iter().find_map(|(rows, _)| rows.into_iter().next()))
    }

    /// Waits for the result of a statement on this connection, at most for this time.
    pub(super) async fn in_time<T>(
        patience: Duration,
        health: &mut Health,
        statement: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        // A future that is dropped leaves the connection in the middle of an answer.
        *health = Health::Failed;
        match timeout(patience, statement).await {
            Ok(result) => {
                *health = if result.is_ok() { Health::Good } else { Health::Failed };
                result
            }
            Err(_) => {
                *health = Health::Stalled;
                Err(Error::Io(io::Error::new(io::ErrorKind::TimedOut, "the server does not answer")))
            }
        }
    }

    /// Returns the connection, and where to note its health.
    pub(super) fn parts(&mut self) -> Result<(&mut PgConnection, &mut Health), Error> {
        let Borrowed { connection, health, .. } = self;
        Ok((connection.as_deref_mut().ok_or(Error::PoolClosed)?, health))
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        match Handle::try_current() {
            Ok(_) if self.health == Health::Good && !self.is_open => self.seats.keep(connection),
            Ok(runtime) if self.health != Health::Stalled => drop(runtime.spawn(give_back(connection, self.is_open))),
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
    borrowed: Borrowed,
    /// Time for each statement.
    pub(super) patience: Duration,
    /// The statements that begin the transaction. They travel with the first statement.
    begin: Option<String>,
}

impl PostgresTransaction {
    pub(super) async fn begin(pool: &PgPool, seats: &Seats, begin: String) -> Result<PostgresTransaction, Error> {
        Ok(PostgresTransaction { borrowed: Borrowed::from(pool, seats).await?, patience: WRITE, begin: Some(begin) })
    }

    /// Runs statements in one message. Returns the rows and the number of rows changed of each.
    pub(super) async fn run_text(&mut self, text: String) -> Result<Vec<(Vec<PgRow>, u64)>, Error> {
        let Some(begin) = self.begin.take() else { return self.borrowed.run_text(self.patience, text).await };
        self.borrowed.is_open = true;
        let mut results = self.borrowed.run_text(self.patience, format!("{begin}; {text}")).await?;
        // A statement has a result even without rows.
        results.drain(..begin.split(';').count().min(results.len()));
        Ok(results)
    }

    /// Returns the connection for a statement with parameters, in the transaction.
    pub(super) async fn borrowed(&mut self) -> Result<&mut Borrowed, Error> {
        if let Some(begin) = self.begin.take() {
            self.borrowed.is_open = true;
            self.borrowed.run_text(SHORT, begin).await?;
        }
        Ok(&mut self.borrowed)
    }

    pub(super) async fn commit(self) -> Result<(), Error> {
        self.commit_after(None).await.map(drop)
    }

    /// Runs statements and commits, in one message.
    pub(super) async fn commit_after(mut self, text: Option<String>) -> Result<Vec<(Vec<PgRow>, u64)>, Error> {
        let mut results = Vec::new();
        if self.begin.is_none() || text.is_some() {
            self.patience = self.patience.min(QUERY);
            let text = text.map_or("COMMIT".to_owned(), |text| format!("{text}; COMMIT"));
            results = self.run_text(text).await?;
            results.pop();
        }
        self.borrowed.is_open = false;
        Ok(results)
    }

    pub(super) async fn rollback(mut self) -> Result<(), Error> {
        if self.begin.is_none() {
            self.borrowed.run_text(SHORT, "ROLLBACK".to_owned()).await?;
        }
        self.borrowed.is_open = false;
        Ok(())
    }
}
