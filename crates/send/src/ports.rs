//! Interfaces to the ledger and the service for sending. Simulations replace both.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use sheetport_client::{Attempt, Client, Request};
use sheetport_ledger::{
    Attempts, Begun, Claim, EarlierClaim, Error, Intent, Ledger, NewerKeys, Part, RecordBlock, Run, RunId,
    SendingChanges, Seq,
};

/// The ledger of a run being sent. The methods are like those of [`Ledger`], but retry if the connection is lost while the lock
/// is held.
pub(super) trait Journal: Clone + Send + Sync + 'static {
    /// Settles the in-flight records of a part, and returns the run. `yields`: registers the part as a sender that yields to
    /// newer uploads. `remembered`: first attempts in this range have idempotency keys that the service remembers.
    fn begin(
        &self,
        part: Part,
        yields: bool,
        remembered: Option<RangeInclusive<i64>>,
        now: i64,
    ) -> impl Future<Output = Result<Begun, Error>> + Send;

    /// Removes a part from the senders.
    fn leave(&self, part: Part) -> impl Future<Output = Result<(), Error>> + Send;

    /// Returns the block with the record `from`, or else the next block.
    fn record_block(&self, run: RunId, from: Seq) -> impl Future<Output = Result<Option<RecordBlock>, Error>> + Send;

    /// Returns the records in the range that have an outcome.
    fn settled(
        &self,
        run: RunId,
        range: RangeInclusive<Seq>,
    ) -> impl Future<Output = Result<BTreeSet<Seq>, Error>> + Send;

    /// Returns what [`Journal::record_block`] does, and at least the records of the block in the range that have an outcome.
    fn record_block_in(
        &self,
        run: RunId,
        range: RangeInclusive<Seq>,
    ) -> impl Future<Output = Result<Option<(RecordBlock, BTreeSet<Seq>)>, Error>> + Send {
        async move {
            let Some(block) = self.record_block(run, *range.start()).await? else { return Ok(None) };
            let settled = self.settled(run, block.first.max(*range.start())..=block.end() - 1).await?;
            Ok(Some((block, settled)))
        }
    }

    /// Returns the records in `seqs` that have an outcome.
    fn settled_among(&self, run: RunId, seqs: &[Seq]) -> impl Future<Output = Result<Vec<Seq>, Error>> + Send;

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
    ) -> impl Future<Output = Result<Vec<Intent>, Error>> + Send;

    /// Adds those of `keys` whose value a newer upload has confirmed without a request. Must follow [`Journal::store_intent`].
    fn find_confirmed(
        &self,
        run: &Run,
        newer: &mut NewerKeys,
        keys: &[&str],
    ) -> impl Future<Output = Result<(), Error>> + Send;

    fn yield_to(&self, part: Part, intents: &[Intent]) -> impl Future<Output = Result<(), Error>> + Send;

    fn not_yielded(
        &self,
        run: &Run,
        intent: Intent,
        keys: &[&str],
    ) -> impl Future<Output = Result<Vec<RunId>, Error>> + Send;

    fn start(
        &self,
        run: &Run,
        family: &[RunId],
        changes: &SendingChanges,
        started: &[Claim],
        has_keys: bool,
        now: i64,
    ) -> impl Future<Output = Result<Vec<(Seq, EarlierClaim)>, Error>> + Send;

    fn store(&self, run: RunId, changes: &SendingChanges) -> impl Future<Output = Result<(), Error>> + Send;

    fn reduce_intents(
        &self,
        part: Part,
        since: i64,
        sent: &[Seq],
        now: i64,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Returns the time of the ledger, in milliseconds since 1970, UTC.
    fn now(&self) -> i64;

    /// Whether a write waits because another program holds the ledger.
    fn is_waiting(&self) -> bool;

    /// Whether this process certainly still holds the lock of the run, so that it may send.
    fn holds_locks(&self) -> bool;
}

