//! The clock of the database, by which all machines of a ledger go: their own clocks differ, and are set while they run.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The time of the database in SQL, in milliseconds since 1970, UTC.
pub(crate) const NOW: &str = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";

/// The clock of the database, as last read. Behind it by the time that the answer took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(Arc<Mutex<Option<(Instant, i64)>>>);

impl Clock {
    /// Sets the clock to what the database has just answered.
    pub(crate) fn set(&self, millis: i64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), millis));
    }

    /// Returns the time in milliseconds since 1970, UTC: that of this machine if no database was asked.
    pub(crate) fn now(&self) -> i64 {
        let read = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, elapsed) = match read {
            Some((read_at, millis)) => (millis, read_at.elapsed()),
            None => (0, SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()),
        };
        since.saturating_add(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_the_database_goes_on_from_its_last_answer() {
        let clock = Clock::default();
        assert!(clock.now() > 1_700_000_000_000);
        clock.set(1_000);
        assert!((1_000..60_000).contains(&clock.now()));
        clock.clone().set(5_000_000);
        assert!((5_000_000..5_060_000).contains(&clock.now()));
    }
}
