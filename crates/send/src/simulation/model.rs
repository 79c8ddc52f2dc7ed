//! A model of the ledger in memory: the rules of blocks, intents, claims and outcomes without SQL.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Mutex;

use sheetport_findings::Code;
use sheetport_ledger::{
    Accounting, Begun, Claim, Disposition, EarlierClaim, EarlierState, Error, Intent, Interrupted, NewerKeys,
    OtherRequest, Outcome, PlannedRecord, Problem, RecordBlock, RecordState, Run, RunId, RunState, SendingChanges, Seq,
};
use sheetport_plan::sent_before::{Scope, claimed_meanwhile};
use sheetport_records::RecordKind;

use super::store::{Planned, Store};
use crate::superseded;

/// A ledger in memory.
pub(super) struct Model {
    /// A run of each kind, to be copied.
    example: Run,
    /// The number of records per block.
    block_len: usize,
    first: RunId,
    /// Whether newer uploads wait for older ones.
    has_handshake: bool,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    by_id: BTreeMap<RunId, Stored>,
    /// The last accepted request of each key.
    accepted: BTreeMap<String, Accepted>,
    /// The claims of removed runs, by their number.
    pruned: BTreeMap<i64, EarlierClaim>,
    /// The number of the last run, removed or not.
    last: Option<RunId>,
    /// The number of the last claim, removed or not.
    last_claim: i64,
}

/// The last request of a key.
struct Accepted {
    /// Path and body. `None` if the result is not certain.
    request: Option<(Option<String>, String)>,
    at: i64,
    /// The first run of the family.
    age: RunId,
}

struct Stored {
    run: Run,
    records: Vec<Planned>,
    outcomes: BTreeMap<Seq, Outcome>,
    /// With the time, and whether the requests have a key.
    in_flight: BTreeMap<Seq, (i64, bool)>,
    /// First record, last record, time.
    intents: Vec<(Seq, Seq, i64)>,
    /// Each with its number and time.
    claims: BTreeMap<Seq, (i64, i64, Claim)>,
    requests: i64,
    retries: i64,
    /// The intents that a registered sender has yielded to. `None` for a run without a row in `sender`.
    yielded: Option<BTreeSet<Intent>>,
    is_alive: bool,
    /// Whether the results are final and in `accepted`.
    is_indexed: bool,
}

impl Model {
    /// Creates an empty model. The first run will have the number `first`.
    pub(super) fn new(example: Run, block_len: usize, first: RunId) -> Model {
        Model { example, block_len, first, has_handshake: true, runs: Mutex::default() }
    }

    /// Lets newer uploads send at once.
    pub(super) fn without_handshake(self) -> Model {
        Model { has_handshake: false, ..self }
    }

    fn with<T>(&self, run: RunId, read: impl FnOnce(&mut Stored) -> Result<T, Error>) -> Result<T, Error> {
        let mut runs = self.runs.lock().expect("no panic");
        read(runs.by_id.get_mut(&run).ok_or(Error::NoSuchRun(run))?)
    }
}

impl Stored {
    /// Whether a request may have been sent.
    fn is_begun(&self) -> bool {
        self.requests > 0 || !self.in_flight.is_empty() || !self.claims.is_empty() || !self.intents.is_empty()
    }

    fn insert(&mut self, outcome: &Outcome) -> Result<(), Error> {
        let is_planned = usize::try_from(outcome.seq).is_ok_and(|seq| seq < self.records.len());
        let is_second = self.outcomes.insert(outcome.seq, outcome.clone()).is_some();
        match is_planned && !is_second {
            true => Ok(()),
            false => Err(Error::Corrupt(format!("a second outcome, or one of no record: {outcome:?}"))),
        }
    }

    fn change(&mut self, changes: &SendingChanges) -> Result<(), Error> {
        changes.outcomes.iter().try_for_each(|outcome| self.insert(outcome))?;
        self.in_flight.retain(|seq, _| !changes.finished.contains(seq));
        self.requests += changes.requests;
        self.retries += changes.retries;
        Ok(())
    }

    fn numbered(&self) -> impl Iterator<Item = (Seq, &Planned)> {
        (0..).zip(&self.records)
    }

