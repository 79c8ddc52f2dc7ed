//! The persistent folder of an export: a lock against a second export at the same time, the spool of an interrupted
//! export, and the state of the last complete export.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sheetport_files::digest;
use sheetport_files::readers::create_private_folder;

use super::state::{ComparedRecords, Replaced, Replacement, State};
use crate::error::Error;
use crate::spool;

/// Beginning of the names of files with the hashes of records.
const HASHES: &str = "records-";
/// Beginning of the names of files with the records themselves.
const LISTED: &str = "listed-";
const LOCK: &str = "lock";

/// Maximum age of the spool of an interrupted export.
const MAX_SPOOL_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The folder of an export, for the same records of the same workspace to the same name.
#[derive(Debug)]
pub(crate) struct History {
    folder: PathBuf,
    _lock: File,
}

impl History {
    /// Opens and locks the folder of the export with this identity.
    ///
    /// # Errors
    /// Returns [`Error::Busy`] if another process holds the lock.
    pub(crate) fn open(home: &Path, identity: &str) -> Result<History, Error> {
        let digest = digest::of_parts([identity.as_bytes()]);
        let folder = home.join("exports").join(digest::hex(&digest[..12]));
        create_private_folder(&folder).map_err(Error::at(&folder))?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK));
        let lock = lock.map_err(Error::at(&folder))?;
        match lock.try_lock() {
            Ok(()) => Ok(History { folder, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy),
            Err(TryLockError::Error(source)) => Err(Error::at(&folder)(source)),
        }
    }

    /// Deletes old spools of other interrupted exports below `home`. Errors are ignored.
    pub(crate) fn delete_old_spools(&self, home: &Path, now: SystemTime) {
        for folder in std::fs::read_dir(home.join("exports")).into_iter().flatten().flatten() {
            let spool = folder.path().join(spool::FILE_NAME);
            let changed = spool.metadata().and_then(|found| found.modified());
            let is_old = changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > MAX_SPOOL_AGE));
            let lock = OpenOptions::new().write(true).open(folder.path().join(LOCK));
            if folder.path() != self.folder && is_old && lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
                let _ = std::fs::remove_file(spool);
            }
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of saved records or hashes.
    pub(crate) fn saved(&self, records: &ComparedRecords) -> PathBuf {
        self.folder.join(&records.name)
    }

    /// Returns the name for the hashes of an export that started at this time.
    pub(crate) fn new_records(started: jiff::Timestamp) -> ComparedRecords {
        ComparedRecords { name: format!("{HASHES}{}", started.as_nanosecond()), started }
    }

    /// Returns the name for the records of an export, with a list of changes, that started at this time.
    pub(crate) fn new_listed(started: jiff::Timestamp) -> ComparedRecords {
        ComparedRecords { name: format!("{LISTED}{}", started.as_nanosecond()), started }
    }

    /// Returns the state of the last complete export, or `None` if missing or unreadable. An export counts as complete if
    /// interrupted after appending to its file. If that is not certain, returns the path of the file as well.
    pub(crate) fn state(&self) -> Result<(Option<State>, Option<PathBuf>), Error> {
        let state = State::read(&self.folder);
        let Some(replacement) = Replacement::read(&self.folder) else { return Ok((state, None)) };
        match replacement.settle(state.as_ref())? {
            Replaced::Yes(state) => {
                self.remember(&state)?;
                Ok((Some(*state), None))
            }
            Replaced::No => {
                Replacement::forget(&self.folder);
                Ok((state, None))
            }
            Replaced::Unknown(path) => Ok((state, Some(path))),
        }
    }

    pub(crate) fn remember(&self, state: &State) -> Result<(), Error> {
        state.write(&self.folder)?;
        Replacement::forget(&self.folder);
        self.delete_old_records(state);
        Ok(())
    }

    /// Deletes records and hashes not named in `state`. Ignores errors: the next export tries again.
    fn delete_old_records(&self, state: &State) {
        let named = [state.compared.as_ref(), state.listed.as_ref().map(|listed| &listed.records)];
        let is_named = |name: &str| named.iter().flatten().any(|records| records.name == name);
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_old = name
                .to_str()
                .is_some_and(|name| (name.starts_with(HASHES) || name.starts_with(LISTED)) && !is_named(name));
            if is_old {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_an_export_is_locked() {
        let home = tempfile::tempdir().unwrap();
        let first = History::open(home.path(), "items").unwrap();
        assert!(matches!(History::open(home.path(), "items"), Err(Error::Busy)));
        assert_ne!(History::open(home.path(), "orders").unwrap().folder(), first.folder());
        assert!(first.state().unwrap().0.is_none());
        drop(first);
        History::open(home.path(), "items").unwrap();
    }

    #[test]
    fn old_spools_of_other_exports_are_deleted() {
        let home = tempfile::tempdir().unwrap();
        let history = History::open(home.path(), "mine").unwrap();
        let running = History::open(home.path(), "running").unwrap();
        let left = History::open(home.path(), "left").unwrap().folder().to_owned();
        let pages = [history.folder(), running.folder(), &left].map(|folder| folder.join(spool::FILE_NAME));
        pages.iter().for_each(|pages| std::fs::write(pages, "pages").unwrap());
        history.delete_old_spools(home.path(), SystemTime::now());
        assert!(pages.iter().all(|pages| pages.exists()));
        history.delete_old_spools(home.path(), SystemTime::now() + MAX_SPOOL_AGE + MAX_SPOOL_AGE);
        assert_eq!(pages.map(|pages| pages.exists()), [true, true, false]);
    }
}
