//! The dispatcher: order and timing of records, retries and pauses. Pure, so tests can simulate any behaviour of the service:
//! no I/O, and time and jitter are arguments.
//!
//! `client::policy` decides what follows from a single attempt, for every command; the dispatcher applies these decisions to many records at
//! once: order of records with the same key, pauses for all, probing while the service is unreachable, and stopping. A record with no answer
//! at all, or only answers of a failing service, stays pending, and the run can be resumed. A record answered with 409 or 500 five times is failed,
//! because the record itself may be the cause.

mod health;
mod job;
mod probe;
mod stop_reason;
#[cfg(test)]
mod throughput;
mod width;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use sheetport_client::policy::{self, Call, LONGEST_WAIT, MAX_ATTEMPTS};
use sheetport_client::{
    Failure, NextStep, Pace, Quota, RequestContext, Response, Shortage, Stop, TransportOutcome, WriteResult, next_step,
};
use sheetport_ledger::{RecordState, Seq};
use sheetport_records::RecordKind;

use health::{Health, Reaction};
use width::Width;

pub use job::{Job, OrderingKey, Settled};
pub use stop_reason::StopReason;

/// Retries permitted in every run, in addition to half the number of settled records.
const RETRY_BUDGET: u64 = 100;

/// How many records may have no success before a run stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Maximum number of refused and unknown records.
    pub max_errors: Option<u64>,
    /// Refused and unknown records so far, those of other workers included.
    pub failed: u64,
    /// Maximum number of unknown records, instead of the limit of an outage.
    pub max_unknown: Option<u64>,
    /// Unknown records so far, those of other workers included.
    pub unknown: u64,
}

/// The next step of a run. Taken apart where it is returned, so its size does not matter.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Step {
    Send(Job),
    /// Send [`PROBE_PATH`](sheetport_client::fetch::PROBE_PATH) and report its outcome to [`Dispatcher::probed`].
    Probe,
    /// Nothing may be sent before this time.
    WaitUntil(Instant),
    /// Nothing can be sent before an attempt ends or another record is added.
    Wait,
}

/// The state of a run during sending.
pub struct Dispatcher {
    kind: RecordKind,
    pub pace: Pace,
    /// How long it takes to store intents.
    pub lead: Duration,
    ready: VecDeque<Job>,
    /// Jobs to be sent again, by time.
    delayed: BTreeMap<(Instant, Seq), Job>,
    /// Ordering keys of issued and unsettled jobs, with waiting jobs.
    keys: HashMap<OrderingKey, VecDeque<Job>>,
    /// Number of jobs in `keys`.
    waiting: usize,
    /// Ordering keys of deferred jobs: later jobs with these keys must not overtake.
    deferred_keys: HashSet<OrderingKey>,
    /// Number of deferred jobs: given up for now, and still pending.
    deferred: u64,
    /// Last failure of a deferred job.
    deferred_reason: String,
    in_flight: usize,
    is_probe_in_flight: bool,
    /// Whether the last probe failed for an old token.
    was_probe_renewed: bool,
    /// Refused jobs with a reason that may concern all records. They stay pending if the run stops.
    held: Vec<Settled>,
    released: Vec<Settled>,
    paused_until: Option<Instant>,
    /// The end of the pauses that the service asked for; the others are of an outage.
    requested_until: Option<Instant>,
    stop: Option<StopReason>,
    /// Number of jobs without an outcome: waiting, in flight or given up for now.
    unsettled: u64,
    health: Health,
    width: Width,
    settled: u64,
    limits: Limits,
    pub retries: u64,
    pub throttled: u64,
}

impl Dispatcher {
    /// Creates a dispatcher. The run stops when the limits are exceeded.
    pub fn new(kind: RecordKind, concurrency: usize, pace: Pace, limits: Limits) -> Dispatcher {
        Dispatcher {
            kind,
            pace,
            lead: Duration::ZERO,
            ready: VecDeque::new(),
            delayed: BTreeMap::new(),
            keys: HashMap::new(),
            waiting: 0,
            deferred_keys: HashSet::new(),
            deferred: 0,
            deferred_reason: String::new(),
            in_flight: 0,
            is_probe_in_flight: false,
            was_probe_renewed: false,
            held: Vec::new(),
            released: Vec::new(),
            paused_until: None,
            requested_until: None,
            stop: None,
            unsettled: 0,
            health: Health::new(concurrency.max(1), limits.max_unknown.is_some()),
            width: Width::new(concurrency.max(1)),
            settled: 0,
            limits,
            retries: 0,
            throttled: 0,
        }
    }

    /// Adds a record to be sent.
    pub fn push(&mut self, job: Job) {
        self.unsettled += 1;
        if self.deferred_keys.contains(&job.ordering_key) {
            self.deferred += 1;
        } else {
            self.ready.push_back(job);
        }
    }

