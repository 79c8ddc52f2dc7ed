//! The lock of a job, and the records of its previous run and of its entry in a scheduler.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sheetport_files::digest;
use sheetport_files::readers::create_private_folder;
use sheetport_ledger::{Ledger, NamedLock};
use sheetport_operations::context::Context;
use sheetport_operations::error::Error;

use super::definition::Job;

const LOCK: &str = "lock";
const STATE: &str = "state.json";
const SCHEDULED: &str = "scheduled.json";

/// The stored record of a run of a job.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct PreviousRun {
    pub job: PathBuf,
    pub process: u32,
    /// Milliseconds since 1970, UTC.
    pub began: i64,
    /// `None` if the run was aborted.
    pub ended: Option<i64>,
    /// The exit code, and the number of files of its uploads and exports. `None` until the notices are sent.
    #[serde(default)]
    pub exit: Option<u8>,
    #[serde(default)]
    pub files: Option<u64>,
    /// The end of the last run with exit code 0.
    #[serde(default)]
    pub succeeded: Option<i64>,
}

/// The record of an entry in a scheduler.
#[derive(Deserialize, Serialize)]
struct Scheduled {
    job: PathBuf,
    /// Milliseconds since 1970, UTC.
    since: i64,
}

/// A job that has run, or that a scheduler has.
#[derive(Debug)]
pub(super) struct KnownJob {
    pub job: PathBuf,
    pub is_scheduled: bool,
}

/// What is recorded of a job.
#[derive(Debug)]
pub(super) struct Recorded {
    pub is_running: bool,
    pub last: Option<PreviousRun>,
    /// When it was entered into a scheduler by `job schedule --install`.
    pub scheduled: Option<i64>,
}

/// A job locked by this process.
#[derive(Debug)]
pub(super) struct LockedJob {
    folder: PathBuf,
    _lock: File,
    pub previous: Option<PreviousRun>,
    run: PreviousRun,
}

/// A job locked for all machines with the same ledger.
pub(super) struct LockedEverywhere {
    lock: NamedLock,
    ledger: Ledger,
}

impl LockedEverywhere {
    pub(super) async fn release(self) {
        drop(self.lock);
        self.ledger.close().await;
    }
}

/// Locks a job for all machines with the same ledger on a server. A job is the same if its file, the service and the workspace are. Returns `None`
/// for a ledger in a file.
///
/// # Errors
/// [`Error::JobIsRunning`] if a process on another machine runs the job, and if the ledger can't be used.
pub(super) async fn lock_everywhere(context: &Context, job: &Job) -> Result<Option<LockedEverywhere>, Error> {
    if context.server.is_none() {
        return Ok(None);
    }
    let content = std::fs::read(&job.path).map_err(|error| unusable(&job.path, &error))?;
    let workspace = context.workspace();
    let parts = [&content, context.base_url.as_deref().unwrap_or_default().as_bytes(), workspace.as_bytes()];
    let name = format!("job {}", digest::hex(&digest::of_parts(parts)));
    let ledger = context.ledger().await?;
    match ledger.try_lock_name(&name).await? {
        Some(lock) => Ok(Some(LockedEverywhere { lock, ledger })),
        None => Err(Error::JobIsRunning { job: job.name.clone(), began: None, process: None }),
    }
}

/// Locks a job and records the start of its run.
///
/// # Errors
/// [`Error::JobIsRunning`] if another process runs the job.
pub(super) fn lock(context: &Context, job: &Job, now: i64) -> Result<LockedJob, Error> {
    let (path, folder) = folder_of(context, &job.path);
    let failed = |error: io::Error| unusable(&folder, &error);
    create_private_folder(&folder).map_err(failed)?;
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK)).map_err(failed)?;
    let previous = read(&folder);
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let (began, process) = previous.map_or((None, None), |run| (Some(run.began), Some(run.process)));
            return Err(Error::JobIsRunning { job: job.name.clone(), began, process });
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    let succeeded = previous.as_ref().and_then(|previous| previous.succeeded);
    let run = PreviousRun { job: path, process: std::process::id(), began: now, succeeded, ..PreviousRun::default() };
    let locked = LockedJob { folder, _lock: lock, previous, run };
    locked.store()?;
    Ok(locked)
}

