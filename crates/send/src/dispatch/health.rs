//! The service's condition, judged by the outcomes of attempts.

use std::time::Duration;

use sheetport_client::policy::{MAX_PROBES, outage_pause};
use sheetport_client::{Failure, NextStep, Stop, WriteResult};

use super::stop_reason::StopReason;

/// Maximum number of consecutive 403 responses.
const MAX_FORBIDDEN: u32 = 5;
/// Maximum number of 404 responses without any other response. A probe then decides between a wrong base address and missing
/// records.
const MAX_NOT_FOUND: u32 = 5;
/// Maximum number of consecutive pauses without any other response.
const MAX_THROTTLED: u32 = 20;
/// Maximum number of broken connections before the first response.
const MAX_BROKEN_AT_START: u32 = 3;
/// Pause after a failed probe before the first response.
const PAUSE_AT_START: Duration = Duration::from_millis(500);
/// Share of an unknown outcome made up for by each answered non-idempotent call: one unknown in twenty is acceptable for ever.
const RECOVERY: f64 = 0.05;

/// The current restriction on sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Sending,
    /// A probe, before the first non-idempotent call.
    Checking,
    /// A probe, because every record was answered with 404.
    CheckingAddress,
    /// Probing until a probe is answered.
    Probing,
    /// A single record, because a probe was answered.
    Trial,
}

/// Counters of outcomes.
///
/// After too many unknown outcomes, or broken connections in a row, nothing is sent except probes: harmless reads, one at a time.
/// After an answered probe, a single record is sent as a trial, and after its answer up to half as many as usual. With `n`
/// requests in flight, but at least 2, an outage leaves at most `2 n` non-idempotent calls unknown: `n / 2` until the probing
/// begins, and the `n - 1` then in flight. Afterwards, the number in flight stays within the rest of `2 n`, until enough answered
/// calls end the outage. With a limit set by a person (`--max-unknown`), the number of unknown outcomes ends nothing here, only
/// failed probes and trials in a row do.
#[derive(Debug)]
pub(super) struct Health {
    concurrency: usize,
    /// Whether a person has set the number of unknown outcomes, so that an outage does not limit it.
    has_limit: bool,
    phase: Phase,
    /// Whether a probe was answered before the first non-idempotent call.
    is_checked: bool,
    has_answered: bool,
    broken_in_a_row: u32,
    throttled_in_a_row: u32,
    forbidden_in_a_row: u32,
    /// Number of 404 responses, or `None` after any other response.
    not_found: Option<u32>,
    /// Failed probes and trials since the last answer to a record.
    failed_probes: u32,
    /// Unknown outcomes not yet made up for by answered calls, at most [`Health::max_doubts`].
    doubts: f64,
    /// Number of unknown outcomes since there were no doubts.
    unknown: usize,
    /// Unknown outcomes during the current outage, or `None` without an outage.
    outage: Option<usize>,
}

/// Consequences of an outcome for all records.
#[derive(Debug, Default)]
pub(super) struct Reaction {
    pub stop: Option<StopReason>,
    /// Send nothing for this long.
    pub pause: Option<Duration>,
}

impl Reaction {
    fn stop(reason: impl Into<StopReason>) -> Reaction {
        Reaction { stop: Some(reason.into()), pause: None }
    }

    fn pause(pause: Duration) -> Reaction {
        Reaction { stop: None, pause: Some(pause) }
    }
}

impl Health {
    /// `has_limit`: whether somebody else limits the number of unknown outcomes.
    pub(super) fn new(concurrency: usize, has_limit: bool) -> Health {
        Health {
            concurrency,
            has_limit,
            phase: Phase::Sending,
            is_checked: false,
            has_answered: false,
            broken_in_a_row: 0,
            throttled_in_a_row: 0,
            forbidden_in_a_row: 0,
            not_found: Some(0),
            failed_probes: 0,
            doubts: 0.0,
            unknown: 0,
            outage: None,
        }
    }

