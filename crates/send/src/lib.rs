//! Sends the pending records of a planned run. Knows no file and no template: only records in the ledger.
//!
//! A single task owns the dispatcher, loads the records block by block, skips settled records, starts the attempts and writes the
//! outcomes to the ledger in batches. Attempts run concurrently and report to this task. The intent of a non-idempotent call is on disk before
//! the request is sent. Records with the same key are never in flight together. If the ledger cannot be written, the run ends.
//!
//! | module | purpose |
//! |---|---|
//! | [`dispatch`] | the dispatcher: order, retries, pauses, probes and stops; pure. Begin here |
//! | [`work`], [`load`], [`batches`], [`exchange`], [`places`] | the task of a sender, records from the ledger, looks before batches, requests, outcomes and the cells meant by messages |
//! | [`storing`], [`slowness`] | writes to the ledger, and why it all takes longer than asked |
//! | [`interrupt`], [`hearing`]; [`doubt`] | early stops; records that may have been sent, of which the ledger has forgotten everything |
//! | [`keys`], [`chain`], [`chained`], [`handshake`], [`searches`], [`superseded`] | records with the same key: idempotency keys, parts, other uploads |
//! | [`supply`] | permits of a rate shared by several machines: without permits, nothing is sent |
//! | [`ports`], `simulation/` | the ledger and the service as two traits, and models of both on a paused clock |

mod batches;
mod chain;
mod chained;
pub mod dispatch;
mod doubt;
mod exchange;
mod handshake;
mod hearing;
mod interrupt;
mod keys;
mod load;
mod places;
mod ports;
mod searches;
#[cfg(test)]
mod simulation;
mod slowness;
mod storing;
pub mod superseded;
mod supply;
mod work;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;

use sheetport_client::fetch::PROBE_PATH;
use sheetport_client::policy::{Action, Call, decide};
use sheetport_client::{Attempt, KeyMemory, Pace, Permits, Request, Speed};
use sheetport_ledger::{
    self as ledger, Begun, Claim, Intent, NewerKeys, Part, Policy, RecordState, Run, RunId, RunState, SendingChanges,
    Seq,
};
use sheetport_plan::sent_before::{LeftOut, Scope, claimed_meanwhile};
use sheetport_records::RecordKind;
use sheetport_telemetry::{self as telemetry, ReportedTotals};
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;

use crate::dispatch::{Dispatcher, Job, OrderingKey, Settled, Step};
use chain::Chained;
pub use dispatch::{Limits, StopReason};
use exchange::{outcome, request};
use hearing::Hearing;
pub use interrupt::{Grace, Stage, Stopping, pass_on};
use load::{HeldBack, Looks, looked};
use ports::{Journal, Service};
use searches::Searches;
use slowness::Waits;
pub use slowness::{Limit, Slowness};
pub use supply::{Supply, while_supplied};
pub use work::{Look, Progress, SendResult, Work};

/// Minimum number of waiting records; below, the next block is loaded.
const LOW_BACKLOG: usize = 256;
/// Maximum number of outcomes per batch.
const MAX_BATCH: usize = 2_048;
/// Interval of writing outcomes of idempotent calls. After a crash, records with lost outcomes are sent again.
const STORE_INTERVAL: Duration = Duration::from_millis(20);
/// Interval of progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// Newer uploads that have begun this long before sending are looked for, in milliseconds.
const NEWER_OVERLAP: i64 = 60_000;

/// Sends the pending records of a run, or of a part of it. `look`: looks at each batch before it is sent. `interrupt` resolves when the user
/// asks to stop, to the grace period for requests in flight. Fails if the ledger cannot be read or written.
pub fn send<'a>(
    work: &'a Work<'a>,
    look: Option<&'a Look<'a>>,
    interrupt: BoxFuture<'a, Grace>,
    progress: &'a (dyn Fn(&Progress) + Sync),
) -> BoxFuture<'a, Result<SendResult, ledger::Error>> {
    Box::pin(async move {
        let gate = work.shares_rate_of.zip(work.rate).filter(|_| work.ledger.has_gates());
        let permits = gate.map(|_| Arc::new(Permits::default()));
        let file = work.shares_rate_of.filter(|_| permits.is_none());
        let task = Task {
            journal: work.ledger.clone(),
            service: Arc::clone(&work.client),
            part: work.part,
            kind: work.kind,
            concurrency: work.concurrency,
            rate: work.rate,
            rate_file: file.map(|(base_url, workspace)| work.ledger.rate_file(base_url, workspace)),
            permits: permits.clone(),
            limits: work.limits,
            policy: work.policy,
            keys: work.keys,
            low_backlog: LOW_BACKLOG,
            progress_interval: PROGRESS_INTERVAL,
        };
        let hearing = Hearing::default();
        // Its futures may live as long as the task, and no longer.
        let look = look.map(|look| move |first| look(first));
        let look = look.as_ref().map(|look| look as &Look<'_>);
        // On the heap: the stack of a thread holds few futures of this size in a debug build.
        let sending = Box::pin(async {
            doubt::settle(work).await?;
            send_task(&task, look, hearing.interrupt(), progress).await
        });
        let supply = gate.zip(permits.as_deref()).map(|(((base_url, workspace), speed), permits)| {
            let most = u32::try_from(work.concurrency).unwrap_or(u32::MAX);
            Supply { ledger: work.ledger, base_url, workspace, speed, permits, most }
        });
        let ended = hearing.during(while_supplied(supply, sending), interrupt, work.ledger).await;
        match ended {
            Ok(ended) => Ok(ended),
            Err(error) => Err(work.ledger.cause_of(error).await),
        }
    })
}

