//! The bytes of a workbook, from the file or from memory. Reading counts as activity.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use crate::sheet::read::workbook::activity::Activity;

pub(super) type Input = BufReader<Source>;

pub(super) struct Source {
    bytes: Bytes,
    activity: Arc<Activity>,
}

enum Bytes {
    File(File),
    /// A modified copy of the file.
    Memory(Cursor<Vec<u8>>),
}

impl Source {
    pub(super) fn file(file: File, activity: &Arc<Activity>) -> Input {
        BufReader::new(Source { bytes: Bytes::File(file), activity: Arc::clone(activity) })
    }

    pub(super) fn memory(bytes: Vec<u8>, activity: &Arc<Activity>) -> Input {
        BufReader::new(Source { bytes: Bytes::Memory(Cursor::new(bytes)), activity: Arc::clone(activity) })
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.bytes, Bytes::File(_))
    }
}

impl Read for Source {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.activity.record_input();
        match &mut self.bytes {
            Bytes::File(file) => file.read(bytes),
            Bytes::Memory(memory) => memory.read(bytes),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.bytes {
            Bytes::File(file) => file.seek(to),
            Bytes::Memory(memory) => memory.seek(to),
        }
    }
}