    /// Begins to probe before the first non-idempotent call.
    pub(super) fn check_once(&mut self) {
        if !std::mem::replace(&mut self.is_checked, true) {
            self.phase = Phase::Checking;
        }
    }

    /// Whether non-idempotent calls are sent.
    pub(super) fn is_checked(&self) -> bool {
        self.is_checked
    }

    /// Whether only probes may be sent.
    pub(super) fn is_probing(&self) -> bool {
        matches!(self.phase, Phase::Checking | Phase::CheckingAddress | Phase::Probing)
    }

    /// Whether a probe is to show if 404 concerns the records or the base address.
    pub(super) fn is_checking_address(&self) -> bool {
        self.phase == Phase::CheckingAddress
    }

    /// Returns how many records may be in flight.
    pub(super) fn max_in_flight(&self) -> usize {
        match (self.phase, self.outage) {
            (Phase::Trial, _) => 1,
            (_, Some(unknown)) => self.concurrency.div_ceil(2).min(self.max_unknown().saturating_sub(unknown)),
            (_, None) => self.concurrency,
        }
    }

    /// Returns the maximum number of unknown outcomes in an outage.
    fn max_unknown(&self) -> usize {
        if self.has_limit { usize::MAX } else { 2 * self.concurrency.max(2) }
    }

    /// Returns the number of consecutive pauses.
    pub(super) fn throttled_in_a_row(&self) -> u32 {
        self.throttled_in_a_row
    }

    /// Whether a refusal with this status may concern all records, not this record.
    pub(super) fn is_general_refusal(&self, status: u16) -> bool {
        match status {
            403 => true,
            404 => self.not_found.is_some(),
            _ => false,
        }
    }