    fn intent(&self, seq: Seq) -> Option<i64> {
        let intents = self.intents.iter().filter(|(first, last, _)| (*first..=*last).contains(&seq));
        intents.map(|(.., at)| *at).max()
    }

    /// Returns the records without an outcome.
    fn pending(&self) -> Vec<(Seq, Planned)> {
        let pending = self.numbered().filter(|(seq, _)| !self.outcomes.contains_key(seq));
        pending.map(|(seq, record)| (seq, record.clone())).collect()
    }

    /// Returns the state of a claimed request and its time, or `None` if the request was certainly not applied.
    fn claimed(&self, seq: Seq, at: i64) -> Option<(EarlierState, i64)> {
        match self.outcomes.get(&seq) {
            Some(outcome) if outcome.state == RecordState::Sent => Some((EarlierState::Sent, outcome.at)),
            Some(outcome) if outcome.state == RecordState::Unknown => Some((EarlierState::Unknown, outcome.at)),
            Some(_) => None,
            None => self.in_flight.contains_key(&seq).then_some((EarlierState::InFlight, at)),
        }
    }
}

/// Returns the number of the first run of the family.
fn age(runs: &Runs, run: RunId) -> RunId {
    match runs.by_id.get(&run).and_then(|stored| stored.run.about.retry_of) {
        Some(retried) => age(runs, retried),
        None => run,
    }
}

fn family(runs: &Runs, run: RunId) -> Vec<RunId> {
    let root = age(runs, run);
    runs.by_id.keys().copied().filter(|other| age(runs, *other) == root).collect()
}

/// Returns the claims after the claim `after` for the same record as `claim`, in order.
fn earlier(runs: &Runs, claim: &Claim, run: RunId, after: i64) -> Vec<EarlierClaim> {
    let family = family(runs, run);
    let is_repeated = |id: i64, earlier: &EarlierClaim| id > after && claim.shown_by(earlier, run, &family).is_some();
    let pruned = runs.pruned.iter().filter(|(id, earlier)| is_repeated(**id, earlier));
    let mut found: Vec<(i64, EarlierClaim)> = pruned.map(|(id, earlier)| (*id, earlier.clone())).collect();
    for (other, stored) in &runs.by_id {
        for (seq, (id, at, of_other)) in &stored.claims {
            if let Some((state, at)) = stored.claimed(*seq, *at) {
                let service_id = stored.outcomes.get(seq).and_then(|outcome| outcome.service_id.clone());
                let earlier = EarlierClaim { claim: of_other.clone(), run: *other, state, at, service_id };
                if is_repeated(*id, &earlier) {
                    found.push((*id, earlier));
                }
            }
        }
    }
    found.sort_by_key(|(id, _)| *id);
    found.into_iter().map(|(_, earlier)| earlier).collect()
}

/// Adds the results of all runs but `except` to the last accepted requests.
fn update_accepted(runs: &mut Runs, except: Option<RunId>) {
    let ids: Vec<RunId> = runs.by_id.keys().copied().filter(|id| Some(*id) != except).collect();
    for id in ids {
        let age = age(runs, id);
        let Runs { by_id, accepted, .. } = runs;
        let Some(stored) = by_id.get_mut(&id).filter(|stored| !stored.is_indexed) else { continue };
        stored.is_indexed = stored.run.state == RunState::Finished;
        let mut last: BTreeMap<String, Accepted> = BTreeMap::new();
        for (seq, record) in stored.numbered() {
            let Some(key) = &record.key else { continue };
            let (is_sent, at) = match stored.outcomes.get(&seq).map(|outcome| (outcome.state, outcome.at)) {
                Some((RecordState::Sent, at)) => (true, at),
                Some((RecordState::Failed | RecordState::Unknown, at)) => (false, at),
                Some(_) => continue,
                None => match stored.intent(seq) {
                    Some(at) => (false, at),
                    None => continue,
                },
            };
            if last.get(key).is_none_or(|last| at >= last.at) {
                let request = is_sent.then(|| (record.target.clone(), record.body.clone()));
                last.insert(key.clone(), Accepted { request, at, age });
            }
        }
        for (key, last) in last {
            let later = match accepted.remove(&key) {
                Some(known) => later(known, last),
                None => last,
            };
            accepted.insert(key, later);
        }
    }
}

