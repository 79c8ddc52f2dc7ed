//! Invariants after every life and at the end.

use std::collections::BTreeMap;

use sheetport_ledger::{Error, RecordState, RunId, Seq};

use super::schedule::Sent;
use super::service::World;
use super::store::Store;

/// Checks that the states of all records agree with the requests applied by the service.
pub(super) fn check(store: &dyn Store, world: &World, runs: &[Sent]) -> Result<(), String> {
    runs.iter().filter(|sent| sent.pruned.is_none()).try_for_each(|sent| check_run(store, world, sent))
}

/// Checks before a run is sent that the service has the value of each record that was found unchanged and is not sent, unless a later
/// file has sent another one.
pub(super) fn check_unchanged(store: &dyn Store, world: &World, run: RunId) -> Result<(), String> {
    let states = store.states(run).map_err(|error| error.to_string())?;
    let unchanged =
        (0..).zip(states).filter(|(seq, state)| *state == RecordState::Unchanged && world.is_repeatable(run, *seq));
    for (seq, _) in unchanged {
        let record = world.record(run, seq);
        let has_key = |other: RunId, seq: Seq| world.record(other, seq).key == record.key;
        let last = world.applied.iter().rfind(|it| has_key(it.run, it.seq));
        let is_right = last.is_some_and(|last| {
            world.runs[&last.run].age > world.runs[&run].age || world.record(last.run, last.seq).body == record.body
        });
        if !is_right {
            return Err(format!("record {seq} of run {run} is not sent, though the service has the value of {last:?}"));
        }
    }
    Ok(())
}

fn check_run(store: &dyn Store, world: &World, sent: &Sent) -> Result<(), String> {
    let run = sent.run;
    let failed = |error: Error| error.to_string();
    let (known, counts) = (store.states(run).map_err(failed)?, store.accounting(run).map_err(failed)?);
    let records = world.runs[&run].records.len() as u64;
    let sum: u64 = counts.states().into_iter().map(|(_, count)| count).sum();
    if (counts.total, sum) != (records, records) {
        return Err(format!("run {run} has {records} records and counts {counts:?}"));
    }
    let requests: u64 = world.requests.range((run, 0)..=(run, Seq::MAX)).map(|(_, count)| count).sum();
    if !sent.was_cut && counts.requests != requests {
        return Err(format!("run {run} made {requests} requests and counts {}", counts.requests));
    }
    // Doubtful records may be sent again by a resume.
    let has_keys = world.remembers.is_some();
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    let mut applications: BTreeMap<Seq, u64> = BTreeMap::new();
    for applied in world.applied.iter().filter(|applied| applied.run == run) {
        *applications.entry(applied.seq).or_default() += 1;
    }
    for (seq, state) in (0..).zip(known) {
        *states.entry(state.name()).or_default() += 1;
        let applied = applications.get(&seq).copied().unwrap_or(0);
        let is_doubtful = world.ambiguous.contains_key(&(run, seq));
        let was_sent = world.requests.contains_key(&(run, seq));
        let has_intent = store.has_intent(run, seq).unwrap_or(is_doubtful);
        let is_right = match (world.is_repeatable(run, seq), state) {
            // Applied by a life that stored no outcome, or equal to another record's: see `check_unchanged`.
            (true, RecordState::Unchanged) => true,
            (_, RecordState::Unchanged | RecordState::Rejected) => applied == 0,
            (false, RecordState::Sent) => applied == 1,
            (false, RecordState::Failed) => applied == 0 && !is_doubtful,
            (false, RecordState::Unknown) => is_doubtful || sent.was_cut,
            (false, RecordState::Pending) => (sent.is_killed || has_keys) && has_intent || applied == 0 && !is_doubtful,
            (false, RecordState::Skipped) => false,
            (true, RecordState::Sent) => applied > 0,
            (true, RecordState::Failed) => was_sent && (applied == 0 || is_doubtful),
            (true, RecordState::Unknown) => is_doubtful,
            (true, RecordState::Pending) => has_intent || !is_doubtful,
            (true, RecordState::Skipped) => true,
        };
        if !is_right {
            return Err(format!("record {seq} of run {run} is {state:?}, and was applied {applied} times"));
        }
    }
    match counts.states().into_iter().all(|(state, count)| states.get(state.name()).copied().unwrap_or(0) == count) {
        true => Ok(()),
        false => Err(format!("run {run} counts {counts:?} and has {states:?}")),
    }
}

/// Checks, once nothing is pending, that each key has the value of the newest record that was sent or found unchanged.
pub(super) fn check_end(store: &dyn Store, world: &World, runs: &[Sent]) -> Result<(), String> {
    let place = |run: RunId, seq: Seq| (world.runs[&run].age, run, seq);
    let mut newest: BTreeMap<&str, (RunId, RunId, Seq)> = BTreeMap::new();
    for sent in runs {
        let run = sent.run;
        for (seq, state) in (0..).zip(sent.states(store).map_err(|error| error.to_string())?) {
            let key = world.record(run, seq).key.as_deref().filter(|_| world.is_repeatable(run, seq));
            if let Some(key) = key.filter(|_| matches!(state, RecordState::Sent | RecordState::Unchanged)) {
                let newest = newest.entry(key).or_insert(place(run, seq));
                *newest = place(run, seq).max(*newest);
            }
        }
    }
    for (key, newest) in newest {
        let has_key = |run: RunId, seq: Seq| world.record(run, seq).key.as_deref() == Some(key);
        let of_key = world.applied.iter().filter(|it| world.is_repeatable(it.run, it.seq) && has_key(it.run, it.seq));
        let last = of_key.map(|it| place(it.run, it.seq)).next_back();
        let body = |(_, run, seq): (RunId, RunId, Seq)| &world.record(run, seq).body;
        if last.is_none_or(|last| last < newest && body(last) != body(newest)) {
            return Err(format!("{key} has the value of {last:?} in the end, and {newest:?} was sent"));
        }
    }
    Ok(())
}
