//! The simulated service: applies each request or not, and answers in every possible way.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use sheetport_client::{Attempt, IdempotencyKey, Redirect, Request, Response, Shortage, TransportOutcome};
use sheetport_ledger::{RunId, Seq};
use sheetport_records::RecordKind;
use tokio::time::{Instant, sleep};

use super::super::ports::Service;
use super::life::{Life, wall};
use super::store::{Planned, Store};

/// The fate of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Accepted,
    /// A 2xx answer with an error, and not applied.
    Denied,
    /// A status, and not applied.
    Refused(u16),
    /// A redirect to the same path at another address; not applied.
    Moved,
    /// Asks for a pause of this many seconds, if any; not applied.
    Throttled(Option<u16>),
    Renewed,
    Unauthorized,
    NotConnected,
    /// This machine has no connection for the request.
    Short,
    /// A status of a service or gateway in trouble, perhaps with a Retry-After. Applied or not.
    Troubled(u16, Option<u16>),
    /// An unreadable 2xx answer, with the request applied or not.
    Garbled,
    Truncated,
    /// The connection breaks. Applied or not.
    Reset,
    /// No answer until the time is up. Applied or not.
    Silence,
}

impl Fate {
    pub(super) const ALL: &'static [Fate] = &[
        Fate::Denied,
        Fate::Refused(400),
        Fate::Refused(409),
        Fate::Refused(422),
        Fate::Refused(403),
        Fate::Refused(404),
        Fate::Refused(423),
        Fate::Refused(425),
        Fate::Moved,
        Fate::Refused(407),
        Fate::Throttled(None),
        Fate::Throttled(Some(1)),
        Fate::Throttled(Some(30)),
        Fate::Throttled(Some(2000)),
        Fate::Renewed,
        Fate::Unauthorized,
        Fate::NotConnected,
        Fate::Short,
        Fate::Troubled(500, None),
        Fate::Troubled(502, None),
        Fate::Troubled(503, Some(2)),
        Fate::Troubled(503, Some(1000)),
        Fate::Troubled(504, None),
        Fate::Troubled(520, None),
        Fate::Troubled(522, None),
        Fate::Troubled(527, None),
        Fate::Troubled(408, None),
        Fate::Troubled(302, None),
        Fate::Troubled(303, None),
        Fate::Troubled(204, None),
        Fate::Troubled(205, None),
        Fate::Troubled(103, None),
        Fate::Garbled,
        Fate::Truncated,
        Fate::Reset,
        Fate::Silence,
    ];

    /// Whether the sender can't know if the request was applied, and must not repeat it.
    pub(super) fn is_ambiguous(self) -> bool {
        matches!(self, Fate::Troubled(..) | Fate::Garbled | Fate::Truncated | Fate::Reset | Fate::Silence)
    }

    fn outcome(self, kind: RecordKind, key: &str) -> TransportOutcome {
        let answered = |status, body: String, seconds: Option<u16>| {
            let retry_after = seconds.map(|seconds| seconds.to_string());
            TransportOutcome::Response(Response {
                status,
                body: body.into_bytes(),
                retry_after,
                redirect: None,
                quota: None,
            })
        };
        let reason = || "broken".to_owned();
        match self {
            Fate::Accepted => answered(200, accepted(kind, key), None),
            Fate::Denied => answered(200, denied(kind, key), None),
            Fate::Refused(status) => answered(status, String::new(), None),
            Fate::Moved => TransportOutcome::Response(Response {
                status: 308,
                body: Vec::new(),
                retry_after: None,
                redirect: Some(Redirect { to: "https://shop.example/v1".to_owned(), is_same_path: true }),
                quota: None,
            }),
            Fate::Throttled(seconds) => answered(429, String::new(), seconds),
            Fate::Renewed => TransportOutcome::TokenRenewed { reason: reason() },
            Fate::Unauthorized => TransportOutcome::Unauthorized { reason: reason() },
            Fate::NotConnected => TransportOutcome::NotSent { reason: reason() },
            Fate::Short => TransportOutcome::Short(Shortage::OpenFiles),
            Fate::Troubled(status, seconds) => answered(status, String::new(), seconds),
            Fate::Garbled => answered(200, "<html>".to_owned(), None),
            Fate::Truncated => TransportOutcome::Truncated { status: 200, reason: reason(), limit: None },
            Fate::Reset | Fate::Silence => TransportOutcome::NoResponse { reason: reason() },
        }
    }
}

