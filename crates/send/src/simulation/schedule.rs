//! Schedules: uploads, lives, faults and retries by chance.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{BoxFuture, join_all};
use sheetport_client::KeyMemory;
use sheetport_ledger::{Error, Part, Policy, RecordState, RunId, Seq};
use sheetport_records::RecordKind;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, sleep, timeout};

use super::super::{SendResult, Task, send_task};
use super::check::{check, check_end, check_unchanged};
use super::life::{Life, begin_session, wall};
use super::service::{Fate, Known, Line, Mood, World};
use super::store::{Mortal, Planned, Store};
use crate::{Grace, Limits, Look};

/// No life takes longer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// How many lives a schedule may have.
const MAX_LIVES: usize = 40;

/// How long services remember idempotency keys, in words and in milliseconds.
const KEYS: [(&str, i64); 3] = [("10s", 10_000), ("10min", 600_000), ("24h", 86_400_000)];

/// A broken rule and the trace up to it.
type Broken = (String, Vec<String>);

/// How a process sends a run, and how the process ends.
struct Plan {
    concurrency: usize,
    low_backlog: usize,
    max_errors: Option<u64>,
    rate: Option<&'static str>,
    /// How long the service remembers idempotency keys, as far as the process knows.
    keys: Option<KeyMemory>,
    /// Delay after the start of another process, in milliseconds.
    delay: u64,
    /// Number of steps until the process is killed.
    steps: Option<u32>,
    /// Time of an interruption and its grace period, in milliseconds.
    interrupt: Option<(u64, u64)>,
    /// Number of records in a batch that is looked at before it is sent.
    batch: Option<Seq>,
}

/// A run, and the end of its last life.
#[derive(Debug)]
pub(super) struct Sent {
    pub run: RunId,
    /// Consecutive unknown outcomes at the end of the last life. `concurrency` belongs to the same life.
    unknown: u64,
    concurrency: usize,
    /// Whether a life was killed or interrupted.
    pub was_cut: bool,
    /// Whether the last life was killed.
    pub is_killed: bool,
    is_retried: bool,
    changed_only: bool,
    /// The states of the records when the run was removed.
    pub pruned: Option<Vec<RecordState>>,
}

impl Sent {
    /// Returns the state of each record.
    pub(super) fn states(&self, store: &dyn Store) -> Result<Vec<RecordState>, Error> {
        match &self.pruned {
            Some(states) => Ok(states.clone()),
            None => store.states(self.run),
        }
    }
}

/// A schedule in progress.
pub(super) struct Schedule {
    random: fastrand::Rng,
    kind: RecordKind,
    /// How long the service remembers idempotency keys. `None` if the service does not honour them.
    keys: Option<KeyMemory>,
    has_names: bool,
    /// Whether uploads leave out what was accepted before.
    leaves_out_unchanged: bool,
    /// Whether the uploads are long enough for outages.
    is_long: bool,
    store: Arc<dyn Store>,
    world: Arc<Mutex<World>>,
    runs: Vec<Sent>,
    /// The time of day in milliseconds.
    clock: i64,
    lives: usize,
    /// The trace, if requested.
    trace: Option<Vec<String>>,
    runtime: Runtime,
}

impl Schedule {
    pub(super) fn new(seed: u64, store: Arc<dyn Store>, is_traced: bool) -> Schedule {
        let mut random = fastrand::Rng::with_seed(seed);
        let kind = RecordKind::ALL[random.usize(..RecordKind::ALL.len())];
        let keys = random.bool().then(|| KEYS[random.usize(..KEYS.len())]);
        let world = World {
            kind,
            random: random.fork(),
            mood: Mood::healthy(),
            began: Instant::now(),
            session: 0,
            runs: BTreeMap::new(),
            applied: Vec::new(),
            requests: BTreeMap::new(),
            ambiguous: BTreeMap::new(),
            broken: None,
            taken: BTreeMap::new(),
            remembers: keys.map(|(_, millis)| millis),
            remembered: HashMap::new(),
            sent_with: BTreeMap::new(),
        };
        Schedule {
            has_names: random.u8(..4) > 0,
            leaves_out_unchanged: random.bool(),
            is_long: random.u8(..32) == 0,
            random,
            kind,
            keys: keys.map(|(text, _)| text.parse().expect("a duration")),
            store,
            world: Arc::new(Mutex::new(world)),
            runs: Vec::new(),
            clock: 1_000_000,
            lives: 0,
            trace: is_traced.then(Vec::new),
            runtime: Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime"),
        }
    }

