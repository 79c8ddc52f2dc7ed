//! The spool: entries as they came, on disk, so that columns that only appear late are not lost and memory is not
//! filled. It goes with the process.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::Error;

pub(super) struct Spool {
    folder: PathBuf,
    file: BufWriter<File>,
}

pub(super) struct Entries {
    folder: PathBuf,
    file: BufReader<File>,
    line: String,
}

impl Spool {
    pub fn create(folder: &Path) -> Result<Spool, Error> {
        let failed = |source| Error::Spool { path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let file = tempfile::tempfile_in(folder).map_err(failed)?;
        Ok(Spool { folder: folder.to_owned(), file: BufWriter::new(file) })
    }

    /// Adds an entry. JSON has no line breaks outside of its white space, which is folded here.
    pub fn add(&mut self, entry: &RawValue) -> Result<(), Error> {
        let line = entry.get().replace(['\n', '\r'], " ");
        writeln!(self.file, "{line}").map_err(|source| Error::Spool { path: self.folder.clone(), source })
    }

    pub fn read(self) -> Result<Entries, Error> {
        let folder = self.folder;
        let failed = |source| Error::Spool { path: folder.clone(), source };
        let mut file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok(Entries { file: BufReader::new(file), line: String::new(), folder })
    }
}

impl Entries {
    pub fn next(&mut self) -> Result<Option<&str>, Error> {
        self.line.clear();
        let read = self.file.read_line(&mut self.line);
        match read.map_err(|source| Error::Spool { path: self.folder.clone(), source })? {
            0 => Ok(None),
            _ => Ok(Some(self.line.trim_end())),
        }
    }
}