/// The service that receives the requests.
pub(super) trait Service: Send + Sync + 'static {
    /// Sends the request once.
    fn attempt(&self, request: &Request) -> impl Future<Output = Attempt> + Send;
}

impl Journal for Ledger {
    async fn begin(
        &self,
        part: Part,
        yields: bool,
        remembered: Option<RangeInclusive<i64>>,
        now: i64,
    ) -> Result<Begun, Error> {
        self.again(|| self.begin_part(part, yields, remembered.clone(), now)).await
    }

    async fn record_block(&self, run: RunId, from: Seq) -> Result<Option<RecordBlock>, Error> {
        self.again(|| async move {
            match self.record_block_of(run, from).await? {
                Some(block) => Ok(Some(block)),
                None => Ledger::record_block(self, run, from).await,
            }
        })
        .await
    }

    async fn record_block_in(
        &self,
        run: RunId,
        range: RangeInclusive<Seq>,
    ) -> Result<Option<(RecordBlock, BTreeSet<Seq>)>, Error> {
        let found = self.again(|| self.block_with_settled(run, range.clone())).await?;
        if found.is_some() {
            return Ok(found);
        }
        let Some(block) = Journal::record_block(self, run, *range.start()).await? else { return Ok(None) };
        let settled = Journal::settled(self, run, block.first..=block.end() - 1).await?;
        Ok(Some((block, settled)))
    }

    async fn settled(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeSet<Seq>, Error> {
        self.again(|| Ledger::settled(self, run, range.clone())).await
    }

    async fn settled_among(&self, run: RunId, seqs: &[Seq]) -> Result<Vec<Seq>, Error> {
        self.again(|| Ledger::settled_among(self, run, seqs)).await
    }

    async fn store_intent(&self, run: RunId, first: Seq, last: Seq, now: i64) -> Result<(), Error> {
        self.again(|| Ledger::store_intent(self, run, first, last, now)).await
    }

    async fn leave(&self, part: Part) -> Result<(), Error> {
        self.again(|| self.leave_sender(part)).await
    }

    async fn update_newer_keys(&self, run: &Run, keys: &mut NewerKeys, now: i64) -> Result<Vec<Intent>, Error> {
        let mut attempts = Attempts::default();
        loop {
            match Ledger::update_newer_keys(self, run, keys, now).await {
                Err(error) => self.before_next_attempt(error, &mut attempts).await?,
                found => return found,
            }
        }
    }

    async fn find_confirmed(&self, run: &Run, newer: &mut NewerKeys, keys: &[&str]) -> Result<(), Error> {
        let mut attempts = Attempts::default();
        loop {
            match Ledger::find_confirmed(self, run, newer, keys).await {
                Err(error) => self.before_next_attempt(error, &mut attempts).await?,
                found => return found,
            }
        }
    }

    async fn yield_to(&self, part: Part, intents: &[Intent]) -> Result<(), Error> {
        self.again(|| Ledger::yield_to(self, part, intents)).await
    }

    async fn not_yielded(&self, run: &Run, intent: Intent, keys: &[&str]) -> Result<Vec<RunId>, Error> {
        self.again(|| Ledger::not_yielded(self, run, intent, keys)).await
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
        Ledger::start(self, run, family, changes, started, has_keys, now).await
    }

    async fn store(&self, run: RunId, changes: &SendingChanges) -> Result<(), Error> {
        Ledger::store(self, run, changes).await
    }

    async fn reduce_intents(&self, part: Part, since: i64, sent: &[Seq], now: i64) -> Result<(), Error> {
        self.again(|| Ledger::reduce_intents(self, part, since, sent, now)).await
    }

    fn now(&self) -> i64 {
        Ledger::now(self)
    }

    fn is_waiting(&self) -> bool {
        Ledger::is_waiting(self)
    }

    fn holds_locks(&self) -> bool {
        Ledger::holds_locks(self)
    }
}

impl Service for Client {
    async fn attempt(&self, request: &Request) -> Attempt {
        Client::attempt(self, request).await
    }
}
