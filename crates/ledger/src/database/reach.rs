//! Noting how far the ledger was written from this machine, and recognising one that has less.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use sheetport_sql::{self as sql, Row};

use super::super::error::Error;
use super::ledger::Ledger;
use super::mark::{Mark, Older, Reach, read, write};
use super::went_back::accept;

const ORIGIN: &str = "SELECT id FROM origin";
/// Selects how far the ledger was written. Runs that were removed have left an event.
const REACH: &str = "SELECT (SELECT COALESCE(MAX(id), 0) FROM run), \
                     (SELECT COALESCE(MAX(run), 0) FROM event), (SELECT COALESCE(MAX(id), 0) FROM claim)";

impl Ledger {
    /// Returns the ledger, whose marks are kept in `folder` from now on.
    pub fn marked_in(self, folder: &Path) -> Ledger {
        let mark = Mark { folder: folder.to_owned(), file: Mutex::new(None) };
        Ledger { mark: Some(Arc::new(mark)), ..self }
    }

    /// Notes what was just committed. A folder that can't be written only means that an older copy will not be recognised.
    pub(crate) async fn note_reach(&self, reach: Reach) {
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
        let Some(mark) = &self.mark else { return Ok(None) };
        let results = self.reader.run_all(vec![sql::query(ORIGIN), sql::query(REACH)]).await?;
        let row = |nth: usize| results.get(nth).and_then(|result| result.rows().first());
        let (Some(origin), Some(found)) = (row(0), row(1)) else { return Ok(None) };
        let Some(origin) = name_of(origin.try_get(0)?) else { return Ok(None) };
        let text = std::fs::read_to_string(mark.path(&origin));
        let Some(written) = text.ok().and_then(|text| Reach::of_text(&text)) else { return Ok(None) };
        let found = reach_of(found)?;
        Ok((found.or_further(written) != found).then_some(Older { written, found }))
    }

    /// Accepts a ledger as it is: it has a name of its own from now on, and no longer that of the one it was copied from.
    pub async fn accept_older(&self) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        let rename = sql::query("UPDATE origin SET id = $1").bind(uuid::Uuid::now_v7().simple().to_string());
        rename.execute(&mut transaction).await?;
        accept(&mut transaction).await?;
        transaction.commit().await?;
        if let Some(mark) = &self.mark {
            *mark.file.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        self.note_reach(self.reach().await?).await;
        Ok(())
    }

    async fn origin(&self) -> Result<Option<String>, Error> {
        let origin: Option<String> = sql::query_scalar(ORIGIN).fetch_optional(&self.reader).await?;
        Ok(origin.and_then(name_of))
    }

    /// Returns how far the ledger was written.
    async fn reach(&self) -> Result<Reach, Error> {
        reach_of(&sql::query(REACH).fetch_one(&self.reader).await?)
    }
}

/// Returns the name of a file for a ledger.
fn name_of(origin: String) -> Option<String> {
    Some(origin).filter(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn reach_of(row: &Row) -> Result<Reach, Error> {
    let (run, removed, claim): (i64, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    Ok(Reach { run: run.max(removed), claim })
}

#[cfg(test)]
mod tests {
    use super::*;

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
