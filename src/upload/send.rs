//! Sending: works through a planned run until nothing is pending or something stops it.
//!
//! One task owns the run's state. Attempts run beside it and report to it; a loader reads planned records ahead and
//! writes the intent to send them; a writer commits outcomes in groups.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;

mod loader;
mod outcome;
mod scribe;
mod stop;

pub use stop::StopReason;

use super::dispatch::{Dispatcher, Job, Step, Verdict};
use crate::api::{Attempt, Client, Pace, Request, Speed};
use crate::ledger::{self, Ledger, RunId, Seq};
use crate::records::{Input, RecordKind};
use outcome::{cut_off, outcome};
use scribe::{Durable, Note};

/// Notes that may wait for their commit before the sender waits for it, too.
const NOTES: usize = 4_096;
/// Below this many records in hand, the next block is taken.
const LOW: usize = 256;
/// Blocks that are read ahead, so that the sender need not wait until the intent to send one is on disk.
const AHEAD: usize = 4;

/// How often whoever looks on is told how far it is.
const SHOWN_EVERY: Duration = Duration::from_millis(50);

/// A planned run and what to send it with.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    pub ledger: &'a Ledger,
    pub client: Arc<Client>,
    pub run: RunId,
    pub kind: RecordKind,
    pub concurrency: usize,
    pub rate: Option<Speed>,
    /// The file that says when the next request is due to all on this machine who keep the same rate.
    pub rate_file: Option<&'a Path>,
    /// Refused records after which nothing more is sent.
    pub max_errors: Option<u64>,
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
    /// Records that wait to be sent again.
    pub retrying: u64,
    /// Everybody waits this long because the service asked for it.
    pub pause: Option<Duration>,
    /// Requests a second that are made at most.
    pub rate: Option<f64>,
}

/// How a stretch of sending ended.
#[derive(Debug)]
pub struct Ended {
    /// Nothing: every record has its outcome.
    pub stopped: Option<StopReason>,
    /// What was found to be the service's limit, in requests a second.
    pub learnt: Option<f64>,
    pub millis: i64,
}

/// Sends what is pending of a run. `interrupt` resolves when a person asks to stop, to how long requests under way may
/// take to end. Only for whoever holds the run's lock.
pub async fn send(
    work: &Work<'_>,
    interrupt: impl Future<Output = Duration>,
    progress: &(dyn Fn(&Progress) + Sync),
) -> Result<Ended, ledger::Error> {
    let began = Instant::now();
    let doubted = work.ledger.doubt(work.run).await?;
    tracing::info!(run = work.run, kind = %work.kind, doubted, "sending begins");
    let input = work.kind.input();
    let (jobs_sender, jobs) = mpsc::channel(AHEAD);
    let loader = tokio::spawn(loader::load(work.ledger.clone(), work.run, input, work.wall, jobs_sender));
    let (notes, notes_receiver) = mpsc::channel(NOTES);
    let (durable_sender, durable) = mpsc::unbounded_channel();
    let writer = tokio::spawn(scribe::write(work.ledger.clone(), work.run, work.wall, notes_receiver, durable_sender));
    let mut pace = Pace::new(work.rate, began);
    if let Some(file) = work.rate_file {
        pace = pace.shared(file, began);
    }
    let sender = Sender {
        dispatcher: Dispatcher::new(work.kind, work.concurrency, pace).with_max_errors(work.max_errors),
        input,
        client: Arc::clone(&work.client),
        jobs,
        attempts: FuturesUnordered::new(),
        notes,
        durable,
        once: HashMap::new(),
        noted: 0,
        most_noted: work.concurrency.max(1),
        progress: Progress::default(),
        shown: Arc::default(),
        wall: work.wall,
    };
    let (stopped, learnt) = attend(sender, interrupt, progress).await;
    tracing::info!(run = work.run, ?stopped, seconds = began.elapsed().as_secs_f64(), "sending ends");
    // The loader ends by itself when its channel is gone; its error, if any, is why there was nothing more to send.
    let loaded = joined(loader).await;
    joined(writer).await?;
    loaded?;
    Ok(Ended { stopped, learnt, millis: i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX) })
}