    /// Returns the number of waiting jobs, for any reason.
    pub(crate) fn backlog(&self) -> usize {
        self.ready.len() + self.delayed.len() + self.waiting
    }

    /// Returns the number of jobs waiting for a retry.
    pub fn retrying(&self) -> u64 {
        self.delayed.len() as u64
    }

    /// Returns the number of jobs without an outcome: waiting, in flight or given up for now.
    pub(crate) fn unsettled(&self) -> u64 {
        self.unsettled
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Whether nothing is waiting or in flight.
    pub fn is_empty(&self) -> bool {
        self.in_flight == 0 && self.ready.is_empty() && self.delayed.is_empty() && self.keys.is_empty()
    }

    /// Returns why nothing else is sent, if the run has to stop.
    pub fn stop_reason(&self) -> Option<&StopReason> {
        self.stop.as_ref()
    }

    /// Returns the number of deferred jobs and the last failure of a deferred job.
    pub(crate) fn deferred(&self) -> Option<(u64, &str)> {
        (self.deferred > 0).then_some((self.deferred, self.deferred_reason.as_str()))
    }

    /// Returns what this machine is short of, and how many requests are in flight at once because of it.
    pub fn shortage(&self) -> Option<(Shortage, usize)> {
        self.width.shortage()
    }

    /// Returns the remaining time of the current pause.
    pub fn pause(&self, now: Instant) -> Option<Duration> {
        self.paused_until.map(|until| until.saturating_duration_since(now)).filter(|left| !left.is_zero())
    }

    /// Whether the service has asked for the current pause.
    pub fn is_pause_requested(&self) -> bool {
        self.paused_until.is_some() && self.paused_until == self.requested_until
    }

    /// Returns the next job to send, or how long to wait.
    pub fn step(&mut self, now: Instant) -> Step {
        if self.stop.is_some() {
            return Step::Wait;
        }
        if let Some(until) = self.paused_until {
            if now < until {
                return Step::WaitUntil(until);
            }
            self.paused_until = None;
        }
        let most = self.health.max_in_flight().min(self.width.at(now)).min(self.unknown_left());
        if self.in_flight >= most || self.is_probe_in_flight {
            return Step::Wait;
        }
        self.queue_due_jobs(now);
        if self.health.is_checking_address() {
            return self.probe_when_idle(now);
        }
        let Some(next) = self.ready.front() else {
            return self.delayed.first_key_value().map_or(Step::Wait, |((at, _), _)| Step::WaitUntil(*at));
        };
        // An outage also uses up the time for repeating a call with a key.
        if next.call != Call::Idempotent {
            self.health.check_once();
        }
        if self.health.is_probing() {
            return self.probe_when_idle(now);
        }
        // The intent of a call that must not be repeated is stored before its permit is due.
        let lead = if next.call == Call::Idempotent { Duration::ZERO } else { self.lead };
        let starts_at = match self.pace.permit_within(now, lead) {
            Ok(starts_at) => starts_at,
            Err(until) => return Step::WaitUntil(until),
        };
        let Some(mut job) = self.ready.pop_front() else { return Step::Wait };
        job.starts_at = Some(starts_at);
        if !std::mem::replace(&mut job.holds_key, true) {
            self.keys.insert(job.ordering_key.clone(), VecDeque::new());
        }
        self.in_flight += 1;
        Step::Send(job)
    }

    /// Returns how many calls may become unknown at once: `max_unknown` is exceeded by a single record, not by all in flight.
    fn unknown_left(&self) -> usize {
        match self.limits.max_unknown {
            Some(max) if self.health.is_checked() => {
                let left = max.saturating_add(1).saturating_sub(self.limits.unknown).max(1);
                usize::try_from(left).unwrap_or(usize::MAX)
            }
            Some(_) | None => usize::MAX,
        }
    }

    /// Moves jobs with an expired delay to the front, and leading jobs with an occupied key into the queue of the key.
    fn queue_due_jobs(&mut self, now: Instant) {
        while let Some(delayed) = self.delayed.first_entry().filter(|delayed| delayed.key().0 <= now) {
            self.ready.push_front(delayed.remove());
        }
        self.queue_waiting_jobs();
    }

    fn queue_waiting_jobs(&mut self) {
        while let Some(job) = self.ready.pop_front_if(|job| !job.holds_key && self.keys.contains_key(&job.ordering_key))
        {
            if let Some(waiting) = self.keys.get_mut(&job.ordering_key) {
                waiting.push_back(job);
                self.waiting += 1;
            }
        }
    }

    /// Forgets a job in flight after an external outcome.
    pub fn forget(&mut self) {
        self.in_flight -= 1;
        self.unsettled -= 1;
    }

    /// Removes a job returned by [`Step::Send`] that will not be sent. Its outcome comes from elsewhere.
    pub fn withdraw(&mut self, job: &Job) {
        self.forget();
        self.release(&job.ordering_key);
    }

    /// Settles a job returned by [`Step::Send`] as unknown, without another attempt.
    pub fn give_up(&mut self, job: Job, reason: &str) -> Settled {
        self.in_flight -= 1;
        let settled = Settled {
            job,
            state: RecordState::Unknown,
            http_status: None,
            result: WriteResult::refused(reason.to_owned()),
        };
        self.record(&settled);
        settled
    }

    /// Processes the outcome of an attempt. Returns the job if settled. Otherwise the job is sent again, stays pending, or is
    /// returned by [`Dispatcher::released`] later. `jitter` is between 0 and 1.
    pub fn settle(
        &mut self,
        job: Job,
        requests: u32,
        outcome: TransportOutcome,
        now: Instant,
        jitter: f64,
    ) -> Option<Settled> {
        let settled = self.settle_attempt(job, requests, outcome, now, jitter)?;
        let is_general = settled.state == RecordState::Failed
            && settled.http_status.is_some_and(|status| self.health.is_general_refusal(status));
        if is_general {
            self.held.push(settled);
            return None;
        }
        if self.stop.is_none() {
            self.released.append(&mut self.held);
        }
        self.record(&settled);
        Some(settled)
    }

    /// Returns refused jobs that were held back until it was certain that the refusal does not concern all records.
    pub fn released(&mut self) -> Vec<Settled> {
        self.queue_waiting_jobs();
        let is_idle = self.in_flight == 0 && self.ready.is_empty() && self.delayed.is_empty();
        if is_idle && !self.health.is_checking_address() && self.stop.is_none() {
            self.released.append(&mut self.held);
        }
        let released = std::mem::take(&mut self.released);
        released.iter().for_each(|settled| self.record(settled));
        released
    }

    /// Returns the job if settled, and `None` if the job stays pending.
    fn settle_attempt(
        &mut self,
        mut job: Job,
        requests: u32,
        outcome: TransportOutcome,
        now: Instant,
        jitter: f64,
    ) -> Option<Settled> {
        self.in_flight -= 1;
        job.requests += requests;
        self.respect_quota(&outcome, now);
        let step = {
            let key = job.key.as_deref();
            let context = RequestContext { kind: self.kind, target: job.target.as_deref(), key };
            next_step(job.call, outcome, |body| WriteResult::parse(&context, &body))
        };
        if let NextStep::Narrowed(shortage) = step
            && self.in_flight > 0
        {
            self.width.narrow(shortage, self.in_flight, now);
            self.delay(job, now);
            return None;
        }
        self.observe(&step, now);
        let was_renewed = std::mem::replace(&mut job.was_renewed, matches!(step, NextStep::TokenRenewed { .. }));
        let settled = match step {
            NextStep::Done { status, value } => Settled::answered(job, status, value),
            NextStep::Refused(Response { status, body, .. }) => {
                Settled::answered(job, status, WriteResult::refusal(status, &body))
            }
            NextStep::Unknown { failure, stop, .. } => {
                if let Some(stop) = stop {
                    self.stop(stop);
                }
                Settled::unknown(job, &failure, failure.to_string())
            }
            NextStep::Retry { after, failure } => {
                job.may_be_applied |= failure.may_be_applied();
                self.retry(job, after, &failure, now, jitter)?
            }
            NextStep::Throttled { after } => {
                let pause = self.throttle(after, now, jitter);
                self.delay(job, now + pause);
                return None;
            }
            NextStep::TokenRenewed { reason } if was_renewed => {
                self.stop(Stop::Unauthorized(reason));
                self.release(&job.ordering_key);
                return None;
            }
            NextStep::TokenRenewed { .. } => {
                self.delay(job, now);
                return None;
            }
            NextStep::Stop(stop) => {
                self.stop(stop);
                self.release(&job.ordering_key);
                return None;
            }
            // Alone, it gets no connection either: an outage like others.
            NextStep::Narrowed(shortage) => self.retry(job, None, &shortage.into(), now, jitter)?,
        };
        Some(settled)
    }

    /// Delays a job for another attempt. After the last attempt, returns the settled job, or `None` if the job is deferred.
    fn retry(
        &mut self,
        mut job: Job,
        after: Option<Duration>,
        failure: &Failure,
        now: Instant,
        jitter: f64,
    ) -> Option<Settled> {
        // An outage does not count against the record.
        if !self.health.is_probing() {
            job.attempts += 1;
        }
        if job.attempts < MAX_ATTEMPTS {
            self.retries += 1;
            let pause = after.unwrap_or_else(|| policy::backoff(job.attempts.max(1), false, jitter));
            self.delay(job, now + pause);
            return None;
        }
        let reason = format!("{failure}, {} times", job.attempts);
        match failure.status() {
            // The service accepted the request without a readable result.
            Some(200..=299) => Some(Settled::unknown(job, failure, reason)),
            // The record itself may cause the error.
            Some(status @ (409 | 500)) => Some(Settled::answered(job, status, WriteResult::refused(reason))),
            // The service is in trouble or unreachable; the record is not at fault.
            Some(_) | None => {
                self.deferred_reason = failure.to_string();
                self.defer(job);
                None
            }
        }
    }

    /// Counts a settled job and releases the key.
    fn record(&mut self, settled: &Settled) {
        if settled.state != RecordState::Sent {
            self.limits.failed += 1;
            self.limits.unknown += u64::from(settled.state == RecordState::Unknown);
            let Limits { max_errors, failed, max_unknown, unknown } = self.limits;
            if max_errors.is_some_and(|max| failed > max) {
                self.stop(StopReason::TooManyErrors(failed));
            }
            if max_unknown.is_some_and(|max| unknown > max) {
                self.stop(StopReason::UnknownBeyondLimit(unknown));
            }
        }
        self.settled += 1;
        self.unsettled -= 1;
        self.release(&settled.job.ordering_key);
    }

    /// Draws conclusions from an outcome for all records.
    fn observe(&mut self, step: &NextStep<WriteResult>, now: Instant) {
        let reaction = self.health.observe(step, self.pause(now).is_some());
        self.react(reaction, now);
        match step {
            NextStep::Done { .. } | NextStep::Refused(_) => self.pace.answered(),
            NextStep::Retry { after: Some(after), failure }
            | NextStep::Unknown { after: Some(after), failure, stop: None } => {
                let everybody = self.pace.asked_to_wait(now + *after, failure.status());
                self.pause_for(everybody.map(|until| until.saturating_duration_since(now)), now);
            }
            _ => {}
        }
        if let NextStep::Retry { failure, .. } = step
            && failure.status().is_some()
            && self.retries > RETRY_BUDGET + self.settled / 2
        {
            self.stop(StopReason::TooManyRetries(failure.to_string()));
        }
    }

    fn react(&mut self, reaction: Reaction, now: Instant) {
        if let Some(stop) = reaction.stop {
            self.stop(stop);
        }
        self.extend_pause(reaction.pause.map(|pause| now + pause));
    }

    /// Pauses after a 429 and returns the pause.
    fn throttle(&mut self, after: Option<Duration>, now: Instant, jitter: f64) -> Duration {
        self.throttled += 1;
        self.pace.refused(now);
        let throttled_in_a_row = self.health.throttled_in_a_row();
        let pause = after.unwrap_or_else(|| policy::backoff(throttled_in_a_row, true, jitter));
        self.pause_for(Some(pause), now);
        pause
    }

    /// Pauses until the limit is reset if the service accepts no further request before.
    fn respect_quota(&mut self, outcome: &TransportOutcome, now: Instant) {
        if let TransportOutcome::Response(Response { quota: Some(Quota { remaining: 0, reset }), .. }) = outcome
            && *reset <= LONGEST_WAIT
        {
            self.pace.refused(now);
            self.pause_for(Some(*reset), now);
        }
    }

    /// Stops the run. The first reason counts.
    pub(crate) fn stop(&mut self, reason: impl Into<StopReason>) {
        self.stop.get_or_insert_with(|| reason.into());
    }

    /// Pauses as the service asks.
    fn pause_for(&mut self, pause: Option<Duration>, now: Instant) {
        let until = pause.map(|pause| now + pause);
        self.requested_until = self.requested_until.max(until);
        self.extend_pause(until);
    }

    /// Extends the pause. A pause is never shortened.
    fn extend_pause(&mut self, until: Option<Instant>) {
        if let Some(until) = until {
            self.pace.share_pause(until);
        }
        self.paused_until = self.paused_until.max(until);
    }

    /// Defers a job together with all jobs of the same key.
    fn defer(&mut self, job: Job) {
        let waiting = self.keys.remove(&job.ordering_key).map_or(0, |waiting| waiting.len());
        self.waiting -= waiting;
        let ready = self.ready.len();
        self.ready.retain(|other| other.ordering_key != job.ordering_key);
        self.deferred += (1 + waiting + ready - self.ready.len()) as u64;
        self.deferred_keys.insert(job.ordering_key);
    }

    fn delay(&mut self, job: Job, at: Instant) {
        self.delayed.insert((at, job.seq), job);
    }

    /// Releases an ordering key and queues the waiting jobs.
    fn release(&mut self, key: &OrderingKey) {
        if let Some(waiting) = self.keys.remove(key) {
            self.waiting -= waiting.len();
            for job in waiting.into_iter().rev() {
                self.ready.push_front(job);
            }
        }
    }
}

#[cfg(test)]
mod tests;
