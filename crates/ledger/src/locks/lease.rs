//! Locks of uploads as rows of PostgreSQL, for processes on several machines.
//!
//! The lease of an upload is either exclusive or shared by workers. Each worker also holds a lease of the part of the run that
//! the worker sends. A shared lease lasts at least as long as the leases of the parts, so the upload is free only when no worker
//! can write any more.
//!
//! A lease is a row with an epoch. It expires by the clock of the database unless renewed. Renewal has its own thread, so a busy process keeps
//! its locks; the same thread releases parts given back. `Ledger::begin` is the fence: each writing transaction first selects the
//! leases of its process `FOR SHARE` with the epochs, so a takeover waits for the commit, and a process suspended for too long gets
//! `Error::LockLost`. A process therefore writes either under its locks or not at all. Before starting attempts, the sender also checks its
//! own clock (`Ledger::holds_locks`), so nothing is sent after the end of a lease. A file lock ends with the process and needs nothing of
//! this kind.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sheetport_sql::{self as sql, Dialect, Pool, Transaction};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor as _, Row as _};
use tokio::sync::oneshot;

use super::super::error::{Error, Holder};
use super::super::event::{Action, NewEvent, process_name};
use super::super::ids::{Part, RunId, Seq};

/// Lifetime of a lease without renewal.
const LEASE: Duration = Duration::from_secs(30);
const RENEWAL: Duration = Duration::from_secs(10);
/// Time before another attempt to renew a lease, if the database can't be reached.
const RETRY: Duration = Duration::from_secs(1);
/// A process stops sending this long before its lease expires, because its clock may lag behind the clock of the database.
const MARGIN: Duration = Duration::from_secs(1);
/// Maximum idle time within a transaction, enforced by the server: a process suspended inside a transaction would otherwise keep
/// its leases for ever.
const IDLE: Duration = Duration::from_secs(5);
/// Maximum time for releasing a lease. An unreleased lease expires.
const RELEASE: Duration = Duration::from_secs(3);

/// The leases of this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leases {
    held: Arc<Mutex<Vec<Held>>>,
    /// Connection options of the renewal threads.
    options: Option<PgConnectOptions>,
    /// The number of the last transaction of sending.
    writes: Arc<AtomicI64>,
    /// Receive the end of a thread that releases a part.
    releasing: Arc<Mutex<Vec<Receiver<()>>>>,
}

/// The lock of an upload, or of a part of a queued run. Given back on drop.
pub(crate) struct Lease {
    key: Key,
    leases: Leases,
    /// Ends the renewal; true to give the lease back.
    stop: Option<oneshot::Sender<bool>>,
    /// `None` at the end.
    stopped: Mutex<Option<Receiver<()>>>,
}

#[derive(Clone, Debug)]
struct Held {
    key: Key,
    until: Arc<Mutex<Instant>>,
}

/// The row of a lease. Identities of uploads consist of letters and digits.
///
/// Lock order: upload, then part.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Upload {
        identity: String,
        epoch: i64,
    },
    /// Part of a run, by its first record. The lease of the upload is shared with other workers.
    Part {
        identity: String,
        run: RunId,
        first: Seq,
        epoch: i64,
    },
}

impl Key {
    fn identity(&self) -> &str {
        match self {
            Key::Upload { identity, .. } | Key::Part { identity, .. } => identity,
        }
    }

    /// Returns the query that finds the row while the lease is held, and locks the row.
    fn check(&self) -> String {
        match self {
            Key::Upload { identity, epoch } => format!(
                "SELECT epoch FROM lease WHERE identity = '{identity}' AND epoch = {epoch} \
                 AND until > clock_timestamp() FOR SHARE"
            ),
            Key::Part { run, first, epoch, .. } => format!(
                "SELECT epoch FROM part WHERE run = {run} AND first = {first} AND epoch = {epoch} \
                 AND until > clock_timestamp() FOR SHARE"
            ),
        }
    }

    /// Returns the statement that stores the number of a transaction if the lease is held, and returns the previous number.
    fn mark(&self, number: i64) -> String {
        let (table, row) = match self {
            Key::Upload { identity, epoch } => ("lease", format!("identity = '{identity}' AND epoch = {epoch}")),
            Key::Part { run, first, epoch, .. } => {
                ("part", format!("run = {run} AND first = {first} AND epoch = {epoch}"))
            }
        };
        format!(
            "UPDATE {table} SET write_before = last_write, last_write = {number} \
             WHERE {row} AND until > clock_timestamp() RETURNING write_before"
        )
    }

