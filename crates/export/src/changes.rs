//! Comparison with the previous export by saved hashes of each record's ID and content.
//!
//! Comparing the times of the last change is unreliable: clocks differ, some records are stamped in the future, some local times are marked as
//! UTC, and no overlap is certain to be long enough to catch every change. The comparison costs no extra requests: the contract has no filter,
//! so the whole list is read anyway.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sheetport_client::pages::Entry;
use sheetport_datasets::Database;
use sheetport_sheet::write::{Existing, WholeFile};
use twox_hash::XxHash3_64;

use super::error::Error;

const MAGIC: &[u8] = b"sheetport prints 2\n";

/// Differences from the previous export, in records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
}

impl std::ops::Add for Changes {
    type Output = Changes;

    fn add(self, other: Changes) -> Changes {
        Changes {
            added: self.added + other.added,
            changed: self.changed + other.changed,
            removed: self.removed + other.removed,
        }
    }
}

/// Hashes of a record: of the ID and of the JSON. A record without an ID has the hash of the JSON twice.
pub(super) type Hashes = (u64, u64);

/// The hashes of each exported record.
#[derive(Debug, Default)]
pub(super) struct RecordHashes(Vec<Hashes>);

/// The records of the previous export, for `--since last`.
#[derive(Debug)]
pub(super) struct PreviousRecords(Vec<Hashes>);

impl PreviousRecords {
    /// Reads the file of the previous export. Returns `None` if missing or unreadable.
    pub(super) fn read(path: &Path) -> Result<Option<PreviousRecords>, Error> {
        let Some(mut file) = open(path).map_err(Error::at(path))? else { return Ok(None) };
        let mut hashes = Vec::new();
        while let Some(pair) = read_pair(&mut file).map_err(Error::at(path))? {
            hashes.push(pair);
        }
        Ok(Some(PreviousRecords(hashes)))
    }

    /// Returns whether the previous export had this record with the same content.
    pub(super) fn contains(&self, entry: &Entry<'_>) -> bool {
        self.0.binary_search(&hashes(entry)).is_ok()
    }
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// `None` if there was no previous export.
    pub(super) changes: Option<Changes>,
    /// Whether there are new hashes.
    has_hashes: bool,
    /// The file of the new hashes. `None` once saved.
    new_hashes: Option<WholeFile>,
}

impl Comparison {
    /// Whether there are new hashes to save by [`Comparison::save`].
    pub(super) fn has_hashes(&self) -> bool {
        self.has_hashes
    }

    /// Puts the new hashes in place. Does nothing if already done.
    pub(super) fn save(&mut self) -> Result<(), Error> {
        self.new_hashes.take().map(WholeFile::finish).transpose()?;
        Ok(())
    }
}

impl RecordHashes {
    pub(super) fn insert(&mut self, entry: &Entry<'_>) {
        self.0.push(hashes(entry));
    }

    pub(super) fn push(&mut self, hashes: Hashes) {
        self.0.push(hashes);
    }

    /// Returns the hashes of the IDs.
    pub(super) fn ids(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|(id, _)| *id)
    }

    /// Compares the hashes with the file `previous` of the previous export, and prepares the file `new`.
    pub(super) fn compare(mut self, previous: Option<&Path>, new: &Path) -> Result<Comparison, Error> {
        self.0.sort_unstable();
        let changes = previous.map(|path| self.changes_since(path).map_err(Error::at(path)));
        let mut file = WholeFile::create(new, Existing::Replace)?;
        self.write_to(&mut file).map_err(Error::at(new))?;
        file.sync()?;
        Ok(Comparison { changes: changes.transpose()?.flatten(), has_hashes: true, new_hashes: Some(file) })
    }

    fn changes_since(&self, path: &Path) -> io::Result<Option<Changes>> {
        let Some(mut previous) = open(path)? else { return Ok(None) };
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

/// Returns the hashes of a record.
pub(super) fn hashes(entry: &Entry<'_>) -> Hashes {
    // The table splits the entry in any case, so its id needs no search of its own.
    let id = entry.text("id");
    let id = id.as_deref().unwrap_or(entry.json());
    (hash_of_id(id.as_bytes()), XxHash3_64::oneshot(entry.json().as_bytes()))
}

/// Returns the first of a record's hashes. A database finds its rows again by the same.
pub(super) fn hash_of_id(id: &[u8]) -> u64 {
    Database::hash_of(id)
}

/// Opens a file of hashes. Returns `None` for a missing or damaged file, and for a file of another version.
fn open(path: &Path) -> io::Result<Option<BufReader<File>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // An incomplete pair at the end also counts as damage.
    let is_whole = file.metadata()?.len() % (2 * size_of::<u64>() as u64) == (MAGIC.len() % 16) as u64;
    let mut file = BufReader::with_capacity(1 << 16, file);
    let mut magic = vec![0; MAGIC.len()];
    let is_known = file.read_exact(&mut magic).is_ok() && magic == MAGIC;
    Ok((is_whole && is_known).then_some(file))
}

fn read_pair(file: &mut impl Read) -> io::Result<Option<Hashes>> {
    let mut halves = [[0; 8]; 2];
    match file.read_exact(halves.as_flattened_mut()) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        result => result.map(|()| Some(halves.map(u64::from_le_bytes).into())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use sheetport_client::pages::Page;

    use super::*;

    fn hashes_of(entries: &str) -> RecordHashes {
        let mut hashes = RecordHashes::default();
        Page::parse(entries.as_bytes().to_vec()).unwrap().entries().for_each(|entry| hashes.insert(&entry));
        hashes
    }

    /// Compares these entries with the previous ones, and replaces them.
    fn compared(entries: &str, path: &Path) -> Option<Changes> {
        let mut comparison = hashes_of(entries).compare(Some(path), path).unwrap();
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
    fn records_with_the_same_content_are_found_in_the_previous_export() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        assert!(PreviousRecords::read(&path).unwrap().is_none());
        compared(r#"[{"id":"b","n":1},{"id":"a","n":1},{"n":5}]"#, &path);
        let previous = PreviousRecords::read(&path).unwrap().unwrap();
        let contains = |json| previous.contains(&Entry::new(json));
        assert!(contains(r#"{"id":"a","n":1}"#) && contains(r#"{"n":5}"#));
        assert!(!contains(r#"{"id":"a","n":2}"#) && !contains(r#"{"id":"c","n":1}"#) && !contains(r#"{"n":6}"#));
        let mut whole = std::fs::read(&path).unwrap();
        whole.pop();
        std::fs::write(&path, whole).unwrap();
        assert!(PreviousRecords::read(&path).unwrap().is_none(), "a damaged file is not used");
    }

    #[test]
    fn unsaved_hashes_do_not_replace_the_previous_hashes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        compared(r#"[{"id":"a"}]"#, &path);
        drop(hashes_of(r#"[{"id":"b"}]"#).compare(Some(&path), &path).unwrap());
        assert_eq!(compared(r#"[{"id":"a"}]"#, &path), Some(Changes::default()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
