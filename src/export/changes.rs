//! Comparison with the previous export by saved hashes of each record's ID and content.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::error::Error;
use crate::client::pages::Entry;
use crate::sheet::write::{Existing, WholeFile};

const MAGIC: &[u8] = b"sheetport prints 2\n";

/// Differences from the previous export, in records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
}

/// Two hashes per exported record, of the ID and of the JSON. Records without an ID use the hash of the JSON twice.
#[derive(Debug, Default)]
pub(super) struct RecordHashes(Vec<(u64, u64)>);

/// The result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// `None` if there was no previous export.
    pub(super) changes: Option<Changes>,
    /// The new hashes, ready to replace the previous ones.
    new_hashes: Option<WholeFile>,
}

impl Comparison {
    /// Replaces the hashes of the previous export.
    pub(super) fn save(self) -> Result<(), Error> {
        self.new_hashes.map(WholeFile::finish).transpose()?;
        Ok(())
    }
}

impl RecordHashes {
    pub(super) fn insert(&mut self, entry: &Entry<'_>) {
        let id = entry.id();
        let id = id.as_deref().unwrap_or(entry.json());
        self.0.push((XxHash3_64::oneshot(id.as_bytes()), XxHash3_64::oneshot(entry.json().as_bytes())));
    }

    /// Compares the hashes with the file of the previous export at `path`, and prepares a new file.
    pub(super) fn compare(mut self, path: &Path) -> Result<Comparison, Error> {
        self.0.sort_unstable();
        let error = |source| Error::Spool { path: path.to_owned(), source };
        let changes = self.changes_since(path).map_err(error)?;
        let mut file = WholeFile::create(path, Existing::Replace)?;
        self.write_to(&mut file).map_err(error)?;
        file.sync()?;
        Ok(Comparison { changes, new_hashes: Some(file) })
    }

    fn changes_since(&self, path: &Path) -> io::Result<Option<Changes>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut previous = BufReader::with_capacity(1 << 16, file);
        let mut magic = vec![0; MAGIC.len()];
        // A file of another version, or a damaged one, is ignored.
        if previous.read_exact(&mut magic).is_err() || magic != MAGIC {
            return Ok(None);
        }
        let mut changes = Changes::default();
        let mut current = self.0.iter().copied().peekable();
        while let Some((id, content)) = read_pair(&mut previous)? {
            while current.next_if(|(other, _)| *other < id).is_some() {
                changes.added += 1;
            }
            match current.next_if(|(other, _)| *other == id) {
                Some((_, same)) if same == content => {}
                Some(_) => changes.changed += 1,
                None => changes.removed += 1,
            }
        }
        changes.added += current.count() as u64;
        Ok(Some(changes))
    }

    fn write_to(&self, file: &mut impl Write) -> io::Result<()> {
        file.write_all(MAGIC)?;
        for (id, content) in &self.0 {
            file.write_all(&id.to_le_bytes())?;
            file.write_all(&content.to_le_bytes())?;
        }
        Ok(())
    }
}

fn read_pair(file: &mut impl Read) -> io::Result<Option<(u64, u64)>> {
    let mut halves = [[0; 8]; 2];
    match file.read_exact(halves.as_flattened_mut()) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        result => result.map(|()| Some(halves.map(u64::from_le_bytes).into())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::client::pages::Page;

    fn hashes(entries: &str) -> RecordHashes {
        let mut hashes = RecordHashes::default();
        Page::parse(entries.as_bytes().to_vec()).unwrap().entries().for_each(|entry| hashes.insert(&entry));
        hashes
    }

    /// Compares these entries with the previous ones, and replaces them.
    fn compared(entries: &str, path: &Path) -> Option<Changes> {
        let comparison = hashes(entries).compare(path).unwrap();
        let changes = comparison.changes;
        comparison.save().unwrap();
        changes
    }

    #[test]
    fn added_changed_and_removed_records_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        let before = r#"[{"id":"a","n":1},{"id":"b","n":1},{"id":"c","n":1},{"n":5}]"#;
        assert_eq!(compared(before, &path), None);
        assert_eq!(compared(before, &path), Some(Changes::default()));
        let after = r#"[{"id":"d","n":1},{"id":"b","n":2},{"id":"a","n":1},{"n":6},{"id":"e"}]"#;
        assert_eq!(compared(after, &path), Some(Changes { added: 3, changed: 1, removed: 2 }));
        std::fs::write(&path, zstd::encode_all(&b"another format"[..], 1).unwrap()).unwrap();
        assert_eq!(compared(after, &path), None);
    }

    #[test]
    fn hashes_that_are_not_saved_leave_the_previous_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        compared(r#"[{"id":"a"}]"#, &path);
        drop(hashes(r#"[{"id":"b"}]"#).compare(&path).unwrap());
        assert_eq!(compared(r#"[{"id":"a"}]"#, &path), Some(Changes::default()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