    /// Returns the statement that renews the lease. Affects no row if the lease was lost.
    fn renew(&self) -> String {
        let until = until();
        match self {
            Key::Upload { identity, epoch } => format!(
                "UPDATE lease SET until = {until} \
                 WHERE identity = '{identity}' AND epoch = {epoch} AND until > clock_timestamp()"
            ),
            Key::Part { identity, run, first, epoch } => format!(
                "WITH shared AS (UPDATE lease SET until = GREATEST(until, {until}) \
                 WHERE identity = '{identity}' AND is_shared AND until > clock_timestamp() RETURNING 1) \
                 UPDATE part SET until = {until} WHERE run = {run} AND first = {first} AND epoch = {epoch} \
                 AND until > clock_timestamp() AND EXISTS (SELECT 1 FROM shared)"
            ),
        }
    }

    /// Returns the query that serializes the transactions of an upload.
    fn wait(&self) -> String {
        format!("SELECT 1 FROM lease WHERE identity = '{}' FOR UPDATE", self.identity())
    }

    /// Returns the statements that release the lease. The last worker of an upload also releases the shared lease.
    fn release(&self) -> String {
        match self {
            Key::Upload { identity, epoch } => {
                format!("DELETE FROM lease WHERE identity = '{identity}' AND epoch = {epoch}")
            }
            Key::Part { identity, run, first, epoch } => format!(
                "{}; UPDATE part SET until = '-infinity' WHERE run = {run} AND first = {first} AND epoch = {epoch}; \
                 DELETE FROM lease WHERE identity = '{identity}' AND is_shared AND NOT EXISTS \
                 (SELECT 1 FROM part WHERE part.identity = '{identity}' AND until > clock_timestamp())",
                self.wait()
            ),
        }
    }
}

impl Leases {
    pub(crate) fn on(options: PgConnectOptions) -> Leases {
        Leases { options: Some(options), ..Leases::default() }
    }

    /// Takes the lease of an upload. Returns `None` if another process or other workers hold the lease.
    pub(crate) async fn take(&self, pool: &Pool, identity: &str) -> Result<Option<Lease>, Error> {
        let taken_at = Instant::now();
        let take = format!(
            "INSERT INTO lease (identity, holder, epoch, until, is_shared) \
             VALUES ($1, $2, nextval('lease_epoch'), {}, FALSE) \
             ON CONFLICT (identity) DO UPDATE SET holder = excluded.holder, epoch = excluded.epoch, \
             until = excluded.until, is_shared = FALSE, last_write = 0 WHERE lease.until <= clock_timestamp() RETURNING epoch",
            until()
        );
        let mut transaction = pool.begin().await?;
        let taken = sql::query_scalar(take).bind(identity).bind(process_name());
        let taken: Option<i64> = taken.fetch_optional(&mut transaction).await?;
        let Some(epoch) = taken else {
            transaction.rollback().await?;
            return Ok(None);
        };
        // Waits for transactions of workers that began before their leases expired.
        let wait = "SELECT 1 FROM part WHERE identity = $1 FOR UPDATE";
        sql::query(wait).bind(identity).execute(&mut transaction).await?;
        transaction.commit().await?;
        self.keep(Key::Upload { identity: identity.to_owned(), epoch }, taken_at).map(Some)
    }

    /// Takes the first part of a queued run that is neither done nor leased. Returns `None` if no such part is left, or if
    /// another process has locked the upload.
    pub(crate) async fn take_part(
        &self,
        pool: &Pool,
        identity: &str,
        run: RunId,
        now: i64,
    ) -> Result<Option<(Part, Lease)>, Error> {
        let taken_at = Instant::now();
        let join = format!(
            "INSERT INTO lease (identity, holder, epoch, until, is_shared) \
             VALUES ($1, $2, nextval('lease_epoch'), {}, TRUE) \
             ON CONFLICT (identity) DO UPDATE SET holder = excluded.holder, epoch = excluded.epoch, \
             until = GREATEST(lease.until, excluded.until), is_shared = TRUE \
             WHERE lease.is_shared OR lease.until <= clock_timestamp() RETURNING epoch",
            until()
        );
        let mut transaction = pool.begin().await?;
        let joined = sql::query_scalar(join).bind(identity).bind(process_name());
        let joined: Option<i64> = joined.fetch_optional(&mut transaction).await?;
        let Some(epoch) = joined else {
            transaction.rollback().await?;
            return Ok(None);
        };
        let take = format!(
            "UPDATE part SET identity = $1, holder = $2, epoch = $3, until = {}, last_write = 0, \
             taken_at = COALESCE(taken_at, $5) WHERE run = $4 AND first = \
             (SELECT first FROM part WHERE run = $4 AND NOT is_done AND until <= clock_timestamp() \
             AND EXISTS (SELECT 1 FROM run WHERE id = $4 AND state = 'queued') \
             ORDER BY first LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING first, last",
            until()
        );
        let taken = sql::query_as(take).bind(identity).bind(process_name()).bind(epoch).bind(run).bind(now);
        let taken: Option<(Seq, Seq)> = taken.fetch_optional(&mut transaction).await?;
        let Some((first, last)) = taken else {
            transaction.rollback().await?;
            return Ok(None);
        };
        NewEvent::of(Action::Worked).counting(1).write(&mut transaction, run, now).await?;
        transaction.commit().await?;
        let lease = self.keep(Key::Part { identity: identity.to_owned(), run, first, epoch }, taken_at)?;
        Ok(Some((Part { run, first, last }, lease)))
    }