    /// Runs until everything is sent, with a healthy service at the end. Returns the trace.
    pub(super) fn run(mut self) -> Result<Vec<String>, Broken> {
        let result = self.try_run();
        let trace = self.trace.take().unwrap_or_default();
        result.map_or_else(|rule| Err((rule, trace.clone())), |()| Ok(trace.clone()))
    }

    fn trace(&mut self, what: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(what());
        }
    }

    fn try_run(&mut self) -> Result<(), String> {
        self.upload()?;
        for _ in 0..self.random.usize(1..4) {
            if self.runs.len() < 3 && self.random.u8(..3) == 0 {
                self.upload()?;
            }
            if self.random.u8(..3) == 0 {
                self.retry()?;
            }
            let kept = self.kept();
            let Some(first) = self.random.choice(&kept).copied() else { continue };
            let mut lives = vec![(first, self.plan())];
            let other = *self.random.choice(&kept).expect("it has the first");
            if self.age(other) != self.age(first) && self.random.u8(..3) > 0 {
                lives.push((other, self.plan()));
            }
            let mood = self.mood();
            self.live(lives, mood)?;
            if self.random.bool() {
                self.prune()?;
            }
        }
        // In the end the service is healthy, and every run is resumed in any order until nothing is left to retry.
        loop {
            let mut order = self.kept();
            self.random.shuffle(&mut order);
            for of in order {
                let plan = Plan { steps: None, interrupt: None, max_errors: None, ..self.plan() };
                self.live(vec![(of, plan)], Mood::healthy())?;
                let pending = self.accounting(self.runs[of].run)?.pending;
                if pending > 0 {
                    return Err(format!("run {} has {pending} pending records in the end", self.runs[of].run));
                }
            }
            if !self.retry()? {
                break;
            }
        }
        let world = Arc::clone(&self.world);
        let world = world.lock().expect("no panic");
        self.trace(|| format!("{:?}", world.applied));
        check_end(&*self.store, &world, &self.runs)
    }

    /// Returns the runs that were not removed.
    fn kept(&self) -> Vec<usize> {
        (0..self.runs.len()).filter(|of| self.runs[*of].pruned.is_none()).collect()
    }

    /// Removes a family with nothing pending, if there is one. With unknown records, as `runs prune --force` does.
    fn prune(&mut self) -> Result<(), String> {
        let failed = |error: Error| error.to_string();
        let Some(of) = self.random.choice(self.kept()) else { return Ok(()) };
        let family: Vec<usize> = (0..self.runs.len()).filter(|other| self.age(*other) == self.age(of)).collect();
        let mut states = Vec::new();
        for member in &family {
            let known = self.runs[*member].states(&*self.store).map_err(failed)?;
            if known.contains(&RecordState::Pending) {
                return Ok(());
            }
            states.push(known);
        }
        let runs: Vec<RunId> = family.iter().map(|member| self.runs[*member].run).collect();
        self.trace(|| format!("runs {runs:?} are removed"));
        self.store.prune(&runs, self.clock).map_err(failed)?;
        for (member, states) in family.into_iter().zip(states) {
            self.runs[member].pruned = Some(states);
        }
        Ok(())
    }

    /// Returns the first run of the family.
    fn age(&self, of: usize) -> RunId {
        self.world.lock().expect("no panic").runs[&self.runs[of].run].age
    }

    fn accounting(&self, run: RunId) -> Result<sheetport_ledger::Accounting, String> {
        self.store.accounting(run).map_err(|error| error.to_string())
    }

    /// Plans an upload.
    fn upload(&mut self) -> Result<(), String> {
        let (file, count) = (self.runs.len(), self.random.usize(if self.is_long { 20..50 } else { 1..10 }));
        let keys = self.random.usize(1..8);
        let has_other_values = self.random.u8(..4) == 0;
        // A file like the last one, so that some of its values are not new.
        let is_alike = self.random.u8(..3) < if self.leaves_out_unchanged { 2 } else { 1 };
        let changed_only = self.leaves_out_unchanged && self.random.bool();
        let mut records: Vec<Planned> = (0..count)
            .map(|nth| {
                let key = format!("K{}", if is_alike { nth % keys } else { self.random.usize(..keys) });
                let value = if is_alike { format!("{nth}") } else { format!("{file}.{nth}") };
                match self.kind {
                    RecordKind::Item => {
                        let body = format!(r#"{{"externalId":"{key}","name":"{value}"}}"#);
                        Planned { key: Some(key), target: None, body }
                    }
                    RecordKind::Order => {
                        let body = format!(r#"{{"order":{{"externalId":"{key}","value":"{value}"}}}}"#);
                        Planned { key: Some(key.clone()), target: Some(key), body }
                    }
                    RecordKind::InventoryTransaction if nth % 2 == 1 => {
                        let body = format!(r#"{{"transactionType":"in","value":"{value}"}}"#);
                        Planned { key: Some(key.clone()), target: Some(key), body }
                    }
                    RecordKind::InventoryTransaction | RecordKind::Subscription | RecordKind::Invoice => {
                        let name = format!("N{nth}");
                        let other = if has_other_values && self.random.bool() { &value } else { "" };
                        let body = format!(r#"{{"cid":"{name}","note":"{other}"}}"#);
                        let has_name = self.has_names && self.kind != RecordKind::InventoryTransaction;
                        Planned { key: has_name.then_some(name), target: None, body }
                    }
                }
            })
            .collect();
        if self.leaves_out_unchanged {
            // As in real plans, which have a key once. The order of requests with the same key is tried by the other schedules.
            let mut seen = BTreeSet::new();
            records.retain(|record| record.key.is_none() || seen.insert(record.key.clone()));
        }
        self.begin(records, None, changed_only)
    }

    fn begin(&mut self, records: Vec<Planned>, retry_of: Option<RunId>, changed_only: bool) -> Result<(), String> {
        let run = self.store.plan(self.kind, &records, retry_of).map_err(|error| error.to_string())?;
        self.trace(|| format!("run {run}, retry of {retry_of:?}, changed only {changed_only}: {records:?}"));
        let seqs: HashMap<Bytes, Seq> =
            records.iter().zip(0..).map(|(record, seq)| (Bytes::from(record.body.clone()), seq)).collect();
        let mut world = self.world.lock().expect("no panic");
        let age = retry_of.map_or(run, |retried| world.runs[&retried].age);
        world.runs.insert(run, Known { records, seqs, age });
        self.runs.push(Sent {
            run,
            unknown: 0,
            concurrency: 1,
            was_cut: false,
            is_killed: false,
            is_retried: false,
            changed_only,
            pruned: None,
        });
        Ok(())
    }

    /// Retries the refused records of the first run that has any. Returns whether there was such a run.
    fn retry(&mut self) -> Result<bool, String> {
        for of in self.kept() {
            let run = self.runs[of].run;
            let states = self.store.states(run).map_err(|error| error.to_string())?;
            if self.runs[of].is_retried || states.contains(&RecordState::Pending) {
                continue;
            }
            let world = self.world.lock().expect("no panic");
            let state = |seq: Seq| states[usize::try_from(seq).expect("a place")];
            // A later record with the same key, if sent, is newer.
            let is_last = |seq: Seq| {
                let key = &world.record(run, seq).key;
                let mut later = (0..).zip(&world.runs[&run].records).skip_while(|(other, _)| *other <= seq);
                key.is_none() || later.all(|(other, record)| record.key != *key || state(other) == RecordState::Failed)
            };
            let failed = (0..).take(states.len()).filter(|seq| state(*seq) == RecordState::Failed && is_last(*seq));
            let records: Vec<Planned> = failed.map(|seq| world.record(run, seq).clone()).collect();
            drop(world);
            if !records.is_empty() {
                self.runs[of].is_retried = true;
                self.begin(records, Some(run), false)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn mood(&mut self) -> Mood {
        let random = &mut self.random;
        let fates = (0..random.usize(1..5)).map(|_| Fate::ALL[random.usize(..Fate::ALL.len())]).collect();
        let outage = (random.u8(..4) == 0).then(|| {
            let from = random.u64(..2_000);
            (from, from + random.u64(..60_000), Fate::ALL[random.usize(..Fate::ALL.len())])
        });
        let accepts = [95, 80, 50, 20, 0][random.usize(..5)];
        let answers_reads = random.bool();
        Mood { accepts, fates, outage, answers_reads, slowness: [0, 5, 200, 3_000][random.usize(..4)] }
    }

    fn plan(&mut self) -> Plan {
        let random = &mut self.random;
        // A profile may be changed between two lives.
        let keys = self.keys.filter(|_| random.u8(..8) > 0);
        Plan {
            concurrency: if self.is_long { random.usize(1..4) } else { random.usize(1..9) },
            low_backlog: [1, 4, 256][random.usize(..3)],
            max_errors: (random.u8(..4) == 0).then(|| random.u64(..3)),
            rate: (random.u8(..5) == 0).then_some("20/s"),
            keys,
            delay: [0, 1, 30, 300][random.usize(..4)],
            steps: (random.u8(..3) > 0).then(|| random.u32(1..40)),
            interrupt: (random.u8(..6) == 0).then(|| (random.u64(..2_000), random.u64(..2_000))),
            batch: (random.u8(..4) == 0).then(|| random.i64(1..4)),
        }
    }

    /// Sends runs at the same time until they end or their processes are killed.
    fn live(&mut self, lives: Vec<(usize, Plan)>, mood: Mood) -> Result<(), String> {
        self.lives += 1;
        if self.lives > MAX_LIVES {
            return Err("the schedule does not end".to_owned());
        }
        self.clock += match self.keys {
            // Keys may be forgotten between two lives.
            Some(_) => [1_000, 10_000, 3_600_000][self.random.usize(..3)],
            None => 1_000,
        };
        let failed = |error: Error| error.to_string();
        let mut processes = Vec::new();
        for (of, plan) in lives {
            let run = self.runs[of].run;
            self.store.set_alive(run, true).map_err(failed)?;
            self.store.prepare(run, self.runs[of].changed_only, self.clock).map_err(failed)?;
            check_unchanged(&*self.store, &self.world.lock().expect("no panic"), run)?;
            if self.accounting(run)?.pending == 0 {
                self.store.leave(run).map_err(failed)?;
                self.store.set_alive(run, false).map_err(failed)?;
                self.store.end(run, self.clock).map_err(failed)?;
                continue;
            }
            let records = self.world.lock().expect("no panic").runs[&run].records.clone();
            let once = records.iter().map(|record| !record.is_repeatable(self.kind)).collect();
            let life = Arc::new(Life::new(run, once, plan.steps, self.runs[of].unknown, self.random.u64(..)));
            processes.push((of, plan, life));
        }
        let mut taken = BTreeMap::new();
        for (of, ..) in &processes {
            let run = self.runs[*of].run;
            taken.insert(run, self.keys_of_newer(run)?);
        }
        let (clock, jitter) = (self.clock, self.random.u64(..));
        let (ended, clock) = self.runtime.block_on(async {
            begin_session(clock);
            fastrand::seed(jitter);
            {
                let mut world = self.world.lock().expect("no panic");
                (world.mood, world.began, world.taken) = (mood, Instant::now(), taken);
                world.session += 1;
            }
            let is_alone = processes.len() == 1;
            let lives = processes.iter().map(|(_, plan, life)| self.process(plan, life, is_alone));
            (join_all(lives).await, wall())
        });
        self.clock = clock;
        for ((of, plan, life), ended) in processes.into_iter().zip(ended) {
            let run = self.runs[of].run;
            let ended = match ended {
                Some(Ok(ended)) => Some(ended.map_err(|error| format!("run {run}: {error}"))?),
                Some(Err(_)) => return Err(format!("sending run {run} does not end")),
                None => None,
            };
            self.ended(of, &plan, &life, ended.as_ref())?;
            let sent = &mut self.runs[of];
            if life.has_begun() {
                (sent.unknown, sent.concurrency) = (life.unknown(), plan.concurrency);
            }
            sent.is_killed = ended.is_none();
            sent.was_cut |= ended.is_none() || plan.interrupt.is_some();
            if ended.is_some() {
                self.store.end(run, self.clock).map_err(failed)?;
            }
        }
        check(&*self.store, &self.world.lock().expect("no panic"), &self.runs)
    }

    /// Sends a run. Returns `None` if the process is killed.
    async fn process(
        &self,
        plan: &Plan,
        life: &Arc<Life>,
        is_alone: bool,
    ) -> Option<Result<Result<SendResult, Error>, Elapsed>> {
        sleep(Duration::from_millis(if is_alone { 0 } else { plan.delay })).await;
        let (store, world) = (Arc::clone(&self.store), Arc::clone(&self.world));
        let task = Task {
            journal: Mortal { store: Arc::clone(&store), life: Arc::clone(life) },
            service: Arc::new(Line { world, store, life: Arc::clone(life) }),
            part: Part::whole(life.run),
            kind: self.kind,
            concurrency: plan.concurrency,
            rate: plan.rate.map(|rate| rate.parse().expect("a rate")),
            rate_file: None,
            permits: None,
            limits: Limits { max_errors: plan.max_errors, ..Limits::default() },
            policy: Policy::default(),
            keys: plan.keys,
            low_backlog: plan.low_backlog,
            progress_interval: Duration::from_secs(if is_alone { 10 } else { 1 }),
        };
        let interrupt = async {
            match plan.interrupt {
                Some((after, limit)) => {
                    sleep(Duration::from_millis(after)).await;
                    Grace::from(Duration::from_millis(limit))
                }
                None => std::future::pending().await,
            }
        };
        let look = plan.batch.map(|batch| {
            move |first: Seq| -> BoxFuture<'_, Result<Seq, String>> {
                Box::pin(async move {
                    sleep(Duration::from_millis(5)).await;
                    Ok(first + batch - 1)
                })
            }
        });
        let look = look.as_ref().map(|look| look as &Look<'_>);
        let ended = tokio::select! {
            biased;
            () = life.end() => None,
            ended = timeout(LONGEST, send_task(&task, look, interrupt, &|_| {})) => Some(ended),
        };
        // The tasks of the process were aborted, and end now.
        drop(task);
        yield_now().await;
        yield_now().await;
        self.store.set_alive(life.run, false).expect("the lock is released");
        ended
    }

    /// Checks the state after a life.
    fn ended(&mut self, of: usize, plan: &Plan, life: &Life, ended: Option<&SendResult>) -> Result<(), String> {
        let run = self.runs[of].run;
        let now = self.accounting(run)?;
        self.trace(|| format!("run {run}, killed after {:?}: {ended:?}, {now:?}", plan.steps));
        let sent = &self.runs[of];
        if let Some(rule) = &self.world.lock().expect("no panic").broken {
            return Err(rule.clone());
        }
        let bound = |concurrency: usize| 2 * concurrency.max(2) as u64;
        for (unknown, bound) in
            [(life.inherited(), bound(sent.concurrency)), (life.most_unknown(), bound(plan.concurrency))]
        {
            if unknown > bound && self.keys.is_none() {
                return Err(format!("{unknown} records of run {run} are unknown in a row, more than {bound}"));
            }
        }
        match ended {
            Some(ended) if ended.stopped.is_none() != (now.pending == 0) => {
                Err(format!("run {run} has {} pending records and ended with {:?}", now.pending, ended.stopped))
            }
            _ => Ok(()),
        }
    }

    /// Returns the keys sent by newer runs.
    fn keys_of_newer(&self, run: RunId) -> Result<BTreeSet<String>, String> {
        let world = self.world.lock().expect("no panic");
        let mut keys = BTreeSet::new();
        for other in self.runs.iter().filter(|other| world.runs[&other.run].age > world.runs[&run].age) {
            let states = other.states(&*self.store).map_err(|error| error.to_string())?;
            let known = |state| matches!(state, RecordState::Sent | RecordState::Unchanged);
            let sent = (0..).zip(states).filter(|(_, state)| known(*state));
            keys.extend(sent.filter_map(|(seq, _)| world.record(other.run, seq).key.clone()));
        }
        Ok(keys)
    }
}
