//! The automatic rate: grows until the service refuses a request, then halves, then climbs back to just below the limit.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Initial rate, in requests per second.
const INITIAL: f64 = 5.0;
/// Lowest rate, in requests per second.
const MIN: f64 = 0.1;
/// Highest rate, in requests per second.
const MAX: f64 = 10_000.0;
/// Growth per second until the first refusal.
const SEARCH: f64 = 1.3;
/// Comfortable share of the refused rate.
const COMFORT: f64 = 0.95;
/// Growth per second up to the comfortable rate, as a share of the refused rate.
const CLIMB: f64 = 0.06;
/// Growth per second beyond the comfortable rate, as a share of the refused rate.
const PROBE: f64 = 0.0005;
/// Seconds without a refusal until probing accelerates: the limit may have been raised.
const PATIENCE: f64 = 120.0;
/// Factor from the refused rate to the presumed limit.
const PRESUMED: f64 = 0.98;
/// Refusals within this time count as a single event.
const EVENT: Duration = Duration::from_secs(2);

/// Times are relative to an origin of the caller.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct AutoRate {
    /// Current rate, in requests per second.
    rate: f64,
    /// Lowest rate known to be refused.
    refused: Option<f64>,
    refused_at: Option<Duration>,
    updated_at: Duration,
}

impl AutoRate {
    /// Starts with the rate of an earlier run, or with a search.
    pub(super) fn new(known: Option<f64>, now: Duration) -> AutoRate {
        let known = known.filter(|rate| rate.is_finite()).map(|rate| rate.clamp(MIN, MAX));
        AutoRate {
            rate: known.unwrap_or(INITIAL),
            refused: known.map(|rate| rate / COMFORT),
            refused_at: known.map(|_| now),
            updated_at: now,
        }
    }

    /// Starts a search at this rate, in requests per second, after a refusal.
    pub(super) fn searching_from(rate: f64, now: Duration) -> AutoRate {
        AutoRate { rate: rate.clamp(MIN, MAX), refused: None, refused_at: Some(now), updated_at: now }
    }

    /// Returns the time between two requests at this moment.
    pub(super) fn interval(&mut self, now: Duration) -> Duration {
        self.advance(2, now)
    }

    /// Returns the time between two requests at this moment, after at most so many requests since the last call.
    pub(super) fn advance(&mut self, requests: u64, now: Duration) -> Duration {
        // Pauses and slow answers are no evidence for a higher limit.
        let seconds = now.saturating_sub(self.updated_at).as_secs_f64().min(requests as f64 / self.rate);
        self.updated_at = now;
        self.rate = match self.refused {
            None => self.rate * SEARCH.powf(seconds),
            Some(refused) if self.rate < refused * COMFORT => {
                (self.rate + refused * CLIMB * seconds).min(refused * COMFORT)
            }
            Some(refused) => {
                let since = self.refused_at.map_or(0.0, |at| now.saturating_sub(at).as_secs_f64());
                self.rate + refused * PROBE * seconds * (1.0 + (since / PATIENCE).powi(2))
            }
        };
        self.rate = self.rate.clamp(MIN, MAX);
        Duration::from_secs_f64(1.0 / self.rate)
    }

    /// Halves the rate after a refusal.
    pub(super) fn refused(&mut self, now: Duration) {
        if self.refused_at.is_some_and(|at| now < at + EVENT) && self.rate < self.refused.unwrap_or(MAX) * COMFORT {
            return;
        }
        self.refused = Some(self.rate * PRESUMED);
        self.refused_at = Some(now);
        self.rate = (self.rate / 2.0).max(MIN);
        self.updated_at = now;
    }

    /// Returns the current rate, in requests per second.
    pub(super) fn per_second(&self) -> f64 {
        self.rate
    }

    /// Returns the comfortable rate, or `None` before the first refusal.
    pub(super) fn learned_rate(&self) -> Option<f64> {
        self.refused.map(|refused| (refused * COMFORT).max(self.rate))
    }
}
