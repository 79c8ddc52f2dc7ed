//! The bytes of a workbook, from the file or from memory. Reading counts as activity.
//!
//! The file is opened once: the reading process can open no other files, and several readers share it at different positions.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use crate::read::workbook::activity::Activity;

/// A buffered reader of a workbook.
pub(super) type Input = BufReader<Source>;

/// A reader of a workbook's bytes at its own position.
pub(crate) struct Source {
    bytes: Bytes,
    at: u64,
    activity: Arc<Activity>,
}

#[derive(Clone)]
enum Bytes {
    File(Arc<File>),
    /// A changed or decrypted copy of the file.
    Memory(Arc<Vec<u8>>),
}

impl Source {
    pub(crate) fn file(file: File, activity: &Arc<Activity>) -> Source {
        Source { bytes: Bytes::File(Arc::new(file)), at: 0, activity: Arc::clone(activity) }
    }

    pub(super) fn memory(bytes: Vec<u8>, activity: &Arc<Activity>) -> Source {
        Source { bytes: Bytes::Memory(Arc::new(bytes)), at: 0, activity: Arc::clone(activity) }
    }

    /// Returns a reader of the same bytes from their start.
    pub(crate) fn again(&self) -> Source {
        Source { bytes: self.bytes.clone(), at: 0, activity: Arc::clone(&self.activity) }
    }

    /// Returns a buffered reader of the same bytes from their start.
    pub(super) fn input(&self) -> Input {
        BufReader::new(self.again())
    }

    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> io::Result<u64> {
        match &self.bytes {
            // The reading process may not ask for metadata, because the system call for it takes a path.
            Bytes::File(file) => (&**file).seek(SeekFrom::End(0)),
            Bytes::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    pub(super) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }
}

impl Read for Source {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.activity.record_input();
        let len = match &self.bytes {
            Bytes::File(file) => read_at(file, bytes, self.at)?,
            Bytes::Memory(memory) => {
                let rest = usize::try_from(self.at).ok().and_then(|at| memory.get(at..)).unwrap_or_default();
                let len = rest.len().min(bytes.len());
                bytes[..len].copy_from_slice(&rest[..len]);
                len
            }
        };
        self.at += len as u64;
        Ok(len)
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.len()?.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}
