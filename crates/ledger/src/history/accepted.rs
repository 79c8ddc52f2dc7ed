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
use super::known::{Effect, LastRequest};

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
        hash(&[self.base_url, self.workspace, self.record.name()])
    }
}

/// A key and the hash of its last request.
pub(crate) struct AcceptedKey {
    pub key: i64,
    body: i64,
}

impl AcceptedKey {
    /// Returns the key and the request of a record to be sent, or `None` for other records.
    pub(crate) fn of(record: &PlannedRecord) -> Option<AcceptedKey> {
        match (&record.disposition, &record.key) {
            (Disposition::Send(body), Some(key)) => {
                Some(AcceptedKey { key: hash(&[key]), body: request_hash(record.target.as_deref(), body) })
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
        let scope = scope(run);
        let mut unchanged = 0;
        let mut from: Seq = 0;
        while let Some(block) = self.record_block(run.id, from).await? {
            from = block.end();
            let settled = self.settled(run.id, block.first..=from - 1).await?;
            let mut requests = Vec::new();
            for (seq, record) in block.numbered() {
                if let Some(AcceptedKey { key, body }) = AcceptedKey::of(record)
                    && !settled.contains(&seq)
                {
                    requests.push((seq, key, body));
                }
            }
            let known = self.known(scope, requests.iter().map(|(_, key, _)| *key)).await?;
            let is_same = |key: &i64, body: &i64| known.get(key).is_some_and(|last| last.request == Some(*body));
            let same = requests.iter().filter(|(_, key, body)| is_same(key, body));
            let outcomes: Vec<Outcome> = same.map(|(seq, ..)| Outcome::unchanged(*seq, now)).collect();
            unchanged += outcomes.len() as u64;
            self.settle(run.id, &outcomes).await?;
        }
        Ok(unchanged)
    }

    /// Adds the results of the runs of a service, workspace and kind, except the run `except`.
    pub async fn update_accepted(&self, scope: KeyScope<'_>, except: Option<RunId>) -> Result<(), Error> {
        let query = "SELECT id FROM run WHERE is_indexed = 0 AND base_url = $1 AND workspace = $2 AND record = $3 \
                     AND id <> $4 AND state IN ('planned', 'queued', 'finished') ORDER BY id";
        let runs: Vec<RunId> = sql::query_scalar(query)
            .bind(scope.base_url)
            .bind(scope.workspace)
            .bind(scope.record.name())
            .bind(except.unwrap_or(RunId::MIN))
            .fetch_all(&self.reader)
            .await?;
        for run in runs {
            let age = self.age(&self.run(run).await?).await?;
            self.add_accepted_of(scope.hash(), run, age).await?;
            // The results of an unfinished run may still change.
            let update = sql::query("UPDATE run SET is_indexed = 1 WHERE id = $1 AND state = 'finished'");
            self.change_run(run, update.bind(run)).await?;
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
                let (Disposition::Send(body), Some(key)) = (&record.disposition, &record.key) else { continue };
                let intent = intents.iter().rfind(|(first, last, _)| (*first..=*last).contains(&seq));
                let outcome = outcomes.get(&seq);
                let effect = Effect::of(outcome.map(|outcome| outcome.state), intent.is_some());
                let request = match effect {
                    Some(Effect::Accepted) => Some(request_hash(record.target.as_deref(), body)),
                    // A refused or lost call may have had an effect.
                    Some(Effect::Refused | Effect::Uncertain) => None,
                    Some(Effect::NotNeeded) | None => continue,
                };
                let begun = intent.map(|(.., at)| *at);
                let Some(at) = outcome.map(|outcome| outcome.at).or(begun) else { continue };
                let request = LastRequest { request, at, family: age };
                let last = last.entry(hash(&[key])).or_insert(request);
                if request.at >= last.at {
                    *last = request;
                }
            }
            let mut transaction = self.begin().await?;
            upsert(&mut transaction, scope, last).await?;
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

/// Stores the last accepted request for each key. `age` is the first run of the family.
pub(crate) async fn upsert_keys(
    transaction: &mut Transaction,
    scope: i64,
    age: RunId,
    now: i64,
    keys: Vec<AcceptedKey>,
) -> Result<(), Error> {
    for keys in keys.chunks(BLOCK_LEN) {
        let request = |known: &AcceptedKey| LastRequest { request: Some(known.body), at: now, family: age };
        upsert(transaction, scope, keys.iter().map(|known| (known.key, request(known))).collect()).await?;
    }
    Ok(())
}

async fn upsert(transaction: &mut Transaction, scope: i64, last: HashMap<i64, LastRequest>) -> Result<(), Error> {
    if last.is_empty() {
        return Ok(());
    }
    // Sorted by key: two processes that lock the same rows in different orders would deadlock.
    let mut last: Vec<(i64, LastRequest)> = last.into_iter().collect();
    last.sort_unstable_by_key(|(key, _)| *key);
    for last in last.chunks(transaction.dialect().rows_per_statement()) {
        let mut query = Builder::new(transaction.dialect(), "INSERT INTO accepted (scope, key, body, at, run) ");
        query.push_rows(last.iter().map(|(key, request)| {
            [Value::from(scope), key.into(), request.request.into(), request.at.into(), request.family.into()]
        }));
        // A newer upload declares its requests before an older one has ended its own, and sends them after that. So an open request of
        // a newer upload is later than a result of an older one, whatever the times.
        query.push(
            " ON CONFLICT (scope, key) DO UPDATE SET body = excluded.body, at = excluded.at, run = excluded.run \
             WHERE excluded.at >= accepted.at OR excluded.body IS NULL AND excluded.run > accepted.run",
        );
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