    /// Starts a thread that renews a lease.
    fn keep(&self, key: Key, taken_at: Instant) -> Result<Lease, Error> {
        let options = self.options.clone().ok_or(Error::LockLost)?;
        let held = Held { key: key.clone(), until: Arc::new(Mutex::new(taken_at + LEASE)) };
        locked(&self.held).push(held.clone());
        let (stop, stopping) = oneshot::channel();
        let (done, stopped) = channel();
        thread::spawn(move || {
            match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(keep(&options, &held, stopping)),
                Err(error) => tracing::warn!(%error, "the lock can't be renewed"),
            }
            // The lease may already have ended.
            let _ = done.send(());
        });
        Ok(Lease { key, leases: self.clone(), stop: Some(stop), stopped: Mutex::new(Some(stopped)) })
    }

    /// Returns who holds the lease of an upload.
    pub(crate) async fn holder(&self, pool: &Pool, identity: &str) -> Result<Holder, Error> {
        let query = "SELECT holder, (SELECT MAX(run) FROM part WHERE part.identity = lease.identity AND until > clock_timestamp()) \
                     FROM lease WHERE identity = $1 AND until > clock_timestamp()";
        let found: Option<(String, Option<RunId>)> = sql::query_as(query).bind(identity).fetch_optional(pool).await?;
        Ok(found.map_or(Holder::Unknown, |(name, run)| Holder::new(&name, run)))
    }

    /// Whether a process on any machine holds a lease.
    pub(crate) async fn is_taken(&self, pool: &Pool, identity: &str) -> Result<bool, Error> {
        let query = "SELECT EXISTS (SELECT 1 FROM lease WHERE identity = $1 AND until > clock_timestamp())";
        Ok(sql::query_scalar(query).bind(identity).fetch_one(pool).await?)
    }

    /// Checks all leases of this process and holds them until the end of the transaction.
    ///
    /// # Errors
    /// [`Error::LockLost`] if a lease was lost.
    pub(crate) async fn check(&self, transaction: &mut Transaction) -> Result<(), Error> {
        for key in self.keys() {
            look(transaction, key.check()).await?;
        }
        Ok(())
    }

    /// Checks the leases like [`Leases::check`], and stores the number of a transaction in one of their rows. Returns false if
    /// the number was already stored, because an earlier attempt was committed.
    pub(crate) async fn check_write(&self, transaction: &mut Transaction, number: i64) -> Result<bool, Error> {
        let keys = self.keys();
        let Some((first, others)) = keys.split_first() else { return Ok(true) };
        let before = look(transaction, first.mark(number)).await?;
        for key in others {
            look(transaction, key.check()).await?;
        }
        Ok(before != Some(number))
    }

    /// Returns the number of the next transaction of sending. A row of a lease begins with 0.
    pub(crate) fn next_write(&self) -> i64 {
        self.writes.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Waits until the parts that were given back are released.
    pub(crate) async fn released(&self) {
        let releasing = std::mem::take(&mut *locked(&self.releasing));
        if releasing.is_empty() {
            return;
        }
        let wait = move || {
            for released in releasing {
                // The leases expire anyway.
                let _ = released.recv_timeout(RELEASE);
            }
        };
        let _ = tokio::task::spawn_blocking(wait).await;
    }

    /// Whether this process holds any lease, expired or not.
    pub(crate) fn are_any(&self) -> bool {
        !locked(&self.held).is_empty()
    }

    fn keys(&self) -> Vec<Key> {
        locked(&self.held).iter().map(|held| held.key.clone()).collect()
    }

    /// Whether all leases of this process are still valid by its own clock.
    pub(crate) fn are_held(&self) -> bool {
        let now = Instant::now();
        locked(&self.held).iter().all(|held| now < *locked(&held.until) - MARGIN)
    }
}

