//! Simulations of full disks and killed processes: after a number of bytes, writes below a folder fail, or the process ends at
//! its next write.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The limit of a folder.
#[derive(Clone, Copy, Debug)]
enum Limit {
    /// Number of bytes left.
    Room(usize),
    /// Number of writes left until the process is killed.
    Writes(usize),
}

static DISKS: Mutex<BTreeMap<PathBuf, Limit>> = Mutex::new(BTreeMap::new());

fn disks() -> MutexGuard<'static, BTreeMap<PathBuf, Limit>> {
    DISKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the disk of a folder full after `bytes`.
pub fn fill_after(folder: &Path, bytes: usize) {
    disks().insert(folder.to_owned(), Limit::Room(bytes));
}

/// Kills this process at the next write to a folder after `writes` writes.
pub fn kill_after(folder: &Path, writes: usize) {
    disks().insert(folder.to_owned(), Limit::Writes(writes));
}

/// Makes room on the disk of a folder.
pub fn free(folder: &Path) {
    disks().remove(folder);
}

/// Takes the room for `bytes` of the file at `path`.
pub fn take(path: &Path, bytes: usize) -> io::Result<()> {
    let mut disks = disks();
    let Some((_, left)) = disks.iter_mut().find(|(folder, _)| path.starts_with(folder)) else { return Ok(()) };
    match left {
        Limit::Room(room) => *room = room.checked_sub(bytes).ok_or(io::ErrorKind::StorageFull)?,
        // Nothing is cleaned up, as after SIGKILL.
        Limit::Writes(0) => std::process::abort(),
        Limit::Writes(writes) => *writes -= 1,
    }
    Ok(())
}
