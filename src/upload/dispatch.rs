//! Which record goes next, when, and what its attempt leads to. Pure: it is told the time and the chance, and sends
//! nothing itself, so that a test can drive it through any weather.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Bytes;

use crate::client::answer::{self, Sent};
use crate::client::policy::{self, MAX_ATTEMPTS, Next, Stop};
use crate::client::{Answer, Exchange, Pace, Quota};
use crate::ledger::Seq;
use crate::records::RecordKind;

/// Refusals for want of rights in a row after which the rest would be refused too.
const FORBIDDEN_IN_A_ROW: u32 = 5;
/// Pauses that the service asked for in a row, with nothing else said between, after which it means it.
const THROTTLED_IN_A_ROW: u32 = 20;
/// Broken connections after which a service that has not answered once is taken to be away.
const NEVER_THERE: u32 = 3;
/// Single attempts, one at a time, after which a service that does not answer is given up for now.
const PROBES: u32 = 5;

/// A record to be sent.
#[derive(Debug)]
pub struct Job {
    pub seq: Seq,
    pub lane: Lane,
    /// What the call's path names.
    pub target: Option<String>,
    pub body: Bytes,
    /// It must not be sent twice.
    pub is_once: bool,
    /// Requests made for it so far.
    pub requests: u32,
    /// Attempts that count towards giving up.
    tries: u32,
    /// It was sent before and keeps its key until it is settled, so that no later record with the key overtakes it.
    holds_key: bool,
    /// It was not let in, and goes again with a newer token.
    renewed: bool,
    /// It went out alone, to see whether the service is back.
    is_probe: bool,
}

/// What keeps records in order: those in one lane go one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Records with the same key.
    Key(Arc<str>),
    /// A record that nothing identifies is by itself.
    Alone(Seq),
}

impl Lane {
    pub fn key(&self) -> Option<&str> {
        match self {
            Lane::Key(key) => Some(key),
            Lane::Alone(_) => None,
        }
    }
}

impl Job {
    pub fn new(seq: Seq, key: Option<impl Into<Arc<str>>>, target: Option<String>, body: impl Into<Bytes>) -> Job {
        let lane = key.map_or(Lane::Alone(seq), |key| Lane::Key(key.into()));
        Job {
            seq,
            lane,
            target,
            body: body.into(),
            is_once: false,
            requests: 0,
            tries: 0,
            holds_key: false,
            renewed: false,
            is_probe: false,
        }
    }

    /// For a call that must not be repeated.
    pub fn once(self) -> Job {
        Job { is_once: true, ..self }
    }
}

/// What to do now.
#[derive(Debug)]
pub enum Step {
    Send(Job),
    /// Nothing may be sent before then.
    WaitUntil(Instant),
    /// Nothing can be sent before an answer or another record comes.
    Wait,
}

/// A record whose fate is decided.
#[derive(Debug)]
pub struct Settled {
    pub job: Job,
    pub verdict: Verdict,
}

#[derive(Debug)]
pub enum Verdict {
    Sent { status: u16, read: answer::Read },
    Failed { status: Option<u16>, read: answer::Read },
    Unknown { status: Option<u16>, reason: String },
}

/// Why no more records are issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    Policy(Stop),
    /// The service can't be reached, and why.
    Unreachable(String),
    /// The token does not allow this, in the service's words.
    Forbidden(String),
    Throttled,
    /// Too many attempts had to be repeated.
    TooManyRetries(String),
    /// The service refused more records than it may.
    TooManyErrors(u64),
}

pub struct Dispatcher {
    kind: RecordKind,
    concurrency: usize,
    pace: Pace,
    ready: VecDeque<Job>,
    delayed: BinaryHeap<Reverse<Delayed>>,
    /// Keys of records that were issued and not settled, each with the records that wait for it.
    keys: HashMap<Lane, VecDeque<Job>>,
    /// How many wait so.
    waiting: usize,
    /// Keys of records that were given up for now: a later record with the key must not overtake them.
    left_keys: HashSet<Lane>,
    in_flight: usize,
    paused_until: Option<Instant>,
    halt: Option<Halt>,
    /// Records that were given up for now; they stay pending.
    left: u64,
    /// Why the last of them was.
    left_why: String,
    /// Records that have no fate yet, whatever may become of them.
    unsettled: u64,
    /// Whether the service has answered anything at all.
    reached: bool,
    broken_in_a_row: u32,
    throttled_in_a_row: u32,
    forbidden_in_a_row: u32,
    probes: Option<u32>,
    settled: u64,
    failed: u64,
    /// Refused records after which nothing more is sent.
    max_errors: Option<u64>,
    pub retries: u64,
    pub throttled: u64,
}

