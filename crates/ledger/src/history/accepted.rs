//! The last accepted request for each key, for `--changed-only`, and for old runs after newer ones were pruned.
//!
//! The table is updated from the outcomes on demand, for `--changed-only` or `prune`, at no cost for other uploads.

use std::collections::HashMap;

use sheetport_files::digest;
use sheetport_records::RecordKind;
use sheetport_sql::{self as sql, Builder, Transaction, Value};

use super::super::database::Ledger;
use super::super::error::Error;
use super::super::ids::{RunId, Seq};
use super::super::records::{BLOCK_LEN, Disposition, Outcome, PlannedRecord};
use super::super::runs::Run;
use super::decide::{Fact, Policy, decide};
use super::known::{Begun, Effect, LastRequest};

/// Where a key names one record.
#[derive(Clone, Copy, Debug)]
pub struct KeyScope<'a> {
    pub base_url: &'a str,
    pub workspace: &'a str,
    pub record: RecordKind,
}

impl<'a> KeyScope<'a> {
    pub fn of(run: &'a Run) -> KeyScope<'a> {
        let about = &run.about;
        KeyScope { base_url: &about.base_url, workspace: &about.workspace, record: about.record }
    }

    pub(super) fn hash(self) -> i64 {
        let parts = [self.base_url, self.workspace, self.record.name(), BY_ID];
        hash(if has_two_names(self.record) { &parts } else { &parts[..3] })
    }
}

/// The last part of the scope of orders. Earlier versions kept orders by the names in their rows: there, `100` can be the id of one and the
/// external id of another.
const BY_ID: &str = "order_id";

/// Whether rows can name a record by its id in the service or by an external id: requests for it have its id in the path, and create none.
fn has_two_names(record: RecordKind) -> bool {
    let input = record.input();
    input.create.is_none() && input.key.len() > 1
}

/// How the results of a run were added to `accepted`. Earlier versions wrote 1, which is the same for records with one name.
pub(crate) const INDEXED: i64 = 2;

/// Returns the least index of a run that is complete.
pub(super) fn least_index(record: RecordKind) -> i64 {
    if has_two_names(record) { INDEXED } else { 1 }
}

/// The hashes of a request and of the identity of its record.
#[derive(Clone, Copy, Debug)]
pub struct KeyedRequest {
    key: i64,
    request: i64,
}

impl KeyedRequest {
    /// Returns the request of a record to be sent, or `None` for other records.
    pub fn of(record: &PlannedRecord) -> Option<KeyedRequest> {
        match (&record.disposition, record.identity()) {
            (Disposition::Send(body), Some(key)) => {
                Some(KeyedRequest { key: hash(&[key]), request: request_hash(record.target.as_deref(), body) })
            }
            _ => None,
        }
    }
}

impl Ledger {
    /// Marks the pending records of a planned run as *unchanged* if the last accepted request for
    /// the same key was equal, and returns the number of such records. Only requests in this ledger are considered.
    pub async fn mark_unchanged(&self, run: &Run, now: i64) -> Result<u64, Error> {
        self.update_accepted(KeyScope::of(run), Some(run.id)).await?;
        let mut same = Vec::new();
        let mut from: Seq = 0;
        while let Some(block) = self.record_block(run.id, from).await? {
            from = block.end();
            let settled = self.settled(run.id, block.first..=from - 1).await?;
            let pending = block.numbered().filter(|(seq, _)| !settled.contains(seq));
            let mut requests: Vec<_> =
                pending.filter_map(|(seq, record)| Some((seq, KeyedRequest::of(record)?))).collect();
            self.retain_accepted(scope(run), &mut requests).await?;
            same.extend(requests);
        }
        self.settle_unchanged(run, same, now).await
    }

    /// Marks pending records of `run` as *unchanged*, whose values the service has, and returns the number of such records. A record that
    /// an older upload has begun to send meanwhile stays pending. A million records need 24 MB.
    ///
    /// An unchanged record has no intent to which older uploads would yield. Instead, its key gets the age of this run in `accepted` before
    /// the intents of older uploads are read again, and an older upload reads `accepted` after it has stored an intent: whichever comes
    /// first, one of the two sees the other.
    pub async fn settle_unchanged(
        &self,
        run: &Run,
        mut same: Vec<(Seq, KeyedRequest)>,
        now: i64,
    ) -> Result<u64, Error> {
        if !same.is_empty() && self.is_any_older_open(run).await? {
            self.confirm(run, same.iter().map(|(_, request)| *request).collect()).await?;
            self.update_accepted(KeyScope::of(run), Some(run.id)).await?;
            self.retain_accepted(scope(run), &mut same).await?;
        }
        for same in same.chunks(BLOCK_LEN) {
            let outcomes: Vec<Outcome> = same.iter().map(|(seq, _)| Outcome::unchanged(*seq, now)).collect();
            self.settle(run.id, &outcomes).await?;
        }
        Ok(same.len() as u64)
    }

