//! Permits at an interval, with bursts of at most [`BURST`]. Wraps governor's rate limiter with explicit time and state: the
//! interval can change at any time, processes can share the state, and tests simulate the time.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{NotKeyed, StateStore};
use governor::{Quota, RateLimiter};

/// Longest burst after a pause, in units of time.
const BURST: Duration = Duration::from_millis(10);

/// The state of a limiter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    /// Theoretical time of the next permit, relative to the caller's origin.
    pub due: Duration,
}

/// A clock for explicit time.
#[derive(Default)]
struct ManualClock(Cell<Nanos>);

impl Clock for ManualClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.get()
    }
}

/// A limiter's state during a single check.
struct CellStore<'a>(&'a Cell<Nanos>);

impl StateStore for CellStore<'_> {
    type Key = NotKeyed;

    fn measure_and_replace<T, F, E>(&self, _: &NotKeyed, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let (permit, due) = decide(Some(self.0.get()))?;
        self.0.set(due);
        Ok(permit)
    }
}

impl Gate {
    /// Takes a permit of a limiter with this interval. The error is the time of the next permit.
    pub(super) fn pass(&mut self, interval: Duration, now: Duration) -> Result<(), Duration> {
        // An interval of zero means no limit.
        let Some(quota) = Quota::with_period(interval) else { return Ok(()) };
        let burst = (BURST.as_nanos() / interval.as_nanos()).clamp(1, u128::from(u32::MAX));
        let burst = u32::try_from(burst).ok().and_then(NonZeroU32::new).expect("clamped to 1..=u32::MAX");
        let due = Cell::new(Nanos::from(self.due));
        // The limiter starts at time zero.
        let limiter = RateLimiter::<NotKeyed, _, _, NoOpMiddleware<Nanos>>::new(
            quota.allow_burst(burst),
            CellStore(&due),
            ManualClock::default(),
        );
        limiter.clock().0.set(now.into());
        limiter.check().map_err(|until| Duration::from(until.earliest_possible()))?;
        self.due = due.get().into();
        Ok(())
    }
}
