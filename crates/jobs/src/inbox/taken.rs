//! Files that a job has taken out of an inbox. Until its upload has ended, each file is in its own folder below the inbox.
//! Therefore nobody changes the file meanwhile, another file of the same name can be dropped, and the path identifies the file in
//! the ledger. After a crash, the next run finds the file there.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sheetport_files::links::{NotOpened, is_own, may_follow, open_dropped};
use sheetport_files::readers::create_private_folder;
use sheetport_operations::files::inbox_path::FOLDER;
use sheetport_operations::files::numbered;
use sheetport_sheet::write::{Existing, WholeFile};
use wildmatch::WildMatch;

/// Name of the lock file. A process holds the lock while it works on the taken file. The lock file contains the name of the taken
/// file.
const LOCK: &str = "lock";

/// A file out of an inbox.
#[derive(Debug)]
pub(crate) struct Taken {
    /// Path of the file.
    pub path: PathBuf,
    /// The inbox.
    inbox: PathBuf,
    _lock: File,
}

/// Takes a file out of its inbox.
///
/// # Errors
/// If the file can't be moved, for example because another program on Windows has it open.
pub(super) fn take(file: &Path) -> io::Result<Taken> {
    let (inbox, name) = file.parent().zip(file.file_name()).ok_or_else(|| io::Error::other("it has no name"))?;
    let name = name.to_str().ok_or_else(|| io::Error::other("its name is not valid Unicode; give it another one"))?;
    let all = inbox.join(FOLDER);
    if all.is_symlink() && !may_follow(&all) {
        return Err(io::Error::other(format!("{} is a link of another user; remove it", all.display())));
    }
    let folder = all.join(uuid::Uuid::now_v7().to_string());
    create_private_folder(&folder)?;
    let path = folder.join(name);
    let lock = File::create(folder.join(LOCK)).and_then(|mut lock| {
        // A file system without locks has to rely on the lock of the job.
        let _ = lock.try_lock();
        lock.write_all(name.as_bytes())?;
        lock.sync_all()?;
        Ok(lock)
    });
    let moved = lock.and_then(|lock| std::fs::rename(file, &path).map(|()| lock));
    match moved {
        Ok(lock) => Ok(Taken { path, inbox: inbox.to_owned(), _lock: lock }),
        Err(error) => {
            remove(&folder);
            Err(error)
        }
    }
}

/// Returns files left by crashed processes whose names match, oldest first.
pub(super) fn left_over(inbox: &Path, files: &str) -> Vec<Taken> {
    let pattern = WildMatch::new_case_insensitive(files);
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(inbox.join(FOLDER)).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    // The names of the folders begin with the time.
    folders.sort();
    let mut found = Vec::new();
    for folder in folders.into_iter().filter(|folder| is_of_this_user(folder)) {
        let Ok(mut lock) = File::options().read(true).write(true).open(folder.join(LOCK)) else { continue };
        // Where files can't be locked, the lock of the job has to suffice.
        if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            continue;
        }
        match content(&folder, &mut lock) {
            Some(path) => {
                let fits = path.file_name().is_some_and(|name| pattern.matches(&name.to_string_lossy()));
                if fits {
                    found.push(Taken { path, inbox: inbox.to_owned(), _lock: lock });
                }
            }
            None => {
                drop(lock);
                remove(&folder);
            }
        }
    }
    found
}

/// Returns the path of the taken file, or `None` if the file was never moved here, or has been moved on.
fn content(folder: &Path, lock: &mut File) -> Option<PathBuf> {
    let mut name = String::new();
    lock.read_to_string(&mut name).ok()?;
    let is_name = Path::new(&name).file_name() == Some(name.as_ref());
    let path = folder.join(&name);
    (is_name && path.is_file()).then_some(path)
}

/// Returns whether a folder below the inbox was made by this user. In a folder of another user, the file can be anything.
fn is_of_this_user(folder: &Path) -> bool {
    folder.symlink_metadata().is_ok_and(|found| found.is_dir() && is_own(&found))
}

impl Taken {
    /// Opens the file for reading.
    ///
    /// # Errors
    /// If the file is a link of another user, or has another name in a folder shared with others.
    pub(super) fn open(&self) -> Result<File, NotOpened> {
        open_dropped(&self.path, &self.inbox)
    }

