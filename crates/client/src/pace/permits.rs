//! A rate shared by processes on several machines: a common table grants permits in batches.
//!
//! The process takes permits from here, while a background task supplies new permits. The table stores the time of the next
//! permit, and the state of an automatic rate as opaque text.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::auto::AutoRate;
use super::rate::Speed;

/// Lifetime of a due permit. Unused permits lapse, so that no burst follows a delay.
const LAPSE: Duration = Duration::from_millis(20);
/// How long to wait for new permits before looking again.
const LOOK: Duration = Duration::from_millis(2);
/// Lead time for requesting new permits before the last permit is due, besides the time that the table takes to answer.
const AHEAD: Duration = Duration::from_millis(50);
/// The longest time of an answer that is taken into account: the table grants permits for a second at most.
const LONGEST_ANSWER: Duration = Duration::from_millis(500);
/// How often an automatic rate changes without a refusal.
const ADJUSTED: Duration = Duration::from_secs(1);

/// The permits of a process.
#[derive(Debug, Default)]
pub struct Permits {
    state: Mutex<State>,
    wanted: Notify,
}

#[derive(Debug, Default)]
struct State {
    due: VecDeque<Instant>,
    /// To be told to the others.
    is_refused: bool,
    close_until: Option<Instant>,
    /// When the others have closed the gate.
    closed_until: Option<Instant>,
    per_second: Option<f64>,
    learned: Option<f64>,
    /// Time of the last answer of the table.
    answer: Duration,
    /// How long before their time permits are taken.
    lead: Duration,
    /// Number of permits that can still be used, `None` without a limit.
    needed: Option<usize>,
}

impl State {
    /// Whether new permits are needed.
    fn is_low(&self, now: Instant) -> bool {
        let lead = AHEAD + self.answer + self.lead;
        self.needed.is_none_or(|needed| self.due.len() < needed)
            && self.due.back().is_none_or(|last| *last <= now + lead)
    }
}

/// A request to the supply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The service has refused a request.
    pub is_refused: bool,
    /// Nobody is to send before.
    pub close_until: Option<Instant>,
}

impl Permits {
    /// Takes a permit for a time up to `lead` from now, and returns its time. The error is the time to ask again.
    pub(super) fn take(&self, now: Instant, lead: Duration) -> Result<Instant, Instant> {
        let mut state = self.state();
        state.lead = lead;
        if let Some(until) = state.closed_until.filter(|until| now < *until) {
            return Err(until);
        }
        while state.due.front().is_some_and(|due| *due + LAPSE < now) {
            state.due.pop_front();
        }
        let permit = match state.due.front().copied() {
            Some(due) if due <= now + lead => {
                state.due.pop_front();
                state.needed = state.needed.map(|needed| needed.saturating_sub(1));
                Ok(due.max(now))
            }
            Some(due) => Err(due.checked_sub(lead).unwrap_or(due)),
            None => Err(now + LOOK),
        };
        if state.is_low(now) {
            self.wanted.notify_one();
        }
        permit
    }

    pub(super) fn refused(&self) {
        self.state().is_refused = true;
        self.wanted.notify_one();
    }

    pub(super) fn close(&self, until: Instant) {
        let mut state = self.state();
        state.close_until = state.close_until.max(Some(until));
        // Permits granted before the pause must not be used.
        state.due.clear();
        self.wanted.notify_one();
    }

    pub(super) fn per_second(&self) -> Option<f64> {
        self.state().per_second
    }

    pub(super) fn learned_rate(&self) -> Option<f64> {
        self.state().learned
    }

    /// Waits until permits are needed, or others are to be told something.
    pub async fn wanted(&self) -> Wanted {
        loop {
            self.wanted.notified().await;
            let mut state = self.state();
            let is_low = state.is_low(Instant::now());
            // New permits may have arrived meanwhile.
            if is_low || state.is_refused || state.close_until.is_some() {
                let is_refused = std::mem::take(&mut state.is_refused);
                return Wanted { is_refused, close_until: state.close_until.take() };
            }
        }
    }

    /// Adds `count` permits, the first at `first`.
    pub fn add(&self, first: Instant, interval: Duration, count: u32) {
        let mut state = self.state();
        state.per_second = Some(1.0 / interval.as_secs_f64());
        state.due.extend((0..count).map(|nth| first + interval * nth));
    }

    /// Notes how many permits can still be used.
    pub fn need(&self, number: Option<usize>) {
        self.state().needed = number;
    }

    /// Returns how many permits to ask for: for `at_once` requests, or for the time until further permits arrive, but no more than can be used.
    pub fn most(&self, at_once: u32) -> u32 {
        let state = self.state();
        let ahead = (AHEAD + state.answer + state.lead).as_secs_f64() * state.per_second.unwrap_or(0.0);
        // A rate beyond all numbers is cut off.
        let most = (ahead.ceil() as u32).max(at_once);
        let left = state.needed.map_or(usize::MAX, |needed| needed.saturating_sub(state.due.len()));
        most.min(u32::try_from(left).unwrap_or(u32::MAX)).max(1)
    }

    /// Notes how long the table took to answer.
    pub fn answered_in(&self, time: Duration) {
        self.state().answer = time.min(LONGEST_ANSWER);
    }