impl Lease {
    /// Waits for the transactions of other workers that take, finish or release parts of the upload.
    pub(crate) async fn wait_for_others(&self, transaction: &mut Transaction) -> Result<(), Error> {
        execute_in(transaction, self.key.wait()).await
    }

    /// Releases the lease when the transaction commits. Call [`Lease::forget`] then, to stop the renewal.
    pub(crate) async fn give_back(&self, transaction: &mut Transaction) -> Result<(), Error> {
        execute_in(transaction, self.key.release()).await
    }

    /// Stops the renewal of a released lease.
    pub(crate) fn forget(mut self) {
        if let Some(stop) = self.stop.take() {
            // The lease may be lost.
            let _ = stop.send(false);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        locked(&self.leases.held).retain(|held| held.key != self.key);
        if self.stop.take().is_none_or(|stop| stop.send(true).is_err()) {
            return;
        }
        let Some(stopped) = locked(&self.stopped).take() else { return };
        match self.key {
            // The next command of the user may need the lock.
            Key::Upload { .. } => {
                let _ = stopped.recv_timeout(RELEASE);
            }
            // A worker goes on: waiting here would hold up the transactions of its other parts, with their sessions.
            Key::Part { .. } => {
                let mut releasing = locked(&self.leases.releasing);
                releasing.retain(|other| matches!(other.try_recv(), Err(TryRecvError::Empty)));
                releasing.push(stopped);
            }
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}

/// Renews a lease until the lease is released or lost.
async fn keep(options: &PgConnectOptions, held: &Held, mut stopping: oneshot::Receiver<bool>) {
    let identity = held.key.identity();
    let renew = held.key.renew();
    let mut connection = None;
    let mut wait = RENEWAL;
    loop {
        tokio::select! {
            gives_back = &mut stopping => match gives_back {
                Ok(true) => break,
                _ => return,
            },
            () = tokio::time::sleep(wait) => {}
        }
        let asked_at = Instant::now();
        match tokio::time::timeout(RENEWAL, execute(options, &mut connection, &renew)).await {
            Ok(Ok(0)) => {
                *locked(&held.until) = asked_at;
                tracing::warn!(identity, "the lock of the upload is lost");
                return;
            }
            Ok(Ok(_)) => {
                *locked(&held.until) = asked_at + LEASE;
                wait = RENEWAL;
            }
            failed => {
                if let Ok(Err(error)) = failed {
                    tracing::warn!(%error, "the lock of the upload can't be renewed");
                }
                connection = None;
                wait = RETRY;
            }
        }
    }
    let released = tokio::time::timeout(RELEASE, execute(options, &mut connection, &held.key.release())).await;
    if let Ok(Err(error)) = released {
        tracing::warn!(%error, "the lock of the upload can't be given back; it ends by itself");
    }
}

/// Runs a statement of [`Key`] and returns the number in the row.
///
/// # Errors
/// [`Error::LockLost`] if the statement finds no row.
async fn look(transaction: &mut Transaction, statement: String) -> Result<Option<i64>, Error> {
    if transaction.dialect() == Dialect::Sqlite {
        return Ok(None);
    }
    let statement = format!("SET LOCAL idle_in_transaction_session_timeout = '{}s'; {statement}", IDLE.as_secs());
    // Without parameters, one message and one reply suffice.
    match transaction.raw_row(statement).await? {
        Some(row) => Ok(Some(row.try_get(0)?)),
        None => Err(Error::LockLost),
    }
}

/// Executes statements without parameters.
async fn execute_in(transaction: &mut Transaction, statements: String) -> Result<(), Error> {
    transaction.raw_row(statements).await?;
    Ok(())
}

/// Executes a statement without parameters, and returns the number of rows affected.
async fn execute(
    options: &PgConnectOptions,
    connection: &mut Option<PgConnection>,
    statement: &str,
) -> Result<u64, sqlx::Error> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(options.connect().await?),
    };
    let done = connection.execute(sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))).await?;
    Ok(done.rows_affected())
}

/// Returns the expiry of a lease taken or renewed now, in SQL. Equal for all rows changed by a transaction.
fn until() -> String {
    format!("now() + INTERVAL '{} seconds'", LEASE.as_secs())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
