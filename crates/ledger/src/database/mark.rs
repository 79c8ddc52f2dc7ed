//! How far a ledger was written from this machine, remembered outside of the ledger: the newest run, and the last request that must
//! not be repeated. A ledger that has less is an older copy, or lacks its log, and does not know what was sent since.
//!
//! Numbers of runs and of claims only ascend, so no counter of its own is written with each commit. The mark follows the commit and
//! is not synced: after a power failure it may be behind the ledger, which means nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use sheetport_files::readers::create_private_folder;

use super::super::ids::RunId;

/// How far a ledger was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    pub run: RunId,
    /// The last request that must not be repeated, by its number.
    pub claim: i64,
}

/// A ledger that has less than this machine has written into it or into a copy of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Older {
    pub written: Reach,
    pub found: Reach,
}

impl Older {
    /// Whether the ledger lacks requests that must not be repeated.
    pub fn lacks_claims(&self) -> bool {
        self.found.claim < self.written.claim
    }
}

/// The mark of the ledger that is open.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) folder: PathBuf,
    pub(super) file: Mutex<Option<(File, Reach)>>,
}

impl Reach {
    /// All marks have the same length, so that one is replaced by another in a single write.
    fn text(self) -> String {
        format!("run {:020} request {:020}\n", self.run, self.claim)
    }

    pub(super) fn of_text(text: &str) -> Option<Reach> {
        let mut words = text.split_ascii_whitespace();
        let mut number = |name| (words.next() == Some(name)).then(|| words.next()?.parse().ok()).flatten();
        Some(Reach { run: number("run")?, claim: number("request")? })
    }

    pub(super) fn or_further(self, other: Reach) -> Reach {
        Reach { run: self.run.max(other.run), claim: self.claim.max(other.claim) }
    }
}

impl Mark {
    pub(super) fn path(&self, origin: &str) -> PathBuf {
        self.folder.join("ledgers").join(origin)
    }

    pub(super) fn open(&self, origin: &str) -> io::Result<(File, Reach)> {
        create_private_folder(&self.folder.join("ledgers"))?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(self.path(origin))?;
        let known = read(&mut file)?.unwrap_or_default();
        Ok((file, known))
    }
}

pub(super) fn read(file: &mut File) -> io::Result<Option<Reach>> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(1024).read_to_string(&mut text)?;
    Ok(Reach::of_text(&text))
}

pub(super) fn write(file: &mut File, reach: Reach) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(reach.text().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_as_written() {
        let reach = Reach { run: 7, claim: i64::MAX };
        assert_eq!(Reach::of_text(&reach.text()), Some(reach));
        assert_eq!(reach.text().len(), Reach::default().text().len());
        for damaged in ["", "run", "run 1", "run 1 request x", "request 1 run 1"] {
            assert_eq!(Reach::of_text(damaged), None, "{damaged}");
        }
    }
}
