//! How fast requests may follow each other.

mod auto;
mod gate;
mod shared;

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use auto::Auto;
use gate::Gate;
use shared::Shared;

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

/// How fast a person wants it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    Fixed(Rate),
    /// As fast as the service allows, which is found out. What it was found to be before, in requests a second.
    Auto(Option<f64>),
}

impl Speed {
    pub const AUTO: &'static str = "auto";
}

impl std::str::FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Speed, String> {
        match text.trim() {
            Speed::AUTO => Ok(Speed::Auto(None)),
            text => text.parse().map(Speed::Fixed).map_err(|error: String| format!("{error}, or auto")),
        }
    }
}

/// Grants permits no faster than its rate. It is told the time, so that a test can run a day in a moment.
pub struct Pace {
    state: Mutex<State>,
}

struct State {
    speed: Option<Found>,
    shared: Option<Shared>,
    gate: Gate,
    /// The moment that the gate counts from.
    began: Instant,
    held_until: Option<Instant>,
    /// Whether the hold is one that nothing was learnt from yet.
    is_new_hold: bool,
}

/// The speed as it is now.
enum Found {
    Fixed(Duration),
    Auto(Auto),
}

impl Pace {
    /// Without a speed, every permit is granted at once.
    pub fn new(speed: Option<Speed>, now: Instant) -> Pace {
        let speed = speed.map(|speed| match speed {
            Speed::Fixed(rate) => Found::Fixed(rate.interval()),
            Speed::Auto(known) => Found::Auto(Auto::new(known, now)),
        });
        Pace {
            state: Mutex::new(State {
                speed,
                shared: None,
                gate: Gate::default(),
                began: now,
                held_until: None,
                is_new_hold: false,
            }),
        }
    }

    /// Shares its permits with all on this machine that name the same file. Where that can't be, it says so in the log and
    /// keeps to itself.
    pub fn shared(self, file: &Path, now: Instant) -> Pace {
        let mut state = self.state();
        if state.speed.is_some() {
            match Shared::open(file, now) {
                Ok(shared) => state.shared = Some(shared),
                Err(error) => tracing::warn!(%error, "the rate is not shared with other runs on this machine"),
            }
        }
        drop(state);
        self
    }

    /// Takes a permit, or says when to ask again.
    pub fn permit(&self, now: Instant) -> Result<(), Instant> {
        let mut state = self.state();
        if let Some(until) = state.held_until.filter(|until| now < *until) {
            return Err(until);
        }
        let State { speed, shared, gate, began, is_new_hold, .. } = &mut *state;
        if std::mem::take(is_new_hold)
            && let Some(Found::Auto(auto)) = speed
        {
            auto.refused(now);
        }
        let interval = match speed {
            None => return Ok(()),
            Some(Found::Fixed(interval)) => *interval,
            Some(Found::Auto(auto)) => auto.interval(now),
        };
        let passed = shared.as_mut().map(|shared| shared.pass(interval, now));
        let own = match passed {
            Some(Ok(passed)) => return passed,
            Some(Err(error)) => {
                tracing::warn!(%error, "the rate is not shared with other runs on this machine any more");
                *shared = None;
                gate
            }
            None => gate,
        };
        own.pass(interval, now.saturating_duration_since(*began)).map_err(|until| *began + until)
    }

    /// Grants nothing before `until`, because the service wants it. A hold is never made shorter.
    pub fn hold(&self, until: Instant) {
        let mut state = self.state();
        state.is_new_hold = true;
        state.held_until = Some(state.held_until.map_or(until, |other| other.max(until)));
    }

    /// The service said that this was too fast.
    pub fn refused(&self, now: Instant) {
        if let Some(Found::Auto(auto)) = &mut self.state().speed {
            auto.refused(now);
        }
    }

    /// Requests a second that are granted at most, now; nothing when there is no bound.
    pub fn per_second(&self, now: Instant) -> Option<f64> {
        match &mut self.state().speed {
            None => None,
            Some(Found::Fixed(interval)) => Some(1.0 / interval.as_secs_f64()),
            Some(Found::Auto(auto)) => Some(1.0 / auto.interval(now).as_secs_f64()),
        }
    }

