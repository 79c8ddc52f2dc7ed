//! Disks that get full, for simulations: after so many bytes, nothing more can be written below a folder.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The bytes left, by folder.
static DISKS: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

fn disks() -> MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    DISKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the disk of a folder full after `bytes`.
pub(crate) fn fill_after(folder: &Path, bytes: usize) {
    disks().insert(folder.to_owned(), bytes);
}

/// Makes room on the disk of a folder.
pub(crate) fn free(folder: &Path) {
    disks().remove(folder);
}

/// Takes the room for `bytes` of the file at `path`.
pub(crate) fn take(path: &Path, bytes: usize) -> io::Result<()> {
    let mut disks = disks();
    let Some((_, left)) = disks.iter_mut().find(|(folder, _)| path.starts_with(folder)) else { return Ok(()) };
    *left = left.checked_sub(bytes).ok_or(io::ErrorKind::StorageFull)?;
    Ok(())
}
