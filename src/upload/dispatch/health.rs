//! The service's condition, judged by consecutive outcomes.

use std::time::Duration;

use crate::client::{NextStep, Stop, WriteResult};

/// Consecutive 403 responses after which every further record would be refused.
const MAX_FORBIDDEN: u32 = 5;
/// 404 responses to the first requests of a run after which the base address is presumably wrong.
const MAX_NOT_FOUND: u32 = 5;
/// Consecutive pauses, with no other response in between, after which the run stops.
const MAX_THROTTLED: u32 = 20;
/// Broken connections after which a service that has never answered counts as unreachable.
const MAX_BROKEN_AT_START: u32 = 3;
/// Failed probes after which a service that has answered before counts as unreachable.
const MAX_PROBES: u32 = 5;

/// Counters of consecutive outcomes.
#[derive(Debug)]
pub(super) struct Health {
    concurrency: usize,
    has_answered: bool,
    broken_in_a_row: u32,
    throttled_in_a_row: u32,
    forbidden_in_a_row: u32,
    /// Number of responses, as long as all of them were 404.
    not_found: Option<u32>,
    /// Failed probes, while the service is unreachable.
    probes: Option<u32>,
}

/// What follows for all records from an outcome.
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
    pub fn new(concurrency: usize) -> Health {
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

    /// Whether the service is unreachable, so that one request at a time probes for it.
    pub fn is_probing(&self) -> bool {
        self.probes.is_some()
    }

    /// Returns the number of consecutive pauses.
    pub fn throttled_in_a_row(&self) -> u32 {
        self.throttled_in_a_row
    }

    /// Counts the outcome of an attempt. `is_paused` tells whether a pause was in force already: requests that were in
    /// flight together are throttled together, which counts once.
    pub fn observe(&mut self, step: &NextStep<WriteResult>, is_probe: bool, is_paused: bool) -> Reaction {
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

    /// Counts a broken connection. Many in a row mean that the service is unreachable.
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
