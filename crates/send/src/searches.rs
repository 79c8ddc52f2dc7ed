//! The searches of a sender for newer uploads, each in a task of its own.

use std::time::{Duration, Instant};

use sheetport_ledger::{self as ledger, Intent, NewerKeys, RunId};
use tokio::task::{JoinError, JoinSet};

/// Interval between searches for newer uploads with the same keys. A newer upload waits for so long at each of its blocks, and each search
/// asks the ledger a question per part of a run.
const NEWER_INTERVAL: Duration = Duration::from_millis(500);
/// A search for newer uploads.
pub(super) struct Search {
    /// What was found since the last search.
    pub found: NewerKeys,
    /// When the last search began.
    pub since: Instant,
}

/// What a search has found, with the intents of the newer uploads.
pub(super) type Searched = Result<(Search, Vec<Intent>), ledger::Error>;

/// The searches of a sender, one after another. They end with it.
pub(super) struct Searches {
    pub waiting: Option<Search>,
    pub running: JoinSet<Searched>,
}

impl Searches {
    /// Begins with intents after a time by the clock of the ledger, and at once, for a run with values of an age. `None` for a sender that does not yield.
    pub(super) fn new(after: Option<(i64, Instant)>, age: RunId) -> Searches {
        let first = |(at, now): (i64, Instant)| Search {
            found: NewerKeys::since(at, age),
            since: now.checked_sub(NEWER_INTERVAL).unwrap_or(now),
        };
        Searches { waiting: after.map(first), running: JoinSet::new() }
    }

    /// Takes out the next search, if it is time.
    pub(super) fn due(&mut self, now: Instant) -> Option<Search> {
        self.waiting.take_if(|search| now.saturating_duration_since(search.since) >= NEWER_INTERVAL)
    }

    /// Waits for the search in progress. Returns `None` without one.
    pub(super) async fn next(&mut self) -> Option<Result<Searched, JoinError>> {
        self.running.join_next().await
    }
}