    /// Retains the requests that are equal to the last accepted ones for their keys.
    async fn retain_accepted(&self, scope: i64, requests: &mut Vec<(Seq, KeyedRequest)>) -> Result<(), Error> {
        let mut same = Vec::new();
        for requests in requests.chunks(BLOCK_LEN) {
            let known = self.known(scope, RunId::MIN, requests.iter().map(|(_, request)| request.key)).await?;
            let is_same = |it: &KeyedRequest| known.get(&it.key).is_some_and(|last| last.request == Some(it.request));
            same.extend(requests.iter().filter(|(_, request)| is_same(request)));
        }
        *requests = same;
        Ok(())
    }

    /// Stores that the values of these requests, which the service has, are as new as `run`. Their times stay: a request that was begun after
    /// the last one is later.
    async fn confirm(&self, run: &Run, requests: Vec<KeyedRequest>) -> Result<(), Error> {
        let age = self.age(run).await?;
        for requests in requests.chunks(BLOCK_LEN) {
            let confirmed = |it: &KeyedRequest| {
                (it.key, LastRequest { request: Some(it.request), at: run.created_at, family: age })
            };
            let mut transaction = self.begin().await?;
            insert(&mut transaction, scope(run), requests.iter().map(confirmed).collect(), CONFIRMED).await?;
            transaction.commit().await?;
        }
        Ok(())
    }

    /// Whether a run before `run` with the same service, workspace and kind may still send: it is being planned, or has records that are
    /// pending, refused, unknown or superseded.
    async fn is_any_older_open(&self, run: &Run) -> Result<bool, Error> {
        let about = &run.about;
        let query = "SELECT COUNT(*) FROM run WHERE base_url = $1 AND workspace = $2 AND record = $3 AND id < $4 \
                     AND has_plan = 1 AND (state = 'planning' OR state IN ('planned', 'queued', 'finished') \
                     AND records > run.skipped + run.rejected + run.unchanged + COALESCE((SELECT total.sent + total.unchanged \
                     + total.rejected - resolutions FROM total WHERE total.run = run.id), 0))";
        let open: i64 = sql::query_scalar(query)
            .bind(&about.base_url)
            .bind(&about.workspace)
            .bind(about.record.name())
            .bind(run.id)
            .fetch_one(&self.reader)
            .await?;
        Ok(open > 0)
    }

    /// Adds the results of the runs of a service, workspace and kind, except the run `except`.
    pub async fn update_accepted(&self, scope: KeyScope<'_>, except: Option<RunId>) -> Result<(), Error> {
        let query = "SELECT id FROM run WHERE is_indexed < $5 AND base_url = $1 AND workspace = $2 AND record = $3 \
                     AND id <> $4 AND state IN ('planned', 'queued', 'finished') ORDER BY id";
        let runs: Vec<RunId> = sql::query_scalar(query)
            .bind(scope.base_url)
            .bind(scope.workspace)
            .bind(scope.record.name())
            .bind(except.unwrap_or(RunId::MIN))
            .bind(least_index(scope.record))
            .fetch_all(&self.reader)
            .await?;
        for run in runs {
            let age = self.age(&self.run(run).await?).await?;
            self.add_accepted_of(scope.hash(), run, age).await?;
            // The results of an unfinished run may still change.
            let update = sql::query("UPDATE run SET is_indexed = $2 WHERE id = $1 AND state = 'finished'");
            self.change_run(run, update.bind(run).bind(INDEXED)).await?;
        }
        Ok(())
    }

