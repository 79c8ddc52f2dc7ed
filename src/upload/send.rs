//! Sending: works through a planned run until nothing is pending or something stops it.
//!
//! One task owns the run's state, with the attempts and their connections, on a thread of its own, so that nothing of a
//! request passes from thread to thread. A loader reads planned records ahead and writes the intent to send them; a writer
//! commits outcomes in groups.

use std::collections::HashMap;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, Sleep};

mod loader;
mod outcome;
mod scribe;
mod stop;

pub use stop::StopReason;

use super::dispatch::{Dispatcher, Job, Step, Verdict};
use crate::client::{Attempt, Client, Pace, Request, Speed};
use crate::ledger::{self, Ledger, LockedRun, Seq};
use crate::records::{Input, RecordKind};
use outcome::{cut_off, outcome};
use scribe::{Durable, Note};

/// Notes are handed to the writer when there are so many,
const TOGETHER: usize = 2_048;
/// or when the first of them is so old. What a crash takes of outcomes that nobody waits for is sent once more.
const GATHER: Duration = Duration::from_millis(20);
/// When so many wait for the writer, the sender waits for it, too.
const MOST: usize = 2 * TOGETHER;
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
    pub run: &'a LockedRun,
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
/// take to end.
pub async fn send(
    work: &Work<'_>,
    interrupt: impl Future<Output = Duration>,
    progress: &(dyn Fn(&Progress) + Sync),
) -> Result<Ended, ledger::Error> {
    let (began, run) = (Instant::now(), work.run.id());
    let doubted = work.ledger.doubt(run).await?;
    tracing::info!(run, kind = %work.kind, doubted, "sending begins");
    let input = work.kind.input();
    let (jobs_sender, jobs) = mpsc::channel(AHEAD);
    let loader = tokio::spawn(loader::load(work.ledger.clone(), run, input, work.wall, jobs_sender));
    let (notes, notes_receiver) = mpsc::channel(1);
    let (durable_sender, durable) = mpsc::unbounded_channel();
    let (done_sender, done) = mpsc::unbounded_channel();
    let writer = tokio::spawn(scribe::write(work.ledger.clone(), run, work.wall, notes_receiver, durable_sender));
    let mut pace = Pace::new(work.rate, began);
    if let Some(file) = work.rate_file {
        pace = pace.shared(file, began);
    }
    let sender = Sender {
        dispatcher: Dispatcher::new(work.kind, work.concurrency, pace).with_max_errors(work.max_errors),
        input,
        client: Arc::clone(&work.client),
        jobs,
        callers: JoinSet::new(),
        calls: Vec::new(),
        idle: Vec::new(),
        done_sender,
        done,
        notes,
        gathered: Vec::new(),
        gathered_since: began,
        is_due: false,
        durable,
        once: HashMap::new(),
        noted: 0,
        most_noted: work.concurrency.max(1),
        progress: Progress::default(),
        shown: Arc::default(),
        wall: work.wall,
    };
    let (stopped, learnt) = attend(sender, interrupt, progress).await;
    tracing::info!(run, ?stopped, seconds = began.elapsed().as_secs_f64(), "sending ends");
    // The loader ends by itself when its channel is gone; its error, if any, is why there was nothing more to send.
    let loaded = joined(loader).await;
    joined(writer).await?;
    loaded?;
    Ok(Ended { stopped, learnt, millis: i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX) })
}

