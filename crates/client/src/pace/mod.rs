//! Rate limiting: when the next request may be sent.

mod auto;
mod gate;
mod permits;
mod rate;
mod shared;
mod trouble;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use auto::AutoRate;
use gate::Gate;
use shared::SharedGate;
use trouble::Trouble;

pub use permits::{Permits, Wanted};
pub use rate::{Rate, Speed};

use sheetport_telemetry::RateWait;

/// A rate limiter. The time is an argument, so tests can simulate a day in a moment.
pub struct Pace {
    state: Mutex<State>,
}

struct State {
    /// `None` without a rate limit.
    limit: Option<Limit>,
    /// Gate shared with other processes on this machine.
    shared: Option<SharedGate>,
    /// Permits shared with processes on any machine.
    permits: Option<Arc<Permits>>,
    gate: Gate,
    /// Origin of the times in `gate`.
    began: Instant,
    held_until: Option<Instant>,
    /// The remaining number of requests and the end of the period, as announced by the service.
    quota: Option<(u64, Instant)>,
    /// Whether the automatic rate has yet to react to the hold.
    is_new_hold: bool,
    wait: RateWait,
    trouble: Trouble,
}

impl State {
    fn take_permit(&mut self, now: Instant, lead: Duration) -> Result<Instant, Instant> {
        if let Some(until) = self.held_until.filter(|until| now < *until) {
            return Err(until);
        }
        if std::mem::take(&mut self.is_new_hold) {
            self.refused(now);
        }
        let permit = self.take_permit_of_rate(now, lead);
        self.wait.note(permit.is_ok(), now);
        permit
    }

    /// Takes a permit, whether there is a pause or not.
    fn take_permit_of_rate(&mut self, now: Instant, lead: Duration) -> Result<Instant, Instant> {
        if let Some(permits) = &self.permits {
            return permits.take(now, lead);
        }
        let State { limit, shared, gate, began, .. } = self;
        let passed = now.saturating_duration_since(*began);
        let interval = match limit {
            None => return Ok(now),
            Some(Limit::Fixed(interval)) => *interval,
            Some(Limit::Auto(auto)) => auto.interval(passed),
            Some(Limit::Free(permits)) => {
                while permits.len() >= MAX_PERMITS || permits.front().is_some_and(|first| *first + WINDOW < now) {
                    permits.pop_front();
                }
                permits.push_back(now);
                return Ok(now);
            }
        };
        match shared.as_mut().map(|shared| shared.pass(interval, now)) {
            Some(Ok(permit)) => return permit.map(|()| now),
            Some(Err(error)) => {
                tracing::warn!(%error, "the rate is not shared with other runs on this machine any more");
                *shared = None;
            }
            None => {}
        }
        gate.pass(interval, passed).map(|()| now).map_err(|until| *began + until)
    }

    /// Reacts to a refusal.
    fn refused(&mut self, now: Instant) {
        if let Some(permits) = &self.permits {
            permits.refused();
        } else if let Some(limit) = &mut self.limit {
            limit.refused(now, self.began);
        }
    }
}

enum Limit {
    /// Fixed interval between requests.
    Fixed(Duration),
    Auto(AutoRate),
    /// No limit until the service refuses a request; then automatic, starting at half the rate of the last second.
    Free(VecDeque<Instant>),
}

impl Limit {
    /// Reacts to a refusal.
    fn refused(&mut self, now: Instant, began: Instant) {
        let passed = now.saturating_duration_since(began);
        match self {
            Limit::Fixed(_) => {}
            Limit::Auto(auto) => auto.refused(passed),
            Limit::Free(permits) => {
                let recent = permits.iter().filter(|permit| **permit + WINDOW >= now).count();
                // The search begins below: how many more would have been accepted in a second is unknown.
                *self = Limit::Auto(AutoRate::searching_from(recent as f64 / WINDOW.as_secs_f64() / 2.0, passed));
            }
        }
    }
}

/// Period for measuring the rate of an unlimited limiter.
const WINDOW: Duration = Duration::from_secs(1);
/// Maximum number of permits to remember for the measurement.
const MAX_PERMITS: usize = 10_000;

impl Pace {
    /// Creates a limiter. Without a speed, every request is permitted at once.
    pub fn new(speed: Option<Speed>, now: Instant) -> Pace {
        let limit = speed.map(|speed| match speed {
            Speed::Fixed(rate) => Limit::Fixed(rate.interval()),
            Speed::Auto(known) => Limit::Auto(AutoRate::new(known, Duration::ZERO)),
        });
        Pace::with(limit, now)
    }

