//! A blocking interface to the ledger for the simulation. The paused clock stands still during each call.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use sheetport_ledger::{
    Accounting, Begun, Claim, EarlierClaim, Error, Intent, NewerKeys, Part, RecordBlock, RecordState, Run, RunId,
    SendingChanges, Seq,
};
use sheetport_records::RecordKind;

use super::super::ports::Journal;
use super::life::{Life, wall};

/// A record of a plan, to be sent.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub key: Option<String>,
    pub target: Option<String>,
    pub body: String,
}

impl Planned {
    pub(super) fn is_repeatable(&self, kind: RecordKind) -> bool {
        kind.input().call(self.target.is_some()).is_some_and(|call| call.repeatable)
    }
}

/// The ledger, or a model of it.
pub(super) trait Store: Send + Sync {
    fn begin(
        &self,
        run: RunId,
        yields: bool,
        remembered: Option<RangeInclusive<i64>>,
        now: i64,
    ) -> Result<Begun, Error>;
    fn record_block(&self, run: RunId, from: Seq) -> Result<Option<RecordBlock>, Error>;
    fn settled(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeSet<Seq>, Error>;
    fn store_intent(&self, run: RunId, first: Seq, last: Seq, now: i64) -> Result<(), Error>;
    fn update_newer_keys(&self, run: &Run, keys: &mut NewerKeys, now: i64) -> Result<Vec<Intent>, Error>;
    fn find_confirmed(&self, run: &Run, newer: &mut NewerKeys, keys: &[&str]) -> Result<(), Error>;
    fn leave(&self, run: RunId) -> Result<(), Error>;
    fn yield_to(&self, run: RunId, intents: &[Intent]) -> Result<(), Error>;
    fn not_yielded(&self, run: &Run, intent: Intent, keys: &[&str]) -> Result<Vec<RunId>, Error>;
    fn start(
        &self,
        run: &Run,
        family: &[RunId],
        changes: &SendingChanges,
        started: &[Claim],
        has_keys: bool,
        now: i64,
    ) -> Result<Vec<(Seq, EarlierClaim)>, Error>;
    fn store(&self, run: RunId, changes: &SendingChanges) -> Result<(), Error>;
    fn reduce_intents(&self, run: RunId, since: i64, sent: &[Seq], now: i64) -> Result<(), Error>;

    /// Locks the run for a living process, or unlocks the run.
    fn set_alive(&self, run: RunId, is_alive: bool) -> Result<(), Error>;
    /// Plans a run.
    fn plan(&self, kind: RecordKind, records: &[Planned], retry_of: Option<RunId>) -> Result<RunId, Error>;
    /// Leaves out records sent before or by newer runs, as always done before sending; with `changed_only`, also records whose last
    /// accepted request was equal.
    fn prepare(&self, run: RunId, changed_only: bool, now: i64) -> Result<(), Error>;
    /// Removes the runs of a family, as `runs prune` does.
    fn prune(&self, family: &[RunId], now: i64) -> Result<(), Error>;
    /// Stores how sending ended.
    fn end(&self, run: RunId, now: i64) -> Result<(), Error>;
    fn accounting(&self, run: RunId) -> Result<Accounting, Error>;
    /// Returns the state of each record.
    fn states(&self, run: RunId) -> Result<Vec<RecordState>, Error>;
    /// Whether the record is stored as possibly in flight, or `None` if unknown.
    fn has_intent(&self, run: RunId, seq: Seq) -> Option<bool>;
}

/// The ledger of a process that may be killed before and after each write.
#[derive(Clone)]
pub(super) struct Mortal {
    pub store: Arc<dyn Store>,
    pub life: Arc<Life>,
}

impl Mortal {
    /// Writes durably, unless the process is killed first.
    async fn write<T>(&self, write: impl FnOnce(&dyn Store) -> Result<T, Error>) -> Result<T, Error> {
        self.life.takes_a_moment().await;
        self.life.step().await;
        let written = write(&*self.store);
        self.life.step().await;
        written
    }
}

impl Journal for Mortal {
    async fn begin(
        &self,
        part: Part,
        yields: bool,
        remembered: Option<RangeInclusive<i64>>,
        now: i64,
    ) -> Result<Begun, Error> {
        let begun = self.write(|store| store.begin(part.run, yields, remembered, now)).await?;
        self.life.began_with_unknown(begun.interrupted.unknown);
        Ok(begun)
    }

    async fn leave(&self, part: Part) -> Result<(), Error> {
        self.write(|store| store.leave(part.run)).await
    }

    async fn yield_to(&self, part: Part, intents: &[Intent]) -> Result<(), Error> {
        self.write(|store| store.yield_to(part.run, intents)).await
    }

    async fn not_yielded(&self, run: &Run, intent: Intent, keys: &[&str]) -> Result<Vec<RunId>, Error> {
        self.store.not_yielded(run, intent, keys)
    }

    async fn record_block(&self, run: RunId, from: Seq) -> Result<Option<RecordBlock>, Error> {
        self.store.record_block(run, from)
    }

    async fn settled(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeSet<Seq>, Error> {
        self.store.settled(run, range)
    }

    async fn settled_among(&self, run: RunId, seqs: &[Seq]) -> Result<Vec<Seq>, Error> {
        let settled = self.store.settled(run, 0..=Seq::MAX)?;
        Ok(seqs.iter().copied().filter(|seq| settled.contains(seq)).collect())
    }

    async fn store_intent(&self, run: RunId, first: Seq, last: Seq, now: i64) -> Result<(), Error> {
        self.write(|store| store.store_intent(run, first, last, now)).await
    }

    async fn update_newer_keys(&self, run: &Run, keys: &mut NewerKeys, now: i64) -> Result<Vec<Intent>, Error> {
        self.store.update_newer_keys(run, keys, now)
    }

    async fn find_confirmed(&self, run: &Run, newer: &mut NewerKeys, keys: &[&str]) -> Result<(), Error> {
        self.store.find_confirmed(run, newer, keys)
    }

    async fn start(
        &self,
        run: &Run,
        family: &[RunId],
        changes: &SendingChanges,
        started: &[Claim],
        has_keys: bool,
        now: i64,
    ) -> Result<Vec<(Seq, EarlierClaim)>, Error> {
        let start = |store: &dyn Store| store.start(run, family, changes, started, has_keys, now);
        let repeated = self.write(start).await?;
        self.life.wrote(changes);
        Ok(repeated)
    }

    async fn store(&self, run: RunId, changes: &SendingChanges) -> Result<(), Error> {
        self.write(|store| store.store(run, changes)).await?;
        self.life.wrote(changes);
        Ok(())
    }

    async fn reduce_intents(&self, part: Part, since: i64, sent: &[Seq], now: i64) -> Result<(), Error> {
        self.write(|store| store.reduce_intents(part.run, since, sent, now)).await
    }

    fn now(&self) -> i64 {
        wall()
    }

    fn is_waiting(&self) -> bool {
        false
    }

    fn holds_locks(&self) -> bool {
        true
    }
}
