//! What changed since the export before: of each record a hash of its id and one of its content, kept from one export to
//! the next.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::Error;
use crate::client::pages::Entry;
use crate::sheet::write::{Existing, WholeFile};

const MAGIC: &[u8] = b"sheetport prints 2\n";

/// Of a record: a hash of its id, or else of its text, and one of its text.
pub type Print = (u64, u64);

/// Hashes of the records of an export; 16 bytes each.
#[derive(Debug, Default)]
pub struct Prints {
    /// By the first byte of the id's hash, so that they can be put in order by several threads. There are [`PARTS`], or
    /// none before the first.
    parts: Vec<Vec<Print>>,
    /// Nobody asks for them.
    is_off: bool,
}

const PARTS: usize = 256;
/// Threads that put them in order.
const MOST_THREADS: usize = 4;
/// Bytes of one in the file.
const PRINT_LEN: usize = 16;

/// An export beside the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
}

/// What became of hashes that were held against those of before.
#[derive(Debug, Default)]
pub struct Compared {
    /// Nothing where none were before.
    pub changes: Option<Changes>,
    /// On its way to where the next export looks.
    kept: Option<WholeFile>,
}

impl Compared {
    /// Puts the hashes where the next export looks.
    pub fn keep(self) -> Result<(), Error> {
        self.kept.map(WholeFile::finish).transpose()?;
        Ok(())
    }
}

impl Prints {
    pub fn off() -> Prints {
        Prints { parts: Vec::new(), is_off: true }
    }

    pub fn are_on(&self) -> bool {
        !self.is_off
    }

    pub fn print(entry: Entry<'_>) -> Print {
        let id = entry.id();
        let id = id.as_deref().unwrap_or(entry.text());
        (XxHash3_64::oneshot(id.as_bytes()), XxHash3_64::oneshot(entry.text().as_bytes()))
    }

    pub fn add(&mut self, entry: Entry<'_>) {
        if !self.is_off {
            self.extend(&[Prints::print(entry)]);
        }
    }

    pub fn extend(&mut self, prints: &[Print]) {
        self.parts.resize_with(PARTS, Vec::new);
        for print in prints {
            let [first, ..] = print.0.to_be_bytes();
            self.parts[usize::from(first)].push(*print);
        }
    }

    /// What changed since those at `path` were kept; nothing where none are.
    fn changes_since(&self, path: &Path) -> Result<Option<Changes>, Error> {
        let failed = |source| Error::Spool { path: path.to_owned(), source };
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(failed(source)),
        };
        let mut before = BufReader::with_capacity(1 << 16, file);
        let mut magic = vec![0; MAGIC.len()];
        // What is not ours, or was damaged, says nothing of what was before.
        if before.read_exact(&mut magic).is_err() || magic != MAGIC {
            return Ok(None);
        }
        let mut changes = Changes::default();
        let mut now = self.parts.iter().flatten().copied().peekable();
        while let Some((id, content)) = next(&mut before).map_err(failed)? {
            while now.next_if(|(other, _)| *other < id).is_some() {
                changes.added += 1;
            }
            match now.next_if(|(other, _)| *other == id) {
                Some((_, same)) if same == content => {}
                Some(_) => changes.changed += 1,
                None => changes.removed += 1,
            }
        }
        changes.added += now.count() as u64;
        Ok(Some(changes))
    }

    /// Puts them in order, holds them against those at `path`, and has them ready to take their place for the next export.
    pub fn compare(&mut self, path: &Path) -> Result<Compared, Error> {
        if self.is_off {
            return Ok(Compared::default());
        }
        self.sort();
        Ok(Compared { changes: self.changes_since(path)?, kept: Some(self.written(path)?) })
    }

    fn sort(&mut self) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let each = self.parts.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            for parts in self.parts.chunks_mut(each) {
                scope.spawn(|| parts.iter_mut().for_each(|part| part.sort_unstable()));
            }
        });
    }

    fn written(&self, path: &Path) -> Result<WholeFile, Error> {
        let failed = |source| Error::Spool { path: path.to_owned(), source };
        let mut file = WholeFile::create(path, Existing::Replace)?;
        // Hashes don't get smaller by compression.
        file.write_all(MAGIC).map_err(failed)?;
        let mut buffer = Vec::new();
        for part in &self.parts {
            buffer.clear();
            buffer.reserve(part.len() * PRINT_LEN);
            for (id, content) in part {
                buffer.extend_from_slice(&id.to_le_bytes());
                buffer.extend_from_slice(&content.to_le_bytes());
            }
            file.write_all(&buffer).map_err(failed)?;
        }
        file.sync()?;
        Ok(file)
    }
}

fn next(before: &mut impl Read) -> io::Result<Option<(u64, u64)>> {
    let mut bytes = [0; PRINT_LEN];
    match before.read_exact(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let [id, content] = [0, 8].map(|at| {
        let mut half = [0; 8];
        half.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(half)
    });
    Ok(Some((id, content)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::client::pages::read;

    /// What `compare` says of these entries; they are kept for the next time.
    fn compared(entries: &str, path: &Path) -> Option<Changes> {
        let mut prints = Prints::default();
        read(entries.as_bytes().to_vec()).unwrap().entries().for_each(|entry| prints.add(entry));
        let compared = prints.compare(path).unwrap();
        let changes = compared.changes;
        compared.keep().unwrap();
        changes
    }

    #[test]
    fn what_came_changed_and_went_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prints");
        let before = r#"[{"id":"a","n":1},{"id":"b","n":1},{"id":"c","n":1},{"n":5}]"#;
        assert_eq!(compared(before, &path), None);
        assert_eq!(compared(before, &path), Some(Changes::default()));
        let after = r#"[{"id":"d","n":1},{"id":"b","n":2},{"id":"a","n":1},{"n":6},{"id":"e"}]"#;
        assert_eq!(compared(after, &path), Some(Changes { added: 3, changed: 1, removed: 2 }));
        std::fs::write(&path, zstd::encode_all(&b"something else"[..], 1).unwrap()).unwrap();
        assert_eq!(compared(after, &path), None);
    }

    #[test]
    fn hashes_that_are_not_kept_leave_those_of_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prints");
        compared(r#"[{"id":"a"}]"#, &path);
        let mut prints = Prints::default();
        drop(prints.compare(&path).unwrap());
        assert_eq!(compared(r#"[{"id":"a"}]"#, &path), Some(Changes::default()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
