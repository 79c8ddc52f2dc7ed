//! Temporary files of a comparison: the previous versions of changed records, and the changes in the order of the list.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::framed::{read_text, write_text};

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Added = b'+',
    Changed = b'*',
    Removed = b'-',
}

/// A record before and after a change, as JSON. Empty before an addition and after a removal.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) kind: Kind,
    pub(super) before: String,
    pub(super) after: String,
}

/// Texts in a temporary file, by a key. All are inserted before the first is read.
pub(super) struct TextStore {
    folder: PathBuf,
    file: BufWriter<File>,
    /// Where each text begins.
    positions: HashMap<u64, u64>,
    len: u64,
}

/// Changes in a temporary file.
pub(super) struct Journal {
    folder: PathBuf,
    file: BufWriter<File>,
}

/// The changes of a [`Journal`], in order.
pub(super) struct JournaledChanges {
    folder: PathBuf,
    file: BufReader<File>,
}

impl Kind {
    /// Returns the word for the list.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Added => "added",
            Kind::Changed => "changed",
            Kind::Removed => "removed",
        }
    }
}

impl TextStore {
    pub(super) fn create(folder: &Path) -> Result<TextStore, Error> {
        let file = BufWriter::new(temporary(folder)?);
        Ok(TextStore { folder: folder.to_owned(), file, positions: HashMap::new(), len: 0 })
    }

    pub(super) fn insert(&mut self, key: u64, text: &str) -> Result<(), Error> {
        write_text(&mut self.file, text).map_err(Error::at(&self.folder))?;
        self.positions.insert(key, self.len);
        self.len += (size_of::<u32>() + text.len()) as u64;
        Ok(())
    }

    /// Returns the text with this key.
    pub(super) fn get(&mut self, key: u64) -> Result<Option<String>, Error> {
        let Some(position) = self.positions.get(&key).copied() else { return Ok(None) };
        // Also flushes the buffer.
        let found = self.file.seek(SeekFrom::Start(position)).and_then(|_| read_text(self.file.get_mut()));
        found.map_err(Error::at(&self.folder))
    }
}

impl Journal {
    pub(super) fn create(folder: &Path) -> Result<Journal, Error> {
        Ok(Journal { folder: folder.to_owned(), file: BufWriter::new(temporary(folder)?) })
    }

    pub(super) fn add(&mut self, kind: Kind, before: &str, after: &str) -> Result<(), Error> {
        let write = |file: &mut BufWriter<File>| {
            file.write_all(&[kind as u8])?;
            write_text(file, before)?;
            write_text(file, after)
        };
        write(&mut self.file).map_err(Error::at(&self.folder))
    }

    /// Returns the changes, from the first on.
    pub(super) fn into_changes(self) -> Result<JournaledChanges, Error> {
        let Journal { folder, file } = self;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error);
        let again = file.and_then(|mut file| file.seek(SeekFrom::Start(0)).map(|_| file));
        let file = BufReader::new(again.map_err(Error::at(&folder))?);
        Ok(JournaledChanges { folder, file })
    }
}

impl JournaledChanges {
    pub(super) fn next(&mut self) -> Result<Option<Change>, Error> {
        self.read().map_err(Error::at(&self.folder))
    }

    fn read(&mut self) -> io::Result<Option<Change>> {
        let mut kind = [0];
        match self.file.read_exact(&mut kind) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let kinds = [Kind::Added, Kind::Changed, Kind::Removed];
        let kind = kinds.into_iter().find(|known| *known as u8 == kind[0]);
        let (before, after) = (read_text(&mut self.file)?, read_text(&mut self.file)?);
        match (kind, before, after) {
            (Some(kind), Some(before), Some(after)) => Ok(Some(Change { kind, before, after })),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

fn temporary(folder: &Path) -> Result<File, Error> {
    tempfile::tempfile_in(folder).map_err(Error::at(folder))
}
