//! The files of a data folder beside the database: the lock that keeps a second service out, and the signing key.
//! Neither is ever deleted. What is in the database is not for this file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::Error;

pub const KEY_BYTES: usize = 32;

/// The database's path in the folder.
pub fn database(folder: &Path) -> PathBuf {
    folder.join("service.db")
}

/// Makes the folder and those above it, for its owner alone, unless it is there.
pub fn create(folder: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|source| Error::File { what: "make the folder", path: folder.into(), source })
}

/// Says that a service runs on the folder, for as long as it lives.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Refuses at once if another service, of this process or another, holds it.
    pub fn take(folder: &Path) -> Result<Lock, Error> {
        let path = folder.join("service.lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        match file.map(|file| (file.try_lock(), file)) {
            Ok((Ok(()), file)) => Ok(Lock { _file: file }),
            Ok((Err(TryLockError::WouldBlock), _)) => Err(Error::InUse { path: folder.into() }),
            Ok((Err(TryLockError::Error(source)), _)) | Err(source) => Err(Error::File { what: "lock", path, source }),
        }
    }
}

/// The folder's signing key, made at first use. Of several that make it at once, one wins and all use that one's.
pub fn signing_key(folder: &Path) -> Result<[u8; KEY_BYTES], Error> {
    let path = folder.join("signing.key");
    if let Some(key) = read_key(&path)? {
        return Ok(key);
    }
    make_key(folder, &path)?;
    read_key(&path)?.ok_or_else(|| Error::File { what: "read", path, source: io::ErrorKind::NotFound.into() })
}

fn read_key(path: &Path) -> Result<Option<[u8; KEY_BYTES]>, Error> {
    match fs::read(path) {
        Ok(bytes) => match bytes.try_into() {
            Ok(key) => Ok(Some(key)),
            Err(_) => Err(Error::SigningKey { path: path.into(), expected: KEY_BYTES }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::File { what: "read", path: path.into(), source }),
    }
}

fn make_key(folder: &Path, path: &Path) -> Result<(), Error> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(|error| Error::Random { path: path.into(), reason: error.to_string() })?;
    let write = || -> io::Result<()> {
        // Temporary files are 0600 on unix, and persisting keeps that.
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
    write().map_err(|source| Error::File { what: "write", path: path.into(), source })
}

/// Makes a new name in the folder outlive a loss of power. Windows has no such call and needs none.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_made_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8).map(|_| scope.spawn(|| signing_key(folder.path()))).collect();
            makers.into_iter().map(|maker| maker.join().expect("no panic").expect("a key")).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0] && *key != [0; KEY_BYTES]));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left beside the key");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(folder.path().join("signing.key")).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_damaged_key_is_named_and_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("signing.key");
        fs::write(&path, b"short").expect("written");
        let error = signing_key(folder.path()).expect_err("damaged");
        assert!(matches!(error, Error::SigningKey { .. }), "{error}");
        assert!(error.hint().contains("signing.key"));
        assert_eq!(fs::read(&path).expect("read"), b"short");
    }

    #[test]
    fn a_folder_is_locked_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let held = Lock::take(folder.path()).expect("free");
        assert!(matches!(Lock::take(folder.path()), Err(Error::InUse { .. })));
        drop(held);
        Lock::take(folder.path()).expect("free again");
    }
}