/// Lets the sender work on a thread of its own, and meanwhile shows how far it is and passes the interrupt on. When nobody
/// waits for it any more, it ends, too.
async fn attend(
    sender: Sender,
    interrupt: impl Future<Output = Duration>,
    progress: &(dyn Fn(&Progress) + Sync),
) -> (Option<StopReason>, Option<f64>) {
    let shown = Arc::clone(&sender.shown);
    let (stop, stopped) = oneshot::channel();
    let mut stop = Some(stop);
    let mut sending = start(sender, stopped);
    let mut interrupt = std::pin::pin!(interrupt);
    let mut show = tokio::time::interval(SHOWN_EVERY);
    show.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            ended = &mut sending => {
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

/// On one thread, whoever waits for an answer is woken where the answer is read.
fn start(sender: Sender, interrupt: oneshot::Receiver<Duration>) -> JoinHandle<(Option<StopReason>, Option<f64>)> {
    match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => tokio::task::spawn_blocking(move || {
            let ended = runtime.block_on(sender.run(interrupt));
            // The look-up of a name that hangs would keep it.
            runtime.shutdown_background();
            ended
        }),
        Err(error) => {
            tracing::warn!(%error, "the sender shares the threads of all others");
            tokio::spawn(sender.run(interrupt))
        }
    }
}

struct Sender {
    dispatcher: Dispatcher,
    input: &'static Input,
    client: Arc<Client>,
    jobs: mpsc::Receiver<Vec<Job>>,
    /// They make the attempts, each one after the other, on the sender's own thread.
    callers: JoinSet<()>,
    /// What each of them is to do next, by their numbers.
    calls: Vec<mpsc::UnboundedSender<Job>>,
    /// Those that have nothing to do, the one that had something last at the end.
    idle: Vec<usize>,
    done_sender: mpsc::UnboundedSender<Done>,
    done: mpsc::UnboundedReceiver<Done>,
    notes: mpsc::Sender<Vec<Note>>,
    /// Notes that were not handed to the writer yet.
    gathered: Vec<Note>,
    /// When the first of them came.
    gathered_since: Instant,
    /// Whether they are to be handed over as soon as it has room: they are many or old, or a request waits for one.
    is_due: bool,
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

/// An attempt that ended.
struct Done {
    caller: usize,
    job: Job,
    attempt: Attempt,
}

/// The writer is gone. It can't be told outcomes, so nothing more may be sent; its error says why.
struct WriterGone;

impl Sender {
    /// Until nothing is left to do. `interrupt` gets how long requests under way may take to end.
    async fn run(mut self, mut interrupt: oneshot::Receiver<Duration>) -> (Option<StopReason>, Option<f64>) {
        let mut deadline: Option<Instant> = None;
        let mut all_loaded = false;
        let mut hand_over = std::pin::pin!(tokio::time::sleep(GATHER));
        loop {
            while !all_loaded && self.dispatcher.backlog() < LOW {
                match self.jobs.try_recv() {
                    Ok(block) => self.push(block),
                    Err(mpsc::error::TryRecvError::Empty) => break,
                    Err(mpsc::error::TryRecvError::Disconnected) => all_loaded = true,
                }
            }
            let now = Instant::now();
            let wake = deadline.or_else(|| self.issue(now));
            self.progress.pause = self.dispatcher.pause(now);
            self.progress.retrying = self.dispatcher.retrying();
            self.progress.rate = self.dispatcher.pace().per_second(now);
            *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = self.progress;
            let idle = self.dispatcher.in_flight() == 0;
            if idle && (deadline.is_some() || self.dispatcher.halt().is_some())
                || all_loaded && self.dispatcher.is_empty()
            {
                break;
            }
            if self.is_due && self.hand_over().is_err() {
                break;
            }
            if !self.is_due {
                self.gathered_by(hand_over.as_mut());
            }
            let done = tokio::select! {
                Some(done) = self.done.recv(), if self.gathered.len() < MOST => {
                    let now = Instant::now();
                    self.take(done, now);
                    self.take_all(now);
                    Ok(())
                }
                Some(Err(error)) = self.callers.join_next() => std::panic::resume_unwind(error.into_panic()),
                durable = self.durable.recv() => match durable {
                    Some(durable) => {
                        self.go(durable, deadline.is_some());
                        Ok(())
                    }
                    None => Err(WriterGone),
                },
                () = &mut hand_over, if !self.is_due && !self.gathered.is_empty() => {
                    self.is_due = true;
                    Ok(())
                }
                room = room(&self.notes), if self.is_due => room,
                block = self.jobs.recv(), if !all_loaded && self.dispatcher.backlog() < LOW => {
                    match block {
                        Some(block) => self.push(block),
                        None => all_loaded = true,
                    }
                    Ok(())
                }
                () = sleep_until(wake) => {
                    if deadline.is_some() {
                        self.cut_off();
                        break;
                    }
                    Ok(())
                }
                interrupted = &mut interrupt, if deadline.is_none() => match interrupted {
                    Ok(grace) => {
                        deadline = Some(Instant::now() + grace);
                        Ok(())
                    }
                    // Nobody waits for this any more.
                    Err(_) => break,
                },
            };
            if done.is_err() {
                break;
            }
        }
        if !self.gathered.is_empty() {
            // Where the writer is gone, its error says why.
            let _ = self.notes.send(std::mem::take(&mut self.gathered)).await;
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
    fn issue(&mut self, now: Instant) -> Option<Instant> {
        while self.noted < self.most_noted {
            match self.dispatcher.step(now) {
                Step::Send(job) if job.is_once => {
                    self.noted += 1;
                    self.note(Note::Begin(job));
                }
                Step::Send(job) => self.attempt(job),
                Step::WaitUntil(at) => return Some(at),
                Step::Wait => return None,
            }
        }
        None
    }

    /// Sends what may be sent now that it is noted, unless something came between.
    fn go(&mut self, durable: Durable, is_interrupted: bool) {
        self.noted -= durable.ended;
        for job in durable.begun {
            let must_wait = self.dispatcher.halt().is_some() || self.dispatcher.pause(Instant::now()).is_some();
            if must_wait || is_interrupted {
                let seq = job.seq;
                self.dispatcher.put_back(job);
                self.note(Note::NotSent(seq));
            } else {
                self.once.insert(job.seq, job.requests + 1);
                self.attempt(job);
            }
        }
    }

    /// Hands it to the caller that was the last to have something to do: connections of the others may grow old.
    fn attempt(&mut self, job: Job) {
        let number = self.idle.pop().unwrap_or_else(|| {
            let (calls, jobs) = mpsc::unbounded_channel();
            self.calls.push(calls);
            let number = self.calls.len() - 1;
            self.callers.spawn(call(Arc::clone(&self.client), self.input, number, jobs, self.done_sender.clone()));
            number
        });
        // A caller is there as long as it may be told something.
        let _ = self.calls[number].send(job);
    }

    /// Takes in all attempts that have ended.
    fn take_all(&mut self, now: Instant) {
        while let Ok(done) = self.done.try_recv() {
            self.take(done, now);
        }
    }

    fn take(&mut self, done: Done, now: Instant) {
        let Done { caller, job, attempt } = done;
        self.idle.push(caller);
        let (seq, is_once) = (job.seq, job.is_once);
        if is_once {
            self.once.remove(&seq);
        }
        let settled = self.dispatcher.settle(job, attempt.requests, attempt.exchange, now, fastrand::f64());
        self.progress.retries = self.dispatcher.retries;
        self.progress.throttled = self.dispatcher.throttled;
        let Some(settled) = settled else {
            // Whatever is tried again or left for a resume was not applied, or may be repeated.
            if is_once {
                self.note(Note::NotSent(seq));
            }
            return;
        };
        match &settled.verdict {
            Verdict::Sent { .. } => self.progress.sent += 1,
            Verdict::Failed { .. } => self.progress.failed += 1,
            Verdict::Unknown { .. } => self.progress.unknown += 1,
        }
        let outcome = outcome(settled, (self.wall)());
        self.note(if is_once { Note::LastOutcome(outcome) } else { Note::Outcome(outcome) });
    }

    /// Ends all requests that are still under way. Of those that must not be sent twice, nobody knows what became.
    fn cut_off(&mut self) {
        self.take_all(Instant::now());
        self.callers.abort_all();
        for (seq, requests) in std::mem::take(&mut self.once) {
            self.note(Note::LastOutcome(cut_off(seq, requests, (self.wall)())));
            self.dispatcher.forget();
        }
    }

    fn note(&mut self, note: Note) {
        if self.gathered.is_empty() {
            self.gathered_since = Instant::now();
        }
        self.is_due |= note.is_awaited();
        self.gathered.push(note);
        self.is_due |= self.gathered.len() >= TOGETHER;
    }

    /// Hands the notes to the writer if it has room.
    fn hand_over(&mut self) -> Result<(), WriterGone> {
        match self.notes.try_reserve() {
            Ok(room) => {
                room.send(std::mem::replace(&mut self.gathered, Vec::with_capacity(TOGETHER)));
                self.is_due = false;
                Ok(())
            }
            Err(mpsc::error::TrySendError::Full(())) => Ok(()),
            Err(mpsc::error::TrySendError::Closed(())) => Err(WriterGone),
        }
    }

    /// Lets `hand_over` end when the notes that were gathered are old enough.
    fn gathered_by(&self, hand_over: Pin<&mut Sleep>) {
        let at = (self.gathered_since + GATHER).into();
        if hand_over.deadline() != at {
            hand_over.reset(at);
        }
    }
}

/// Makes attempts as long as there is somebody to ask for them.
async fn call(
    client: Arc<Client>,
    input: &'static Input,
    caller: usize,
    mut jobs: mpsc::UnboundedReceiver<Job>,
    done: mpsc::UnboundedSender<Done>,
) {
    while let Some(job) = jobs.recv().await {
        let attempt = client.attempt(&request(input, &job)).await;
        if done.send(Done { caller, job, attempt }).is_err() {
            return;
        }
    }
}

/// A record was only planned with a name that its path can hold and for a call that its kind has.
fn request(input: &Input, job: &Job) -> Request {
    let call = input.call(job.target.is_some());
    let path = call.and_then(|call| call.path(job.target.as_deref().unwrap_or_default()));
    Request {
        method: call.map_or("", |call| call.method),
        path: path.unwrap_or_default(),
        body: Some(job.body.clone()),
    }
}

/// Waits until the writer takes more.
async fn room(notes: &mpsc::Sender<Vec<Note>>) -> Result<(), WriterGone> {
    notes.reserve().await.map(drop).map_err(|_| WriterGone)
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
