//! Temporary folders, for example for a rehearsal. Folders left by killed processes are removed by the next command that creates
//! a temporary folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sheetport_files::links::is_own;
use sheetport_files::readers::private_temporary_folder;
use tempfile::TempDir;

use super::super::error::Error;

const PREFIX: &str = "sheetport-";
const SUFFIX: &str = ".temporary";
/// Name of the lock file, locked during the lifetime of the process.
const LOCK: &str = "lock";

/// A folder deleted on drop.
pub struct TemporaryFolder {
    folder: TempDir,
    _lock: File,
}

impl TemporaryFolder {
    pub fn create() -> Result<TemporaryFolder, Error> {
        TemporaryFolder::create_in(&std::env::temp_dir()).map_err(|error| Error::no_temporary_files(&error))
    }

    fn create_in(parent: &Path) -> io::Result<TemporaryFolder> {
        remove_abandoned(parent);
        loop {
            let folder = private_temporary_folder(parent, PREFIX, SUFFIX)?;
            let lock = OpenOptions::new().create(true).write(true).truncate(true).open(folder.path().join(LOCK))?;
            match lock.try_lock() {
                // Without support for locks, no folder is ever considered abandoned.
                Ok(()) | Err(TryLockError::Error(_)) if folder.path().join(LOCK).exists() => {
                    return Ok(TemporaryFolder { folder, _lock: lock });
                }
                // Another process considered the new folder abandoned and took the lock.
                Ok(()) | Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file that only this user can read, and returns its path.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, Error> {
        let path = self.folder.path().join(name);
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&path).and_then(|mut file| file.write_all(content));
        written.map(|()| path).map_err(|error| Error::no_temporary_files(&error))
    }
}

/// Removes the folders of dead processes of this user. Errors are ignored.
fn remove_abandoned(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if !is_ours || !entry.metadata().is_ok_and(|found| found.is_dir() && is_own(&found)) {
            continue;
        }
        // The lock is held until the folder is removed.
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_dead_processes_are_removed() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = |name: &str| parent.path().join(name);
        for name in ["sheetport-dead.temporary", "other-dead.temporary", "sheetport-new.temporary"] {
            std::fs::create_dir(path(name)).expect("created");
        }
        for name in ["sheetport-dead.temporary/lock", "sheetport-dead.temporary/ledger.db", "other-dead.temporary/lock"]
        {
            std::fs::write(path(name), "x").expect("written");
        }
        let living = TemporaryFolder::create_in(parent.path()).expect("created");
        let second = TemporaryFolder::create_in(parent.path()).expect("created");
        assert!(living.path().is_dir() && second.path().is_dir());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = living.path().metadata().expect("a folder").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        assert!(!path("sheetport-dead.temporary").exists());
        assert!(path("other-dead.temporary").exists() && path("sheetport-new.temporary").exists());
        drop((living, second));
        assert_eq!(std::fs::read_dir(parent.path()).expect("a folder").count(), 2);
    }
}
