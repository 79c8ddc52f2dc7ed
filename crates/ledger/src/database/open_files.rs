//! The ledger files that this process has open.
//!
//! SQLite holds POSIX locks on the files of a database. When a process closes any descriptor of such a file, the system drops all
//! locks of the process on it. Another process then takes the index of the log for unused and truncates it, which ends
//! this one with SIGBUS. So nothing else may open and close these files while this process has the ledger open.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The files with the number of ledgers that have each of them open.
static OPEN: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

/// Marks a file as open until it is dropped.
#[derive(Debug)]
pub(super) struct OpenFile(PathBuf);

impl OpenFile {
    pub(super) fn new(path: &Path) -> OpenFile {
        let path = canonical(path);
        *open().entry(path.clone()).or_default() += 1;
        OpenFile(path)
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let mut open = open();
        if let Some(count) = open.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.0);
            }
        }
    }
}

/// Whether a ledger of this process has the file open.
pub(super) fn is_open(path: &Path) -> bool {
    open().contains_key(&canonical(path))
}

fn open() -> MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the path without symbolic links in its folder. The file need not exist.
fn canonical(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_open_until_the_last_ledger_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger.db");
        assert!(!is_open(&path));
        let (first, second) = (OpenFile::new(&path), OpenFile::new(&path));
        drop(first);
        assert!(is_open(&path));
        drop(second);
        assert!(!is_open(&path));
    }
}
