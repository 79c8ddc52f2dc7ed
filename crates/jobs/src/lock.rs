//! The lock of a job, and the record of its previous run.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sheetport_files::digest;
use sheetport_files::readers::create_private_folder;
use sheetport_operations::context::Context;
use sheetport_operations::error::Error;

use super::definition::Job;

const LOCK: &str = "lock";
const STATE: &str = "state.json";

/// The stored record of a run of a job.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct PreviousRun {
    pub job: PathBuf,
    pub process: u32,
    /// Milliseconds since 1970, UTC.
    pub began: i64,
    /// `None` if the run was aborted.
    pub ended: Option<i64>,
}

/// A job locked by this process.
#[derive(Debug)]
pub(super) struct LockedJob {
    folder: PathBuf,
    _lock: File,
    pub previous: Option<PreviousRun>,
    run: PreviousRun,
}

/// Locks a job and records the start of its run.
///
/// # Errors
/// [`Error::JobIsRunning`] if another process runs the job.
pub(super) fn lock(context: &Context, job: &Job, now: i64) -> Result<LockedJob, Error> {
    let path = job.path.canonicalize().unwrap_or_else(|_| job.path.clone());
    let name = digest::hex(&digest::of_parts([path.as_os_str().as_encoded_bytes()])[..12]);
    let folder = context.home.join("jobs").join(name);
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
    let run = PreviousRun { job: path, process: std::process::id(), began: now, ended: None };
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
        let stored = tempfile::NamedTempFile::new_in(&self.folder).and_then(|mut file| {
            serde_json::to_writer(&mut file, &self.run)?;
            file.persist(self.folder.join(STATE)).map_err(|error| error.error)
        });
        stored.map(drop).map_err(|error| unusable(&self.folder, &error))
    }
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
