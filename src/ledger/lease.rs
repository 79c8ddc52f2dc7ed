//! Locks of uploads as rows of PostgreSQL, for processes on several machines.
//!
//! A lease ends by the clock of the database unless it is renewed, which a thread of its own does: a busy process keeps its
//! locks. Each transaction that writes first looks whether the leases of its process are still theirs, and keeps others from
//! taking them over until it ends, so what a process writes is written while it holds its locks or not at all.

use std::fmt;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor as _};
use tokio::sync::oneshot;

use super::error::Error;
use super::sql::{self, Pool, Transaction};

/// A lease that is not renewed ends after this time.
const LEASE: Duration = Duration::from_secs(30);
const RENEWAL: Duration = Duration::from_secs(10);
/// Time before another attempt to renew a lease, if the database can't be reached.
const RETRY: Duration = Duration::from_secs(1);
/// A process stops sending this long before its lease ends, because its clock may be slower than that of the database.
const MARGIN: Duration = Duration::from_secs(1);
/// A transaction without statements for this time is ended by the server, so that a process that is held up within one does not
/// keep its leases for ever.
const IDLE: Duration = Duration::from_secs(5);
/// Time for giving a lease back. It ends by itself otherwise.
const RELEASE: Duration = Duration::from_secs(3);

/// The leases of this process.
#[derive(Clone, Debug, Default)]
pub(super) struct Leases {
    held: Arc<Mutex<Vec<Held>>>,
    /// How the threads that renew leases connect.
    options: Option<PgConnectOptions>,
}

/// The lock of an upload. Given back on drop.
pub(super) struct Lease {
    key: Key,
    leases: Leases,
    stop: Option<oneshot::Sender<()>>,
    stopped: Mutex<Receiver<()>>,
}

#[derive(Clone, Debug)]
struct Held {
    key: Key,
    until: Arc<Mutex<Instant>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    /// Letters and digits.
    identity: String,
    epoch: i64,
}

impl Leases {
    pub(super) fn on(options: PgConnectOptions) -> Leases {
        Leases { held: Arc::default(), options: Some(options) }
    }

    /// Takes a lease. Returns `None` if another process holds it.
    pub(super) async fn take(&self, pool: &Pool, identity: &str) -> Result<Option<Lease>, Error> {
        let options = self.options.clone().ok_or(Error::LockLost)?;
        let taken_at = Instant::now();
        let take = format!(
            "INSERT INTO lease (identity, holder, epoch, until) \
             VALUES ($1, $2, nextval('lease_epoch'), clock_timestamp() + INTERVAL '{} seconds') \
             ON CONFLICT (identity) DO UPDATE SET holder = excluded.holder, epoch = excluded.epoch, until = excluded.until \
             WHERE lease.until <= clock_timestamp() RETURNING epoch",
            LEASE.as_secs()
        );
        let taken: Option<i64> = sql::query_scalar(take).bind(identity).bind(holder()).fetch_optional(pool).await?;
        let Some(epoch) = taken else { return Ok(None) };
        let key = Key { identity: identity.to_owned(), epoch };
        let held = Held { key: key.clone(), until: Arc::new(Mutex::new(taken_at + LEASE)) };
        locked(&self.held).push(held.clone());
        let (stop, stopping) = oneshot::channel();
        let (done, stopped) = channel();
        thread::spawn(move || {
            match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(keep(&options, &held, stopping)),
                Err(error) => tracing::warn!(%error, "the lock can't be renewed"),
            }
            // The lease may be gone already.
            let _ = done.send(());
        });
        Ok(Some(Lease { key, leases: self.clone(), stop: Some(stop), stopped: Mutex::new(stopped) }))
    }

    /// Whether a process on any machine holds a lease.
    pub(super) async fn is_taken(&self, pool: &Pool, identity: &str) -> Result<bool, Error> {
        let query = "SELECT EXISTS (SELECT 1 FROM lease WHERE identity = $1 AND until > clock_timestamp())";
        Ok(sql::query_scalar(query).bind(identity).fetch_one(pool).await?)
    }

    /// Checks that all leases of this process are still its own, and keeps them until the end of the transaction.
    ///
    /// # Errors
    /// [`Error::LockLost`] if one is not.
    pub(super) async fn check(&self, transaction: &mut Transaction) -> Result<(), Error> {
        let Transaction::Postgres { transaction, .. } = transaction else { return Ok(()) };
        let held: Vec<Key> = locked(&self.held).iter().map(|held| held.key.clone()).collect();
        for Key { identity, epoch } in held {
            let query = format!(
                "SET LOCAL idle_in_transaction_session_timeout = '{}s'; \
                 SELECT epoch FROM lease WHERE identity = '{identity}' AND epoch = {epoch} \
                 AND until > clock_timestamp() FOR SHARE",
                IDLE.as_secs()
            );
            // Without parameters, one message and its answer suffice.
            if transaction.fetch_optional(sqlx::raw_sql(AssertSqlSafe(query))).await?.is_none() {
                return Err(Error::LockLost);
            }
        }
        Ok(())
    }

    /// Whether all leases of this process are its own for certain, by its own clock.
    pub(super) fn are_held(&self) -> bool {
        let now = Instant::now();
        locked(&self.held).iter().all(|held| now < *locked(&held.until) - MARGIN)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        locked(&self.leases.held).retain(|held| held.key != self.key);
        if self.stop.take().is_some_and(|stop| stop.send(()).is_ok()) {
            // The next command of the user may need the lock.
            let _ = locked(&self.stopped).recv_timeout(RELEASE);
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}

/// Renews a lease until it is given back, or lost.
async fn keep(options: &PgConnectOptions, held: &Held, mut stopping: oneshot::Receiver<()>) {
    let Key { identity, epoch } = &held.key;
    let renew = format!(
        "UPDATE lease SET until = clock_timestamp() + INTERVAL '{} seconds' \
         WHERE identity = '{identity}' AND epoch = {epoch} AND until > clock_timestamp()",
        LEASE.as_secs()
    );
    let mut connection = None;
    let mut wait = RENEWAL;
    loop {
        tokio::select! {
            _ = &mut stopping => break,
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
    let release = format!("DELETE FROM lease WHERE identity = '{identity}' AND epoch = {epoch}");
    let released = tokio::time::timeout(RELEASE, execute(options, &mut connection, &release)).await;
    if let Ok(Err(error)) = released {
        tracing::warn!(%error, "the lock of the upload can't be given back; it ends by itself");
    }
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

/// Returns the machine and the number of this process.
fn holder() -> String {
    #[cfg(unix)]
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let machine = std::env::var("COMPUTERNAME").unwrap_or_default();
    format!("{machine}:{}", std::process::id())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