/// Lets the sender work as a task of its own, on the thread where its connections are, and meanwhile shows how far it is
/// and passes the interrupt on. It ends with whoever waits for it.
async fn attend(
    sender: Sender,
    interrupt: impl Future<Output = Duration>,
    progress: &(dyn Fn(&Progress) + Sync),
) -> (Option<StopReason>, Option<f64>) {
    let shown = Arc::clone(&sender.shown);
    let (stop, stopped) = oneshot::channel();
    let mut stop = Some(stop);
    let mut task = JoinSet::new();
    task.spawn(sender.run(stopped));
    let mut interrupt = std::pin::pin!(interrupt);
    let mut show = tokio::time::interval(SHOWN_EVERY);
    show.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            Some(ended) = task.join_next() => {
                return ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
            }
            grace = &mut interrupt, if stop.is_some() => {
                if let Some(stop) = stop.take() {
                    // A sender that has ended needs no interrupt.
                    let _ = stop.send(grace);
                }
            }
            _ = show.tick() => {
                let state = *shown.lock().unwrap_or_else(PoisonError::into_inner);
                progress(&state);
            }
        }
    }
}

struct Sender {
    dispatcher: Dispatcher,
    input: &'static Input,
    client: Arc<Client>,
    jobs: mpsc::Receiver<Vec<Job>>,
    /// They run in the sender's own task: what each needs is little, and handing it to another task would be as much.
    attempts: FuturesUnordered<BoxFuture<'static, (Job, Attempt)>>,
    notes: mpsc::Sender<Note>,
    durable: mpsc::UnboundedReceiver<Durable>,
    /// The requests made for each record that is under way and must not be sent twice.
    once: HashMap<Seq, u32>,
    /// How many records the ledger has as under way, or will have.
    noted: usize,
    /// A crash leaves so many records in doubt, at most.
    most_noted: usize,
    progress: Progress,
    /// The progress for those who look on.
    shown: Arc<Mutex<Progress>>,
    wall: fn() -> i64,
}

/// The writer is gone. It can't be told outcomes, so nothing more may be sent; its error says why.
struct WriterGone;

impl Sender {
    /// Until nothing is left to do. `interrupt` gets how long requests under way may take to end.
    async fn run(mut self, mut interrupt: oneshot::Receiver<Duration>) -> (Option<StopReason>, Option<f64>) {
        let mut deadline: Option<Instant> = None;
        let mut all_loaded = false;
        loop {
            while !all_loaded && self.dispatcher.backlog() < LOW {
                match self.jobs.try_recv() {
                    Ok(block) => self.push(block),
                    Err(mpsc::error::TryRecvError::Empty) => break,
                    Err(mpsc::error::TryRecvError::Disconnected) => all_loaded = true,
                }
            }
            let wake = match deadline {
                Some(deadline) => Some(deadline),
                None => match self.issue().await {
                    Ok(wake) => wake,
                    Err(WriterGone) => break,
                },
            };
            self.progress.pause = self.dispatcher.pause(Instant::now());
            self.progress.retrying = self.dispatcher.retrying();
            self.progress.rate = self.dispatcher.pace().per_second(Instant::now());
            *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = self.progress;
            let idle = self.dispatcher.in_flight() == 0;
            if idle && (deadline.is_some() || self.dispatcher.halt().is_some())
                || all_loaded && self.dispatcher.is_empty()
            {
                break;
            }
            let done = tokio::select! {
                Some((job, attempt)) = self.attempts.next() => self.take_all(job, attempt).await,
                durable = self.durable.recv() => match durable {
                    Some(durable) => self.go(durable, deadline.is_some()).await,
                    None => Err(WriterGone),
                },
                block = self.jobs.recv(), if !all_loaded && self.dispatcher.backlog() < LOW => {
                    match block {
                        Some(block) => self.push(block),
                        None => all_loaded = true,
                    }
                    Ok(())
                }
                () = sleep_until(wake) => {
                    if deadline.is_some() {
                        self.cut_off().await;
                        break;
                    }
                    Ok(())
                }
                Ok(grace) = &mut interrupt, if deadline.is_none() => {
                    deadline = Some(Instant::now() + grace);
                    Ok(())
                }
            };
            if done.is_err() {
                break;
            }
        }
        let learnt = self.dispatcher.pace().learnt();
        (self.stopped(all_loaded, deadline.is_some()).await, learnt)
    }

    fn push(&mut self, block: Vec<Job>) {
        block.into_iter().for_each(|job| self.dispatcher.push(job));
    }

