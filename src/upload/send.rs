//! Sending: works through a planned run until nothing is pending or something stops it.
//!
//! One task owns the run's state. Attempts run beside it and report to it; a loader reads planned records ahead and
//! writes the intent to send them; a writer commits outcomes in groups.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle, JoinSet};

use super::dispatch::{Dispatcher, Halt, Job, Settled, Step, Verdict};
use crate::api::policy::Stop;
use crate::api::{Attempt, Client, Pace, Rate, Request, answer};
use crate::ledger::{self, Fate, Ledger, Outcome, OutcomeState, Problem, RunId, RunState, Seq};
use crate::records::{Input, RecordKind};

/// How long requests under way may take to end after a person asked to stop.
const GRACE: Duration = Duration::from_secs(30);
/// Outcomes that share a commit.
const GROUP: usize = 512;
/// Below this many records in hand, the next block is asked for.
const LOW: usize = 256;

/// A planned run and what to send it with.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    pub ledger: &'a Ledger,
    pub client: Arc<Client>,
    pub run: RunId,
    pub kind: RecordKind,
    pub concurrency: usize,
    pub rate: Option<Rate>,
    /// The clock of what the ledger notes: milliseconds since 1970, UTC.
    pub wall: fn() -> i64,
}

/// How far the sending is. Counts are of this stretch of sending alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    pub sent: u64,
    pub failed: u64,
    pub unknown: u64,
    pub retries: u64,
    pub throttled: u64,
    /// Everybody waits this long because the service asked for it.
    pub pause: Option<Duration>,
}

/// How a stretch of sending ended.
#[derive(Debug)]
pub struct Ended {
    /// Nothing: every record has its outcome.
    pub stopped: Option<StopReason>,
    pub millis: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    Interrupted,
    Unauthorized(String),
    Forbidden(String),
    Redirected {
        status: u16,
    },
    Unreachable(String),
    Throttled,
    WaitTooLong(Duration),
    TooManyRetries(String),
    /// Some records got no answer in any of their attempts, and why the last of them did not.
    LeftPending {
        records: u64,
        reason: String,
    },
}

impl StopReason {
    /// What to do before the run is resumed.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            StopReason::Interrupted => return None,
            StopReason::Unauthorized(_) => {
                "get a new pair of tokens in the service's developer settings and set SHEETPORT_ACCESS_TOKEN and SHEETPORT_REFRESH_TOKEN, then resume"
            }
            StopReason::Forbidden(_) => "set the tokens of a pair that has Full Access, then resume",
            StopReason::Redirected { .. } => {
                "check the base address; a run is bound to its own, so upload the file again with the right one"
            }
            StopReason::Unreachable(_) | StopReason::LeftPending { .. } => {
                "check the address and that the service is running, then resume"
            }
            StopReason::Throttled => "resume later, with a lower --rate",
            StopReason::WaitTooLong(_) => "resume when that time is over",
            StopReason::TooManyRetries(_) => "resume later; if it stays so, ask the service's people",
        })
    }
}

/// Sends what is pending of a run. `interrupt` resolves when a person asks to stop.
pub async fn send(
    work: &Work<'_>,
    interrupt: impl Future<Output = ()>,
    progress: &(dyn Fn(&Progress) + Sync),
) -> Result<Ended, ledger::Error> {
    let began = Instant::now();
    let (jobs_sender, jobs) = mpsc::channel(LOW);
    let loader = tokio::spawn(load(work.ledger.clone(), work.run, work.wall, jobs_sender));
    let (outcomes, outcomes_receiver) = mpsc::channel(GROUP * 4);
    let writer = tokio::spawn(write(work.ledger.clone(), work.run, outcomes_receiver));
    let sender = Sender {
        dispatcher: Dispatcher::new(work.kind, work.concurrency, Pace::new(work.rate, began)),
        input: work.kind.input(),
        client: Arc::clone(&work.client),
        jobs,
        attempts: JoinSet::new(),
        outcomes,
        progress: Progress::default(),
        wall: work.wall,
    };
    let stopped = sender.run(interrupt, progress).await;
    // The loader ends by itself when its channel is gone; its error, if any, is why there was nothing more to send.
    let loaded = joined(loader).await;
    joined(writer).await?;
    loaded?;
    Ok(Ended { stopped, millis: i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX) })
}

struct Sender {
    dispatcher: Dispatcher,
    input: &'static Input,
    client: Arc<Client>,
    jobs: mpsc::Receiver<Job>,
    attempts: JoinSet<(Job, Attempt)>,
    outcomes: mpsc::Sender<Outcome>,
    progress: Progress,
    wall: fn() -> i64,
}

