//! What outlives an export to a name: the lock that keeps two from running at once, the spool of one that was cut off,
//! and what is remembered of the last one that was put in place.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Error;
use super::spool;
use crate::sheet;
use crate::sheet::write::{Existing, WholeFile};

const STATE: &str = "state.json";
const PRINTS: &str = "records";
const LOCK: &str = "lock";

/// Pages that have waited for so long are waited for by nobody.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// The folder of one export: of the same records of the same workspace to the same name.
#[derive(Debug)]
pub struct History {
    folder: PathBuf,
    _lock: File,
}

/// What is remembered of the last export that was put in place whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pub file: PathBuf,
    /// Records in the service's list.
    pub distinct: u64,
    /// From here on the next `--since last` asks.
    pub changed_until: String,
    pub finished: String,
}

impl History {
    /// Takes the folder below `home` of the export that `identity` describes. While it is held, nobody else gets it.
    pub fn take(home: &Path, identity: &str) -> Result<History, Error> {
        let digest = Sha256::digest(identity.as_bytes());
        let name: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        let folder = home.join("exports").join(name);
        let failed = |source| Error::Spool { path: folder.clone(), source };
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(failed)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK));
        let lock = lock.map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(History { folder, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Removes the pages that other exports left below `home` and that nobody will carry on with. What can't be removed
    /// stays.
    pub fn sweep(&self, home: &Path, now: SystemTime) {
        for folder in std::fs::read_dir(home.join("exports")).into_iter().flatten().flatten() {
            let pages = folder.path().join(spool::NAME);
            let changed = pages.metadata().and_then(|found| found.modified());
            let is_old = changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > ABANDONED));
            let lock = OpenOptions::new().write(true).open(folder.path().join(LOCK));
            if folder.path() != self.folder && is_old && lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
                let _ = std::fs::remove_file(pages);
            }
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the hashes of the last export's records are.
    pub fn prints(&self) -> PathBuf {
        self.folder.join(PRINTS)
    }

    /// Nothing before the first, and where it can't be read.
    pub fn state(&self) -> Option<State> {
        serde_json::from_slice(&std::fs::read(self.folder.join(STATE)).ok()?).ok()
    }

    pub fn remember(&self, state: &State) -> Result<(), Error> {
        let path = self.folder.join(STATE);
        let failed = |source| sheet::Error::Write { path: path.clone(), source };
        let mut file = WholeFile::create(&path, Existing::Replace)?;
        let text = serde_json::to_string(state).map_err(|error| failed(error.into()))?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.finish()?;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_has_the_folder_of_an_export() {
        let home = tempfile::tempdir().unwrap();
        let first = History::take(home.path(), "items").unwrap();
        assert!(matches!(History::take(home.path(), "items"), Err(Error::Busy)));
        assert_ne!(History::take(home.path(), "orders").unwrap().folder(), first.folder());
        assert!(first.state().is_none());
        drop(first);
        History::take(home.path(), "items").unwrap();
    }

    #[test]
    fn pages_that_nobody_came_back_for_go_after_a_day() {
        let home = tempfile::tempdir().unwrap();
        let history = History::take(home.path(), "mine").unwrap();
        let at_work = History::take(home.path(), "at work").unwrap();
        let left = History::take(home.path(), "left").unwrap().folder().to_owned();
        let pages = [history.folder(), at_work.folder(), &left].map(|folder| folder.join(spool::NAME));
        pages.iter().for_each(|pages| std::fs::write(pages, "pages").unwrap());
        history.sweep(home.path(), SystemTime::now());
        assert!(pages.iter().all(|pages| pages.exists()));
        history.sweep(home.path(), SystemTime::now() + ABANDONED + ABANDONED);
        assert_eq!(pages.map(|pages| pages.exists()), [true, true, false]);
    }
}
