//! Retries over a new connection if the connection to the server is lost while this process holds a lease.
//!
//! Each sending transaction has a number and stores the number in the row of the lease. If the reply to a commit is lost, the row
//! shows whether the transaction was applied.

use std::time::{Duration, Instant};

use sheetport_sql::{Query, Results, Row, Transaction};

use super::super::error::Error;
use super::super::locks::{Checked, is_broken};
use super::ledger::Ledger;

/// Shortest and longest pause before another attempt.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));
/// Maximum total time of the attempts. A longer failure is not caused by the connection.
const LONGEST: Duration = Duration::from_secs(120);
/// Time for each statement of sending, after which it is tried over a new connection.
const ANSWER: Duration = Duration::from_secs(20);

/// Start and backoff of the attempts of one operation.
#[derive(Debug)]
pub struct Attempts {
    began: Instant,
    pause: Duration,
}

/// A sending transaction. Applied once, however often it is tried.
#[derive(Debug)]
pub(crate) struct Write {
    number: i64,
    attempts: Attempts,
    /// Whether an earlier attempt may have been committed.
    is_repeated: bool,
}

impl Default for Attempts {
    fn default() -> Attempts {
        Attempts { began: Instant::now(), pause: PAUSES.0 }
    }
}

impl Ledger {
    /// Waits until the next attempt of a failed operation.
    ///
    /// # Errors
    /// Returns `error` unless the connection was lost while this process holds a lease, and [`Error::LockLost`] if the lease
    /// ends.
    pub async fn before_next_attempt(&self, error: Error, attempts: &mut Attempts) -> Result<(), Error> {
        if !error.is_of_connection() || !self.leases.are_any() || attempts.began.elapsed() > LONGEST {
            return Err(error);
        }
        if !self.leases.are_held() {
            return Err(Error::LockLost);
        }
        tracing::warn!(%error, "the ledger is written again over a new connection");
        self.turn_to_writable().await;
        tokio::time::sleep(attempts.pause).await;
        attempts.pause = (attempts.pause * 2).min(PAUSES.1);
        Ok(())
    }

    /// Runs an operation and repeats it if the connection is lost while this process holds a lease. The operation must be
    /// idempotent.
    ///
    /// # Errors
    /// Returns the error of the operation, or [`Error::LockLost`] if the lease ends.
    pub async fn again<T, F: Future<Output = Result<T, Error>>>(&self, operation: impl Fn() -> F) -> Result<T, Error> {
        let mut attempts = Attempts::default();
        loop {
            match operation().await {
                Err(error) => self.before_next_attempt(error, &mut attempts).await?,
                done => return done,
            }
        }
    }

    /// Returns the number of a new transaction of sending.
    pub(crate) fn new_write(&self) -> Write {
        Write { number: self.leases.next_write(), attempts: Attempts::default(), is_repeated: false }
    }

    /// Begins a sending transaction with these statements, and returns it with their results. Returns `None` if an earlier attempt was committed.
    ///
    /// # Errors
    /// [`Error::LockLost`] if another process has taken over a run that this process had locked, and [`Error::WentBack`] if the database
    /// lacks what this process has written under its locks.
    pub(crate) async fn begin_write(
        &self,
        write: &Write,
        statements: Vec<Query<Row>>,
    ) -> Result<Option<(Transaction, Vec<Results>)>, Error> {
        loop {
            let mut transaction = self.begin_writing().await?;
            transaction.set_patience(ANSWER);
            let marking = self.leases.marking(write.number);
            // Repeated, the statements would fail if an earlier attempt was committed.
            let together = if write.is_repeated { Vec::new() } else { statements.clone() };
            let (row, results) = transaction.run_all_after(marking, together).await.map_err(lost_lock)?;
            match self.leases.checked_write(row, write.number)? {
                Checked::Held if write.is_repeated => {
                    let results = transaction.run_all(statements).await?;
                    return Ok(Some((transaction, results)));
                }
                Checked::Held => return Ok(Some((transaction, results))),
                Checked::Written => {
                    transaction.rollback().await?;
                    return Ok(None);
                }
                Checked::Moved => {
                    transaction.rollback().await?;
                    self.settle_in().await?;
                }
            }
        }
    }

    /// Runs `writes` in a transaction under the leases of this process, and `reads` after its commit, on a server by one message. Returns the
    /// results of all of them. Durable on return.
    ///
    /// # Errors
    /// Those of [`Ledger::begin`].
    pub(crate) async fn write_and_read(
        &self,
        writes: Vec<Query<Row>>,
        reads: Vec<Query<Row>>,
    ) -> Result<Vec<Results>, Error> {
        if let Some(fence) = self.leases.fence() {
            match self.writer.commit_all(fence, writes.clone(), reads.clone()).await {
                Ok(Some(results)) => return Ok(results),
                // The longer way tells why.
                Err(error) if is_broken(&error) => {}
                Err(error) => return Err(error.into()),
                Ok(None) => {}
            }
        }
        let mut transaction = self.begin().await?;
        let mut results = transaction.run_all(writes).await?;
        transaction.commit().await?;
        results.extend(self.reader.run_all(reads).await?);
        Ok(results)
    }

    /// Runs the last statements of a transaction of [`Ledger::begin_write`], and commits it.
    pub(crate) async fn commit_write(
        &self,
        transaction: Transaction,
        last: Vec<Query<Row>>,
        write: &Write,
    ) -> Result<(), Error> {
        transaction.commit_after(last).await?;
        self.leases.confirm(write.number);
        Ok(())
    }

    /// Waits until a transaction of sending may be tried again, as [`Ledger::before_next_attempt`].
    pub(crate) async fn before_next_write(&self, error: Error, write: &mut Write) -> Result<(), Error> {
        write.is_repeated = true;
        self.before_next_attempt(error, &mut write.attempts).await
    }
}

fn lost_lock(error: sqlx::Error) -> Error {
    if is_broken(&error) { Error::LockLost } else { error.into() }
}