/// [`Work`] with any ledger and service.
struct Task<J, S> {
    journal: J,
    service: Arc<S>,
    part: Part,
    kind: RecordKind,
    concurrency: usize,
    rate: Option<Speed>,
    rate_file: Option<PathBuf>,
    permits: Option<Arc<Permits>>,
    limits: Limits,
    policy: Policy,
    keys: Option<KeyMemory>,
    low_backlog: usize,
    progress_interval: Duration,
}

async fn send_task<'a, J: Journal, S: Service>(
    task: &'a Task<J, S>,
    look: Option<&'a Look<'a>>,
    interrupt: impl Future<Output = Grace>,
    progress: &(dyn Fn(&Progress) + Sync),
) -> Result<SendResult, ledger::Error> {
    let (began, began_at) = (now(), task.journal.now());
    let looks_for_newer = superseded::looks_for_newer(task.kind, task.policy);
    let remembered = task.keys.map(|keys| keys.first_attempts(began_at));
    let Begun { run, family, age, interrupted, chained } =
        task.journal.begin(task.part, looks_for_newer, remembered, began_at).await?;
    let (unknown, repeated) = (interrupted.unknown, interrupted.repeatable.len());
    tracing::info!(run = run.id, part = task.part.first, kind = %task.kind, unknown, repeated, "sending begins");
    let is_sendable = !matches!(run.state, RunState::Planning | RunState::Withheld);
    let mut pace = Pace::new(task.rate, began);
    if let Some(file) = &task.rate_file {
        pace = pace.shared(file, began);
    }
    if let Some(permits) = &task.permits {
        pace = pace.supplied_by(Arc::clone(permits));
    }
    let mut sender = Sender {
        task,
        scope: Scope::of(&run),
        newer: looks_for_newer.then(|| NewerKeys::since(began_at, age)),
        searches: Searches::new(looks_for_newer.then(|| (began_at.saturating_sub(NEWER_OVERLAP), began)), age),
        yielding: Vec::new(),
        held_back: None,
        chained: Chained::new(chained),
        superseded: BTreeMap::new(),
        in_flight: HashMap::new(),
        doubtful: HashSet::new(),
        repeatable: interrupted.repeatable,
        run,
        family,
        dispatcher: Dispatcher::new(task.kind, task.concurrency, pace, task.limits),
        next_block: is_sendable.then_some(task.part.first),
        looks: look.map(Looks::new),
        load_error: None,
        attempts: JoinSet::new(),
        changes: SendingChanges::default(),
        gathers_until: None,
        storing: None,
        unconfirmed: HashMap::new(),
        waits: Waits::beginning(began),
        deadline: None,
        progress: Progress::default(),
        reported: ReportedTotals::default(),
    };
    if let Err(error) = sender.send_all(interrupt, progress).await {
        // Nothing is written any more after this, because the records may be those of another process soon.
        if let Some(storing) = sender.storing.take() {
            storing.abort();
            let _ = storing.await;
        }
        return Err(error);
    }
    let stopped = sender.stop_reason().await;
    if stopped.is_some() {
        let seqs: Vec<Seq> = sender.in_flight.keys().chain(&sender.doubtful).copied().collect();
        task.journal.reduce_intents(task.part, began_at, &seqs, task.journal.now()).await?;
    }
    if looks_for_newer {
        task.journal.leave(task.part).await?;
    }
    let taken = now().saturating_duration_since(began);
    tracing::info!(
        run = task.part.run,
        part = task.part.first,
        ?stopped,
        seconds = taken.as_secs_f64(),
        "sending ends"
    );
    let progress = sender.progress();
    sender.reported.report(task.kind.name(), progress.totals());
    sender.load_error.map_or(Ok(()), Err)?;
    Ok(SendResult {
        slowness: sender.waits.slowness(task.rate, progress.settled(), taken),
        progress,
        stopped,
        learned_rate: sender.dispatcher.pace.learned_rate(),
        superseded: sender.superseded.into_values().collect(),
        millis: i64::try_from(taken.as_millis()).expect("a plausible duration"),
    })
}

