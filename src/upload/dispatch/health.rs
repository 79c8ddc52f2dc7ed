//! The service's condition, judged by consecutive outcomes.

use std::time::Duration;

use crate::client::{NextStep, Stop, WriteResult};

/// Maximum number of consecutive 403 responses.
const MAX_FORBIDDEN: u32 = 5;
/// Maximum number of 404 responses without any other response; then the base address is presumably wrong.
const MAX_NOT_FOUND: u32 = 5;
/// Maximum number of consecutive pauses without any other response.
const MAX_THROTTLED: u32 = 20;
/// Maximum number of broken connections before the first response.
const MAX_BROKEN_AT_START: u32 = 3;
/// Maximum number of failed probes.
const MAX_PROBES: u32 = 5;

/// Counters of consecutive outcomes.
#[derive(Debug)]
pub(super) struct Health {
    concurrency: usize,
    has_answered: bool,
    broken_in_a_row: u32,
    throttled_in_a_row: u32,
    forbidden_in_a_row: u32,
    /// Number of 404 responses, or `None` after any other response.
    not_found: Option<u32>,
    /// Failed probes, while the service is unreachable.
    probes: Option<u32>,
}

/// Consequences of an outcome for all records.
#[derive(Debug, Default)]
pub(super) struct Reaction {
    pub stop: Option<Stop>,
    /// Send nothing for this long.
    pub pause: Option<Duration>,
}

impl Reaction {
    fn stop(stop: Stop) -> Reaction {
        Reaction { stop: Some(stop), pause: None }
    }
}

impl Health {
    pub(super) fn new(concurrency: usize) -> Health {
        Health {
            concurrency,
            has_answered: false,
            broken_in_a_row: 0,
            throttled_in_a_row: 0,
            forbidden_in_a_row: 0,
            not_found: Some(0),
            probes: None,
        }
    }

    /// Whether the service is unreachable, so single requests probe for a return.
    pub(super) fn is_probing(&self) -> bool {
        self.probes.is_some()
    }

    /// Returns the number of consecutive pauses.
    pub(super) fn throttled_in_a_row(&self) -> u32 {
        self.throttled_in_a_row
    }

    /// Counts the outcome of an attempt. With `is_paused`, a 429 belongs to the current pause and is not counted.
    pub(super) fn observe(&mut self, step: &NextStep<WriteResult>, is_probe: bool, is_paused: bool) -> Reaction {
        if let NextStep::Retry { failure, .. } | NextStep::Unknown { failure, .. } = step
            && failure.status().is_none()
        {
            self.throttled_in_a_row = 0;
            return self.broken(failure.to_string(), is_probe);
        }
        self.has_answered = true;
        self.broken_in_a_row = 0;
        self.probes = None;
        match step {
            NextStep::TokenRenewed { .. } => {}
            NextStep::Throttled { .. } if is_paused => {}
            NextStep::Throttled { .. } => self.throttled_in_a_row += 1,
            _ => self.throttled_in_a_row = 0,
        }
        if self.throttled_in_a_row >= MAX_THROTTLED {
            return Reaction::stop(Stop::Throttled);
        }
        match step {
            NextStep::Refused(response) if response.status == 404 => {
                self.not_found = self.not_found.map(|count| count + 1);
                self.forbidden_in_a_row = 0;
                if self.not_found.is_some_and(|count| count >= MAX_NOT_FOUND) {
                    return Reaction::stop(Stop::WrongAddress);
                }
            }
            NextStep::Refused(response) if response.status == 403 => {
                self.not_found = None;
                self.forbidden_in_a_row += 1;
                if self.forbidden_in_a_row >= MAX_FORBIDDEN {
                    let refusal = WriteResult::refusal(response.status, &response.body);
                    let message = refusal.errors.into_iter().next().map(|error| error.message);
                    return Reaction::stop(Stop::Forbidden(message.expect("a refusal has a message")));
                }
            }
            NextStep::Done { .. } | NextStep::Refused(_) => {
                self.not_found = None;
                self.forbidden_in_a_row = 0;
            }
            _ => {}
        }
        Reaction::default()
    }

    /// Counts a broken connection. After many in a row the service is unreachable.
    fn broken(&mut self, reason: String, is_probe: bool) -> Reaction {
        self.broken_in_a_row += 1;
        let max_broken = match self.has_answered {
            true => u32::try_from(self.concurrency * 2).unwrap_or(u32::MAX).max(10),
            false => MAX_BROKEN_AT_START,
        };
        let pause = |seconds| Some(Duration::from_secs(seconds));
        match &mut self.probes {
            Some(_) if !is_probe => Reaction::default(),
            Some(probes) => {
                *probes += 1;
                let stop = (*probes >= MAX_PROBES).then_some(Stop::Unreachable(reason));
                Reaction { stop, pause: pause(1 << (*probes).min(4)) }
            }
            None if self.broken_in_a_row < max_broken => Reaction::default(),
            None if self.has_answered => {
                self.probes = Some(0);
                Reaction { stop: None, pause: pause(1) }
            }
            // Waiting would only delay the message to the user.
            None => Reaction::stop(Stop::Unreachable(reason)),
        }
    }
}