    /// What was found to be the service's limit, to begin with the next time.
    pub fn learnt(&self) -> Option<f64> {
        match &self.state().speed {
            Some(Found::Auto(auto)) => auto.learnt(),
            _ => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn an_unknown_limit_is_found_and_kept_to() {
        for (limit, burst) in [(10.0, 1.0), (10.0, 10.0), (50.0, 5.0), (300.0, 30.0), (2.0, 1.0)] {
            let mut service = Service { limit, burst, tokens: burst, at: Instant::now() };
            let search = Pace::new(Some(Speed::Auto(None)), service.at);
            let first = drive(&mut service, search, 600);
            assert!((0.9..=1.0).contains(&(first.rate / limit)), "{limit}: {first:?}");
            assert!(first.refused < 0.01, "{limit}: {first:?}");
            // The next run begins where this one was, and not with a search.
            let next = Pace::new(Some(Speed::Auto(first.learnt)), service.at);
            let begun = drive(&mut service, next, 30);
            assert!((0.8..=1.05).contains(&(begun.rate / limit)), "{limit}: {begun:?}");
        }
    }

    #[test]
    fn nothing_is_learnt_from_time_in_which_nothing_is_sent() {
        let began = Instant::now();
        let pace = Pace::new(Some(Speed::Auto(None)), began);
        let mut now = began;
        // Somebody else makes it wait for a minute after each request.
        for _ in 0..20 {
            now += Duration::from_secs(60);
            assert!(pace.permit(now).is_ok());
        }
        assert!(pace.per_second(now).is_some_and(|rate| rate < 30.0), "{:?}", pace.per_second(now));
        assert_eq!(pace.learnt(), None);
    }

    /// A limit that is raised is noticed, too, without a new search.
    #[test]
    fn a_raised_limit_is_found_in_time() {
        let mut service = Service { limit: 20.0, burst: 20.0, tokens: 0.0, at: Instant::now() };
        let pace = Pace::new(Some(Speed::Auto(Some(9.5))), service.at);
        let driven = drive(&mut service, pace, 1_200);
        assert!(driven.learnt.is_some_and(|learnt| learnt > 17.0), "{driven:?}");
    }

    /// A bucket of tokens that fills at `limit` a second.
    struct Service {
        limit: f64,
        burst: f64,
        tokens: f64,
        at: Instant,
    }

    impl Service {
        fn takes(&mut self, now: Instant) -> bool {
            self.tokens = (self.tokens + (now - self.at).as_secs_f64() * self.limit).min(self.burst);
            self.at = now;
            if self.tokens >= 1.0 {
                self.tokens -= 1.0;
                true
            } else {
                false
            }
        }
    }

    #[derive(Debug)]
    struct Driven {
        /// Of the second half.
        rate: f64,
        /// The share of refusals in all requests.
        refused: f64,
        learnt: Option<f64>,
    }

    /// A refusal holds everybody; whether the pace is told, too, makes no difference.
    fn drive(service: &mut Service, pace: Pace, seconds: u64) -> Driven {
        let is_told = seconds.is_multiple_of(60);
        let mut now = service.at;
        let (began, half) = (now, now + Duration::from_secs(seconds) / 2);
        let (mut all, mut refused, mut late) = (0.0, 0.0, 0.0);
        while now < began + Duration::from_secs(seconds) {
            match pace.permit(now) {
                Err(until) => now = until,
                Ok(()) => {
                    all += 1.0;
                    if service.takes(now) {
                        late += f64::from(u8::from(now >= half));
                    } else {
                        refused += 1.0;
                        if is_told {
                            pace.refused(now);
                        }
                        pace.hold(now + Duration::from_secs(1));
                    }
                }
            }
        }
        Driven { rate: late / (seconds as f64 / 2.0), refused: refused / all, learnt: pace.learnt() }
    }

    #[test]
    fn those_that_share_a_file_share_a_rate() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("rate");
        let now = Instant::now();
        let pace = || Pace::new("100/s".parse().ok(), now).shared(&file, now);
        let (one, other) = (pace(), pace());
        let granted = (0..1_000u64).flat_map(|millis| {
            let now = now + Duration::from_millis(millis);
            [one.permit(now).is_ok(), other.permit(now).is_ok()]
        });
        let granted = granted.filter(|granted| *granted).count();
        assert!((99..=101).contains(&granted), "{granted}");
        // What is no note of ours, or of another time, holds nobody for long.
        std::fs::write(&file, [255; 8]).expect("a file");
        assert!(pace().permit(now + Duration::from_secs(2)).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn no_window_holds_more_than_the_rate_and_the_rate_is_reached(count in 1u32..5000, steps in proptest::collection::vec(0u64..40_000_000, 60)) {
            let began = Instant::now();
            let rate = Rate { count: NonZeroU32::new(count).expect("not 0"), per: Duration::from_secs(1) };
            let pace = Pace::new(Some(Speed::Fixed(rate)), began);
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