    /// What stopped the sending, which only matters where it left something to send.
    async fn stopped(mut self, all_loaded: bool, is_interrupted: bool) -> Option<StopReason> {
        if self.dispatcher.unsettled() == 0 && (all_loaded || self.jobs.recv().await.is_none()) {
            return None;
        }
        match self.dispatcher.halt() {
            Some(halt) => Some(StopReason::from(halt.clone())),
            None if is_interrupted => Some(StopReason::Interrupted),
            None => {
                let left = self.dispatcher.left();
                left.map(|(records, reason)| StopReason::LeftPending { records, reason: reason.to_owned() })
            }
        }
    }

    /// Sends all that may be sent now, and says when to look again. A record that must not be sent twice is noted first;
    /// [`Sender::go`] sends it when that is durable.
    async fn issue(&mut self) -> Result<Option<Instant>, WriterGone> {
        while self.noted < self.most_noted {
            match self.dispatcher.step(Instant::now()) {
                Step::Send(job) if job.is_once => {
                    self.noted += 1;
                    self.note(Note::Begin(job)).await?;
                }
                Step::Send(job) => self.attempt(job),
                Step::WaitUntil(at) => return Ok(Some(at)),
                Step::Wait => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Sends what may be sent now that it is noted, unless something came between.
    async fn go(&mut self, durable: Durable, is_interrupted: bool) -> Result<(), WriterGone> {
        self.noted -= durable.ended;
        for job in durable.begun {
            let must_wait = self.dispatcher.halt().is_some() || self.dispatcher.pause(Instant::now()).is_some();
            if must_wait || is_interrupted {
                let seq = job.seq;
                self.dispatcher.put_back(job);
                self.note(Note::NotSent(seq)).await?;
            } else {
                self.once.insert(job.seq, job.requests + 1);
                self.attempt(job);
            }
        }
        Ok(())
    }

    fn attempt(&mut self, job: Job) {
        let request = self.request(&job);
        let client = Arc::clone(&self.client);
        self.attempts.push(Box::pin(async move {
            let attempt = client.attempt(&request).await;
            (job, attempt)
        }));
    }

    /// A record was only planned with a name that its path can hold and for a call that its kind has.
    fn request(&self, job: &Job) -> Request {
        let call = self.input.call(job.target.is_some());
        let path = call.and_then(|call| call.path(job.target.as_deref().unwrap_or_default()));
        Request {
            method: call.map_or("", |call| call.method),
            path: path.unwrap_or_default(),
            body: Some(job.body.clone().into()),
        }
    }

    /// Takes in this attempt and all others that ended meanwhile.
    async fn take_all(&mut self, job: Job, attempt: Attempt) -> Result<(), WriterGone> {
        let mut next = Some((job, attempt));
        while let Some((job, attempt)) = next {
            self.take(job, attempt).await?;
            next = self.attempts.next().now_or_never().flatten();
        }
        Ok(())
    }

    async fn take(&mut self, job: Job, attempt: Attempt) -> Result<(), WriterGone> {
        let (seq, is_once) = (job.seq, job.is_once);
        if is_once {
            self.once.remove(&seq);
        }
        let settled = self.dispatcher.settle(job, attempt.requests, attempt.exchange, Instant::now(), fastrand::f64());
        self.progress.retries = self.dispatcher.retries;
        self.progress.throttled = self.dispatcher.throttled;
        let Some(settled) = settled else {
            // Whatever is tried again or left for a resume was not applied, or may be repeated.
            return if is_once { self.note(Note::NotSent(seq)).await } else { Ok(()) };
        };
        match &settled.verdict {
            Verdict::Sent { .. } => self.progress.sent += 1,
            Verdict::Failed { .. } => self.progress.failed += 1,
            Verdict::Unknown { .. } => self.progress.unknown += 1,
        }
        let outcome = outcome(settled, (self.wall)());
        self.note(if is_once { Note::LastOutcome(outcome) } else { Note::Outcome(outcome) }).await
    }

    /// Ends all requests that are still under way. Of those that must not be sent twice, nobody knows what became.
    async fn cut_off(&mut self) {
        while let Some((job, attempt)) = self.attempts.next().now_or_never().flatten() {
            if self.take(job, attempt).await.is_err() {
                return;
            }
        }
        self.attempts.clear();
        for (seq, requests) in std::mem::take(&mut self.once) {
            if self.note(Note::LastOutcome(cut_off(seq, requests, (self.wall)()))).await.is_err() {
                return;
            }
            self.dispatcher.forget();
        }
    }

    async fn note(&mut self, note: Note) -> Result<(), WriterGone> {
        self.notes.send(note).await.map_err(|_| WriterGone)
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