    /// Adds the results of `run`. `age` is the first run of its family.
    async fn add_accepted_of(&self, scope: i64, run: RunId, age: RunId) -> Result<(), Error> {
        let intents: Vec<(Seq, Seq, i64)> =
            sql::query_as("SELECT first, last, at FROM intent WHERE run = $1 ORDER BY at")
                .bind(run)
                .fetch_all(&self.reader)
                .await?;
        let mut from: Seq = 0;
        while let Some(block) = self.record_block(run, from).await? {
            from = block.end();
            let outcomes = self.outcomes(run, block.first..=from - 1).await?;
            let mut last: HashMap<i64, LastRequest> = HashMap::new();
            for (seq, record) in block.numbered() {
                let (Disposition::Send(body), Some(key)) = (&record.disposition, record.identity()) else { continue };
                let (begun, outcome) = (Begun::of(&intents, seq), outcomes.get(&seq));
                let effect = Effect::of_record(outcome, begun.map(|begun| begun.first));
                let request = match effect {
                    Some(Effect::Accepted) => Some(request_hash(record.target.as_deref(), body)),
                    // A refused or lost call may have had an effect.
                    Some(Effect::Refused | Effect::Uncertain) => None,
                    Some(Effect::NotNeeded) | None => continue,
                };
                let at = outcome.map(|outcome| outcome.at).or(begun.map(|begun| begun.last));
                let Some(at) = at else { continue };
                let request = LastRequest { request, at, family: age };
                let last = last.entry(hash(&[key])).or_insert(request);
                if request.at >= last.at {
                    *last = request;
                }
            }
            let mut transaction = self.begin().await?;
            insert(&mut transaction, scope, last.into_iter().collect(), LATER_REQUEST).await?;
            transaction.commit().await?;
        }
        Ok(())
    }
}

impl Outcome {
    /// Returns the outcome of a record of `--changed-only` whose values the service has.
    pub fn unchanged(seq: Seq, now: i64) -> Outcome {
        let policy = Policy { changed_only: true, ..Policy::default() };
        Outcome::new(seq, decide(0, &Fact::SameAccepted.into(), policy).state(), now)
    }
}

/// Which of two requests for a key counts.
///
/// - A newer upload declares its requests before an older one has ended its own, and sends them after that. So an open request of a newer
///   upload is later than a result of an older one, whatever the times.
/// - An older upload declares requests that it then leaves to the newer one. So an open request of an older upload leaves the result
///   uncertain, and the age as it is.
/// - A request that a newer upload has confirmed keeps that age when its own run is read again.
const LATER_REQUEST: &str = "\
    body = CASE WHEN excluded.at >= accepted.at OR excluded.body IS NULL THEN excluded.body ELSE accepted.body END, \
    at = CASE WHEN excluded.at >= accepted.at OR excluded.body IS NULL THEN excluded.at ELSE accepted.at END, \
    run = CASE WHEN excluded.body IS NULL AND excluded.run < accepted.run THEN accepted.run ELSE excluded.run END \
    WHERE excluded.at > accepted.at \
    OR excluded.at = accepted.at AND (excluded.run >= accepted.run OR excluded.body IS NULL OR accepted.body IS NULL \
    OR excluded.body <> accepted.body) \
    OR excluded.run > accepted.run AND (excluded.body IS NULL OR accepted.body IS NULL)";

/// What becomes of a known key whose value a run confirms. Its time stays.
const CONFIRMED: &str = "body = excluded.body, run = excluded.run WHERE excluded.run >= accepted.run";

/// Stores requests by key. `known` says what becomes of a key that is in the table.
async fn insert(
    transaction: &mut Transaction,
    scope: i64,
    mut last: Vec<(i64, LastRequest)>,
    known: &str,
) -> Result<(), Error> {
    // Sorted by key: two processes that lock the same rows in different orders would deadlock.
    last.sort_unstable_by_key(|(key, _)| *key);
    for last in last.chunks(transaction.dialect().rows_per_statement()) {
        let mut query = Builder::new(transaction.dialect(), "INSERT INTO accepted (scope, key, body, at, run) ");
        query.push_rows(last.iter().map(|(key, request)| {
            [Value::from(scope), (*key).into(), request.request.into(), request.at.into(), request.family.into()]
        }));
        query.push(" ON CONFLICT (scope, key) DO UPDATE SET ").push(known);
        query.build_for(last.len()).execute(&mut *transaction).await?;
    }
    Ok(())
}

pub(crate) fn scope(run: &Run) -> i64 {
    KeyScope::of(run).hash()
}

fn request_hash(target: Option<&str>, body: &str) -> i64 {
    hash(&[target.unwrap_or_default(), body])
}

/// Returns the first half of the SHA-256 of the parts, each preceded by the length.
///
/// Among a million keys, two share a hash in one of thirty million ledgers; a record would be left out wrongly only if
/// the two requests collided as well.
pub(crate) fn hash(parts: &[&str]) -> i64 {
    let digest = digest::of_parts(parts.iter().map(|part| part.as_bytes()));
    let (half, _) = digest.split_first_chunk().expect("a SHA-256 has 32 bytes");
    i64::from_le_bytes(*half)
}
