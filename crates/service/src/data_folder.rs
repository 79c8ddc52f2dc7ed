//! Files of a data folder besides the database: the lock file, which prevents a second service on the same folder, and
//! the signing key. Neither is ever deleted.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sheetport_files::readers::create_private_folder;

use super::error::Error;

/// Length of the signing key.
pub(super) const KEY_BYTES: usize = 32;

/// Returns the path of the database.
pub(super) fn database(folder: &Path) -> PathBuf {
    folder.join("service.db")
}

/// Creates a missing folder and its parents, accessible only to the owner.
pub(super) fn create(folder: &Path) -> Result<(), Error> {
    create_private_folder(folder).map_err(|source| Error::File {
        action: "create the folder",
        path: folder.into(),
        source,
    })
}

/// Makes the folder and the database accessible only to their owner, and creates a missing database, because SQLite would make it
/// readable by everybody. Returns the paths that were accessible to others.
#[cfg(unix)]
pub(super) fn make_private(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    use std::fs::Permissions;
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};

    let failed = |action: &'static str, path: &Path| {
        let path = path.to_owned();
        move |source| Error::File { action, path, source }
    };
    let database = database(folder);
    let mut create = OpenOptions::new();
    create.create(true).truncate(false).write(true).mode(0o600);
    create.open(&database).map_err(failed("open", &database))?;
    // SQLite creates its other files with the mode of the database, but files left by a crash keep theirs.
    let beside = ["-wal", "-shm"].map(|suffix| {
        let mut path = database.clone().into_os_string();
        path.push(suffix);
        PathBuf::from(path)
    });
    let mut tightened = Vec::new();
    for (path, mode) in
        [(folder, 0o700), (&database, 0o600)].into_iter().chain(beside.iter().map(|path| (&**path, 0o600)))
    {
        let found = match fs::metadata(path) {
            Ok(found) => found.permissions().mode(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed("examine", path)(error)),
        };
        if found & 0o077 != 0 {
            fs::set_permissions(path, Permissions::from_mode(mode)).map_err(failed("restrict the access to", path))?;
            tightened.push(path.to_owned());
        }
    }
    Ok(tightened)
}

/// On other systems, the permissions of the user's folder apply.
#[cfg(not(unix))]
pub(super) fn make_private(_: &Path) -> Result<Vec<PathBuf>, Error> {
    Ok(Vec::new())
}

/// Exclusive lock on a data folder, released on drop.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Locks the folder. Fails immediately if another service, in any process, holds the lock.
    pub(super) fn take(folder: &Path) -> Result<Lock, Error> {
        let path = folder.join("service.lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        match file.map(|file| (file.try_lock(), file)) {
            Ok((Ok(()), file)) => Ok(Lock { _file: file }),
            Ok((Err(TryLockError::WouldBlock), _)) => Err(Error::InUse { path: folder.into() }),
            Ok((Err(TryLockError::Error(source)), _)) | Err(source) => {
                Err(Error::File { action: "lock", path, source })
            }
        }
    }
}

/// Returns the signing key, and creates the key on first use. Concurrent first uses all return the same key.
pub(super) fn signing_key(folder: &Path) -> Result<[u8; KEY_BYTES], Error> {
    let path = folder.join("signing.key");
    if let Some(key) = read_key(&path)? {
        return Ok(key);
    }
    create_key(folder, &path)?;
    read_key(&path)?.ok_or_else(|| Error::File { action: "read", path, source: io::ErrorKind::NotFound.into() })
}

fn read_key(path: &Path) -> Result<Option<[u8; KEY_BYTES]>, Error> {
    #[cfg(unix)]
    if let Ok(found) = fs::metadata(path)
        && let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777
        && mode & 0o077 != 0
    {
        return Err(Error::ExposedKey { path: path.into(), mode });
    }
    match fs::read(path) {
        Ok(bytes) => match bytes.try_into() {
            Ok(key) => Ok(Some(key)),
            Err(_) => Err(Error::SigningKey { storage: path.display().to_string(), expected: KEY_BYTES }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::File { action: "read", path: path.into(), source }),
    }
}

/// Returns a random key. `storage` is for the message of the error.
pub(super) fn new_key(storage: &str) -> Result<[u8; KEY_BYTES], Error> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key)
        .map_err(|error| Error::Random { storage: storage.to_owned(), reason: error.to_string() })?;
    Ok(key)
}

fn create_key(folder: &Path, path: &Path) -> Result<(), Error> {
    let key = new_key(&path.display().to_string())?;
    let write = || -> io::Result<()> {
        // Temporary files have mode 0600 on Unix, which persisting keeps.
        let mut file = tempfile::Builder::new().prefix(".signing.key.").tempfile_in(folder)?;
        file.write_all(&key)?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(path) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.error),
        }
        sync_folder(folder)
    };
    write().map_err(|source| Error::File { action: "write", path: path.into(), source })
}

/// Flushes the folder's directory entries, so that a new file survives a power failure. Not needed on Windows.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_first_uses_share_one_private_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| signing_key(folder.path()))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic").expect("a key")).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0] && *key != [0; KEY_BYTES]));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "no temporary files are left");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(folder.path().join("signing.key")).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_damaged_key_is_an_error_and_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("signing.key");
        fs::write(&path, b"short").expect("written");
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("permitted");
        let error = signing_key(folder.path()).expect_err("damaged");
        assert!(matches!(error, Error::SigningKey { .. }), "{error}");
        assert!(error.hint().contains("signing.key"));
        assert_eq!(fs::read(&path).expect("read"), b"short");
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        signing_key(folder.path()).expect("a key");
        let path = folder.path().join("signing.key");
        for (mode, is_refused) in [(0o640, true), (0o604, true), (0o620, true), (0o400, false), (0o600, false)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("permitted");
            let refused = signing_key(folder.path()).err().map(|error| error.hint());
            assert_eq!(refused.is_some_and(|hint| hint.contains("chmod 600")), is_refused, "{mode:o}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn everything_is_made_private_once() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let private = folder.path().join("data");
        create(&private).expect("created");
        assert_eq!(make_private(&private).expect("private"), Vec::<PathBuf>::new(), "a new folder is private");
        let wal = private.join("service.db-wal");
        fs::write(&wal, "").expect("written");
        let all = [(private.clone(), 0o755), (database(&private), 0o644), (wal, 0o640)];
        for (path, mode) in &all {
            fs::set_permissions(path, fs::Permissions::from_mode(*mode)).expect("permitted");
        }
        assert_eq!(make_private(&private).expect("private"), all.each_ref().map(|(path, _)| path.clone()));
        for (path, _) in &all {
            assert_eq!(fs::metadata(path).expect("there").permissions().mode() & 0o077, 0, "{}", path.display());
        }
        assert_eq!(make_private(&private).expect("private"), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_second_lock_fails() {
        let folder = tempfile::tempdir().expect("a folder");
        let held = Lock::take(folder.path()).expect("free");
        assert!(matches!(Lock::take(folder.path()), Err(Error::InUse { .. })));
        drop(held);
        Lock::take(folder.path()).expect("free again");
    }
}
