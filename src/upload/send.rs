//! Sends the pending records of a planned run.
//!
//! A single task owns the dispatcher and starts the attempts. A loader reads records ahead, and a journal writes intents and
//! outcomes to the ledger in batches. The intent of a non-idempotent call is on disk before the request is sent.

mod journal;
mod loader;

use std::collections::HashMap;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;

use super::dispatch::{Dispatcher, Job, Settled, Step, StopReason};
use crate::client::policy::Call;
use crate::client::{Attempt, Client, Pace, Request, Speed};
use crate::ledger::{self, Ledger, LockedRun, Outcome, Problem, RecordState, Seq};
use crate::records::RecordKind;
use journal::{Durable, JournalEntry};

/// Minimum number of waiting records; below, the next block is taken.
const LOW_BACKLOG: usize = 256;
/// Number of blocks read ahead.
const BLOCKS_AHEAD: usize = 4;
/// Interval of progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// A planned run and the means to send it.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    pub ledger: &'a Ledger,
    pub client: Arc<Client>,
    pub run: &'a LockedRun,
    pub kind: RecordKind,
    pub concurrency: usize,
    pub rate: Option<Speed>,
    /// File for sharing the rate with other processes on this machine.
    pub rate_file: Option<&'a Path>,
    /// Maximum number of refused records before the run stops.
    pub max_errors: Option<u64>,
    /// Clock of the ledger: milliseconds since 1970, UTC.
    pub wall: fn() -> i64,
}

/// Progress since the sending began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    pub sent: u64,
    pub failed: u64,
    pub unknown: u64,
    pub retries: u64,
    pub throttled: u64,
    /// Records waiting for a retry.
    pub retrying: u64,
    /// Remaining time of a pause.
    pub pause: Option<Duration>,
    /// Current limit in requests per second.
    pub rate: Option<f64>,
}

/// Result of sending.
#[derive(Debug)]
pub struct SendResult {
    /// Reason for an early stop, or `None` if every record has an outcome.
    pub stopped: Option<StopReason>,
    /// Rate limit found by the automatic rate, in requests per second.
    pub learnt: Option<f64>,
    pub millis: i64,
}

/// Sends the pending records of a run. `interrupt` resolves when the user asks to stop, to the grace period for
/// requests in flight. Fails if the ledger cannot be read or written.
pub async fn send(
    work: &Work<'_>,
    interrupt: impl Future<Output = Duration>,
    progress: &(dyn Fn(&Progress) + Sync),
) -> Result<SendResult, ledger::Error> {
    let (began, run) = (Instant::now(), work.run.id());
    let unknown = work.ledger.mark_in_flight_unknown(run).await?;
    tracing::info!(run, kind = %work.kind, unknown, "sending begins");
    let (jobs_sender, jobs) = mpsc::channel(BLOCKS_AHEAD);
    let loader = tokio::spawn(loader::load(work.ledger.clone(), run, work.kind, work.wall, jobs_sender));
    let (journal_sender, entries) = mpsc::channel(journal::CAPACITY);
    let (durable_sender, durable) = mpsc::unbounded_channel();
    let journal = tokio::spawn(journal::write(work.ledger.clone(), run, work.wall, entries, durable_sender));
    let mut pace = Pace::new(work.rate, began);
    if let Some(file) = work.rate_file {
        pace = pace.shared(file, began);
    }
    let sender = Sender {
        work,
        dispatcher: Dispatcher::new(work.kind, work.concurrency, pace).with_max_errors(work.max_errors),
        jobs,
        all_loaded: false,
        attempts: JoinSet::new(),
        journal: journal_sender,
        durable,
        unconfirmed: HashMap::new(),
        recorded: 0,
        deadline: None,
        progress: Progress::default(),
    };
    let (stopped, learnt) = sender.run(interrupt, progress).await;
    tracing::info!(run, ?stopped, seconds = began.elapsed().as_secs_f64(), "sending ends");
    // Both tasks end with the channels. An error of the loader looks like the end of the records until here.
    let loaded = joined(loader).await;
    joined(journal).await?;
    loaded?;
    Ok(SendResult {
        stopped,
        learnt,
        millis: i64::try_from(began.elapsed().as_millis()).expect("a plausible duration"),
    })
}

struct Sender<'a> {
    work: &'a Work<'a>,
    dispatcher: Dispatcher,
    jobs: mpsc::Receiver<Vec<Job>>,
    /// Whether all records of the run are with the dispatcher.
    all_loaded: bool,
    attempts: JoinSet<(Job, Attempt)>,
    journal: mpsc::Sender<JournalEntry>,
    durable: mpsc::UnboundedReceiver<Durable>,
    /// Non-idempotent calls in flight, with the requests made for each record.
    unconfirmed: HashMap<Seq, u32>,
    /// Records in flight according to the ledger, now or soon: at most `concurrency`. After a crash they are unknown.
    recorded: usize,
    /// End of the grace period after an interrupt.
    deadline: Option<Instant>,
    progress: Progress,
}

