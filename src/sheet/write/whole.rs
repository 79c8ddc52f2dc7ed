//! A file that appears under its name whole or not at all: written beside it, synced, and renamed.

use std::ffi::OsStr;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::Existing;
use crate::sheet::Error;

/// As much of a file's name as the name of its temporary neighbour repeats; names have a limit of 255 bytes.
const NAME_PART: usize = 100;

const SUFFIX: &str = ".part";
/// So much is written before the disk is asked to take it while more is being written, so that little is left for the end.
const SYNC_EVERY: u64 = 16 << 20;
/// A temporary file that has not changed for so long is of a process that was killed.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// A file on its way. Dropped without [`WholeFile::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    existing: Existing,
    file: BufWriter<NamedTempFile>,
    /// Of what was written so far; nothing once the writer went back, and for who does not want it.
    digest: Option<Sha256>,
    len: u64,
    /// Written since the disk was last asked to take what there is, and the thread that waits for it.
    unsynced: u64,
    syncing: Option<JoinHandle<io::Result<()>>>,
}

/// A file in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub path: PathBuf,
    pub bytes: u64,
    /// In hexadecimal.
    pub sha256: String,
}

impl WholeFile {
    /// Begins a file that will be `path`, in a hidden temporary file in the same folder.
    ///
    /// # Errors
    /// [`Error::Exists`] already now when the file is there and is to be kept; [`Error::Unwritable`] when the name is
    /// a folder's; [`Error::Write`] when the folder does not exist or can't be written to.
    pub fn create(path: &Path, existing: Existing) -> Result<WholeFile, Error> {
        let Some(name) = path.file_name() else {
            return Err(Error::Unwritable { path: path.to_owned(), reason: "it has no file name".to_owned() });
        };
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => {
                return Err(Error::Unwritable { path: path.to_owned(), reason: "it is a folder".to_owned() });
            }
            Ok(_) if existing == Existing::Keep => return Err(Error::Exists { path: path.to_owned() }),
            _ => {}
        }
        let mut builder = tempfile::Builder::new();
        let prefix = prefix(name);
        builder.prefix(&prefix).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::fs::Permissions;
            use std::os::unix::fs::PermissionsExt;
            // As any program would create it: the process's umask takes its part away.
            builder.permissions(Permissions::from_mode(0o644));
        }
        let file = builder
            .tempfile_in(folder(path))
            .map_err(|source| Error::Write { path: path.to_owned(), source: bare(source) })?;
        Ok(WholeFile {
            path: path.to_owned(),
            existing,
            file: BufWriter::with_capacity(128 * 1024, file),
            digest: None,
            len: 0,
            unsynced: 0,
            syncing: None,
        })
    }

    /// The same, for [`WholeFile::finish_digested`].
    pub fn digested(self) -> WholeFile {
        WholeFile { digest: Some(Sha256::new()), ..self }
    }

    /// Gives the file another name, in the same folder.
    pub fn rename(&mut self, path: PathBuf) {
        self.path = path;
    }

    /// As [`WholeFile::finish`], and tells what is in it. What went through [`WholeFile::digested`] in one go was hashed
    /// as it was written; anything else is read once more.
    pub fn finish_digested(mut self) -> Result<Written, Error> {
        let failed = |path: &Path, source| Error::Write { path: path.to_owned(), source };
        let (digest, bytes) = match self.digest.take() {
            Some(digest) => (digest, self.len),
            None => self.read_again().map_err(|source| failed(&self.path, source))?,
        };
        let sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Written { path: self.finish()?, bytes, sha256 })
    }

    fn read_again(&mut self) -> io::Result<(Sha256, u64)> {
        self.file.flush()?;
        let file = self.file.get_mut().as_file_mut();
        file.seek(SeekFrom::Start(0))?;
        let (mut digest, mut bytes) = (Sha256::new(), 0);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok((digest, bytes)),
                read => {
                    digest.update(&buffer[..read]);
                    bytes += read as u64;
                }
            }
        }
    }

    /// Waits until the disk has what was written so far, so that [`WholeFile::finish`] has little to wait for.
    pub fn sync(&mut self) -> Result<(), Error> {
        let synced = self.file.flush().and_then(|()| self.file.get_ref().as_file().sync_data());
        synced.map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in place, durably, and gives its name.
    ///
    /// # Errors
    /// [`Error::Exists`] when a file to be kept has appeared meanwhile; [`Error::Write`] when the disk refuses.
    pub fn finish(self) -> Result<PathBuf, Error> {
        let WholeFile { path, existing, file, syncing, .. } = self;
        let failed = |source| Error::Write { path: path.clone(), source };
        joined(syncing).map_err(failed)?;
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        let persisted = match existing {
            Existing::Replace => file.persist(&path),
            Existing::Keep => file.persist_noclobber(&path),
        };
        persisted.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists if existing == Existing::Keep => Error::Exists { path: path.clone() },
            _ => failed(error.error),
        })?;
        sync_folder(folder(&path)).map_err(failed)?;
        Ok(path)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        if let Some(digest) = &mut self.digest {
            digest.update(&bytes[..written]);
            self.len += written as u64;
        }
        self.unsynced += written as u64;
        if self.unsynced >= SYNC_EVERY && self.syncing.as_ref().is_none_or(JoinHandle::is_finished) {
            self.unsynced = 0;
            joined(self.syncing.take())?;
            let file = self.file.get_ref().as_file().try_clone()?;
            self.syncing = Some(std::thread::spawn(move || file.sync_data()));
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// What the disk said to an earlier request, which it says once.
fn joined(syncing: Option<JoinHandle<io::Result<()>>>) -> io::Result<()> {
    match syncing.map(JoinHandle::join) {
        None => Ok(()),
        Some(Ok(said)) => said,
        Some(Err(_)) => Err(io::Error::other("the disk could not be waited for")),
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if !matches!(to, SeekFrom::Current(0)) {
            self.digest = None;
        }
        self.file.seek(to)
    }
}

/// Removes what processes that were killed a day or more before `now` left beside `path`, on their way to that name. What
/// can't be removed stays.
pub fn sweep(path: &Path, now: SystemTime) {
    let Some(name) = path.file_name() else { return };
    let prefix = prefix(name);
    for entry in std::fs::read_dir(folder(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(&prefix) && name.ends_with(SUFFIX));
        let changed = entry.metadata().ok().filter(|_| is_ours).and_then(|found| found.modified().ok());
        if changed.is_some_and(|changed| now.duration_since(changed).is_ok_and(|age| age > ABANDONED)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// How the names of the temporary files begin.
fn prefix(name: &OsStr) -> String {
    format!(".{}.", name.to_string_lossy().chars().take(NAME_PART / 4).collect::<String>())
}

/// The folder that `path` is in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An error without the name of the temporary file, which says nothing to anybody.
fn bare(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::NotFound {
        return io::Error::new(io::ErrorKind::NotFound, "there is no such folder");
    }
    error.raw_os_error().map_or_else(|| io::Error::from(error.kind()), io::Error::from_raw_os_error)
}

/// A rename is durable only once the folder is.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
