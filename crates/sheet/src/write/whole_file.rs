//! Files that appear complete or not at all: written under a temporary name, synced, and renamed.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sheetport_files::digest;
use sheetport_files::readers::Readers;
use tempfile::NamedTempFile;

use super::partial;
use crate::Error;

/// The treatment of an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    Replace,
    Keep,
}

/// A file under construction. Dropping it without [`WholeFile::finish`] leaves no file.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    existing: Existing,
    file: BufWriter<NamedTempFile>,
}

/// A complete file on disk, still under its temporary name.
#[derive(Debug)]
pub struct ReadyFile {
    file: WholeFile,
    written: Written,
}

/// A finished file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub path: PathBuf,
    pub bytes: u64,
    /// Hexadecimal digest of the content.
    pub sha256: String,
}

impl WholeFile {
    /// Creates a file that will become `path`, as a hidden temporary file in the same folder.
    ///
    /// # Errors
    /// [`Error::Exists`] if the file exists and must be kept; [`Error::Unwritable`] if `path` is a folder;
    /// [`Error::Write`] if the folder does not exist or is not writable.
    pub fn create(path: &Path, existing: Existing) -> Result<WholeFile, Error> {
        WholeFile::create_for(Readers::Everyone, path, existing)
    }

    /// Creates a file like [`WholeFile::create`], readable only by `readers`. A file that replaces another gets at most the
    /// permissions of the old file.
    pub fn create_for(readers: Readers, path: &Path, existing: Existing) -> Result<WholeFile, Error> {
        let Some(name) = path.file_name() else {
            return Err(Error::Unwritable { path: path.to_owned(), reason: "it has no file name".to_owned() });
        };
        let mut readers = readers;
        let unwritable = |reason: &str| Error::Unwritable { path: path.to_owned(), reason: reason.to_owned() };
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => return Err(unwritable("it is a folder")),
            Ok(_) if existing == Existing::Keep => return Err(Error::Exists { path: path.to_owned() }),
            Ok(found) if !found.is_file() && !found.is_symlink() => return Err(unwritable("it is no regular file")),
            Ok(_) => readers = readers.both(Readers::of(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Such as a name that is too long, which the temporary name is not.
            Err(source) => return Err(Error::Write { path: path.to_owned(), source }),
        }
        let file = partial::create(folder(path), name, readers, path.metadata().ok().as_ref())
            .map_err(|source| Error::Write { path: path.to_owned(), source: bare(source) })?;
        Ok(WholeFile { path: path.to_owned(), existing, file: BufWriter::with_capacity(128 * 1024, file) })
    }

    /// Changes the destination to another name in the same folder.
    pub fn rename(&mut self, path: PathBuf) {
        self.path = path;
    }

    /// Copies all of `source`. Returns the digest and the number of bytes.
    pub fn copy(&mut self, source: &mut impl Read) -> Result<(String, u64), Error> {
        digest::copy(source, self).map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// Syncs the content. Only the rename remains.
    pub fn ready(mut self) -> Result<ReadyFile, Error> {
        let (sha256, bytes) = self.digest().map_err(|source| Error::Write { path: self.path.clone(), source })?;
        self.sync()?;
        let written = Written { path: self.path.clone(), bytes, sha256 };
        Ok(ReadyFile { file: self, written })
    }

    /// Reads the content again for a digest, because writers such as the workbook writer change earlier parts of the file.
    fn digest(&mut self) -> io::Result<(String, u64)> {
        self.file.rewind()?;
        digest::of_reader(self.file.get_mut())
    }

    /// Syncs the data written so far, to shorten [`WholeFile::finish`].
    pub fn sync(&mut self) -> Result<(), Error> {
        let synced = self.file.flush().and_then(|()| self.file.get_ref().as_file().sync_data());
        synced.map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// Returns the destination.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the content and publishes the file. Returns its path.
    ///
    /// # Errors
    /// As for [`WholeFile::finish`].
    pub fn finish_with(mut self, content: &[u8]) -> Result<PathBuf, Error> {
        let path = self.path().to_owned();
        self.write_all(content).map_err(|source| Error::Write { path, source })?;
        self.finish()
    }

    /// Puts the file in place durably and returns its path.
    ///
    /// # Errors
    /// [`Error::Exists`] if a file to keep has appeared in the meantime; [`Error::Write`] for I/O errors.
    pub fn finish(self) -> Result<PathBuf, Error> {
        let WholeFile { path, existing, file } = self;
        let failed = |source| Error::Write { path: path.clone(), source };
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        // A new name needs space in its folder.
        #[cfg(any(test, feature = "testing"))]
        super::full_disk::take(&path, 1).map_err(failed)?;
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

impl ReadyFile {
    /// Returns the destination, and the size and digest of the content.
    pub fn written(&self) -> &Written {
        &self.written
    }

    /// Returns the temporary name.
    pub fn temporary(&self) -> &Path {
        self.file.file.get_ref().path()
    }

    /// Puts the file in place durably, with the errors of [`WholeFile::finish`].
    pub fn finish(self) -> Result<Written, Error> {
        self.file.finish()?;
        Ok(self.written)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(any(test, feature = "testing"))]
        super::full_disk::take(&self.path, bytes.len())?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Returns the folder that contains `path`.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes the temporary file's name from an error.
fn bare(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::NotFound {
        return io::Error::new(io::ErrorKind::NotFound, "there is no such folder");
    }
    error.raw_os_error().map_or_else(|| io::Error::from(error.kind()), io::Error::from_raw_os_error)
}

/// Makes a rename durable, where the folder can be synced. The file is complete and in place by then, so a folder that may not be
/// read (mode 0300), or a file system without fsync of folders, only means that a power failure may bring the earlier name back.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    use rustix::io::Errno;

    const UNABLE: [Errno; 6] = [Errno::ACCESS, Errno::PERM, Errno::INVAL, Errno::NOTSUP, Errno::NOSYS, Errno::ROFS];
    match std::fs::File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if UNABLE.iter().any(|unable| error.raw_os_error() == Some(unable.raw_os_error())) => Ok(()),
        synced => synced,
    }
}

#[cfg(not(unix))]
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
