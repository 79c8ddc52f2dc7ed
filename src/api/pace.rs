//! How fast requests may follow each other.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::Clock;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};

/// The longest burst, in time: what the limiter may let through at once after a pause.
const BURST: Duration = Duration::from_millis(10);

/// Requests in a span of time, as a person writes it: `10/s` or `600/min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    count: NonZeroU32,
    per: Duration,
}

impl Rate {
    pub fn per_second(&self) -> f64 {
        f64::from(self.count.get()) / self.per.as_secs_f64()
    }

    fn interval(&self) -> Duration {
        self.per / self.count.get()
    }
}

impl std::str::FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Rate, String> {
        let wrong = || format!("'{text}' is no rate; write it as 10/s or 600/min");
        let (count, unit) = text.trim().split_once('/').ok_or_else(wrong)?;
        let per = match unit.trim() {
            "s" | "sec" | "second" => Duration::from_secs(1),
            "m" | "min" | "minute" => Duration::from_secs(60),
            "h" | "hour" => Duration::from_secs(3600),
            _ => return Err(wrong()),
        };
        let count = count.trim().parse().map_err(|_| wrong())?;
        let rate = Rate { count, per };
        if rate.interval().is_zero() { Err(wrong()) } else { Ok(rate) }
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = match self.per.as_secs() {
            1 => "s",
            60 => "min",
            _ => "h",
        };
        write!(f, "{}/{unit}", self.count)
    }
}

/// Grants permits no faster than its rate. It is told the time, so that a test can run a day in a moment.
pub struct Pace {
    limiter: Option<RateLimiter<NotKeyed, InMemoryState, ToldClock>>,
    clock: ToldClock,
    held_until: Mutex<Option<Instant>>,
}

impl Pace {
    /// Without a rate, every permit is granted at once.
    pub fn new(rate: Option<Rate>, now: Instant) -> Pace {
        let clock = ToldClock { began: now, nanos: Arc::default() };
        let limiter = rate.and_then(|rate| {
            let interval = rate.interval();
            let burst = u32::try_from(BURST.as_nanos() / interval.as_nanos().max(1)).unwrap_or(u32::MAX);
            let burst = NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
            Some(RateLimiter::direct_with_clock(Quota::with_period(interval)?.allow_burst(burst), clock.clone()))
        });
        Pace { limiter, clock, held_until: Mutex::new(None) }
    }

    /// Takes a permit, or says when to ask again.
    pub fn permit(&self, now: Instant) -> Result<(), Instant> {
        if let Some(until) = self.held().filter(|until| now < *until) {
            return Err(until);
        }
        let Some(limiter) = &self.limiter else { return Ok(()) };
        self.clock.tell(now);
        limiter.check().map_err(|refused| now + refused.wait_time_from(self.clock.now()))
    }

    /// Grants nothing before `until`. A hold is never made shorter.
    pub fn hold(&self, until: Instant) {
        let mut held = self.held();
        *held = Some(held.map_or(until, |other| other.max(until)));
    }

    fn held(&self) -> MutexGuard<'_, Option<Instant>> {
        self.held_until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A clock that shows what it was last told.
#[derive(Clone, Debug)]
struct ToldClock {
    began: Instant,
    nanos: Arc<AtomicU64>,
}

impl ToldClock {
    fn tell(&self, now: Instant) {
        let nanos = now.saturating_duration_since(self.began).as_nanos();
        self.nanos.store(u64::try_from(nanos).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Clock for ToldClock {
    type Instant = Instant;

    fn now(&self) -> Instant {
        self.began + Duration::from_nanos(self.nanos.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_written_as_people_say_them() {
        for (text, per_second) in [("10/s", 10.0), ("600/min", 10.0), (" 36000 / hour ", 10.0), ("1/min", 1.0 / 60.0)] {
            assert_eq!(text.parse::<Rate>().map(|rate| rate.per_second()), Ok(per_second), "{text}");
        }
        for text in ["", "10", "0/s", "-1/s", "10/day", "1.5/s", "x/s", "9999999999/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_window_holds_more_than_the_rate_and_the_rate_is_reached(count in 1u32..5000, steps in proptest::collection::vec(0u64..40_000_000, 60)) {
            let began = Instant::now();
            let rate = Rate { count: NonZeroU32::new(count).expect("not 0"), per: Duration::from_secs(1) };
            let pace = Pace::new(Some(rate), began);
            let burst = (count / 100).max(1);
            let mut now = began;
            let mut granted = Vec::new();
            for step in steps {
                now += Duration::from_nanos(step);
                while pace.permit(now).is_ok() {
                    granted.push(now);
                }
            }
            let mut oldest = 0;
            for (newest, at) in granted.iter().enumerate() {
                while *at - granted[oldest] >= Duration::from_secs(1) {
                    oldest += 1;
                }
                let within = newest - oldest + 1;
                proptest::prop_assert!(within as u32 <= count + burst, "{within} in a second at {count}/s");
            }
            let refused_until = pace.permit(now).expect_err("the last loop ended so");
            proptest::prop_assert!(refused_until > now && pace.permit(refused_until).is_ok());
        }
    }
}