    /// Counts the outcome of an attempt to send a record. With `is_paused`, a 429 belongs to the current pause and is not
    /// counted.
    pub(super) fn observe(&mut self, step: &NextStep<WriteResult>, is_paused: bool) -> Reaction {
        match step {
            NextStep::Unknown { failure, .. } => {
                self.throttled_in_a_row = 0;
                return self.doubt(failure);
            }
            NextStep::Retry { failure, .. } if failure.status().is_none() => {
                self.throttled_in_a_row = 0;
                return self.broken(failure);
            }
            NextStep::Narrowed(shortage) => return self.broken(&(*shortage).into()),
            _ => {}
        }
        self.has_answered = true;
        self.broken_in_a_row = 0;
        if self.count_pause(step, is_paused) {
            return Reaction::stop(Stop::Throttled);
        }
        if self.phase == Phase::Trial && !matches!(step, NextStep::Throttled { .. } | NextStep::TokenRenewed { .. }) {
            self.phase = Phase::Sending;
            self.failed_probes = 0;
        }
        if let NextStep::Done { .. } | NextStep::Refused(_) = step {
            self.doubts = (self.doubts - RECOVERY).max(0.0);
            self.unknown = if self.doubts > 0.0 { self.unknown } else { 0 };
            self.outage = self.outage.filter(|_| self.doubts > self.max_doubts() / 2.0);
        }
        match step {
            NextStep::Refused(response) if response.status == 404 => {
                self.not_found = self.not_found.map(|count| count + 1);
                self.forbidden_in_a_row = 0;
                if self.not_found.is_some_and(|count| count >= MAX_NOT_FOUND) && self.phase == Phase::Sending {
                    self.phase = Phase::CheckingAddress;
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

    /// Counts the outcome of a probe. A 404 matters only if all records were answered with 404 as well.
    pub(super) fn observe_probe(&mut self, step: &NextStep<()>, is_paused: bool) -> Reaction {
        match step {
            NextStep::Retry { failure, .. } | NextStep::Unknown { failure, .. } => self.probe_failed(failure),
            NextStep::Narrowed(shortage) => self.probe_failed(&(*shortage).into()),
            NextStep::Done { .. } | NextStep::Refused(_) => {
                self.has_answered = true;
                (self.broken_in_a_row, self.throttled_in_a_row) = (0, 0);
                let is_not_found = matches!(step, NextStep::Refused(response) if response.status == 404);
                if self.is_checking_address() && self.not_found.is_some() && is_not_found {
                    return Reaction::stop(Stop::WrongAddress);
                }
                self.phase = match self.phase {
                    Phase::Checking => Phase::Sending,
                    Phase::CheckingAddress => {
                        self.not_found = None;
                        Phase::Sending
                    }
                    _ => Phase::Trial,
                };
                Reaction::default()
            }
            step if self.count_pause(step, is_paused) => Reaction::stop(Stop::Throttled),
            NextStep::Throttled { .. } | NextStep::TokenRenewed { .. } | NextStep::Stop(_) => Reaction::default(),
        }
    }

    /// Counts consecutive pauses. Returns true after too many.
    fn count_pause<T>(&mut self, step: &NextStep<T>, is_paused: bool) -> bool {
        match step {
            NextStep::TokenRenewed { .. } => {}
            NextStep::Throttled { .. } if is_paused => {}
            NextStep::Throttled { .. } => self.throttled_in_a_row += 1,
            _ => self.throttled_in_a_row = 0,
        }
        self.throttled_in_a_row >= MAX_THROTTLED
    }

    fn max_doubts(&self) -> f64 {
        self.concurrency.div_ceil(2) as f64
    }

    /// Counts an unknown outcome.
    fn doubt(&mut self, failure: &Failure) -> Reaction {
        self.has_answered |= failure.status().is_some();
        self.doubts = (self.doubts + 1.0).min(self.max_doubts());
        self.unknown += 1;
        if self.outage.is_none() && self.doubts >= self.max_doubts() {
            self.outage = Some(self.unknown.min(self.concurrency));
            return self.begin_probing();
        }
        let Some(unknown) = &mut self.outage else { return Reaction::default() };
        *unknown += 1;
        if *unknown >= self.max_unknown() {
            return Reaction::stop(StopReason::TooManyUnknown(failure.to_string()));
        }
        match self.phase {
            Phase::Sending => self.begin_probing(),
            Phase::Trial => {
                self.phase = Phase::Probing;
                let reaction = self.probe_failed(failure);
                let stop = reaction.stop.map(|_| StopReason::TooManyUnknown(failure.to_string()));
                Reaction { stop, ..reaction }
            }
            // An attempt from before the probing.
            Phase::Checking | Phase::CheckingAddress | Phase::Probing => Reaction::default(),
        }
    }

    /// Counts a broken connection. After many in a row the service is unreachable.
    fn broken(&mut self, failure: &Failure) -> Reaction {
        self.broken_in_a_row += 1;
        let max_broken = match self.has_answered {
            true => u32::try_from(self.concurrency * 2).unwrap_or(u32::MAX).max(10),
            false => MAX_BROKEN_AT_START,
        };
        match self.phase {
            Phase::Checking | Phase::CheckingAddress | Phase::Probing => Reaction::default(),
            Phase::Trial => {
                self.phase = Phase::Probing;
                self.probe_failed(failure)
            }
            Phase::Sending if self.broken_in_a_row < max_broken => Reaction::default(),
            Phase::Sending if self.has_answered => self.begin_probing(),
            // Waiting would only delay the message to the user.
            Phase::Sending => Reaction::stop(Stop::Unreachable(failure.to_string())),
        }
    }

    fn begin_probing(&mut self) -> Reaction {
        self.phase = Phase::Probing;
        self.failed_probes = 0;
        Reaction::pause(Duration::from_secs(1))
    }

    fn probe_failed(&mut self, failure: &Failure) -> Reaction {
        self.has_answered |= failure.status().is_some();
        self.failed_probes += 1;
        let (max, pause) = match self.has_answered {
            true => (MAX_PROBES, outage_pause(self.failed_probes)),
            false => (MAX_BROKEN_AT_START, PAUSE_AT_START),
        };
        match self.failed_probes >= max {
            true => Reaction::stop(Stop::Unreachable(failure.to_string())),
            false => Reaction::pause(pause),
        }
    }
}
