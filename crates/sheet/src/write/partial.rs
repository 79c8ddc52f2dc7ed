//! Temporary files beside their destination. A process locks its temporary files, and the next command that writes to the folder
//! removes the files of dead processes.

use std::ffi::OsStr;
use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use sheetport_files::readers::Readers;
use tempfile::NamedTempFile;

/// Maximum length of the file name within its temporary name, in characters. File names are limited to 255 bytes.
const NAME_PART: usize = 25;
/// The ending of temporary names. No other program uses it, so any file with this ending may be removed.
const SUFFIX: &str = ".sheetport.part";
/// Age of an unchanged file that counts as abandoned on a file system without locks.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum number of attempts to create and lock a file. Another process may mistake a new file for an abandoned one.
const ATTEMPTS: usize = 10;

/// Creates a locked temporary file for the name in `folder`, and removes the files of dead processes there. Only `readers` may
/// read the file. Its mode is the mode of the replaced file.
pub(super) fn create(
    folder: &Path,
    name: &OsStr,
    readers: Readers,
    replaced: Option<&Metadata>,
) -> io::Result<NamedTempFile> {
    remove_abandoned(folder, SystemTime::now());
    let prefix = format!(".{}.", name.to_string_lossy().chars().take(NAME_PART).collect::<String>());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::fs::Permissions;
        use std::os::unix::fs::PermissionsExt;
        // Reduced by the process's umask.
        builder.permissions(Permissions::from_mode(match readers {
            Readers::Owner => 0o600,
            Readers::Group(_) => 0o640,
            Readers::Everyone => 0o644,
        }));
    }
    for _ in 0..ATTEMPTS {
        let file = builder.tempfile_in(folder)?;
        restrict(file.as_file(), readers, replaced)?;
        match file.as_file().try_lock() {
            // Another process may have locked and removed the file before.
            Ok(()) if file.path().exists() => return Ok(file),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // This file system has no locks.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
    Err(io::Error::other("other processes remove each new file"))
}

/// Gives an empty file the group of its readers, and the owner and mode of the replaced file.
#[cfg(unix)]
fn restrict(file: &File, readers: Readers, replaced: Option<&Metadata>) -> io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};

    let created = file.metadata()?;
    if let Some(owner) = replaced.map(Metadata::uid).filter(|owner| *owner != created.uid()) {
        // Only root may.
        let _ = fchown(file, Some(owner), None);
    }
    let group = match readers {
        Readers::Group(group) => Some(group),
        Readers::Owner | Readers::Everyone => replaced.map(Metadata::gid),
    };
    // Only members of a group may give files to the group.
    let has_group = group.is_none_or(|group| group == created.gid() || fchown(file, None, Some(group)).is_ok());
    let mode = replaced.unwrap_or(&created).mode();
    let mode = match readers {
        Readers::Owner => mode & 0o700,
        Readers::Group(_) => mode & 0o770,
        Readers::Everyone => mode & 0o777,
    };
    // Members of another group are like everybody else.
    let mode = if has_group { mode } else { mode & 0o707 | (mode & 0o007) << 3 };
    file.set_permissions(Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn restrict(_: &File, _: Readers, _: Option<&Metadata>) -> io::Result<()> {
    Ok(())
}

/// Removes the temporary files of dead processes in a folder. Errors are ignored.
fn remove_abandoned(folder: &Path, now: SystemTime) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(SUFFIX));
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let path = entry.path();
            // The lock is held until the file is removed.
            let Ok(file) = File::open(&path) else { continue };
            let is_abandoned = match file.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => false,
                Err(TryLockError::Error(_)) => is_old(&file, now),
            };
            if is_abandoned {
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

fn is_old(file: &File, now: SystemTime) -> bool {
    let changed = file.metadata().and_then(|found| found.modified());
    changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > ABANDONED))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_of_dead_processes_are_removed_and_others_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str| std::fs::write(folder.path().join(name), "x").expect("written");
        // Without a lock, as the process that held it is dead.
        write(".items.csv.Ab12Cd.sheetport.part");
        write(".another.xlsx.Ab12Cd.sheetport.part");
        for other in [".items.csv.Ab12Cd.part", "items.csv.sheetport.part", ".items.csv"] {
            write(other);
        }
        std::fs::create_dir(folder.path().join(".folder.sheetport.part")).expect("created");
        let living = create(folder.path(), OsStr::new("items.csv"), Readers::Everyone, None).expect("created");
        let second = create(folder.path(), OsStr::new("items.csv"), Readers::Everyone, None).expect("created");
        let name = |file: &NamedTempFile| file.path().file_name().expect("a name").to_string_lossy().into_owned();
        let mut expected =
            [".items.csv.Ab12Cd.part", "items.csv.sheetport.part", ".items.csv", ".folder.sheetport.part"]
                .map(str::to_owned)
                .to_vec();
        expected.extend([name(&living), name(&second)]);
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn processes_that_create_files_at_the_same_time_keep_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let file = create(path, OsStr::new("a"), Readers::Everyone, None).expect("created");
                        assert!(file.path().exists());
                    }
                });
            }
        });
        assert_eq!(names(path), [""; 0]);
    }
}
