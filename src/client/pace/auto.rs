//! Finding a limit that nobody names: faster and faster until the service refuses, then half, then up again step by step.

use std::time::{Duration, Instant};

/// Requests a second to begin with.
const FIRST: f64 = 5.0;
const LOWEST: f64 = 0.1;
const HIGHEST: f64 = 10_000.0;
/// Growth in a second while nothing was refused yet.
const SEARCH: f64 = 1.3;
/// The part of the rate that was refused at which it is comfortable.
const COMFORT: f64 = 0.95;
/// Growth in a second, in parts of the refused rate: up to the comfortable rate, and beyond it.
const CLIMB: f64 = 0.06;
const PROBE: f64 = 0.0005;
/// After this long without a refusal the limit may have been raised, and growth beyond comfort is quicker and quicker.
const PATIENCE: f64 = 120.0;
/// What was refused is taken to be this much over the limit.
const OVER: f64 = 0.98;
/// Refusals within this belong to one event.
const EVENT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Auto {
    rate: f64,
    /// The lowest rate that is known to be refused.
    refused: Option<f64>,
    refused_at: Option<Instant>,
    /// When the rate was last looked at.
    at: Instant,
}

impl Auto {
    pub fn new(known: Option<f64>, now: Instant) -> Auto {
        let known = known.filter(|rate| rate.is_finite()).map(|rate| rate.clamp(LOWEST, HIGHEST));
        Auto {
            rate: known.unwrap_or(FIRST),
            refused: known.map(|rate| rate / COMFORT),
            refused_at: known.map(|_| now),
            at: now,
        }
    }

    /// The time from one request to the next, now.
    pub fn interval(&mut self, now: Instant) -> Duration {
        // Only time in which requests follow each other shows anything: neither pauses nor a slow service count.
        let seconds = now.saturating_duration_since(self.at).as_secs_f64().min(2.0 / self.rate);
        self.at = now;
        self.rate = match self.refused {
            None => self.rate * SEARCH.powf(seconds),
            Some(refused) if self.rate < refused * COMFORT => {
                (self.rate + refused * CLIMB * seconds).min(refused * COMFORT)
            }
            Some(refused) => {
                let since = self.refused_at.map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
                self.rate + refused * PROBE * seconds * (1.0 + (since / PATIENCE).powi(2))
            }
        };
        self.rate = self.rate.clamp(LOWEST, HIGHEST);
        Duration::from_secs_f64(1.0 / self.rate)
    }

    pub fn refused(&mut self, now: Instant) {
        if self.refused_at.is_some_and(|at| now < at + EVENT) && self.rate < self.refused.unwrap_or(HIGHEST) * COMFORT {
            return;
        }
        self.refused = Some(self.rate * OVER);
        self.refused_at = Some(now);
        self.rate = (self.rate / 2.0).max(LOWEST);
        self.at = now;
    }

    /// The comfortable rate, once it is known.
    pub fn learnt(&self) -> Option<f64> {
        self.refused.map(|refused| (refused * COMFORT).max(self.rate))
    }
}
