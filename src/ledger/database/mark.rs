//! How far a ledger was written from this machine, remembered outside of the ledger: the newest run, and the last request that must
//! not be repeated. A ledger that has less is an older copy, or lacks its log, and does not know what was sent since.
//!
//! Numbers of runs and of claims only ascend, so no counter of its own is written with each commit. The mark follows the commit and
//! is not synced: after a power failure it may be behind the ledger, which means nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::error::Error;
use super::super::ids::RunId;
use super::ledger::Ledger;
use crate::readers::create_private_folder;
use crate::sql;

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
    folder: PathBuf,
    file: Mutex<Option<(File, Reach)>>,
}

impl Reach {
    /// All marks have the same length, so that one is replaced by another in a single write.
    fn text(self) -> String {
        format!("run {:020} request {:020}\n", self.run, self.claim)
    }

    fn of_text(text: &str) -> Option<Reach> {
        let mut words = text.split_ascii_whitespace();
        let mut number = |name| (words.next() == Some(name)).then(|| words.next()?.parse().ok()).flatten();
        Some(Reach { run: number("run")?, claim: number("request")? })
    }

    fn or_further(self, other: Reach) -> Reach {
        Reach { run: self.run.max(other.run), claim: self.claim.max(other.claim) }
    }
}

impl Ledger {
    /// Returns the ledger, whose marks are kept in `folder` from now on.
    pub fn marked_in(self, folder: &Path) -> Ledger {
        let mark = Mark { folder: folder.to_owned(), file: Mutex::new(None) };
        Ledger { mark: Some(Arc::new(mark)), ..self }
    }

    /// Notes what was just committed. A folder that can't be written only means that an older copy will not be recognised.
    pub(in crate::ledger) async fn note_reach(&self, reach: Reach) {
        if let Err(error) = self.try_note(reach).await {
            tracing::debug!(%error, "how far the ledger was written can't be noted");
        }
    }

    async fn try_note(&self, reach: Reach) -> Result<(), Error> {
        let Some(mark) = &self.mark else { return Ok(()) };
        let is_open = mark.file.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let opened = match is_open {
            true => None,
            false => match self.origin().await? {
                Some(origin) => Some(mark.open(&origin)),
                None => return Ok(()),
            },
        };
        let unusable = |error: io::Error| Error::Open { path: mark.folder.clone(), reason: error.to_string() };
        let mut file = mark.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = opened {
            *file = Some(opened.map_err(unusable)?);
        }
        let Some((file, known)) = file.as_mut() else { return Ok(()) };
        if known.or_further(reach) == *known {
            return Ok(());
        }
        // Another process may have gone further.
        *known = read(file).map_err(unusable)?.unwrap_or_default().or_further(*known).or_further(reach);
        write(file, *known).map_err(unusable)
    }

    /// Returns what this ledger lacks of what this machine has written. `None` for a ledger that lacks nothing, or is not known here.
    pub async fn older(&self) -> Result<Option<Older>, Error> {
        let (Some(mark), Some(origin)) = (&self.mark, self.origin().await?) else { return Ok(None) };
        let text = std::fs::read_to_string(mark.path(&origin));
        let Some(written) = text.ok().and_then(|text| Reach::of_text(&text)) else { return Ok(None) };
        let found = self.reach().await?;
        Ok((found.or_further(written) != found).then_some(Older { written, found }))
    }

    /// Accepts a ledger as it is: it has a name of its own from now on, and no longer that of the one it was copied from.
    pub async fn accept_older(&self) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        let rename = sql::query("UPDATE origin SET id = $1").bind(uuid::Uuid::now_v7().simple().to_string());
        rename.execute(&mut transaction).await?;
        transaction.commit().await?;
        if let Some(mark) = &self.mark {
            *mark.file.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        self.note_reach(self.reach().await?).await;
        Ok(())
    }

    async fn origin(&self) -> Result<Option<String>, Error> {
        let origin: Option<String> = sql::query_scalar("SELECT id FROM origin").fetch_optional(&self.reader).await?;
        // The name of a file.
        Ok(origin.filter(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric())))
    }

    /// Returns how far the ledger was written. Runs that were removed have left an event.
    async fn reach(&self) -> Result<Reach, Error> {
        let query = "SELECT (SELECT COALESCE(MAX(id), 0) FROM run), \
                     (SELECT COALESCE(MAX(run), 0) FROM event), (SELECT COALESCE(MAX(id), 0) FROM claim)";
        let (run, removed, claim): (i64, i64, i64) = sql::query_as(query).fetch_one(&self.reader).await?;
        Ok(Reach { run: run.max(removed), claim })
    }
}

impl Mark {
    fn path(&self, origin: &str) -> PathBuf {
        self.folder.join("ledgers").join(origin)
    }

    fn open(&self, origin: &str) -> io::Result<(File, Reach)> {
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

fn read(file: &mut File) -> io::Result<Option<Reach>> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(1024).read_to_string(&mut text)?;
    Ok(Reach::of_text(&text))
}

fn write(file: &mut File, reach: Reach) -> io::Result<()> {
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

    #[tokio::test]
    async fn a_ledger_that_lacks_what_was_written_is_older_until_it_is_accepted() {
        let (home, state) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let open = || async { Ledger::open(home.path()).await.expect("a ledger").marked_in(state.path()) };
        let ledger = open().await;
        assert_eq!(ledger.older().await.expect("read"), None);
        ledger.note_reach(Reach { run: 0, claim: 0 }).await;
        assert_eq!(ledger.older().await.expect("read"), None);
        ledger.note_reach(Reach { run: 2, claim: 40 }).await;
        ledger.note_reach(Reach { run: 1, claim: 4 }).await;
        ledger.close().await;

        let ledger = open().await;
        let older = ledger.older().await.expect("read").expect("an older ledger");
        assert_eq!((older.written, older.found), (Reach { run: 2, claim: 40 }, Reach::default()));
        assert!(older.lacks_claims());
        let elsewhere = tempfile::tempdir().expect("a folder");
        let moved = ledger.borrowed().marked_in(elsewhere.path());
        assert_eq!(moved.older().await.expect("read"), None);
        ledger.accept_older().await.expect("accepted");
        assert_eq!(ledger.older().await.expect("read"), None);
        ledger.close().await;
    }
}