/// Returns what is known of a key after a request `last`, as the ledger does.
fn later(known: Accepted, last: Accepted) -> Accepted {
    let is_confirmed = last.age < known.age && last.request.is_some() && last.request == known.request;
    if last.at > known.at || last.at == known.at && !is_confirmed || last.request.is_none() && last.age > known.age {
        let age = if last.request.is_none() { last.age.max(known.age) } else { last.age };
        Accepted { age, ..last }
    } else if known.request.is_none() {
        Accepted { age: last.age.max(known.age), ..known }
    } else {
        known
    }
}

impl Store for Model {
    fn begin(
        &self,
        run: RunId,
        yields: bool,
        remembered: Option<RangeInclusive<i64>>,
        now: i64,
    ) -> Result<Begun, Error> {
        let mut runs = self.runs.lock().expect("no panic");
        let (family, age) = (family(&runs, run), age(&runs, run));
        let stored = runs.by_id.get_mut(&run).ok_or(Error::NoSuchRun(run))?;
        let _ = now;
        if yields {
            stored.yielded = Some(BTreeSet::new());
        }
        let in_flight = std::mem::take(&mut stored.in_flight);
        let is_remembered =
            |(at, has_key): &(i64, bool)| *has_key && remembered.as_ref().is_some_and(|times| times.contains(at));
        let mut interrupted = Interrupted::default();
        for (seq, (at, has_key)) in in_flight {
            if is_remembered(&(at, has_key)) {
                interrupted.repeatable.insert(seq, at);
                stored.in_flight.insert(seq, (at, has_key));
                continue;
            }
            let problems = vec![Problem::of_record(Code::Service, "in flight")];
            stored.insert(&Outcome { problems, attempts: 1, ..Outcome::new(seq, RecordState::Unknown, at) })?;
            interrupted.unknown += 1;
        }
        Ok(Begun { run: stored.run.clone(), family, age, interrupted, chained: BTreeMap::new() })
    }

    fn record_block(&self, run: RunId, from: Seq) -> Result<Option<RecordBlock>, Error> {
        self.with(run, |stored| {
            let from = usize::try_from(from).expect("a place");
            let first = from - from % self.block_len;
            // The last block may be shorter.
            if from >= stored.records.len() {
                return Ok(None);
            }
            let records: Vec<PlannedRecord> =
                stored.records.iter().skip(first).take(self.block_len).map(planned).collect();
            Ok((!records.is_empty()).then_some(RecordBlock { first: first as Seq, records }))
        })
    }