/// The journal ended with an error. Nothing may be sent without a journal.
struct JournalClosed;

impl Sender<'_> {
    /// Runs until nothing is left to send or the run has to stop. Returns the reason for an early stop and the learnt rate.
    async fn run(
        mut self,
        interrupt: impl Future<Output = Duration>,
        progress: &(dyn Fn(&Progress) + Sync),
    ) -> (Option<StopReason>, Option<f64>) {
        // The journal's task reports the error.
        let _ = self.send_all(interrupt, progress).await;
        let learnt = self.dispatcher.pace().learnt();
        (self.stop_reason().await, learnt)
    }

    async fn send_all(
        &mut self,
        interrupt: impl Future<Output = Duration>,
        progress: &(dyn Fn(&Progress) + Sync),
    ) -> Result<(), JournalClosed> {
        let mut interrupt = pin!(interrupt);
        let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.take_blocks();
            let wake = match self.deadline {
                Some(deadline) => Some(deadline),
                None => self.start_attempts(Instant::now()).await?,
            };
            if self.is_done() {
                return Ok(());
            }
            tokio::select! {
                Some(ended) = self.attempts.join_next() => {
                    self.settle(joined_attempt(ended)).await?;
                    self.settle_ended().await?;
                }
                durable = self.durable.recv() => self.start_durable(durable.ok_or(JournalClosed)?).await?,
                block = self.jobs.recv(), if self.wants_block() => self.take_block(block),
                () = sleep_until(wake) => {
                    if self.deadline.is_some() {
                        return self.cut_off().await;
                    }
                }
                grace = &mut interrupt, if self.deadline.is_none() => self.deadline = Some(Instant::now() + grace),
                _ = ticks.tick() => progress(&self.progress()),
            }
        }
    }

    /// Whether nothing is left to send, or nothing may be sent and nothing is in flight.
    fn is_done(&self) -> bool {
        let must_stop = self.deadline.is_some() || self.dispatcher.stop_reason().is_some();
        must_stop && self.dispatcher.in_flight() == 0 || self.all_loaded && self.dispatcher.is_empty()
    }

    fn wants_block(&self) -> bool {
        !self.all_loaded && self.dispatcher.backlog() < LOW_BACKLOG
    }

    /// Takes loaded blocks up to the minimum backlog.
    fn take_blocks(&mut self) {
        while self.wants_block() {
            match self.jobs.try_recv() {
                Ok(block) => self.take_block(Some(block)),
                Err(mpsc::error::TryRecvError::Disconnected) => self.take_block(None),
                Err(mpsc::error::TryRecvError::Empty) => return,
            }
        }
    }

    fn take_block(&mut self, block: Option<Vec<Job>>) {
        match block {
            Some(jobs) => jobs.into_iter().for_each(|job| self.dispatcher.push(job)),
            None => self.all_loaded = true,
        }
    }

    /// Starts all attempts permitted now. Returns when to try again. Records of non-idempotent calls go to the journal first,
    /// and then to [`Sender::start_durable`].
    async fn start_attempts(&mut self, now: Instant) -> Result<Option<Instant>, JournalClosed> {
        while self.recorded < self.work.concurrency.max(1) {
            match self.dispatcher.step(now) {
                Step::Send(job) => match job.call {
                    Call::Idempotent => self.start(job),
                    Call::NonIdempotent => {
                        self.recorded += 1;
                        self.record(JournalEntry::Begin(job)).await?;
                    }
                },
                Step::WaitUntil(at) => return Ok(Some(at)),
                Step::Wait => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Sends records after their intents were written, unless the run was stopped or paused in the meantime.
    async fn start_durable(&mut self, durable: Durable) -> Result<(), JournalClosed> {
        self.recorded -= durable.ended;
        for job in durable.begun {
            let is_paused = self.dispatcher.pause(Instant::now()).is_some();
            if is_paused || self.deadline.is_some() || self.dispatcher.stop_reason().is_some() {
                let seq = job.seq;
                self.dispatcher.put_back(job);
                self.record(JournalEntry::NotSent(seq)).await?;
            } else {
                self.unconfirmed.insert(job.seq, job.requests + 1);
                self.start(job);
            }
        }
        Ok(())
    }

    fn start(&mut self, job: Job) {
        let client = Arc::clone(&self.work.client);
        let request = request(self.work.kind, &job);
        self.attempts.spawn(async move {
            let attempt = client.attempt(&request).await;
            (job, attempt)
        });
    }

    /// Settles all finished attempts.
    async fn settle_ended(&mut self) -> Result<(), JournalClosed> {
        while let Some(ended) = self.attempts.try_join_next() {
            self.settle(joined_attempt(ended)).await?;
        }
        Ok(())
    }

    async fn settle(&mut self, (job, attempt): (Job, Attempt)) -> Result<(), JournalClosed> {
        let (seq, call) = (job.seq, job.call);
        self.unconfirmed.remove(&seq);
        let settled = self.dispatcher.settle(job, attempt.requests, attempt.outcome, Instant::now(), fastrand::f64());
        let entry = match (settled, call) {
            (None, Call::Idempotent) => return Ok(()),
            // Pending again: certainly not applied.
            (None, Call::NonIdempotent) => JournalEntry::NotSent(seq),
            (Some(settled), call) => {
                match settled.state {
                    RecordState::Sent => self.progress.sent += 1,
                    RecordState::Failed => self.progress.failed += 1,
                    _ => self.progress.unknown += 1,
                }
                let outcome = outcome(settled, (self.work.wall)());
                match call {
                    Call::Idempotent => JournalEntry::Outcome(outcome),
                    Call::NonIdempotent => JournalEntry::Finished(outcome),
                }
            }
        };
        self.record(entry).await
    }

    /// Aborts all requests in flight. The outcome of non-idempotent calls is unknown.
    async fn cut_off(&mut self) -> Result<(), JournalClosed> {
        self.settle_ended().await?;
        self.attempts.abort_all();
        for (seq, requests) in std::mem::take(&mut self.unconfirmed) {
            let problem = Problem::of_record("service", "no answer had come when the run was stopped");
            let unknown = Outcome::new(seq, RecordState::Unknown, (self.work.wall)());
            let outcome = Outcome { problems: vec![problem], attempts: requests, ..unknown };
            self.record(JournalEntry::Finished(outcome)).await?;
            self.dispatcher.forget();
        }
        Ok(())
    }

    async fn record(&mut self, entry: JournalEntry) -> Result<(), JournalClosed> {
        self.journal.send(entry).await.map_err(|_| JournalClosed)
    }

    fn progress(&self) -> Progress {
        let now = Instant::now();
        Progress {
            retries: self.dispatcher.retries,
            throttled: self.dispatcher.throttled,
            retrying: self.dispatcher.retrying(),
            pause: self.dispatcher.pause(now),
            rate: self.dispatcher.pace().per_second(now),
            ..self.progress
        }
    }

    /// Returns why the run stopped, or `None` if nothing was left to send.
    async fn stop_reason(mut self) -> Option<StopReason> {
        if self.dispatcher.unsettled() == 0 && (self.all_loaded || self.jobs.recv().await.is_none()) {
            return None;
        }
        match self.dispatcher.stop_reason() {
            Some(reason) => Some(reason.clone()),
            None if self.deadline.is_some() => Some(StopReason::Interrupted),
            None => {
                let deferred = self.dispatcher.deferred();
                deferred.map(|(records, reason)| StopReason::LeftPending { records, reason: reason.to_owned() })
            }
        }
    }
}

fn request(kind: RecordKind, job: &Job) -> Request {
    let call = kind.input().call(job.target.is_some()).expect("the loader has checked it");
    let path = call.path(job.target.as_deref().unwrap_or("")).expect("the loader has checked it");
    Request::write(call.method, path, job.body.clone(), job.call)
}

/// Returns the ledger's outcome of a settled job.
fn outcome(settled: Settled, at: i64) -> Outcome {
    let Settled { job, state, http_status, result } = settled;
    let problem = |field: Option<String>, message: String| Problem {
        field: field.unwrap_or_default(),
        ..Problem::of_record("service", message)
    };
    let problems = match state {
        RecordState::Sent => Vec::new(),
        _ if result.errors.is_empty() => {
            let status = result.status.as_deref().unwrap_or("");
            vec![problem(None, format!("the service answered with the status '{status}'"))]
        }
        _ => result.errors.into_iter().map(|error| problem(error.field, error.message)).collect(),
    };
    Outcome {
        http_status,
        service_status: result.status,
        service_id: result.service_id,
        ctx_id: result.ctx_id,
        job_id: result.job_id,
        problems,
        attempts: job.requests,
        ..Outcome::new(job.seq, state, at)
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

fn joined_attempt(ended: Result<(Job, Attempt), tokio::task::JoinError>) -> (Job, Attempt) {
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

async fn joined(task: JoinHandle<Result<(), ledger::Error>>) -> Result<(), ledger::Error> {
    task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