impl Sender {
    async fn run(
        mut self,
        interrupt: impl Future<Output = ()>,
        progress: &(dyn Fn(&Progress) + Sync),
    ) -> Option<StopReason> {
        let mut interrupt = std::pin::pin!(interrupt);
        let mut interrupted_at: Option<Instant> = None;
        let mut all_loaded = false;
        'sending: loop {
            while !all_loaded && self.dispatcher.backlog() < LOW {
                match self.jobs.try_recv() {
                    Ok(job) => self.dispatcher.push(job),
                    Err(mpsc::error::TryRecvError::Empty) => break,
                    Err(mpsc::error::TryRecvError::Disconnected) => all_loaded = true,
                }
            }
            let wake = if interrupted_at.is_none() { self.issue() } else { None };
            self.progress.pause = self.dispatcher.pause(Instant::now());
            progress(&self.progress);
            let idle = self.dispatcher.in_flight() == 0;
            if idle && (interrupted_at.is_some() || self.dispatcher.halt().is_some())
                || all_loaded && self.dispatcher.is_empty()
            {
                break;
            }
            let wake = interrupted_at.map(|at| at + GRACE).or(wake);
            tokio::select! {
                Some(attempt) = self.attempts.join_next() => {
                    let mut attempt = Some(attempt);
                    while let Some(ended) = attempt {
                        // A writer that is gone can't be told outcomes, so nothing more may be sent.
                        if self.take(ended).await.is_err() {
                            break 'sending;
                        }
                        attempt = self.attempts.try_join_next();
                    }
                }
                job = self.jobs.recv(), if !all_loaded && self.dispatcher.backlog() < LOW => match job {
                    Some(job) => self.dispatcher.push(job),
                    None => all_loaded = true,
                },
                () = sleep_until(wake) => {
                    if interrupted_at.is_some() {
                        break;
                    }
                }
                () = &mut interrupt, if interrupted_at.is_none() => interrupted_at = Some(Instant::now()),
            }
        }
        // What stopped the sending only matters where it left something to send.
        if self.dispatcher.unsettled() == 0 && (all_loaded || self.jobs.recv().await.is_none()) {
            return None;
        }
        match self.dispatcher.halt() {
            Some(halt) => Some(StopReason::from(halt.clone())),
            None if interrupted_at.is_some() => Some(StopReason::Interrupted),
            None => {
                let left = self.dispatcher.left();
                left.map(|(records, reason)| StopReason::LeftPending { records, reason: reason.to_owned() })
            }
        }
    }

    /// Sends all that may be sent now, and says when to look again.
    fn issue(&mut self) -> Option<Instant> {
        loop {
            match self.dispatcher.step(Instant::now()) {
                Step::Send(job) => {
                    let request = self.request(&job);
                    let client = Arc::clone(&self.client);
                    self.attempts.spawn(async move {
                        let attempt = client.attempt(&request).await;
                        (job, attempt)
                    });
                }
                Step::WaitUntil(at) => return Some(at),
                Step::Wait => return None,
            }
        }
    }

    /// A record was only planned with a name that its path can hold and for a call that its kind has.
    fn request(&self, job: &Job) -> Request {
        let call = self.input.call(job.target.is_some());
        let path = call.and_then(|call| call.path(job.target.as_deref().unwrap_or_default()));
        Request {
            method: call.map_or("", |call| call.method),
            path: path.unwrap_or_default(),
            body: Some(job.body.clone()),
        }
    }

    async fn take(&mut self, ended: Result<(Job, Attempt), JoinError>) -> Result<(), mpsc::error::SendError<Outcome>> {
        let (job, attempt) = match ended {
            Ok(ended) => ended,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        let settled = self.dispatcher.settle(job, attempt.requests, attempt.exchange, Instant::now(), fastrand::f64());
        self.progress.retries = self.dispatcher.retries;
        self.progress.throttled = self.dispatcher.throttled;
        match settled {
            None => Ok(()),
            Some(settled) => {
                match &settled.verdict {
                    Verdict::Sent { .. } => self.progress.sent += 1,
                    Verdict::Failed { .. } => self.progress.failed += 1,
                    Verdict::Unknown { .. } => self.progress.unknown += 1,
                }
                self.outcomes.send(outcome(settled, (self.wall)())).await
            }
        }
    }
}

