//! Probes: harmless reads that show whether the service answers.

use std::time::Instant;

use serde::de::IgnoredAny;
use sheetport_client::policy::Call;
use sheetport_client::{NextStep, Stop, TransportOutcome, next_step};

use super::{Dispatcher, Step};

impl Dispatcher {
    /// Returns a probe when nothing is in flight.
    pub(super) fn probe_when_idle(&mut self, now: Instant) -> Step {
        if self.in_flight > 0 {
            return Step::Wait;
        }
        if let Err(until) = self.pace.permit(now) {
            return Step::WaitUntil(until);
        }
        self.is_probe_in_flight = true;
        Step::Probe
    }

    /// Processes the outcome of a probe. Any refusal shows that the service answers, except for a 404 if every record was
    /// answered with 404. `jitter` is between 0 and 1.
    pub(crate) fn probed(&mut self, outcome: TransportOutcome, now: Instant, jitter: f64) {
        self.is_probe_in_flight = false;
        self.respect_quota(&outcome, now);
        let step = next_step(Call::Idempotent, outcome, |body| {
            let is_json = serde_json::from_slice::<IgnoredAny>(&body).is_ok();
            is_json.then_some(()).ok_or_else(|| "the answer can't be understood".to_owned())
        });
        let was_checking_address = self.health.is_checking_address();
        let reaction = self.health.observe_probe(&step, self.pause(now).is_some());
        self.react(reaction, now);
        if was_checking_address && !self.health.is_checking_address() && self.stop.is_none() {
            self.released.append(&mut self.held);
        }
        let was_renewed = std::mem::replace(&mut self.was_probe_renewed, matches!(step, NextStep::TokenRenewed { .. }));
        match step {
            NextStep::Done { .. } | NextStep::Refused(_) => {}
            NextStep::Retry { after, .. } | NextStep::Unknown { after, .. } => self.pause_for(after, now),
            NextStep::Throttled { after } => {
                self.throttle(after, now, jitter);
            }
            NextStep::TokenRenewed { reason } if was_renewed => self.stop(Stop::Unauthorized(reason)),
            NextStep::TokenRenewed { .. } | NextStep::Narrowed(_) => {}
            NextStep::Stop(stop) => self.stop(stop),
        }
    }
}
