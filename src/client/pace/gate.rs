//! Permits that follow each other no faster than by an interval, with bursts of at most [`BURST`]: governor's rate limiter,
//! told the time and handed its state, so that the interval may change at any time and processes may share the state.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{NotKeyed, StateStore};
use governor::{Quota, RateLimiter};

/// The longest burst, in time: what the limiter may let through at once after a pause.
const BURST: Duration = Duration::from_millis(10);

/// When the next permit is due, if permits were evenly spread. Times are counted from a moment that the caller knows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    pub due: Duration,
}

/// Says what it was told. A limiter takes what its clock says first for the beginning of time.
#[derive(Default)]
struct Told(Cell<Nanos>);

impl Clock for Told {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.get()
    }
}

/// The gate while a limiter looks at it.
struct Due<'a>(&'a Cell<Nanos>);

impl Gate {
    /// Takes a permit of those that follow each other by `interval`, or says when there is one.
    pub fn pass(&mut self, interval: Duration, now: Duration) -> Result<(), Duration> {
        let burst = BURST.as_nanos() / interval.as_nanos().max(1);
        let burst =
            u32::try_from(burst).map_or(NonZeroU32::MAX, |burst| NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN));
        // Without an interval there is no limit.
        let Some(quota) = Quota::with_period(interval) else { return Ok(()) };
        let due = Cell::new(Nanos::from(self.due));
        let limiter = RateLimiter::<NotKeyed, _, _, NoOpMiddleware<Nanos>>::new(
            quota.allow_burst(burst),
            Due(&due),
            Told::default(),
        );
        limiter.clock().0.set(now.into());
        limiter.check().map_err(|until| Duration::from(until.earliest_possible()))?;
        self.due = due.get().into();
        Ok(())
    }
}

impl StateStore for Due<'_> {
    type Key = NotKeyed;

    fn measure_and_replace<T, F, E>(&self, _: &NotKeyed, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let (granted, due) = decide(Some(self.0.get()))?;
        self.0.set(due);
        Ok(granted)
    }
}