    /// Creates a limiter without a limit. After the first refusal by the service, the limiter finds a rate.
    pub fn free_until_refused(now: Instant) -> Pace {
        Pace::with(Some(Limit::Free(VecDeque::new())), now)
    }

    fn with(limit: Option<Limit>, now: Instant) -> Pace {
        Pace {
            state: Mutex::new(State {
                limit,
                shared: None,
                permits: None,
                gate: Gate::default(),
                began: now,
                held_until: None,
                quota: None,
                is_new_hold: false,
                wait: RateWait::default(),
                trouble: Trouble::default(),
            }),
        }
    }

    /// Shares the rate with all processes on this machine through the same file. If the file cannot be used, the limiter
    /// logs a warning and works alone.
    pub fn shared(self, file: &Path, now: Instant) -> Pace {
        let mut state = self.state();
        if state.limit.is_some() {
            match SharedGate::open(file, now) {
                Ok(shared) => state.shared = Some(shared),
                Err(error) => tracing::warn!(%error, "the rate is not shared with other runs on this machine"),
            }
        }
        drop(state);
        self
    }

    /// Shares the rate with all processes that use the same supply of permits. Has no effect without a limit.
    pub fn supplied_by(self, permits: Arc<Permits>) -> Pace {
        let mut state = self.state();
        if state.limit.is_some() {
            state.permits = Some(permits);
        }
        drop(state);
        self
    }

    /// Takes a permit. The error is the time of the next permit.
    pub fn permit(&self, now: Instant) -> Result<(), Instant> {
        self.permit_within(now, Duration::ZERO).map(drop)
    }

    /// Takes a permit for now or, if the permits are shared by machines, for a time within `lead`. Returns the time from which it may be used.
    /// The error is the time to ask again.
    pub fn permit_within(&self, now: Instant, lead: Duration) -> Result<Instant, Instant> {
        let mut state = self.state();
        match state.quota {
            Some((0, until)) if now < until => return Err(until),
            Some((_, until)) if now >= until => state.quota = None,
            Some(_) | None => {}
        }
        let permit = state.take_permit(now, lead);
        if let (Ok(_), Some((left, _))) = (permit, &mut state.quota) {
            *left -= 1;
        }
        permit
    }

    /// Permits nothing before `until`, as the service asked. A hold is never shortened.
    pub fn hold(&self, until: Instant) {
        let mut state = self.state();
        state.is_new_hold = true;
        state.held_until = state.held_until.max(Some(until));
    }

    /// Notes an answer of the service that asks for no wait.
    pub fn answered(&self) {
        self.state().trouble.answered();
    }

    /// Notes an answer with a failing `status` that asks to wait with its request until `until`. Returns until when nobody may
    /// send, if several answers in a row asked. A status below 500, such as 423, concerns a single record.
    pub fn asked_to_wait(&self, until: Instant, status: Option<u16>) -> Option<Instant> {
        let is_of_service = status.is_some_and(|status| status >= 500);
        is_of_service.then(|| self.state().trouble.asked_to_wait(until)).flatten()
    }

    /// Tells the processes that share the rate about a pause requested by the service.
    pub fn share_pause(&self, until: Instant) {
        if let Some(permits) = &self.state().permits {
            permits.close(until);
        }
    }

    /// Permits no more than `left` requests before `until`, as the service has said. Unlike [`Pace::hold`], this is no refusal.
    pub(super) fn permit_only(&self, left: u64, until: Instant) {
        let mut state = self.state();
        // Responses arrive in any order, so the stricter announcement is kept.
        state.quota = Some(match state.quota {
            Some((fewer, earlier)) => (left.min(fewer), until.min(earlier)),
            None => (left, until),
        });
    }

    /// Lowers an automatic rate after a 429.
    pub fn refused(&self, now: Instant) {
        self.state().refused(now);
    }

    /// Returns the current limit in requests per second, or `None` without a limit.
    pub fn per_second(&self, now: Instant) -> Option<f64> {
        let mut state = self.state();
        if let Some(rate) = state.permits.as_ref().and_then(|permits| permits.per_second()) {
            return Some(rate);
        }
        let passed = now.saturating_duration_since(state.began);
        match &mut state.limit {
            None | Some(Limit::Free(_)) => None,
            Some(Limit::Fixed(interval)) => Some(1.0 / interval.as_secs_f64()),
            Some(Limit::Auto(auto)) => Some(1.0 / auto.interval(passed).as_secs_f64()),
        }
    }

    /// Returns the limit found by the automatic rate, in requests per second.
    pub fn learned_rate(&self) -> Option<f64> {
        let state = self.state();
        if let Some(permits) = &state.permits {
            return permits.learned_rate();
        }
        match &state.limit {
            Some(Limit::Auto(auto)) => auto.learned_rate(),
            _ => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
