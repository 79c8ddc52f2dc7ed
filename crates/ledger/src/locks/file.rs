//! Locks as files of a machine, for the processes that share a ledger in a file.
//!
//! The holder of a lock removes its file before it releases the lock, so that no files pile up. Therefore a file may have lost its
//! name, or another file may have taken the name, when a process gets the lock. Such a lock is worthless, and the process tries again
//! with the file that has the name now. Only the holder of a file with the name removes that file, so two processes never hold the
//! lock of the same name.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often, and how long each time, a lock is tried again.
const LOOKS: usize = 3;
const LOOK: Duration = Duration::from_millis(5);
const EXTENSION: &str = "lock";

/// Exclusive access to a name. The file is removed and the lock released on drop.
#[derive(Debug)]
pub(crate) struct LockFile {
    path: PathBuf,
    _file: File,
}

impl LockFile {
    /// Takes the lock of `name` in a folder. Returns `None` if another process holds the lock.
    pub(crate) fn take(folder: &Path, name: &str) -> io::Result<Option<LockFile>> {
        let path = path(folder, name);
        for _ in 0..LOOKS {
            if let Some(lock) = try_take(&path)? {
                return Ok(Some(lock));
            }
            // Another process may be looking whether the lock is held.
            std::thread::sleep(LOOK);
        }
        try_take(&path)
    }

    /// Whether a process holds the lock of `name`.
    pub(crate) fn is_held(folder: &Path, name: &str) -> io::Result<bool> {
        let path = path(folder, name);
        loop {
            let file = match OpenOptions::new().write(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                file => file?,
            };
            // A shared lock does not disturb other processes that look.
            match file.try_lock_shared() {
                Ok(()) if has_name(&file, &path)? => return Ok(false),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(true),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Removes the files of killed processes. `is_ours` tells the names of locks from others.
    pub(crate) fn sweep(folder: &Path, is_ours: impl Fn(&str) -> bool) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_stem().and_then(|name| name.to_str());
            if path.extension().is_some_and(|extension| extension == EXTENSION) && name.is_some_and(&is_ours) {
                // Dropped at once, together with the file.
                try_take(&path)?;
            }
        }
        Ok(())
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Where an open file can't lose its name to another, the file stays for the next holder.
        if cfg!(unix) {
            // A file that stays does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.{EXTENSION}"))
}

fn try_take(path: &Path) -> io::Result<Option<LockFile>> {
    loop {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) if has_name(&file, path)? => return Ok(Some(LockFile { path: path.to_owned(), _file: file })),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Whether an open file still has its name.
fn has_name(file: &File, path: &Path) -> io::Result<bool> {
    match path.metadata() {
        Ok(named) => Ok(is_same(&file.metadata()?, &named)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Files are never removed there.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[cfg(unix)]
    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect()
    }

    #[test]
    #[cfg(unix)]
    fn a_lock_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = LockFile::take(folder.path(), "a").expect("taken").expect("free");
        assert!(LockFile::take(folder.path(), "a").expect("tried").is_none());
        assert!(LockFile::is_held(folder.path(), "a").expect("looked"));
        assert_eq!(names(folder.path()), ["a.lock"]);
        // Removes only free locks with our names.
        for left in ["b.lock", "opening.lock", "b.rate"] {
            std::fs::write(folder.path().join(left), "").expect("written");
        }
        LockFile::sweep(folder.path(), |name| name.len() == 1).expect("swept");
        let mut left = names(folder.path());
        left.sort();
        assert_eq!(left, ["a.lock", "b.rate", "opening.lock"]);
        drop(lock);
        assert!(!LockFile::is_held(folder.path(), "a").expect("looked"));
        assert_eq!(names(folder.path()).len(), 2);
    }

    /// Threads take and release the same lock as fast as they can, while others look and sweep.
    #[test]
    fn only_one_holds_a_lock_whose_file_comes_and_goes() {
        const TURNS: usize = 200;
        let folder = tempfile::tempdir().expect("a folder");
        let (holders, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while taken.load(Ordering::SeqCst) < TURNS {
                        let Some(lock) = try_take(&path(folder.path(), "a")).expect("tried") else { continue };
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two hold the lock");
                        thread::yield_now();
                        holders.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                        taken.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            scope.spawn(|| {
                while taken.load(Ordering::SeqCst) < TURNS {
                    LockFile::is_held(folder.path(), "a").expect("looked");
                    LockFile::sweep(folder.path(), |_| true).expect("swept");
                }
            });
        });
    }
}
