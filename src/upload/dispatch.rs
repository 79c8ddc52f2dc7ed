//! Which record goes next, when, and what its attempt leads to. Pure: it is told the time and the chance, and sends
//! nothing itself, so that a test can drive it through any weather.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::{Duration, Instant};

use crate::api::policy::{self, MAX_ATTEMPTS, Next, Stop};
use crate::api::{Exchange, Pace, answer};
use crate::ledger::Seq;
use crate::records::RecordKind;

/// Refusals for want of rights in a row after which the rest would be refused too.
const FORBIDDEN_IN_A_ROW: u32 = 5;
/// Throttled answers in a row after which the service means it.
const THROTTLED_IN_A_ROW: u32 = 40;
/// Single attempts, one at a time, after which a service that does not answer is given up for now.
const PROBES: u32 = 5;

/// A record to be sent.
#[derive(Debug)]
pub struct Job {
    pub seq: Seq,
    pub key: String,
    pub body: String,
    /// Requests made for it so far.
    pub requests: u32,
    /// Attempts that count towards giving up.
    tries: u32,
    /// It was sent before and keeps its key until it is settled, so that no later record with the key overtakes it.
    holds_key: bool,
}

impl Job {
    pub fn new(seq: Seq, key: String, body: String) -> Job {
        Job { seq, key, body, requests: 0, tries: 0, holds_key: false }
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
}

pub struct Dispatcher {
    kind: RecordKind,
    concurrency: usize,
    pace: Pace,
    ready: VecDeque<Job>,
    delayed: BinaryHeap<Reverse<Delayed>>,
    /// Keys of records that were issued and not settled, each with the records that wait for it.
    keys: HashMap<String, VecDeque<Job>>,
    in_flight: usize,
    paused_until: Option<Instant>,
    halt: Option<Halt>,
    /// Records that were given up for now; they stay pending.
    left: u64,
    /// Why the last of them was.
    left_why: String,
    /// Whether the service has answered anything at all.
    reached: bool,
    broken_in_a_row: u32,
    throttled_in_a_row: u32,
    forbidden_in_a_row: u32,
    probes: Option<u32>,
    settled: u64,
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
            in_flight: 0,
            paused_until: None,
            halt: None,
            left: 0,
            left_why: String::new(),
            reached: false,
            broken_in_a_row: 0,
            throttled_in_a_row: 0,
            forbidden_in_a_row: 0,
            probes: None,
            settled: 0,
            retries: 0,
            throttled: 0,
        }
    }

    pub fn push(&mut self, job: Job) {
        self.ready.push_back(job);
    }

    /// Records that wait to be sent.
    pub fn backlog(&self) -> usize {
        self.ready.len()
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
        while let Some(job) = self.ready.front().filter(|job| !job.holds_key) {
            let Some(waiting) = self.keys.get_mut(&job.key) else { break };
            if let Some(job) = self.ready.pop_front() {
                waiting.push_back(job);
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
                    self.keys.insert(job.key.clone(), VecDeque::new());
                }
                self.in_flight += 1;
                Step::Send(job)
            }
        }
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
        let next = policy::decide(self.kind, &job.key, exchange);
        self.observe(&next, now);
        let verdict = match next {
            Next::Sent { status, read } => Verdict::Sent { status, read },
            Next::Failed { status, read } => Verdict::Failed { status: Some(status), read },
            Next::Unknown { status, reason } => Verdict::Unknown { status, reason },
            Next::Retry { after, reason, status, .. } => {
                // While the service is out of reach, attempts only probe for it and don't count against the record.
                if self.probes.is_none() {
                    job.tries += 1;
                }
                if job.tries >= MAX_ATTEMPTS {
                    match status {
                        Some(status) => Verdict::Failed { status: Some(status), read: given_up(job.tries, &reason) },
                        None => {
                            self.left += 1;
                            self.left_why = reason;
                            self.release(&job.key);
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
                let pause = after.unwrap_or_else(|| policy::backoff(self.throttled_in_a_row, true, chance));
                let until = now + pause;
                self.paused_until = Some(self.paused_until.map_or(until, |other| other.max(until)));
                return self.delay(job, until);
            }
            Next::Stop(stop) => {
                self.halt.get_or_insert(Halt::Policy(stop));
                self.release(&job.key);
                return None;
            }
        };
        self.settled += 1;
        self.release(&job.key);
        Some(Settled { job, verdict })
    }

    /// Keeps count of what the attempts say about the service as a whole.
    fn observe(&mut self, next: &Next, now: Instant) {
        let is_broken = matches!(next, Next::Retry { status: None, .. } | Next::Unknown { status: None, .. });
        if !is_broken {
            self.reached = true;
            self.broken_in_a_row = 0;
            self.probes = None;
        }
        self.throttled_in_a_row = if matches!(next, Next::Throttled { .. }) { self.throttled_in_a_row + 1 } else { 0 };
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
            Next::Retry { status: None, reason, .. } | Next::Unknown { status: None, reason } => {
                self.broken(reason, now)
            }
            _ => {}
        }
    }

    /// Counts a broken connection: many in a row mean that the service is away, not that a record is at fault.
    fn broken(&mut self, reason: &str, now: Instant) {
        self.broken_in_a_row += 1;
        let many = u32::try_from(self.concurrency * 2).unwrap_or(u32::MAX).max(10);
        if let Some(probes) = &mut self.probes {
            *probes += 1;
            self.paused_until = Some(now + Duration::from_secs(1 << (*probes).min(4)));
            if *probes >= PROBES {
                self.halt.get_or_insert(Halt::Unreachable(reason.to_owned()));
            }
        } else if self.broken_in_a_row >= many {
            if self.reached {
                self.probes = Some(0);
                self.paused_until = Some(now + Duration::from_secs(1));
            } else {
                // It was never there: waiting would only keep the person from the message.
                self.halt.get_or_insert(Halt::Unreachable(reason.to_owned()));
            }
        }
    }

    fn delay(&mut self, job: Job, at: Instant) -> Option<Settled> {
        self.delayed.push(Reverse(Delayed { at, job }));
        None
    }

    fn release(&mut self, key: &str) {
        if let Some(waiting) = self.keys.remove(key) {
            for job in waiting.into_iter().rev() {
                self.ready.push_front(job);
            }
        }
    }
}

fn given_up(tries: u32, reason: &str) -> answer::Read {
    let message = format!("{reason}, {tries} times");
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
