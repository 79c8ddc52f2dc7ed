//! What sending needs from the ledger and from the service. Simulations replace both.

use std::ops::RangeInclusive;

use crate::client::{Attempt, Client, Request};
use crate::ledger::{Claim, EarlierClaim, Error, Ledger, NewerKeys, RecordBlock, Run, RunId, SendingChanges, Seq};

/// A run at the beginning of sending.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub run: Run,
    /// The runs connected with it by retries.
    pub family: Vec<RunId>,
    /// The number of records that were in flight when the last process ended, and are unknown now.
    pub unknown: u64,
}

/// The ledger of a run that is sent. The methods are those of [`Ledger`].
pub(super) trait Journal: Clone + Send + Sync + 'static {
    /// Marks the records that were in flight as unknown, and returns the run.
    fn begin(&self, run: RunId) -> impl Future<Output = Result<Begun, Error>> + Send;

    fn record_block(&self, run: RunId, from: Seq) -> impl Future<Output = Result<Option<RecordBlock>, Error>> + Send;

    /// Returns the records in the range that have an outcome.
    fn settled(&self, run: RunId, range: RangeInclusive<Seq>) -> impl Future<Output = Result<Vec<Seq>, Error>> + Send;

    fn store_intent(
        &self,
        run: RunId,
        first: Seq,
        last: Seq,
        now: i64,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    fn update_newer_keys(
        &self,
        run: &Run,
        keys: &mut NewerKeys,
        now: i64,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    fn start(
        &self,
        run: &Run,
        family: &[RunId],
        changes: &SendingChanges,
        started: &[Claim],
        now: i64,
    ) -> impl Future<Output = Result<Vec<(Seq, EarlierClaim)>, Error>> + Send;

    fn store(&self, run: RunId, changes: &SendingChanges) -> impl Future<Output = Result<(), Error>> + Send;

    fn reduce_intents(
        &self,
        run: RunId,
        since: i64,
        sent: &[Seq],
        now: i64,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// The service that receives the requests.
pub(super) trait Service: Send + Sync + 'static {
    /// Sends the request once.
    fn attempt(&self, request: &Request) -> impl Future<Output = Attempt> + Send;
}

impl Journal for Ledger {
    async fn begin(&self, run: RunId) -> Result<Begun, Error> {
        let unknown = self.mark_in_flight_unknown(run).await?;
        // The locked run is as it was at the time of locking, before it was compared with earlier runs.
        let run = self.run(run).await?;
        let family = self.family(&run).await?.runs.iter().map(|member| member.id).collect();
        Ok(Begun { run, family, unknown })
    }

    async fn record_block(&self, run: RunId, from: Seq) -> Result<Option<RecordBlock>, Error> {
        Ledger::record_block(self, run, from).await
    }

    async fn settled(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<Vec<Seq>, Error> {
        Ok(Ledger::settled(self, run, range).await?.into_iter().collect())
    }

    async fn store_intent(&self, run: RunId, first: Seq, last: Seq, now: i64) -> Result<(), Error> {
        Ledger::store_intent(self, run, first, last, now).await
    }

    async fn update_newer_keys(&self, run: &Run, keys: &mut NewerKeys, now: i64) -> Result<(), Error> {
        Ledger::update_newer_keys(self, run, keys, now).await
    }

    async fn start(
        &self,
        run: &Run,
        family: &[RunId],
        changes: &SendingChanges,
        started: &[Claim],
        now: i64,
    ) -> Result<Vec<(Seq, EarlierClaim)>, Error> {
        Ledger::start(self, run, family, changes, started, now).await
    }

    async fn store(&self, run: RunId, changes: &SendingChanges) -> Result<(), Error> {
        Ledger::store(self, run, changes).await
    }

    async fn reduce_intents(&self, run: RunId, since: i64, sent: &[Seq], now: i64) -> Result<(), Error> {
        Ledger::reduce_intents(self, run, since, sent, now).await
    }
}

impl Service for Client {
    async fn attempt(&self, request: &Request) -> Attempt {
        Client::attempt(self, request).await
    }
}