    /// Grants nothing before `until`, as others say.
    pub fn closed(&self, until: Instant) {
        let mut state = self.state();
        state.closed_until = state.closed_until.max(Some(until));
    }

    /// Updates the shared state of the automatic rate, if due. `stored`: the current text, `None` at first. `used`: the permits
    /// used since the last change, `since` ago. `now`: the shared clock. Returns the new text and the interval between permits.
    pub fn adjusted(
        &self,
        speed: Speed,
        stored: Option<&str>,
        used: u64,
        since: Duration,
        is_refused: bool,
        now: Duration,
    ) -> Option<(String, Duration)> {
        let Speed::Auto(known) = speed else { return None };
        // The text of another version begins anew.
        let found: Option<AutoRate> = stored.and_then(|text| serde_json::from_str(text).ok());
        let is_due = found.is_none() || is_refused || since >= ADJUSTED;
        let mut auto = found.unwrap_or_else(|| AutoRate::new(known, now));
        self.state().learned = auto.learned_rate();
        if !is_due {
            return None;
        }
        auto.advance(used, now);
        if is_refused {
            auto.refused(now);
        }
        self.state().learned = auto.learned_rate();
        let interval = Duration::from_secs_f64(1.0 / auto.per_second());
        Some((serde_json::to_string(&auto).ok()?, interval))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: Duration = Duration::from_millis(100);

    #[test]
    fn permits_are_taken_when_due_and_lapse() {
        let (permits, now) = (Permits::default(), Instant::now());
        assert_eq!(permits.take(now, Duration::ZERO), Err(now + LOOK));
        permits.add(now, TENTH, 3);
        assert_eq!(permits.take(now, Duration::ZERO), Ok(now));
        assert_eq!(permits.take(now, Duration::ZERO), Err(now + TENTH));
        assert_eq!(permits.take(now + TENTH, Duration::ZERO), Ok(now + TENTH));
        // The third was not used in time.
        assert_eq!(permits.take(now + 3 * TENTH, Duration::ZERO), Err(now + 3 * TENTH + LOOK));
    }

    #[test]
    fn permits_are_taken_for_a_later_time_and_as_many_as_can_be_used() {
        let (permits, now) = (Permits::default(), Instant::now());
        permits.add(now, TENTH, 3);
        assert_eq!(permits.take(now, TENTH), Ok(now));
        assert_eq!(permits.take(now, TENTH), Ok(now + TENTH));
        // The third is due after two tenths.
        assert_eq!(permits.take(now, TENTH), Err(now + TENTH));
        assert_eq!(permits.most(8), 8);
        permits.answered_in(Duration::from_secs(9));
        // For 50 ms and an answer of half a second at 10 per second, and a tenth before.
        assert_eq!((permits.most(1), permits.most(8)), (7, 8));
        permits.need(Some(4));
        assert_eq!(permits.most(8), 3);
        // The one that is taken need not be taken again.
        assert_eq!(permits.take(now + TENTH, TENTH), Ok(now + 2 * TENTH));
        assert_eq!(permits.most(8), 3);
    }

    #[tokio::test]
    async fn permits_are_asked_for_before_the_last_is_due_by_the_time_of_an_answer() {
        let (permits, now) = (Permits::default(), Instant::now());
        permits.add(now, TENTH, 3);
        permits.take(now, Duration::ZERO).expect("due");
        let is_asked = async || tokio::time::timeout(Duration::ZERO, permits.wanted.notified()).await.is_ok();
        assert!(!is_asked().await);
        permits.answered_in(Duration::from_secs(9));
        assert!(permits.take(now, Duration::ZERO).is_err() && is_asked().await);
    }

    #[test]
    fn a_pause_of_the_service_holds_all() {
        let (permits, now) = (Permits::default(), Instant::now());
        permits.add(now, TENTH, 3);
        permits.close(now + TENTH);
        assert!(permits.take(now, Duration::ZERO).is_err());
        let other = Permits::default();
        other.add(now, TENTH, 3);
        other.closed(now + 2 * TENTH);
        assert_eq!(other.take(now, Duration::ZERO), Err(now + 2 * TENTH));
    }

    #[test]
    fn the_automatic_rate_is_learned_once_for_all() {
        let (one, other) = (Permits::default(), Permits::default());
        let auto = Speed::Auto(None);
        let at = Duration::from_secs;
        let (text, first) = one.adjusted(auto, None, 0, at(0), false, at(100)).expect("a new state");
        assert_eq!(other.adjusted(auto, Some(&text), 3, at(0), false, at(100)), None);
        let (text, faster) = other.adjusted(auto, Some(&text), 6, at(1), false, at(101)).expect("time to adjust");
        assert!(faster < first);
        // Without requests, nothing is learned.
        let (text, same) = one.adjusted(auto, Some(&text), 0, at(9), false, at(110)).expect("time to adjust");
        assert_eq!(same, faster);
        let (text, slower) = one.adjusted(auto, Some(&text), 0, at(0), true, at(111)).expect("a refusal");
        assert!(slower > faster.mul_f64(1.9));
        other.adjusted(auto, Some(&text), 0, at(0), false, at(111));
        assert_eq!(one.learned_rate(), other.learned_rate());
        assert!(one.learned_rate().is_some());
        assert_eq!(one.adjusted(Speed::Fixed("5/s".parse().expect("a rate")), None, 0, at(9), false, at(111)), None);
    }
}
