//! How long requests wait for the rate.

use std::time::Instant;

use super::state::instruments;

/// A time in which the rate permits no request.
#[derive(Debug, Default)]
pub struct RateWait {
    since: Option<Instant>,
}

impl RateWait {
    /// Notes whether a request is permitted. The first permitted request ends the wait.
    pub fn note(&mut self, is_permitted: bool, now: Instant) {
        let Some(instruments) = instruments() else { return };
        if !is_permitted {
            self.since.get_or_insert(now);
        } else if let Some(since) = self.since.take() {
            instruments.rate_wait.record(now.saturating_duration_since(since).as_secs_f64(), &[]);
        }
    }
}