/// Returns the time of tokio's clock, which simulations control.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

struct Sender<'a, J, S> {
    task: &'a Task<J, S>,
    /// The run in its current state.
    run: Run,
    /// For the claims of non-idempotent calls.
    scope: Scope,
    /// The runs connected with this one by retries.
    family: Vec<RunId>,
    /// The keys that newer uploads send, unless they are overwritten.
    newer: Option<NewerKeys>,
    searches: Searches,
    /// Intents of newer uploads with keys that may be in flight.
    yielding: Vec<Intent>,
    held_back: Option<HeldBack>,
    chained: Chained,
    /// By newer run.
    superseded: BTreeMap<RunId, LeftOut>,
    /// Idempotent calls in flight.
    in_flight: HashMap<Seq, OrderingKey>,
    /// Idempotent calls without an outcome that may have been applied.
    doubtful: HashSet<Seq>,
    /// Records of calls with a key that are stored as in flight, and not loaded yet, with the time before the first attempt.
    repeatable: BTreeMap<Seq, i64>,
    dispatcher: Dispatcher,
    /// Position of the next block of records, or `None` after the last.
    next_block: Option<Seq>,
    /// The looks at the batches, for a run that looks again.
    looks: Option<Looks<'a>>,
    /// Error of loading a block, reported after the records loaded before are sent.
    load_error: Option<ledger::Error>,
    attempts: JoinSet<Ended>,
    /// Changes to be written to the ledger.
    changes: SendingChanges,
    /// Until then, the next intents are to take the changes along.
    gathers_until: Option<Instant>,
    /// Earlier changes being written while further requests are sent.
    storing: Option<JoinHandle<Result<(), ledger::Error>>>,
    /// Non-idempotent calls without a key in flight, with the requests made for each record.
    unconfirmed: HashMap<Seq, u32>,
    waits: Waits,
    /// End of the grace period after an interrupt.
    deadline: Option<Instant>,
    progress: Progress,
    reported: ReportedTotals,
}

/// A finished attempt.
struct Ended {
    /// Of a probe, there is none.
    job: Option<Job>,
    attempt: Attempt,
}

