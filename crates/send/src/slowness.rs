//! Why sending was slower than asked: what it waited for most. Pure.

use std::fmt;
use std::time::{Duration, Instant};

use sheetport_client::Speed;

/// Share of the asked rate that is fast enough.
const ENOUGH: f64 = 0.8;
/// Share of the time that makes something the limit.
const MOST: f64 = 0.4;
/// The start of a part says nothing about its speed.
const LONG: Duration = Duration::from_secs(2);

/// What limited the speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Ledger,
    Service,
    /// Other processes with the same ledger, or a service that asked for pauses.
    Others,
}

/// That sending was slower than asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowness {
    pub by: Limit,
    /// Records per second.
    reached: f64,
    asked: f64,
}

/// Time that a sender has spent waiting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    since: Instant,
    /// What the sender waits for since then.
    waits_for: Option<Limit>,
    ledger: Duration,
    service: Duration,
}

impl Waits {
    pub(super) fn beginning(now: Instant) -> Waits {
        Waits { since: now, waits_for: Some(Limit::Ledger), ledger: Duration::ZERO, service: Duration::ZERO }
    }

    /// Begins a round, in which only the ledger is waited for.
    pub(super) fn begin_round(&mut self, now: Instant) {
        self.wait_for(Some(Limit::Ledger), now);
    }

    /// Begins to wait for whatever comes first. `is_full`: as many requests as allowed are in flight, so that only an answer lets the sender go
    /// on.
    pub(super) fn end_round(&mut self, now: Instant, is_full: bool) {
        self.wait_for(is_full.then_some(Limit::Service), now);
    }

    /// Counts the time so far.
    fn wait_for(&mut self, next: Option<Limit>, now: Instant) {
        let spent = now.saturating_duration_since(self.since);
        self.since = now;
        match self.waits_for {
            Some(Limit::Ledger) => self.ledger += spent,
            Some(Limit::Service) => self.service += spent,
            Some(Limit::Others) | None => {}
        }
        self.waits_for = next;
    }

    /// Returns that `records` were settled more slowly than asked, and why.
    pub(super) fn slowness(&self, asked: Option<Speed>, records: u64, taken: Duration) -> Option<Slowness> {
        let Some(Speed::Fixed(rate)) = asked else { return None };
        let (reached, asked) = (records as f64 / taken.as_secs_f64(), rate.per_second());
        if taken < LONG || reached >= asked * ENOUGH {
            return None;
        }
        let share = |time: Duration| time.as_secs_f64() / taken.as_secs_f64();
        let by = match (share(self.ledger), share(self.service)) {
            (ledger, service) if ledger >= MOST && ledger >= service => Limit::Ledger,
            (_, service) if service >= MOST => Limit::Service,
            _ => Limit::Others,
        };
        Some(Slowness { by, reached, asked })
    }
}

impl Slowness {
    /// Returns how to become faster, if this is up to the user.
    pub fn hint(&self) -> Option<&'static str> {
        match self.by {
            Limit::Ledger => Some("run the workers near the database, or more of them"),
            Limit::Service => Some("raise --concurrency"),
            Limit::Others => None,
        }
    }
}

impl fmt::Display for Slowness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Slowness { by, reached, asked } = self;
        let why = match by {
            Limit::Ledger => "the database of the ledger takes long to answer",
            Limit::Service => "as many requests as allowed wait for the service",
            Limit::Others => "others share the rate, or the service asks for pauses",
        };
        write!(f, "{reached:.1} records per second instead of {asked:.1}: {why}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the limit of ten seconds, in each of which a sender waits for the ledger and with all requests in flight, in milliseconds.
    fn limit(ledger: u64, service: u64, records: u64) -> Option<Limit> {
        let began = Instant::now();
        let (mut waits, mut now) = (Waits::beginning(began), began);
        for _ in 0..10 {
            now += Duration::from_millis(ledger);
            waits.end_round(now, true);
            now += Duration::from_millis(service);
            waits.begin_round(now);
            waits.end_round(now, false);
            now += Duration::from_millis(1_000 - ledger - service);
            waits.begin_round(now);
        }
        let asked = Some(Speed::Fixed("100/s".parse().expect("a rate")));
        let slowness = waits.slowness(asked, records, now - began);
        slowness.map(|slowness| slowness.by)
    }

    #[test]
    fn what_was_waited_for_most_is_the_limit() {
        assert_eq!(limit(900, 0, 330), Some(Limit::Ledger));
        assert_eq!(limit(100, 800, 330), Some(Limit::Service));
        assert_eq!(limit(100, 100, 330), Some(Limit::Others));
        assert_eq!(limit(900, 0, 900), None);
        assert_eq!(Waits::beginning(Instant::now()).slowness(None, 0, Duration::from_secs(9)), None);
    }
}