    /// Puts the file back into its inbox. Returns its current path.
    pub(super) fn put_back(self) -> PathBuf {
        let Some(name) = self.path.file_name() else { return self.path };
        let target = self.inbox.join(name);
        // If a new file of this name has arrived meanwhile, the file stays here, where the next run finds it.
        match move_to(&self.path, &target) {
            Ok(()) => {
                self.remove_folder();
                target
            }
            Err(_) => self.path,
        }
    }

    /// Moves the file to a folder under its name, with a number if the name is taken. Returns the new path.
    ///
    /// # Errors
    /// If the move fails. The file then stays in place.
    pub(super) fn move_into(self, folder: &Path) -> Result<PathBuf, (Taken, io::Error)> {
        let moved = std::fs::create_dir_all(folder).and_then(|()| {
            let name = self.path.file_name().unwrap_or_default();
            for target in numbered(&folder.join(name)) {
                match move_to(&self.path, &target) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    moved => return moved.map(|()| target),
                }
            }
            Err(io::Error::other("no name is free"))
        });
        match moved {
            Ok(target) => {
                self.remove_folder();
                Ok(target)
            }
            Err(error) => Err((self, error)),
        }
    }

    /// Removes the folder of the file, including files that commands have written there.
    fn remove_folder(self) {
        let folder = self.path.parent().map(Path::to_owned);
        drop(self);
        if let Some(folder) = folder {
            remove(&folder);
        }
    }
}

/// Removes the folder of a taken file, and the parent folder if now empty. Errors are ignored: the next run tries again.
fn remove(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
    if let Some(parent) = folder.parent() {
        let _ = std::fs::remove_dir(parent);
    }
}

/// Moves a file without replacing another.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the target exists.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    // Creates a second link and then removes the first: nothing is replaced, and a crash in between leaves both links.
    match std::fs::hard_link(from, to) {
        Ok(()) => return std::fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // Another disk, or a file system without links.
        Err(_) => {}
    }
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(from, to),
        moved => moved,
    }
}

/// Copies a file to another disk, completely or not at all, and removes the original.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let copied = WholeFile::create(to, Existing::Keep).and_then(|mut file| {
        file.copy(&mut source)?;
        file.finish()
    });
    copied.map_err(|error| match error {
        sheetport_sheet::Error::Exists { .. } => io::ErrorKind::AlreadyExists.into(),
        error => io::Error::other(error.to_string()),
    })?;
    std::fs::remove_file(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_file_is_found_again_when_its_process_has_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let inbox = folder.path().join("inbox");
        std::fs::create_dir(&inbox).expect("created");
        let file = inbox.join("prices.xlsx");
        std::fs::write(&file, "1").expect("written");
        let taken = take(&file).expect("taken");
        assert!(!file.exists());
        assert!(left_over(&inbox, "*.xlsx").is_empty(), "this process works on it");
        std::fs::write(taken.path.with_file_name("prices.report.xlsx"), "report").expect("written");
        let path = taken.path.clone();
        drop(taken);
        assert!(left_over(&inbox, "orders*").is_empty());
        let mut found = left_over(&inbox, "*.xlsx");
        assert_eq!(found.iter().map(|taken| taken.path.clone()).collect::<Vec<_>>(), [path]);
        // A second file of the same name.
        std::fs::create_dir(folder.path().join("done")).expect("created");
        std::fs::write(folder.path().join("done/prices.xlsx"), "0").expect("written");
        let moved = found.remove(0).move_into(&folder.path().join("done")).expect("moved");
        assert_eq!(moved, folder.path().join("done/prices-2.xlsx"));
        assert_eq!(std::fs::read_to_string(moved).expect("text"), "1");
        assert!(!inbox.join(FOLDER).exists());
    }

    #[test]
    fn a_file_goes_back_unless_its_name_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.csv");
        std::fs::write(&file, "1").expect("written");
        assert_eq!(take(&file).expect("taken").put_back(), file);
        let taken = take(&file).expect("taken");
        std::fs::write(&file, "2").expect("written");
        let path = taken.path.clone();
        assert_eq!(taken.put_back(), path);
        assert_eq!(std::fs::read_to_string(&file).expect("text"), "2");
        assert_eq!(left_over(folder.path(), "*.csv").len(), 1);
    }
}