    fn settled(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeSet<Seq>, Error> {
        self.with(run, |stored| Ok(stored.outcomes.range(range).map(|(seq, _)| *seq).collect()))
    }

    fn store_intent(&self, run: RunId, first: Seq, last: Seq, now: i64) -> Result<(), Error> {
        self.with(run, |stored| {
            stored.intents.push((first, last, now));
            Ok(())
        })
    }

    fn update_newer_keys(&self, run: &Run, keys: &mut NewerKeys, now: i64) -> Result<Vec<Intent>, Error> {
        let runs = self.runs.lock().expect("no panic");
        let (age_of_run, since) = (age(&runs, run.id), keys.look(now));
        let mut begun = Vec::new();
        for (other, stored) in runs.by_id.iter().filter(|(other, _)| age(&runs, **other) > age_of_run) {
            let is_looked_at =
                stored.run.state == RunState::Planned || stored.run.finished_at.is_some_and(|at| at >= since);
            for (first, last, at) in stored.intents.iter().filter(|(.., at)| is_looked_at && *at >= since) {
                let request = OtherRequest { run: *other, at: *at, is_accepted: false };
                let is_never_sent = |seq: &Seq| {
                    let left_out = [RecordState::Skipped, RecordState::Rejected];
                    let outcome = stored.outcomes.get(seq);
                    outcome.is_some_and(|outcome| left_out.contains(&outcome.state) && outcome.attempts == 0)
                };
                let sent = stored.numbered();
                let sent = sent.filter(|(seq, _)| (*first..=*last).contains(seq) && !is_never_sent(seq));
                let sent = sent.filter(|(_, record)| record.is_repeatable(run.about.record));
                keys.add(request, sent.filter_map(|(_, record)| record.key.as_deref()));
                begun.push(Intent { run: *other, first: *first, at: *at });
            }
        }
        // Yielding again to an intent of the last search changes nothing.
        let yielded = runs.by_id.get(&run.id).and_then(|stored| stored.yielded.as_ref());
        begun.retain(|intent| yielded.is_none_or(|yielded| !yielded.contains(intent)));
        Ok(begun)
    }

    fn find_confirmed(&self, run: &Run, newer: &mut NewerKeys, keys: &[&str]) -> Result<(), Error> {
        let runs = self.runs.lock().expect("no panic");
        let age = age(&runs, run.id);
        for key in keys {
            if let Some(last) = runs.accepted.get(*key).filter(|last| last.age > age) {
                let is_accepted = last.request.is_some();
                newer.add(OtherRequest { run: last.age, at: last.at, is_accepted }, std::iter::once(*key));
            }
        }
        Ok(())
    }

    fn leave(&self, run: RunId) -> Result<(), Error> {
        self.with(run, |stored| {
            stored.yielded = None;
            Ok(())
        })
    }

    fn yield_to(&self, run: RunId, intents: &[Intent]) -> Result<(), Error> {
        self.with(run, |stored| {
            stored.yielded.get_or_insert_default().extend(intents);
            Ok(())
        })
    }

    fn not_yielded(&self, run: &Run, intent: Intent, keys: &[&str]) -> Result<Vec<RunId>, Error> {
        let runs = self.runs.lock().expect("no panic");
        let is_older = |other: RunId| age(&runs, other) < age(&runs, run.id);
        let has_yielded = |stored: &Stored| stored.yielded.as_ref().is_none_or(|yielded| yielded.contains(&intent));
        let waits_for = |(other, stored): &(&RunId, &Stored)| {
            let shares = stored.records.iter().any(|record| {
                record.target.as_deref().or(record.key.as_deref()).is_some_and(|key| keys.contains(&key))
            });
            self.has_handshake && is_older(**other) && !has_yielded(stored) && stored.is_alive && shares
        };
        Ok(runs.by_id.iter().filter(waits_for).map(|(other, _)| *other).collect())
    }

    fn set_alive(&self, run: RunId, is_alive: bool) -> Result<(), Error> {
        self.with(run, |stored| {
            stored.is_alive = is_alive;
            Ok(())
        })
    }

    fn start(
        &self,
        run: &Run,
        _: &[RunId],
        changes: &SendingChanges,
        started: &[Claim],
        has_keys: bool,
        now: i64,
    ) -> Result<Vec<(Seq, EarlierClaim)>, Error> {
        let mut runs = self.runs.lock().expect("no panic");
        runs.by_id.get_mut(&run.id).ok_or(Error::NoSuchRun(run.id))?.change(changes)?;
        let mut repeated = Vec::new();
        for claim in started {
            if let Some(other) = earlier(&runs, claim, run.id, run.compared_to.unwrap_or(0)).into_iter().next() {
                repeated.push((claim.seq, other));
            }
        }
        for claim in started.iter().filter(|claim| repeated.iter().all(|(seq, _)| *seq != claim.seq)) {
            runs.last_claim += 1;
            let id = runs.last_claim;
            let stored = runs.by_id.get_mut(&run.id).ok_or(Error::NoSuchRun(run.id))?;
            stored.claims.insert(claim.seq, (id, now, claim.clone()));
            if stored.in_flight.insert(claim.seq, (now, has_keys)).is_some() {
                return Err(Error::Corrupt(format!("record {} is in flight twice", claim.seq)));
            }
        }
        Ok(repeated)
    }

    fn store(&self, run: RunId, changes: &SendingChanges) -> Result<(), Error> {
        self.with(run, |stored| stored.change(changes))
    }

    fn reduce_intents(&self, run: RunId, since: i64, sent: &[Seq], now: i64) -> Result<(), Error> {
        self.with(run, |stored| {
            stored.intents.retain(|(.., at)| *at < since);
            stored.intents.extend(sent.iter().map(|seq| (*seq, *seq, now)));
            Ok(())
        })
    }

    fn plan(&self, kind: RecordKind, records: &[Planned], retry_of: Option<RunId>) -> Result<RunId, Error> {
        let mut runs = self.runs.lock().expect("no panic");
        let id = runs.last.map_or(self.first, |last| last + 1);
        runs.last = Some(id);
        let mut run = self.example.clone();
        (run.id, run.about.record, run.about.retry_of) = (id, kind, retry_of);
        let stored = Stored {
            run,
            records: records.to_vec(),
            outcomes: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            intents: Vec::new(),
            claims: BTreeMap::new(),
            requests: 0,
            retries: 0,
            yielded: None,
            is_alive: false,
            is_indexed: false,
        };
        runs.by_id.insert(id, stored);
        Ok(id)
    }

    fn prepare(&self, id: RunId, changed_only: bool, now: i64) -> Result<(), Error> {
        let mut runs = self.runs.lock().expect("no panic");
        if changed_only {
            mark_unchanged(&mut runs, id, now)?;
        }
        let stored = runs.by_id.get(&id).ok_or(Error::NoSuchRun(id))?;
        let (run, kind, pending) = (stored.run.clone(), stored.run.about.record, stored.pending());
        let mut outcomes = Vec::new();
        let scope = Scope::of(&run);
        let waits = run.state == RunState::Planned && !stored.is_begun();
        let is_compared = run.compared_to.is_some_and(|last| last == runs.last_claim || !waits);
        let is_compared = is_compared || !kind.input().must_not_repeat();
        for (seq, record) in pending.iter().filter(|(_, record)| !is_compared && record.target.is_none()) {
            let claim = scope.claim(*seq, record.key.as_deref(), &record.body);
            let known = earlier(&runs, &claim, id, 0);
            let is_sent = |other: &&EarlierClaim| matches!(other.state, EarlierState::Sent | EarlierState::Pruned);
            if let Some(other) = known.iter().find(is_sent).or(known.first()) {
                outcomes.push(claimed_meanwhile(&run, &claim, record.key.as_deref(), other, now));
            }
        }
        let compared_to = runs.last_claim;
        for (seq, record) in pending.iter().filter(|(_, record)| record.is_repeatable(kind)) {
            if let Some(request) = newer_request(&runs, id, record.key.as_deref().unwrap_or_default()) {
                outcomes.push(superseded::outcome(id, *seq, record.key.as_deref(), &request, now));
            }
        }
        let stored = runs.by_id.get_mut(&id).ok_or(Error::NoSuchRun(id))?;
        if kind.input().may_be_repeated() {
            stored.yielded = Some(BTreeSet::new());
        }
        if !is_compared {
            stored.run.compared_to = Some(compared_to);
        }
        outcomes.iter().try_for_each(|outcome| stored.insert(outcome))
    }

    fn prune(&self, family: &[RunId], _: i64) -> Result<(), Error> {
        let mut runs = self.runs.lock().expect("no panic");
        for id in family {
            update_accepted(&mut runs, None);
            let stored = runs.by_id.remove(id).ok_or(Error::NoSuchRun(*id))?;
            for (seq, (number, at, claim)) in &stored.claims {
                if stored.claimed(*seq, *at).is_some() {
                    let (claim, state) = (claim.clone(), EarlierState::Pruned);
                    let earlier = EarlierClaim { claim, run: *id, state, at: *at, service_id: None };
                    runs.pruned.insert(*number, earlier);
                }
            }
        }
        Ok(())
    }

    fn end(&self, run: RunId, now: i64) -> Result<(), Error> {
        self.with(run, |stored| {
            let is_finished = stored.outcomes.len() == stored.records.len();
            stored.run.state = if is_finished { RunState::Finished } else { RunState::Planned };
            stored.run.finished_at = is_finished.then_some(now);
            Ok(())
        })
    }

    fn accounting(&self, run: RunId) -> Result<Accounting, Error> {
        self.with(run, |stored| {
            let total = stored.records.len() as u64;
            let pending = total - stored.outcomes.len() as u64;
            let mut counts = Accounting { total, pending, ..Accounting::default() };
            counts.requests = u64::try_from(stored.requests).expect("a count");
            counts.retries = u64::try_from(stored.retries).expect("a count");
            for outcome in stored.outcomes.values() {
                let count = match outcome.state {
                    RecordState::Sent => &mut counts.sent,
                    RecordState::Unchanged => &mut counts.unchanged,
                    RecordState::Skipped => &mut counts.skipped,
                    RecordState::Rejected => &mut counts.rejected,
                    RecordState::Failed => &mut counts.failed,
                    RecordState::Unknown => &mut counts.unknown,
                    RecordState::Pending => &mut counts.pending,
                };
                *count += 1;
            }
            Ok(counts)
        })
    }

    fn states(&self, run: RunId) -> Result<Vec<RecordState>, Error> {
        self.with(run, |stored| {
            let state = |seq| stored.outcomes.get(&seq).map_or(RecordState::Pending, |outcome| outcome.state);
            Ok(stored.numbered().map(|(seq, _)| state(seq)).collect())
        })
    }

    fn has_intent(&self, run: RunId, seq: Seq) -> Option<bool> {
        let runs = self.runs.lock().expect("no panic");
        let stored = runs.by_id.get(&run)?;
        let record = stored.records.get(usize::try_from(seq).ok()?)?;
        Some(match record.is_repeatable(stored.run.about.record) {
            true => stored.intent(seq).is_some(),
            false => stored.in_flight.contains_key(&seq),
        })
    }
}

/// Settles the pending records whose last accepted request was equal.
fn mark_unchanged(runs: &mut Runs, id: RunId, now: i64) -> Result<(), Error> {
    update_accepted(runs, Some(id));
    let age = age(runs, id);
    let Runs { by_id, accepted, .. } = runs;
    let stored = by_id.get_mut(&id).ok_or(Error::NoSuchRun(id))?;
    for (seq, record) in stored.pending() {
        let Some(last) = record.key.as_ref().and_then(|key| accepted.get_mut(key)) else { continue };
        if last.request.as_ref().is_some_and(|(target, body)| (target, body) == (&record.target, &record.body)) {
            last.age = last.age.max(age);
            stored.insert(&Outcome::new(seq, RecordState::Unchanged, now))?;
        }
    }
    Ok(())
}

/// Returns the request of the newest upload after `run` that has or may have sent the key.
fn newer_request(runs: &Runs, run: RunId, key: &str) -> Option<OtherRequest> {
    let of_run = age(runs, run);
    let mut newer: Vec<(RunId, RunId)> = runs.by_id.keys().map(|id| (age(runs, *id), *id)).collect();
    newer.retain(|(age, _)| *age > of_run);
    newer.sort_unstable();
    let kept = newer.iter().rev().find_map(|(_, id)| {
        let stored = &runs.by_id[id];
        let kind = stored.run.about.record;
        let same = stored.numbered().filter(|(_, record)| record.key.as_deref() == Some(key));
        let request = |(seq, _): (Seq, &Planned)| match stored.outcomes.get(&seq) {
            Some(outcome) => match outcome.state {
                RecordState::Sent | RecordState::Unchanged => Some((outcome.at, true)),
                RecordState::Unknown => Some((outcome.at, false)),
                RecordState::Failed if outcome.may_be_applied() => Some((outcome.at, false)),
                _ => None,
            },
            None => stored.intent(seq).map(|at| (at, false)),
        };
        let requests = same.filter(|(_, record)| record.is_repeatable(kind)).filter_map(request);
        requests.last().map(|(at, is_accepted)| OtherRequest { run: *id, at, is_accepted })
    });
    let kept_runs = runs.by_id.keys().filter(|id| **id > of_run).count();
    let has_pruned = runs.last.is_some_and(|last| usize::try_from(last - of_run).is_ok_and(|all| kept_runs < all));
    let pruned = || runs.accepted.get(key).filter(|last| has_pruned && last.age > of_run);
    kept.or_else(|| {
        let of_pruned =
            |last: &Accepted| OtherRequest { run: last.age, at: last.at, is_accepted: last.request.is_some() };
        pruned().map(of_pruned)
    })
}

pub(super) fn planned(record: &Planned) -> PlannedRecord {
    PlannedRecord {
        key: record.key.clone(),
        target: record.target.clone(),
        rows: vec![2],
        sheet: String::new(),
        disposition: Disposition::Send(record.body.as_str().into()),
        command: None,
        warnings: Vec::new(),
    }
}