/// Reads the records that have no outcome yet, block by block, and notes the intent to send each block before any of
/// it is handed on.
async fn load(ledger: Ledger, run: RunId, wall: fn() -> i64, jobs: mpsc::Sender<Job>) -> Result<(), ledger::Error> {
    if matches!(ledger.run(run).await?.state, RunState::Planning | RunState::Withheld) {
        return Ok(());
    }
    let mut from: Seq = 0;
    while let Some(block) = ledger.record_block(run, from).await? {
        let last = block.first + block.records.len() as Seq - 1;
        from = last + 1;
        let settled = ledger.settled(run, block.first..=last).await?;
        let pending: Vec<Job> = (block.first..)
            .zip(block.records)
            .filter(|(seq, _)| !settled.contains(seq))
            .filter_map(|(seq, record)| match record.fate {
                Fate::Send(body) => {
                    Some(Job::new(seq, record.key, record.target, Box::<str>::from(body).into_string()))
                }
                Fate::Rejected(_) | Fate::Skipped => None,
            })
            .collect();
        if pending.is_empty() {
            continue;
        }
        ledger.intend(run, block.first..=last, wall()).await?;
        for job in pending {
            if jobs.send(job).await.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Commits outcomes as they come, many together when they come fast.
async fn write(ledger: Ledger, run: RunId, mut outcomes: mpsc::Receiver<Outcome>) -> Result<(), ledger::Error> {
    let mut group = Vec::with_capacity(GROUP);
    while outcomes.recv_many(&mut group, GROUP).await > 0 {
        ledger.settle(run, &group).await?;
        group.clear();
    }
    Ok(())
}

fn outcome(settled: Settled, at: i64) -> Outcome {
    let Settled { job, verdict } = settled;
    let (state, http_status, read) = match verdict {
        Verdict::Sent { status, read } => (OutcomeState::Sent, Some(status), read),
        Verdict::Failed { status, read } => (OutcomeState::Failed, status, read),
        Verdict::Unknown { status, reason } => {
            let errors = vec![answer::Said { field: None, message: reason }];
            (OutcomeState::Unknown, status, answer::Read { errors, ..answer::Read::default() })
        }
    };
    let problems = match state {
        OutcomeState::Sent => Vec::new(),
        _ if read.errors.is_empty() => {
            vec![said(None, format!("the service answered with the status '{}'", read.status.as_deref().unwrap_or("")))]
        }
        _ => read.errors.into_iter().map(|error| said(error.field, error.message)).collect(),
    };
    Outcome {
        http_status,
        service_status: read.status,
        service_id: read.service_id,
        ctx_id: read.ctx_id,
        job_id: read.job_id,
        problems,
        attempts: job.requests,
        ..Outcome::new(job.seq, state, at)
    }
}

fn said(field: Option<String>, message: String) -> Problem {
    Problem {
        code: "service".to_owned(),
        row: None,
        column: None,
        header: String::new(),
        field: field.unwrap_or_default(),
        value: String::new(),
        sheet: String::new(),
        message,
        remedy: String::new(),
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

async fn joined(task: JoinHandle<Result<(), ledger::Error>>) -> Result<(), ledger::Error> {
    match task.await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

impl From<Halt> for StopReason {
    fn from(halt: Halt) -> StopReason {
        match halt {
            Halt::Policy(Stop::Unauthorized(reason)) => StopReason::Unauthorized(reason),
            Halt::Policy(Stop::Redirected { status }) => StopReason::Redirected { status },
            Halt::Policy(Stop::WaitTooLong(wait)) => StopReason::WaitTooLong(wait),
            Halt::Unreachable(reason) => StopReason::Unreachable(reason),
            Halt::Forbidden(reason) => StopReason::Forbidden(reason),
            Halt::Throttled => StopReason::Throttled,
            Halt::TooManyRetries(reason) => StopReason::TooManyRetries(reason),
        }
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StopReason::Interrupted => f.write_str("it was interrupted"),
            StopReason::Unauthorized(reason) => write!(f, "the service refused the credentials: {reason}"),
            StopReason::Forbidden(reason) => write!(f, "the token does not allow this: {reason}"),
            StopReason::Redirected { status } => {
                write!(f, "the service redirects ({status}), and a token is not sent after a redirect")
            }
            StopReason::Unreachable(reason) => write!(f, "the service can't be reached: {reason}"),
            StopReason::Throttled => f.write_str("the service keeps refusing requests as too many"),
            StopReason::WaitTooLong(wait) => write!(f, "the service asks to wait {} min", wait.as_secs().div_ceil(60)),
            StopReason::TooManyRetries(reason) => write!(f, "too many requests had to be repeated: {reason}"),
            StopReason::LeftPending { records, reason } => {
                let noun = if *records == 1 { "record" } else { "records" };
                write!(f, "{records} {noun} got no answer in several attempts: {reason}")
            }
        }
    }
}
