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
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sheetport_sql::{self as sql, Dialect, Pool, Transaction};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor as _, Row as _};
use tokio::sync::oneshot;

use super::super::error::{Error, Holder};
use super::super::event::{Action, NewEvent, process_name};
use super::super::ids::{Part, RunId, Seq};
use super::key::{Key, LEASE, until};
use super::place::{Places, Seen};
use super::turn;

const RENEWAL: Duration = Duration::from_secs(10);
/// Time before another attempt to renew a lease, if the database can't be reached.
const RETRY: Duration = Duration::from_secs(1);
/// A process stops sending this long before its lease expires, because its clock may lag behind the clock of the database.
const MARGIN: Duration = Duration::from_secs(1);
/// Maximum idle time within a transaction, enforced by the server: a process suspended inside a transaction would otherwise keep
/// its leases for ever.
const IDLE: Duration = Duration::from_secs(5);
/// How PostgreSQL says that a number was divided by zero.
const DIVISION_BY_ZERO: &str = "22012";
/// Maximum time for releasing a lease. An unreleased lease expires.
const RELEASE: Duration = Duration::from_secs(3);

/// The leases of this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leases {
    held: Arc<Mutex<Vec<Held>>>,
    /// Connection options of the renewal threads.
    options: Arc<Mutex<Option<PgConnectOptions>>>,
    /// The number of the last transaction of sending.
    writes: Arc<AtomicI64>,
    /// Whether a transaction without a number may have been committed since the last one with a number.
    has_unnumbered: Arc<AtomicBool>,
    /// Whether the last commit waited until a standby had it.
    is_synchronous: Arc<AtomicBool>,
    /// The run that was last sent under these leases, or 0.
    sending: Arc<AtomicI64>,
    /// Where the database is.
    places: Places,
    /// What the last transaction that looked around saw of it.
    seen: Arc<Mutex<Option<Seen>>>,
    /// The run of the last part, with the identity of its upload.
    identity: Arc<Mutex<Option<(RunId, String)>>>,
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
    /// The number of the last transaction that was stored in the row of this lease, and of the last one of them whose commit was confirmed.
    stored: Arc<AtomicI64>,
    confirmed: Arc<AtomicI64>,
}

/// Whether a process may write under its leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    Held,
    /// An earlier attempt of the same transaction was committed.
    Written,
    /// The database is another one, or lacks a transaction of this process.
    Moved,
}

/// What the rows of the leases show of the transactions of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trace {
    /// This process holds no lease.
    None,
    /// Everything that this process has written under its leases is there.
    Whole,
    /// A lease was lost, or the last transaction had no number.
    Unclear,
    /// A transaction whose commit was confirmed is missing.
    Lost,
}

impl Leases {
    pub(crate) fn on(options: PgConnectOptions) -> Leases {
        Leases { options: Arc::new(Mutex::new(Some(options))), ..Leases::default() }
    }

    /// Renews the leases on another server from now on.
    pub(crate) fn turn_to(&self, options: PgConnectOptions) {
        *locked(&self.options) = Some(options);
    }