impl<J: Journal, S: Service> Sender<'_, J, S> {
    /// Runs until no record is left to send or the run has to stop.
    async fn send_all(
        &mut self,
        interrupt: impl Future<Output = Grace>,
        progress: &(dyn Fn(&Progress) + Sync),
    ) -> Result<(), ledger::Error> {
        let mut interrupt = pin!(interrupt);
        let mut at_once = Grace::never();
        let mut ticks = tokio::time::interval(self.task.progress_interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stores = tokio::time::interval(STORE_INTERVAL);
        stores.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.waits.begin_round(now());
            while self.may_load() {
                self.load_next_blocks(self.last_to_load()).await;
                self.admit_held_back().await?;
            }
            self.begin_look();
            self.admit_held_back().await?;
            self.admit_chained(now()).await?;
            self.look_for_newer(now());
            self.yield_to_newer().await?;
            for settled in self.dispatcher.released() {
                self.keep(settled);
            }
            if self.changes.outcomes.len() >= MAX_BATCH {
                self.store().await?;
            }
            self.say_need();
            let wake = match self.deadline {
                Some(deadline) => Some(deadline),
                None => self.start_attempts(now()).await?,
            };
            if self.is_done() {
                return self.store().await;
            }
            self.store_finished();
            self.waits.end_round(now(), self.dispatcher.in_flight() >= self.task.concurrency);
            // In a fixed order, so that simulations can be repeated. The intervals leave time for the others.
            tokio::select! {
                biased;
                grace = &mut interrupt, if self.deadline.is_none() => {
                    self.deadline = Some(now() + grace.limit);
                    at_once = grace.at_once;
                }
                () = &mut at_once => return self.cut_off().await,
                stored = stored(&mut self.storing), if self.storing.is_some() => stored?,
                _ = stores.tick(), if self.may_store() => {
                    self.store_in_background();
                }
                _ = ticks.tick() => {
                    let now = self.progress();
                    progress(&now);
                    self.reported.report(self.task.kind.name(), now.totals());
                }
                Some(ended) = self.attempts.join_next() => {
                    self.settle(ended);
                    self.settle_ended();
                }
                Some(ended) = self.searches.next() => self.take_newer(ended)?,
                looked = looked(&mut self.looks), if self.deadline.is_none() => {
                    if let Err(why) = looked {
                        self.dispatcher.stop(StopReason::Unseen(why));
                    }
                }
                () = sleep_until(self.held_back.as_ref().map(|held| held.next_look)), if self.deadline.is_none() => {}
                () = sleep_until(wake) => {
                    if self.deadline.is_some() {
                        return self.cut_off().await;
                    }
                }
            }
        }
    }

    /// Whether no record is left to send, or none may be sent and none is in flight.
    fn is_done(&self) -> bool {
        let must_stop = self.deadline.is_some() || self.dispatcher.stop_reason().is_some();
        must_stop && self.dispatcher.in_flight() == 0
            || self.next_block.is_none()
                && self.held_back.is_none()
                && self.dispatcher.is_empty()
                && self.chained.is_empty_or_late(now())
    }

    /// Starts all attempts permitted now. Returns when to try again. Intents of non-idempotent calls are written first.
    async fn start_attempts(&mut self, now: Instant) -> Result<Option<Instant>, ledger::Error> {
        if !self.task.journal.holds_locks() {
            return Err(ledger::Error::LockLost);
        }
        // Outcomes gather in memory while another program holds the ledger. When it is free, `storing` ends and wakes this task.
        if self.storing.is_some() && self.task.journal.is_waiting() {
            return Ok(None);
        }
        let mut unclaimed = Vec::new();
        let wake = loop {
            match self.dispatcher.step(now) {
                Step::Send(job) if job.call == Call::Idempotent => self.start_or_withdraw(job),
                Step::Send(job) if job.in_flight_since.is_some() => self.repeat_or_give_up(job),
                Step::Send(job) => {
                    self.count(&job, 1);
                    unclaimed.push(job);
                }
                Step::Probe => self.probe(),
                Step::WaitUntil(at) => break Some(at),
                Step::Wait => break None,
            }
        };
        if !unclaimed.is_empty() {
            self.claim(&mut unclaimed).await?;
            self.note_lead(now);
        }
        for job in unclaimed {
            if job.call == Call::NonIdempotent {
                self.unconfirmed.insert(job.seq, job.requests + 1);
            }
            self.start(job);
        }
        Ok(wake)
    }

    /// Claims non-idempotent calls and stores them as in flight, together with all changes. Durable on return. Removes
    /// the calls that another run has claimed since the plan was compared with earlier runs.
    async fn claim(&mut self, jobs: &mut Vec<Job>) -> Result<(), ledger::Error> {
        stored(&mut self.storing).await?;
        let changes = std::mem::take(&mut self.changes);
        let claims: Vec<Claim> = jobs.iter().filter_map(|job| job.claim.clone()).collect();
        let (run, now) = (&self.run, self.task.journal.now());
        let has_keys = self.task.keys.is_some();
        let started = self.task.journal.start(run, &self.family, &changes, &claims, has_keys, now).await;
        let repeated = match started {
            Ok(repeated) => repeated,
            Err(error) => {
                // A failed write of an intent must not lose a known outcome, if it can be stored alone.
                if let Err(error) = self.task.journal.store(run.id, &changes).await {
                    tracing::debug!(%error, "outcomes were not stored either");
                }
                return Err(error);
            }
        };
        for job in jobs.iter_mut().filter(|job| job.call == Call::Keyed) {
            job.in_flight_since = Some(now);
        }
        let mut withdrawn = Vec::new();
        for (seq, earlier) in repeated {
            let Some(index) = jobs.iter().position(|job| job.seq == seq) else { continue };
            let job = jobs.remove(index);
            if let Some(claim) = &job.claim {
                let name = job.key.as_deref();
                self.changes.outcomes.push(claimed_meanwhile(run, claim, name, &earlier, now));
            }
            withdrawn.push(job);
        }
        for job in withdrawn {
            self.count(&job, -1);
            self.dispatcher.withdraw(&job);
        }
        Ok(())
    }

    /// Adds to the number of requests, and of retries if the record of the job was sent before.
    fn count(&mut self, job: &Job, requests: i64) {
        self.changes.requests += requests;
        self.changes.retries += if job.requests > 0 { requests } else { 0 };
    }

    fn start(&mut self, mut job: Job) {
        if job.call == Call::Idempotent {
            self.in_flight.insert(job.seq, job.ordering_key.clone());
        }
        let service = Arc::clone(&self.task.service);
        let request = request(self.task.kind, &job);
        let is_once = job.call == Call::NonIdempotent;
        let scope = job.span.attempt(job.seq, self.task.kind.name(), job.requests, is_once);
        self.attempts.spawn(async move {
            if job.starts_at.is_some_and(|at| at > now()) {
                sleep_until(job.starts_at).await;
            }
            let attempt = scope.within(service.attempt(&request)).await;
            Ended { job: Some(job), attempt }
        });
    }

    fn probe(&mut self) {
        let service = Arc::clone(&self.task.service);
        let scope = telemetry::attempt(0);
        self.attempts.spawn(async move {
            let probe = Request::get(PROBE_PATH);
            let attempt = scope.within(service.attempt(&probe)).await;
            Ended { job: None, attempt }
        });
    }

    /// Settles all finished attempts.
    fn settle_ended(&mut self) {
        while let Some(ended) = self.attempts.try_join_next() {
            self.settle(ended);
        }
    }

    fn settle(&mut self, ended: Result<Ended, JoinError>) {
        let ended = ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let Ended { job, attempt } = ended;
        let Some(mut job) = job else {
            return self.dispatcher.probed(attempt.outcome, now(), fastrand::f64());
        };
        let (seq, call) = (job.seq, job.call);
        self.unconfirmed.remove(&seq);
        job.span.answered();
        // What must not be repeated for fear of a second record is in doubt for a repeatable call, too.
        let action = decide(Call::NonIdempotent, attempt.outcome.kind());
        let may_be_applied = matches!(action, Action::Accept | Action::Unknown | Action::UnknownAndStop);
        let is_doubtful = call == Call::Keyed && (may_be_applied || job.may_be_applied());
        if !is_doubtful {
            job.in_flight_since = None;
        }
        // Without an access token, nothing was sent.
        self.count(&job, i64::from(attempt.requests) - 1);
        let settled = self.dispatcher.settle(job, attempt.requests, attempt.outcome, now(), fastrand::f64());
        if call == Call::Idempotent {
            self.in_flight.remove(&seq);
            if settled.is_some() {
                self.doubtful.remove(&seq);
            } else if may_be_applied {
                self.doubtful.insert(seq);
            }
        } else if settled.is_some() || !is_doubtful {
            // With an outcome, or pending again: certainly not applied.
            self.changes.finished.push(seq);
        }
        if let Some(settled) = settled {
            self.keep(settled);
        }
    }

    /// Counts a settled record and adds its outcome to the changes.
    fn keep(&mut self, mut settled: Settled) {
        let Settled { job, state, http_status, .. } = &mut settled;
        job.span.settle(state.name(), *http_status, job.requests);
        match settled.state {
            RecordState::Sent => self.progress.sent += 1,
            RecordState::Failed => self.progress.failed += 1,
            _ => self.progress.unknown += 1,
        }
        self.changes.outcomes.push(outcome(self.task.kind, settled, self.task.journal.now()));
    }

    fn progress(&self) -> Progress {
        let now = now();
        Progress {
            retries: self.dispatcher.retries,
            throttled: self.dispatcher.throttled,
            retrying: self.dispatcher.retrying(),
            pause: self.dispatcher.pause(now),
            is_pause_requested: self.dispatcher.is_pause_requested(),
            shortage: self.dispatcher.shortage(),
            rate: self.dispatcher.pace.per_second(now),
            ..self.progress
        }
    }

    /// Returns why the run stopped, or `None` if no record was left to send.
    async fn stop_reason(&mut self) -> Option<StopReason> {
        self.release_held_back();
        while self.dispatcher.unsettled() == 0 && self.next_block.is_some() {
            self.load_next_blocks(self.task.part.last).await;
            self.release_held_back();
        }
        let waits = !self.chained.is_empty();
        if self.dispatcher.unsettled() == 0 {
            return waits.then_some(StopReason::Waits);
        }
        match self.dispatcher.stop_reason() {
            Some(reason) => Some(reason.clone()),
            None if self.deadline.is_some() => Some(StopReason::Interrupted),
            None => {
                let deferred = self.dispatcher.deferred();
                deferred
                    .map(|(records, reason)| StopReason::LeftPending { records, reason: reason.to_owned() })
                    .or(waits.then_some(StopReason::Waits))
            }
        }
    }
}

/// Waits for the write in progress, if any, and forgets it.
async fn stored(storing: &mut Option<JoinHandle<Result<(), ledger::Error>>>) -> Result<(), ledger::Error> {
    let Some(write) = storing else { return Ok(()) };
    let ended = write.await;
    *storing = None;
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