fn accepted(kind: RecordKind, key: &str) -> String {
    match kind {
        RecordKind::Item => format!(r#"{{"ok":true,"external_id":"{key}"}}"#),
        RecordKind::Order => format!(r#"{{"ok":true,"results":[{{"external_id":"{key}","order_id":"o"}}]}}"#),
        RecordKind::InventoryTransaction => r#"{"ok":true}"#.to_owned(),
        RecordKind::Subscription | RecordKind::Invoice => r#"{"id":"7"}"#.to_owned(),
    }
}

fn denied(kind: RecordKind, key: &str) -> String {
    match kind {
        RecordKind::Order => format!(r#"{{"ok":false,"results":[{{"external_id":"{key}","errors":["no"]}}]}}"#),
        RecordKind::Subscription | RecordKind::Invoice => r#"{"error":"no"}"#.to_owned(),
        _ => r#"{"ok":false,"message":"no"}"#.to_owned(),
    }
}

/// How the service behaves during a session.
#[derive(Clone, Debug)]
pub(super) struct Mood {
    /// Percentage of requests accepted outside of outages.
    pub accepts: u32,
    /// Possible fates of the other requests.
    pub fates: Vec<Fate>,
    /// Start and end in milliseconds since the session began, and the fate of all requests between.
    pub outage: Option<(u64, u64, Fate)>,
    /// Whether reads are answered in any case.
    pub answers_reads: bool,
    /// Maximum duration of a request, in milliseconds.
    pub slowness: u64,
}

impl Mood {
    pub(super) fn healthy() -> Mood {
        Mood { accepts: 100, fates: Vec::new(), outage: None, answers_reads: true, slowness: 20 }
    }
}

/// The records of a plan, indexed for the service.
#[derive(Debug)]
pub(super) struct Known {
    pub records: Vec<Planned>,
    /// The position of each record, by body.
    pub seqs: HashMap<Bytes, Seq>,
    /// The first run of the family.
    pub age: RunId,
}

/// An applied request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Applied {
    pub run: RunId,
    pub seq: Seq,
    pub session: usize,
}

/// The service and its full history.
pub(super) struct World {
    pub kind: RecordKind,
    pub random: fastrand::Rng,
    pub mood: Mood,
    pub began: Instant,
    pub session: usize,
    pub runs: BTreeMap<RunId, Known>,
    pub applied: Vec<Applied>,
    /// The number of requests of each record.
    pub requests: BTreeMap<(RunId, Seq), u64>,
    /// Records with an ambiguous request: the sender can't know if the request was applied.
    pub ambiguous: BTreeMap<(RunId, Seq), Fate>,
    /// The first broken rule.
    pub broken: Option<String>,
    /// Keys sent by newer runs before the session, by run.
    pub taken: BTreeMap<RunId, BTreeSet<String>>,
    /// How long the service remembers idempotency keys, in milliseconds. `None` if the service does not honour them.
    pub remembers: Option<i64>,
    /// The time when a request with an idempotency key was applied.
    pub remembered: HashMap<IdempotencyKey, i64>,
    /// The idempotency key of the last request of each record.
    pub sent_with: BTreeMap<(RunId, Seq), Option<IdempotencyKey>>,
}

impl World {
    pub(super) fn record(&self, run: RunId, seq: Seq) -> &Planned {
        &self.runs[&run].records[usize::try_from(seq).expect("a place")]
    }

    pub(super) fn is_repeatable(&self, run: RunId, seq: Seq) -> bool {
        self.record(run, seq).is_repeatable(self.kind)
    }

    pub(super) fn breaks(&mut self, rule: impl FnOnce() -> String) {
        self.broken.get_or_insert_with(rule);
    }

    fn fate(&mut self) -> Fate {
        let passed = u64::try_from(self.began.elapsed().as_millis()).expect("a plausible time");
        if let Some((_, _, fate)) = self.mood.outage.filter(|(from, to, _)| (*from..*to).contains(&passed)) {
            return fate;
        }
        match self.random.u32(..100) < self.mood.accepts || self.mood.fates.is_empty() {
            true => Fate::Accepted,
            false => self.mood.fates[self.random.usize(..self.mood.fates.len())],
        }
    }

    fn delay(&mut self) -> Duration {
        Duration::from_millis(self.random.u64(..=self.mood.slowness))
    }

    /// A request leaves.
    fn arrives(&mut self, run: RunId, seq: Seq, key: Option<&IdempotencyKey>, has_intent: Option<bool>) {
        *self.requests.entry((run, seq)).or_default() += 1;
        if has_intent == Some(false) {
            self.breaks(|| format!("record {seq} of run {run} is sent without an intent in the ledger"));
        }
        let earlier = self.sent_with.insert((run, seq), key.cloned());
        if !self.is_repeatable(run, seq)
            && (key.is_none() || earlier.is_none_or(|earlier| earlier.as_ref() != key))
            && let Some(fate) = self.ambiguous.get(&(run, seq)).copied()
        {
            self.breaks(|| format!("record {seq} of run {run} is sent again after {fate:?}"));
        }
    }

    /// Applies a request, unless the service remembers its idempotency key.
    fn apply(&mut self, run: RunId, seq: Seq, key: Option<&IdempotencyKey>) {
        if let Some((memory, key)) = self.remembers.zip(key) {
            if self.remembered.get(key).is_some_and(|at| wall() < at + memory) {
                return;
            }
            self.remembered.insert(key.clone(), wall());
        }
        let record = self.record(run, seq).clone();
        let is_same = |other: &Applied| {
            let other = self.record(other.run, other.seq);
            other.key == record.key && (record.key.is_some() || other.body == record.body)
        };
        let mut same = self.applied.iter().filter(|other| is_same(other));
        if record.is_repeatable(self.kind) {
            let age = self.runs[&run].age;
            let is_newer = |other: &&Applied| {
                let is_later = self.runs[&other.run].age > age || other.run == run && other.seq > seq;
                other.session == self.session && is_later
            };
            let newer = same.find(is_newer).copied();
            let is_taken = self.taken.get(&run).zip(record.key.as_ref()).is_some_and(|(keys, key)| keys.contains(key));
            if newer.is_some() || is_taken {
                self.breaks(|| format!("record {seq} of run {run} overwrites a newer one: {newer:?}"));
            }
        } else if let Some(other) = same.next().copied() {
            self.breaks(|| format!("record {seq} of run {run} is applied twice: {other:?}"));
        }
        self.applied.push(Applied { run, seq, session: self.session });
    }
}

/// A connection of a process to the service.
pub(super) struct Line {
    pub world: Arc<Mutex<World>>,
    pub store: Arc<dyn Store>,
    pub life: Arc<Life>,
}

/// A request on its way. If the sender dies before the arrival, chance decides whether the request arrives.
struct OnItsWay<'a> {
    line: &'a Line,
    seq: Seq,
    key: Option<&'a IdempotencyKey>,
    is_applied: Option<bool>,
}

impl OnItsWay<'_> {
    fn arrive(&mut self) {
        if self.is_applied.take() == Some(true) {
            self.line.world.lock().expect("no panic").apply(self.line.life.run, self.seq, self.key);
        }
    }
}