impl LockedJob {
    /// Records the end of the run.
    pub(super) fn end(mut self, now: i64) -> Result<(), Error> {
        self.run.ended = Some(now);
        self.store()
    }

    fn store(&self) -> Result<(), Error> {
        store(&self.folder, STATE, &self.run)
    }
}

/// Records how a run that has ended is to be judged, after its notices. Does nothing if another run has begun since.
///
/// # Errors
/// If the record can't be written.
pub fn record_exit(context: &Context, job: &Path, began: i64, exit: u8, files: u64) -> Result<(), Error> {
    let (_, folder) = folder_of(context, job);
    let Some(_lock) = try_lock(&folder) else { return Ok(()) };
    let Some(run) = read(&folder).filter(|run| run.began == began) else { return Ok(()) };
    let succeeded = if exit == 0 { run.ended } else { run.succeeded };
    store(&folder, STATE, &PreviousRun { exit: Some(exit), files: Some(files), succeeded, ..run })
}

/// Records that a scheduler has a job since now, or no longer.
///
/// # Errors
/// If the record can't be written or removed.
pub fn note_schedule(context: &Context, job: &Path, since: Option<i64>) -> Result<(), Error> {
    let (path, folder) = folder_of(context, job);
    match since {
        Some(since) => {
            create_private_folder(&folder).map_err(|error| unusable(&folder, &error))?;
            store(&folder, SCHEDULED, &Scheduled { job: path, since })
        }
        None => match std::fs::remove_file(folder.join(SCHEDULED)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unusable(&folder, &error)),
            _ => Ok(()),
        },
    }
}

/// Returns what is recorded of a job.
pub(super) fn of(context: &Context, job: &Path) -> Recorded {
    let (_, folder) = folder_of(context, job);
    let last = read(&folder);
    // Without a run, nothing is to be created.
    let is_running = last.as_ref().is_some_and(|last| last.ended.is_none()) && try_lock(&folder).is_none();
    let scheduled = read_scheduled(&folder).map(|scheduled| scheduled.since);
    Recorded { is_running, last, scheduled }
}

/// Returns the jobs with a record, by path.
pub(super) fn known(context: &Context) -> Vec<KnownJob> {
    let folders = std::fs::read_dir(context.home.join("jobs")).into_iter().flatten().flatten();
    let known = folders.filter_map(|folder| {
        let folder = folder.path();
        let scheduled = read_scheduled(&folder);
        let is_scheduled = scheduled.is_some();
        let job = read(&folder).map(|run| run.job).or(scheduled.map(|scheduled| scheduled.job))?;
        Some(KnownJob { job, is_scheduled })
    });
    let mut known: Vec<KnownJob> = known.collect();
    known.sort_by(|one, other| one.job.cmp(&other.job));
    known
}

/// Returns the full path of a job, and the folder of its records.
fn folder_of(context: &Context, job: &Path) -> (PathBuf, PathBuf) {
    let path = job.canonicalize().unwrap_or_else(|_| job.to_owned());
    let name = digest::hex(&digest::of_parts([path.as_os_str().as_encoded_bytes()])[..12]);
    let folder = context.home.join("jobs").join(name);
    (path, folder)
}

/// Returns the lock of a job, or `None` if another process has it.
fn try_lock(folder: &Path) -> Option<File> {
    let lock = OpenOptions::new().write(true).open(folder.join(LOCK)).ok()?;
    lock.try_lock().ok()?;
    Some(lock)
}

fn store(folder: &Path, name: &str, record: &impl Serialize) -> Result<(), Error> {
    let stored = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        serde_json::to_writer(&mut file, record)?;
        file.persist(folder.join(name)).map_err(|error| error.error)
    });
    stored.map(drop).map_err(|error| unusable(folder, &error))
}

fn read_scheduled(folder: &Path) -> Option<Scheduled> {
    serde_json::from_slice(&std::fs::read(folder.join(SCHEDULED)).ok()?).ok()
}

fn read(folder: &Path) -> Option<PreviousRun> {
    serde_json::from_slice(&std::fs::read(folder.join(STATE)).ok()?).ok()
}

fn unusable(folder: &Path, error: &io::Error) -> Error {
    Error::Local {
        message: format!("the folder of the job, {}, can't be used: {error}", folder.display()),
        hint: "free some disk space, or check its permissions; nothing was done".to_owned(),
    }
}