    /// Takes the lease of an upload. Returns `None` if another process or other workers hold the lease.
    ///
    /// # Errors
    /// [`Error::Moved`] if the database is not the one that the ledger was noted to be in.
    pub(crate) async fn take(&self, pool: &Pool, identity: &str) -> Result<Option<Lease>, Error> {
        let columns = self.places.columns(pool).await?;
        let taken_at = Instant::now();
        let take = format!(
            "INSERT INTO lease (identity, holder, epoch, until, is_shared) \
             VALUES ($1, $2, nextval('lease_epoch'), {}, FALSE) \
             ON CONFLICT (identity) DO UPDATE SET holder = excluded.holder, epoch = excluded.epoch, \
             until = excluded.until, is_shared = FALSE, last_write = 0 WHERE lease.until <= clock_timestamp() RETURNING epoch",
            until()
        );
        let mut transaction = pool.begin().await?;
        self.look_around(transaction.raw_row(format!("SELECT {columns}")).await?.as_ref())?;
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
    ///
    /// # Errors
    /// [`Error::Moved`] if the database is not the one that the ledger was noted to be in.
    pub(crate) async fn take_part(
        &self,
        pool: &Pool,
        identity: &str,
        run: RunId,
        now: i64,
    ) -> Result<Option<(Part, Lease)>, Error> {
        let columns = self.places.columns(pool).await?;
        let taken_at = Instant::now();
        let join = format!(
            "INSERT INTO lease (identity, holder, epoch, until, is_shared) \
             VALUES ($1, $2, nextval('lease_epoch'), {}, TRUE) \
             ON CONFLICT (identity) DO UPDATE SET holder = excluded.holder, epoch = excluded.epoch, \
             until = GREATEST(lease.until, excluded.until), is_shared = TRUE \
             WHERE lease.is_shared OR lease.until <= clock_timestamp()",
            until()
        );
        let join = sql::query(join).bind(identity).bind(process_name());
        // The row has the number that was drawn just now only if the lease could be joined.
        let take = format!(
            "UPDATE part SET identity = $1, holder = $2, epoch = currval('lease_epoch'), until = {}, last_write = 0, \
             taken_at = COALESCE(taken_at, $4) WHERE run = $3 AND first = \
             (SELECT first FROM part WHERE run = $3 AND NOT is_done AND until <= clock_timestamp() \
             AND EXISTS (SELECT 1 FROM run WHERE id = $3 AND state = 'queued') \
             AND EXISTS (SELECT 1 FROM lease WHERE identity = $1 AND epoch = currval('lease_epoch')) \
             ORDER BY first LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING first, last, epoch",
            until()
        );
        let take = sql::query(take).bind(identity).bind(process_name()).bind(run).bind(now);
        let mut transaction = pool.begin().await?;
        let (place, results) = transaction.run_all_after(format!("SELECT {columns}"), vec![join, take]).await?;
        let found = self.look_around(place.as_ref()).map(|()| results.get(1).and_then(|taken| taken.rows().first()));
        let Ok(Some(row)) = found else {
            transaction.rollback().await?;
            return found.map(|_| None);
        };
        let (first, last, epoch): (Seq, Seq, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let mut notes = NewEvent::of(Action::Worked).counting(1).writing(run, now);
        notes.extend(turn::noting(run));
        transaction.commit_after(notes).await?;
        let lease = self.keep(Key::Part { identity: identity.to_owned(), run, first, epoch }, taken_at)?;
        Ok(Some((Part { run, first, last }, lease)))
    }

    /// Starts a thread that renews a lease.
    fn keep(&self, key: Key, taken_at: Instant) -> Result<Lease, Error> {
        let options = Arc::clone(&self.options);
        let held = Held {
            key: key.clone(),
            until: Arc::new(Mutex::new(taken_at + LEASE)),
            stored: Arc::default(),
            confirmed: Arc::default(),
        };
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
    pub(crate) async fn check(&self, transaction: &mut Transaction) -> Result<Checked, Error> {
        let further = self.further();
        for (nth, held) in self.all_held().into_iter().enumerate() {
            let row = look(transaction, held.key.check(if nth == 0 { &further } else { "" })).await?;
            if nth == 0 && !self.is_here(row, &further, &held, None)? {
                return Ok(Checked::Moved);
            }
            self.has_unnumbered.store(true, Ordering::SeqCst);
        }
        Ok(Checked::Held)
    }

    /// Returns the statements that check the leases like [`Leases::check`], and store the number of a transaction in the row of one of them. They
    /// fail by [`is_broken`] if a lease was lost. [`Leases::checked_write`] reads their row. Empty without leases.
    pub(crate) fn marking(&self, number: i64) -> String {
        let further = self.further();
        let checks = self.all_held().into_iter().enumerate().map(|(nth, held)| match nth {
            0 => format!(
                "WITH held AS ({}) SELECT held.*, one FROM (SELECT 1 / COUNT(*) AS one FROM held) AS fence LEFT JOIN held ON TRUE",
                held.key.mark(number, &further)
            ),
            _ => fenced("", &held.key.check(""), "TRUE"),
        });
        limited(checks.collect())
    }

    /// Whether this process may write, by the row of [`Leases::marking`].
    pub(crate) fn checked_write(&self, row: Option<PgRow>, number: i64) -> Result<Checked, Error> {
        let Some(held) = self.all_held().into_iter().next() else { return Ok(Checked::Held) };
        let row = row.ok_or(Error::LockLost)?;
        let before: i64 = row.try_get(0)?;
        if !self.is_here(Some(row), &self.further(), &held, Some(number))? {
            return Ok(Checked::Moved);
        }
        held.stored.store(number, Ordering::SeqCst);
        Ok(if before == number { Checked::Written } else { Checked::Held })
    }

    /// Returns statements that check the leases like [`Leases::check`], and fail by [`is_broken`] unless everything is as the last transaction
    /// saw it. They need no answer, so that the transaction can be committed by the same message. Empty without leases, and `None` if nothing was
    /// seen yet.
    pub(crate) fn fence(&self) -> Option<String> {
        let all_held = self.all_held();
        if all_held.is_empty() {
            return Some(String::new());
        }
        let further = self.further();
        let Seen { here, noted, is_synchronous, .. } = locked(&self.seen).clone().filter(|_| !further.is_empty())?;
        let (here, noted) = (here.text(), noted?.text());
        let checks = all_held.into_iter().enumerate().map(|(nth, held)| match nth {
            0 => {
                let confirmed = held.confirmed.load(Ordering::SeqCst);
                let is_here = format!(
                    "last_write >= {confirmed} AND here = '{here}' AND noted = '{noted}' AND is_synchronous = {is_synchronous}"
                );
                fenced("(last_write, here, noted, is_synchronous, clock)", &held.key.check(&further), &is_here)
            }
            _ => fenced("", &held.key.check(""), "TRUE"),
        });
        let checks = limited(checks.collect());
        self.has_unnumbered.store(true, Ordering::SeqCst);
        Some(checks)
    }

    /// Returns the columns that show the place, after another column.
    fn further(&self) -> String {
        self.places.known_columns().map(|columns| format!(", {columns}")).unwrap_or_default()
    }

    /// Whether a transaction sees the place and the last transaction of this process. `number`: of the transaction itself.
    fn is_here(&self, row: Option<PgRow>, further: &str, held: &Held, number: Option<i64>) -> Result<bool, Error> {
        let Some(row) = row.filter(|_| !further.is_empty()) else { return Ok(true) };
        let last: i64 = row.try_get(0)?;
        let seen = Seen::of_row(&row, 1)?;
        self.places.clock.set(seen.now);
        let has_last = Some(last) == number || last >= held.confirmed.load(Ordering::SeqCst);
        let is_here = has_last && self.places.is_same(&seen);
        if is_here {
            self.is_synchronous.fetch_and(seen.is_synchronous, Ordering::SeqCst);
            *locked(&self.seen) = Some(seen);
        }
        Ok(is_here)
    }

    /// Notes that a transaction of sending was committed.
    pub(crate) fn confirm(&self, number: i64) {
        for held in self.all_held().iter().filter(|held| held.stored.load(Ordering::SeqCst) == number) {
            held.confirmed.store(number, Ordering::SeqCst);
            self.has_unnumbered.store(false, Ordering::SeqCst);
        }
    }

    /// Returns what the rows of the leases show of the transactions of this process, and locks the rows.
    pub(crate) async fn trace(&self, transaction: &mut Transaction) -> Result<Trace, Error> {
        let all_held = self.all_held();
        let Some((numbered, _)) = all_held.split_first() else { return Ok(Trace::None) };
        let confirmed = numbered.confirmed.load(Ordering::SeqCst);
        let mut is_whole = self.are_held() && !self.has_unnumbered.load(Ordering::SeqCst);
        for held in &all_held {
            let Some(row) = transaction.raw_row(held.key.check("")).await? else {
                is_whole = false;
                continue;
            };
            if held.key == numbered.key && row.try_get::<i64, _>(0)? < confirmed {
                return Ok(Trace::Lost);
            }
        }
        Ok(if is_whole { Trace::Whole } else { Trace::Unclear })
    }

    /// Returns the records that only this process sends while it holds its leases.
    pub(crate) fn own_records(&self) -> Vec<Part> {
        let sending = self.sending.load(Ordering::SeqCst);
        let own = self.keys().into_iter().filter_map(|key| match key {
            Key::Part { run, first, .. } => Some(Part { run, first, last: first }),
            Key::Upload { .. } => (sending > 0).then(|| Part::whole(sending)),
        });
        own.collect()
    }

    /// Returns the identity of the upload of a run, as last noted.
    pub(crate) fn identity_of(&self, run: RunId) -> Option<String> {
        locked(&self.identity).clone().filter(|(of, _)| *of == run).map(|(_, identity)| identity)
    }

    pub(crate) fn set_identity(&self, run: RunId, identity: String) {
        *locked(&self.identity) = Some((run, identity));
    }

    /// Notes the run that is sent under these leases.
    pub(crate) fn set_sending(&self, run: RunId) {
        self.sending.store(run, Ordering::SeqCst);
    }

    /// Whether all commits of this process since it took its first lease have waited for a standby.
    pub(crate) fn is_synchronous(&self) -> bool {
        self.is_synchronous.load(Ordering::SeqCst)
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// Makes sure that a lease is taken where the ledger was noted to be. `place`: what the transaction sees of it.
    fn look_around(&self, place: Option<&PgRow>) -> Result<(), Error> {
        let Some(row) = place else { return Ok(()) };
        let seen = Seen::of_row(row, 0)?;
        self.places.clock.set(seen.now);
        if !self.are_any() {
            let is_noted = seen.noted.as_ref().is_some_and(|noted| noted.may_be(&seen.here));
            if !is_noted {
                return Err(Error::Moved);
            }
            self.places.set_known(&seen.here);
            self.is_synchronous.store(seen.is_synchronous, Ordering::SeqCst);
            self.has_unnumbered.store(false, Ordering::SeqCst);
            self.sending.store(0, Ordering::SeqCst);
        } else if !self.places.is_same(&seen) {
            return Err(Error::Moved);
        }
        *locked(&self.seen) = Some(seen);
        Ok(())
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
        self.all_held().into_iter().map(|held| held.key).collect()
    }

    fn all_held(&self) -> Vec<Held> {
        locked(&self.held).clone()
    }

    /// Whether all leases of this process are still valid by its own clock.
    pub(crate) fn are_held(&self) -> bool {
        let now = Instant::now();
        locked(&self.held).iter().all(|held| now < *locked(&held.until) - MARGIN)
    }
}

impl Lease {
    /// Returns the statement that waits for the transactions of other workers that take, finish or release parts of the upload.
    pub(crate) fn waiting_for_others(&self) -> String {
        self.key.wait()
    }

    /// Returns the statements that release the lease when the transaction commits. Call [`Lease::forget`] then, to stop the renewal.
    pub(crate) fn releasing(&self) -> String {
        self.key.release()
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
async fn keep(options: &Mutex<Option<PgConnectOptions>>, held: &Held, mut stopping: oneshot::Receiver<bool>) {
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

/// Runs a statement of [`Key`] and returns the row. `None` in a file.
///
/// # Errors
/// [`Error::LockLost`] if the statement finds no row.
async fn look(transaction: &mut Transaction, statement: String) -> Result<Option<PgRow>, Error> {
    if transaction.dialect() == Dialect::Sqlite {
        return Ok(None);
    }
    // Without parameters, one message and one reply suffice.
    match transaction.raw_row(limited(vec![statement])).await? {
        Some(row) => Ok(Some(row)),
        None => Err(Error::LockLost),
    }
}

/// Returns statements after one that limits how long the transaction may be idle, or nothing without statements.
fn limited(mut statements: Vec<String>) -> String {
    if !statements.is_empty() {
        statements.insert(0, format!("SET LOCAL idle_in_transaction_session_timeout = '{}s'", IDLE.as_secs()));
    }
    statements.join("; ")
}

/// Returns a statement that fails unless the row of a lease is found and is as expected.
fn fenced(columns: &str, check: &str, is_expected: &str) -> String {
    format!("WITH held {columns} AS ({check}) SELECT 1 / COUNT(*) FROM held WHERE {is_expected}")
}

/// Whether a transaction was undone by [`Leases::marking`] or [`Leases::fence`]: only they may divide by zero.
pub(crate) fn is_broken(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == DIVISION_BY_ZERO)
}

/// Executes a statement without parameters, and returns the number of rows affected.
async fn execute(
    options: &Mutex<Option<PgConnectOptions>>,
    connection: &mut Option<PgConnection>,
    statement: &str,
) -> Result<u64, sqlx::Error> {
    let connection = match connection {
        Some(connection) => connection,
        None => {
            let options = locked(options).clone().ok_or(sqlx::Error::PoolClosed)?;
            connection.insert(options.connect().await?)
        }
    };
    let done = connection.execute(sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))).await?;
    Ok(done.rows_affected())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
