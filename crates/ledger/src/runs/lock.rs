//! Locks on uploads: only one process at a time plans or sends the runs of an upload.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use sheetport_sql::{self as sql, Dialect, Query, Row};

use super::super::database::Ledger;
use super::super::error::{Error, Holder};
use super::super::ids::RunId;
use super::super::locks::{Lease, LockFile, file_name, is_identity};
use super::family::ROOT;
use super::run::{NewRun, Run};
use super::settings::RunSettings;

/// Time until the leases of processes that are gone have ended, and the interval of looking.
const LONGEST_LEASE: Duration = Duration::from_secs(35);
const LOOK: Duration = Duration::from_secs(1);

/// Exclusive access to the runs of one upload. Released on drop.
#[derive(Debug)]
pub struct UploadLock {
    identity: String,
    _held: Held,
}

/// Exclusive access to something with a name. Released on drop.
#[derive(Debug)]
pub struct NamedLock {
    _lock: UploadLock,
}

/// The lock as other processes see it.
#[derive(Debug)]
enum Held {
    File { _lock: LockFile },
    Row { _lease: Box<Lease> },
}

/// A run and the lock of its upload. Required for sending.
#[derive(Debug)]
pub struct LockedRun {
    run: Run,
    lock: UploadLock,
}

impl LockedRun {
    /// Returns the run in the state at the time of locking.
    pub fn run(&self) -> &Run {
        &self.run
    }

    pub fn id(&self) -> RunId {
        self.run.id
    }

    /// Returns the identity of the upload.
    pub(crate) fn identity(&self) -> &str {
        &self.lock.identity
    }

    /// Returns the lock alone, for planning another run of the same upload.
    pub fn into_lock(self) -> UploadLock {
        self.lock
    }
}

impl Ledger {
    /// Locks the upload described by `about`, before planning: a damaged file may hide what was sent.
    ///
    /// # Errors
    /// [`Error::Busy`] if another process holds the lock, and [`Error::DamagedFile`] if a small file is damaged.
    pub async fn lock_upload(&self, about: &NewRun) -> Result<UploadLock, Error> {
        self.verify_small_file().await?;
        self.lock(upload_identity(about)).await
    }