struct Delayed {
    at: Instant,
    job: Job,
}

impl Dispatcher {
    pub fn new(kind: RecordKind, concurrency: usize, pace: Pace) -> Dispatcher {
        Dispatcher {
            kind,
            concurrency: concurrency.max(1),
            pace,
            ready: VecDeque::new(),
            delayed: BinaryHeap::new(),
            keys: HashMap::new(),
            waiting: 0,
            left_keys: HashSet::new(),
            in_flight: 0,
            paused_until: None,
            halt: None,
            left: 0,
            left_why: String::new(),
            unsettled: 0,
            reached: false,
            broken_in_a_row: 0,
            throttled_in_a_row: 0,
            forbidden_in_a_row: 0,
            probes: None,
            settled: 0,
            failed: 0,
            max_errors: None,
            retries: 0,
            throttled: 0,
        }
    }

    /// Stops the run when more than so many records were refused.
    pub fn with_max_errors(self, max_errors: Option<u64>) -> Dispatcher {
        Dispatcher { max_errors, ..self }
    }

    pub fn push(&mut self, job: Job) {
        self.unsettled += 1;
        if self.left_keys.contains(&job.lane) {
            self.left += 1;
        } else {
            self.ready.push_back(job);
        }
    }

    /// Records that wait to be sent, for whatever reason.
    pub fn backlog(&self) -> usize {
        self.ready.len() + self.delayed.len() + self.waiting
    }

    /// Records that wait to be sent again.
    pub fn retrying(&self) -> u64 {
        self.delayed.len() as u64
    }