impl Drop for OnItsWay<'_> {
    fn drop(&mut self) {
        if let Some(is_applied) = &mut self.is_applied {
            *is_applied &= self.line.world.lock().expect("no panic").random.bool();
            self.arrive();
        }
    }
}

impl Service for Line {
    async fn attempt(&self, request: &Request) -> Attempt {
        self.life.step().await;
        let world = || self.world.lock().expect("no panic");
        let run = self.life.run;
        let (fate, there, back) = {
            let mut world = world();
            (world.fate(), world.delay(), world.delay())
        };
        let silence = Duration::from_secs(if fate == Fate::Silence { 30 } else { 0 });
        let Some(body) = &request.body else {
            sleep(there + back).await;
            let page = TransportOutcome::Response(Response {
                status: 200,
                body: b"[]".to_vec(),
                retry_after: None,
                redirect: None,
                quota: None,
            });
            let is_answered = fate == Fate::Accepted || world().mood.answers_reads;
            let outcome = if is_answered { page } else { fate.outcome(world().kind, "") };
            return Attempt { requests: 1, outcome };
        };
        let seq = world().runs[&run].seqs[body];
        let has_intent = self.store.has_intent(run, seq);
        let is_first_doubt;
        let mut on_its_way = {
            let mut world = world();
            world.arrives(run, seq, request.idempotency_key.as_ref(), has_intent);
            let is_applied = fate == Fate::Accepted || fate.is_ambiguous() && world.random.bool();
            is_first_doubt = world.ambiguous.insert((run, seq), fate).is_none();
            OnItsWay { line: self, seq, key: request.idempotency_key.as_ref(), is_applied: Some(is_applied) }
        };
        sleep(there).await;
        self.life.step().await;
        on_its_way.arrive();
        self.life.step().await;
        sleep(back + silence).await;
        drop(on_its_way);
        let (kind, key) = {
            let mut world = world();
            if is_first_doubt && fate != Fate::Accepted && !fate.is_ambiguous() {
                world.ambiguous.remove(&(run, seq));
            }
            (world.kind, world.record(run, seq).key.clone().unwrap_or_default())
        };
        Attempt { requests: 1, outcome: fate.outcome(kind, &key) }
    }
}
