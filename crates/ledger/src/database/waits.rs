//! Who waits for a ledger file that another program has locked, and how long.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::super::error::Error;
use super::holder::holder_of;

/// Time for each attempt to lock the file. SQLite itself tries it again at shorter intervals.
pub(super) const ATTEMPT: Duration = Duration::from_secs(1);
/// Longest wait where nothing is lost by giving up. Planning a million rows takes other uploads' ledger for about ten seconds.
const LONGEST: Duration = Duration::from_secs(30);
/// A shorter wait is not worth a word.
const SHORT: Duration = Duration::from_secs(2);

/// The waits of all clones of a ledger.
#[derive(Debug)]
pub(crate) struct Waits {
    /// Who holds the file, while somebody waits longer than [`SHORT`]; blank if that is not known.
    held_by: watch::Sender<Option<String>>,
    /// Number of [`Patience`] guards.
    patient: AtomicUsize,
    is_given_up: AtomicBool,
}

impl Default for Waits {
    fn default() -> Waits {
        Waits { held_by: watch::Sender::new(None), patient: AtomicUsize::new(0), is_given_up: AtomicBool::new(false) }
    }
}

/// While it lives, the ledger waits for its file as long as another program holds it.
#[derive(Debug)]
pub struct Patience(Arc<Waits>);

impl Drop for Patience {
    fn drop(&mut self) {
        self.0.patient.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Patience {
    pub(super) fn new(waits: &Arc<Waits>) -> Patience {
        waits.patient.fetch_add(1, Ordering::Relaxed);
        Patience(Arc::clone(waits))
    }
}

impl Waits {
    pub(super) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }

    /// Who holds the file, while somebody waits.
    pub(super) fn held_by(&self) -> watch::Receiver<Option<String>> {
        self.held_by.subscribe()
    }

    /// Returns whether another attempt may be made, as an error if not.
    pub(super) fn go_on(&self, path: &Path, began: Instant) -> Result<(), Error> {
        let is_patient = self.patient.load(Ordering::Relaxed) > 0;
        if self.is_given_up.load(Ordering::Relaxed) || !is_patient && began.elapsed() > LONGEST {
            self.end();
            return Err(Error::Held { path: PathBuf::from(path), holder: holder_of(path) });
        }
        if began.elapsed() >= SHORT && self.held_by.borrow().is_none() {
            self.held_by.send_replace(Some(holder_of(path).unwrap_or_default()));
        }
        Ok(())
    }

    pub(super) fn end(&self) {
        self.held_by.send_if_modified(|held_by| held_by.take().is_some());
    }
}