    /// Records that were taken in and have no fate: waiting, under way or left.
    pub fn unsettled(&self) -> u64 {
        self.unsettled
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    pub fn is_empty(&self) -> bool {
        self.in_flight == 0 && self.ready.is_empty() && self.delayed.is_empty() && self.keys.is_empty()
    }

    pub fn halt(&self) -> Option<&Halt> {
        self.halt.as_ref()
    }

    /// Records that got no answer in all their attempts and stay pending, and why the last of them got none.
    pub fn left(&self) -> Option<(u64, &str)> {
        (self.left > 0).then_some((self.left, self.left_why.as_str()))
    }

    /// The end of a pause that keeps everybody from sending, if one is on.
    pub fn pause(&self, now: Instant) -> Option<Duration> {
        self.paused_until.map(|until| until.saturating_duration_since(now)).filter(|left| !left.is_zero())
    }

    /// The pace that it keeps.
    pub fn pace(&self) -> &Pace {
        &self.pace
    }

    pub fn step(&mut self, now: Instant) -> Step {
        if self.halt.is_some() {
            return Step::Wait;
        }
        if let Some(until) = self.paused_until {
            if now < until {
                return Step::WaitUntil(until);
            }
            self.paused_until = None;
        }
        let width = if self.probes.is_some() { 1 } else { self.concurrency };
        if self.in_flight >= width {
            return Step::Wait;
        }
        while self.delayed.peek().is_some_and(|Reverse(delayed)| delayed.at <= now) {
            if let Some(Reverse(delayed)) = self.delayed.pop() {
                self.ready.push_front(delayed.job);
            }
        }
        // Records with one key go one after the other, in the sheet's order.
        while let Some(job) = self.ready.pop_front_if(|job| !job.holds_key && self.keys.contains_key(&job.lane)) {
            if let Some(waiting) = self.keys.get_mut(&job.lane) {
                waiting.push_back(job);
                self.waiting += 1;
            }
        }
        if self.ready.is_empty() {
            return self.delayed.peek().map_or(Step::Wait, |Reverse(delayed)| Step::WaitUntil(delayed.at));
        }
        if let Err(until) = self.pace.permit(now) {
            return Step::WaitUntil(until);
        }
        match self.ready.pop_front() {
            None => Step::Wait,
            Some(mut job) => {
                if !std::mem::replace(&mut job.holds_key, true) {
                    self.keys.insert(job.lane.clone(), VecDeque::new());
                }
                self.in_flight += 1;
                job.is_probe = self.probes.is_some();
                Step::Send(job)
            }
        }
    }

    /// Takes back a record that was to be sent and was not.
    pub fn put_back(&mut self, job: Job) {
        self.in_flight -= 1;
        self.ready.push_front(job);
    }

    /// A record under way was settled without an answer.
    pub fn forget(&mut self) {
        self.in_flight -= 1;
        self.unsettled -= 1;
    }

    /// Takes the result of an attempt. Answers the record's fate, or nothing when it will be tried again.
    pub fn settle(
        &mut self,
        mut job: Job,
        requests: u32,
        exchange: Exchange,
        now: Instant,
        chance: f64,
    ) -> Option<Settled> {
        self.in_flight -= 1;
        job.requests += requests;
        let sent = Sent { kind: self.kind, target: job.target.as_deref(), key: job.lane.key(), body: &job.body };
        if let Exchange::Answered(Answer { quota: Some(Quota { remaining: 0, reset }), .. }) = &exchange
            && *reset <= policy::LONGEST_WAIT
        {
            // One more would be refused, so nobody asks: it is as good as a refusal.
            self.pace.refused(now);
            self.pause_until(now + *reset);
        }
        let next = policy::decide(&sent, exchange);
        self.observe(&next, job.is_probe, now);
        let was_renewed = std::mem::replace(&mut job.renewed, matches!(next, Next::Again { .. }));
        let verdict = match next {
            Next::Sent { status, read } => Verdict::Sent { status, read },
            Next::Failed { status, read } => Verdict::Failed { status: Some(status), read },
            Next::Unknown { after, status, reason } => {
                match after {
                    Some(wait) if wait > policy::LONGEST_WAIT => {
                        self.halt.get_or_insert(Halt::Policy(Stop::WaitTooLong(wait)));
                    }
                    Some(wait) => self.pause_until(now + wait),
                    None => {}
                }
                Verdict::Unknown { status, reason }
            }
            Next::Retry { after, reason, status, .. } => {
                if let Some(pause) = after {
                    self.pause_until(now + pause);
                }
                // While the service is out of reach, attempts only probe for it and don't count against the record.
                if self.probes.is_none() {
                    job.tries += 1;
                }
                if job.tries >= MAX_ATTEMPTS {
                    match status {
                        // It says that it did something, but not what.
                        Some(200..=299) => Verdict::Unknown { status, reason: given_up(job.tries, &reason) },
                        // The record may be why.
                        Some(500) => Verdict::Failed { status, read: said(given_up(job.tries, &reason)) },
                        // The service is not well, or nobody answered: that is not the record's fault.
                        Some(_) | None => {
                            self.left_why = reason;
                            self.leave(job);
                            return None;
                        }
                    }
                } else {
                    self.retries += 1;
                    let pause = after.unwrap_or_else(|| policy::backoff(job.tries.max(1), false, chance));
                    return self.delay(job, now + pause);
                }
            }
            Next::Throttled { after } => {
                self.throttled += 1;
                self.pace.refused(now);
                let pause = after.unwrap_or_else(|| policy::backoff(self.throttled_in_a_row, true, chance));
                self.pause_until(now + pause);
                return self.delay(job, now + pause);
            }
            Next::Again { reason } if was_renewed => {
                self.halt.get_or_insert(Halt::Policy(Stop::Unauthorized(reason)));
                self.release(&job.lane);
                return None;
            }
            Next::Again { .. } => return self.delay(job, now),
            Next::Stop(stop) => {
                self.halt.get_or_insert(Halt::Policy(stop));
                self.release(&job.lane);
                return None;
            }
        };
        if matches!(verdict, Verdict::Failed { .. }) {
            self.failed += 1;
            if self.max_errors.is_some_and(|most| self.failed > most) {
                self.halt.get_or_insert(Halt::TooManyErrors(self.failed));
            }
        }
        self.settled += 1;
        self.unsettled -= 1;
        self.release(&job.lane);
        Some(Settled { job, verdict })
    }

    /// Keeps count of what the attempts say about the service as a whole.
    fn observe(&mut self, next: &Next, is_probe: bool, now: Instant) {
        let is_broken = matches!(next, Next::Retry { status: None, .. } | Next::Unknown { status: None, .. });
        if !is_broken {
            self.reached = true;
            self.broken_in_a_row = 0;
            self.probes = None;
        }
        match next {
            // All that were under way together are throttled together: that is said once.
            Next::Again { .. } => {}
            Next::Throttled { .. } if self.pause(now).is_some() => {}
            Next::Throttled { .. } => self.throttled_in_a_row += 1,
            _ => self.throttled_in_a_row = 0,
        }
        if self.throttled_in_a_row >= THROTTLED_IN_A_ROW {
            self.halt.get_or_insert(Halt::Throttled);
        }
        match next {
            Next::Failed { status: 403, read } => {
                self.forbidden_in_a_row += 1;
                if self.forbidden_in_a_row >= FORBIDDEN_IN_A_ROW {
                    let words = read.errors.first().map(|said| said.message.clone()).unwrap_or_default();
                    self.halt.get_or_insert(Halt::Forbidden(words));
                }
            }
            Next::Sent { .. } | Next::Failed { .. } => self.forbidden_in_a_row = 0,
            Next::Retry { status: Some(_), reason, .. } if self.retries > 100 + self.settled / 2 => {
                self.halt.get_or_insert(Halt::TooManyRetries(reason.clone()));
            }
            Next::Retry { status: None, reason, .. } | Next::Unknown { status: None, reason, .. } => {
                self.broken(reason, is_probe, now)
            }
            _ => {}
        }
    }

    /// Counts a broken connection: many in a row mean that the service is away, not that a record is at fault.
    fn broken(&mut self, reason: &str, is_probe: bool, now: Instant) {
        self.broken_in_a_row += 1;
        let many = match self.reached {
            true => u32::try_from(self.concurrency * 2).unwrap_or(u32::MAX).max(10),
            false => NEVER_THERE,
        };
        if let Some(probes) = &mut self.probes {
            if !is_probe {
                // It had gone out with the others whose breaking began this.
                return;
            }
            *probes += 1;
            let pause = Duration::from_secs(1 << (*probes).min(4));
            if *probes >= PROBES {
                self.halt.get_or_insert(Halt::Unreachable(reason.to_owned()));
            }
            self.pause_until(now + pause);
        } else if self.broken_in_a_row >= many {
            if self.reached {
                self.probes = Some(0);
                self.pause_until(now + Duration::from_secs(1));
            } else {
                // It was never there: waiting would only keep the person from the message.
                self.halt.get_or_insert(Halt::Unreachable(reason.to_owned()));
            }
        }
    }

    /// Nobody sends before `until`. A pause is never made shorter.
    fn pause_until(&mut self, until: Instant) {
        self.paused_until = Some(self.paused_until.map_or(until, |other| other.max(until)));
    }

    /// Gives a record up for now, and with it those that wait for it.
    fn leave(&mut self, job: Job) {
        let waiting = self.keys.remove(&job.lane).map_or(0, |waiting| waiting.len());
        self.waiting -= waiting;
        let ready = self.ready.len();
        self.ready.retain(|other| other.lane != job.lane);
        self.left += (1 + waiting + ready - self.ready.len()) as u64;
        self.left_keys.insert(job.lane);
    }

    fn delay(&mut self, job: Job, at: Instant) -> Option<Settled> {
        self.delayed.push(Reverse(Delayed { at, job }));
        None
    }

    fn release(&mut self, lane: &Lane) {
        if let Some(waiting) = self.keys.remove(lane) {
            self.waiting -= waiting.len();
            for job in waiting.into_iter().rev() {
                self.ready.push_front(job);
            }
        }
    }
}

fn given_up(tries: u32, reason: &str) -> String {
    format!("{reason}, {tries} times")
}

fn said(message: String) -> answer::Read {
    answer::Read { errors: vec![answer::Said { field: None, message }], ..answer::Read::default() }
}

impl PartialEq for Delayed {
    fn eq(&self, other: &Delayed) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Delayed {}

impl PartialOrd for Delayed {
    fn partial_cmp(&self, other: &Delayed) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Delayed {
    fn cmp(&self, other: &Delayed) -> std::cmp::Ordering {
        (self.at, self.job.seq).cmp(&(other.at, other.job.seq))
    }
}

#[cfg(test)]
mod tests;