    /// Locks a resource by name, such as a file. Returns `None` if another process has locked the resource.
    pub async fn try_lock_name(&self, name: &str) -> Result<Option<NamedLock>, Error> {
        match self.lock(file_name(&["name", name])).await {
            Ok(lock) => Ok(Some(NamedLock { _lock: lock })),
            Err(Error::Busy { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Locks the upload of `run`: the whole family of runs connected by retries.
    ///
    /// # Errors
    /// [`Error::Busy`] if another process holds the lock.
    pub async fn lock_run(&self, run: RunId) -> Result<LockedRun, Error> {
        let mut identity = self.family_identity(run).await?;
        loop {
            let lock = self.lock(identity).await?;
            // Another process may have removed the first run or named the workspace before the lock was taken.
            let current = self.family_identity(run).await?;
            if current == lock.identity {
                return Ok(LockedRun { run: self.run(run).await?, lock });
            }
            identity = current;
        }
    }

    /// Locks `run` like [`Ledger::lock_run`] before sending a stored plan. Checks all runs of the upload, because a retry depends
    /// on each of them.
    ///
    /// # Errors
    /// [`Error::Busy`] if the upload is locked, and [`Error::Damaged`] if data was lost or altered.
    pub async fn lock_checked_run(&self, run: RunId) -> Result<LockedRun, Error> {
        let locked = self.lock_run(run).await?;
        self.verify_small_file().await?;
        for member in self.family(locked.run()).await?.runs {
            self.verify(member.id).await?;
        }
        Ok(locked)
    }

    /// Locks `run` like [`Ledger::lock_run`], keeping `lock` if both belong to the same upload.
    pub async fn lock_run_with(&self, lock: UploadLock, run: RunId) -> Result<LockedRun, Error> {
        if self.family_identity(run).await? == lock.identity {
            return Ok(LockedRun { run: self.run(run).await?, lock });
        }
        drop(lock);
        self.lock_run(run).await
    }

    /// Replaces the settings of a locked run.
    pub async fn change_settings(&self, locked: LockedRun, settings: RunSettings) -> Result<LockedRun, Error> {
        let LockedRun { mut run, lock } = locked;
        if run.about.settings != settings {
            self.store_settings(run.id, &settings).await?;
            run.about.settings = settings;
        }
        Ok(LockedRun { run, lock })
    }

    /// Returns the path of the file for sharing the request rate of a workspace among processes.
    pub fn rate_file(&self, base_url: &str, workspace: &str) -> PathBuf {
        self.locks().join(format!("{}.rate", file_name(&[base_url, workspace])))
    }

    /// Whether this process certainly still holds its locks, so that it may send. File locks last until the process ends.
    pub fn holds_locks(&self) -> bool {
        self.leases.are_held()
    }

    /// Whether a process other than the one that has locked `own` holds the lock of a run's upload. Runs of the same upload share
    /// a lock.
    pub(crate) async fn is_locked_by_other(&self, run: RunId, own: RunId) -> Result<bool, Error> {
        let identity = self.family_identity(run).await?;
        if identity == self.family_identity(own).await? {
            return Ok(false);
        }
        self.is_identity_locked(&identity).await
    }

    /// Whether a process holds the lock of a run's upload.
    pub async fn is_locked(&self, run: RunId) -> Result<bool, Error> {
        self.is_identity_locked(&self.family_identity(run).await?).await
    }

    /// Whether a process reads the file of a run or sends its records now. Of the runs that share a lock, the last one that was begun
    /// or resumed is meant.
    pub async fn is_worked_on(&self, run: RunId) -> Result<bool, Error> {
        let identity = self.family_identity(run).await?;
        if !self.is_identity_locked(&identity).await? {
            return Ok(false);
        }
        let query = "SELECT id FROM run WHERE state IN ('planning', 'planned') ORDER BY (SELECT COALESCE(MAX(event.last_at), \
                     run.created_at) FROM event WHERE event.run = run.id AND action IN ('planned', 'sent', 'resumed')) DESC, id DESC";
        for candidate in sql::query_scalar::<RunId>(query).fetch_all(&self.reader).await? {
            if candidate == run || self.family_identity(candidate).await? == identity {
                return Ok(candidate == run);
            }
        }
        Ok(false)
    }

    async fn is_identity_locked(&self, identity: &str) -> Result<bool, Error> {
        if self.dialect() == Dialect::Postgres {
            return self.leases.is_taken(&self.reader, identity).await;
        }
        LockFile::is_held(&self.locks(), identity).map_err(|error| self.unlockable(&error))
    }

    async fn lock(&self, identity: String) -> Result<UploadLock, Error> {
        let held = match self.dialect() {
            Dialect::Sqlite => {
                let lock = LockFile::take(&self.locks(), &identity).map_err(|error| self.unlockable(&error))?;
                Held::File { _lock: lock.ok_or(Error::Busy { holder: Holder::Unknown })? }
            }
            Dialect::Postgres => {
                let mut waited = Duration::ZERO;
                let taken = loop {
                    match self.leases.take(&self.writer, &identity).await {
                        Err(Error::Moved) if self.settle_in().await? => {}
                        Err(Error::Moved) if waited < LONGEST_LEASE => {
                            tokio::time::sleep(LOOK).await;
                            waited += LOOK;
                        }
                        taken => break taken?,
                    }
                };
                let Some(lease) = taken else {
                    return Err(Error::Busy { holder: self.leases.holder(&self.writer, &identity).await? });
                };
                Held::Row { _lease: Box::new(lease) }
            }
        };
        Ok(UploadLock { identity, _held: held })
    }

    /// Removes the lock files of killed processes.
    ///
    /// # Errors
    /// If the folder can't be read or changed.
    pub fn sweep_locks(&self) -> Result<(), Error> {
        match self.dialect() {
            Dialect::Sqlite => LockFile::sweep(&self.locks(), is_identity).map_err(|error| self.unlockable(&error)),
            Dialect::Postgres => Ok(()),
        }
    }

    fn locks(&self) -> PathBuf {
        self.folder.join("locks")
    }

    fn unlockable(&self, error: &io::Error) -> Error {
        Error::Open { path: self.locks(), reason: error.to_string() }
    }

    /// Returns the identity of the upload of a run.
    pub(crate) async fn family_identity(&self, run: RunId) -> Result<String, Error> {
        let row = selecting_identity(run).fetch_one(&self.reader).await?;
        identity_of_row(run, &row)
    }
}

impl Ledger {
    /// Returns a run of which a part is to be taken.
    ///
    /// # Errors
    /// Those of [`Ledger::run`].
    pub async fn run_to_take(&self, run: RunId) -> Result<Run, Error> {
        let results = self.reader.run_all(vec![selecting_identity(run), self.selecting_run(run)]).await?;
        let mut rows = results.iter().map(|result| result.rows().first().ok_or(Error::NoSuchRun(run)));
        let (Some(root), Some(row)) = (rows.next(), rows.next()) else { return Err(Error::NoSuchRun(run)) };
        self.leases.set_identity(run, identity_of_row(run, root?)?);
        Run::of_row(row?)
    }
}

/// Returns the query for [`identity_of_row`].
fn selecting_identity(run: RunId) -> Query<Row> {
    sql::query(ROOT).bind(run)
}

/// Returns the identity of the upload of a run.
fn identity_of_row(run: RunId, row: &Row) -> Result<String, Error> {
    let root: Option<RunId> = row.try_get(0)?;
    let root = root.ok_or(Error::NoSuchRun(run))?;
    let text = |column: usize| row.try_get::<Option<String>, _>(column);
    Ok(match (text(1)?, text(2)?, text(3)?, text(4)?) {
        (Some(base_url), Some(workspace), Some(record), Some(file_hash)) => {
            file_name(&[&base_url, &workspace, &record, &file_hash])
        }
        // If the first run was removed, the others still share the number.
        _ => file_name(&["family", &root.to_string()]),
    })
}

/// Returns the identity of an upload: service, workspace, kind of record and content of the file.
fn upload_identity(about: &NewRun) -> String {
    file_name(&[&about.base_url, &about.workspace, about.record.name(), &about.file_hash])
}
