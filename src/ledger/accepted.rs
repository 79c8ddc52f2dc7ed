//! What the service accepted last, by each record's key: the memory behind leaving out what has not changed.
//!
//! It is brought up to date from the outcomes when it is asked, so that uploads that don't ask pay nothing for it.

use std::collections::HashMap;

use sha2::{Digest, Sha256};
use sqlx::{QueryBuilder, Row, Sqlite};

use super::block::Fate;
use super::error::Error;
use super::open::Ledger;
use super::run::Run;
use super::send::{Outcome, OutcomeState};
use super::{RunId, Seq};

/// The hash of the request that was accepted, or nothing where it is not known what the service has; and when.
type Last = (Option<i64>, i64);

impl Ledger {
    /// Gives the pending records of a planned run that are as they were last accepted the outcome *unchanged*, and answers
    /// how many there are. Only what went through this ledger is known.
    pub async fn leave_unchanged(&self, run: &Run, now: i64) -> Result<u64, Error> {
        self.remember(run, run.id).await?;
        let scope = scope(run);
        let mut unchanged = 0;
        let mut from: Seq = 0;
        while let Some(block) = self.record_block(run.id, from).await? {
            let last = block.first + block.records.len() as Seq - 1;
            from = last + 1;
            let settled = self.settled(run.id, block.first..=last).await?;
            let mut wanted = Vec::new();
            for (seq, record) in (block.first..).zip(&block.records) {
                if let (Fate::Send(body), Some(key)) = (&record.fate, &record.key)
                    && !settled.contains(&seq)
                {
                    wanted.push((seq, hash(&[key]), request(record.target.as_deref(), body)));
                }
            }
            let known = self.accepted(scope, &wanted.iter().map(|(_, key, _)| *key).collect::<Vec<_>>()).await?;
            let same = wanted.iter().filter(|(_, key, body)| known.get(key) == Some(body));
            let outcomes: Vec<Outcome> =
                same.map(|(seq, ..)| Outcome::new(*seq, OutcomeState::Unchanged, now)).collect();
            unchanged += outcomes.len() as u64;
            self.settle(run.id, &outcomes).await?;
        }
        Ok(unchanged)
    }

    /// Takes in what the runs of the same service, workspace and kind say, up to and without `before`.
    pub async fn remember(&self, like: &Run, before: RunId) -> Result<(), Error> {
        let query = "SELECT id FROM run WHERE is_remembered = 0 AND base_url = $1 AND workspace = $2 AND record = $3 \
                     AND id <> $4 AND state IN ('planned', 'finished') ORDER BY id";
        let about = &like.about;
        let runs: Vec<RunId> = sqlx::query_scalar(query)
            .bind(&about.base_url)
            .bind(&about.workspace)
            .bind(&about.record)
            .bind(before)
            .fetch_all(&self.reader)
            .await?;
        for run in runs {
            self.remember_run(scope(like), run).await?;
            // A run that is not at its end may say something else later.
            sqlx::query("UPDATE run SET is_remembered = 1 WHERE id = $1 AND state = 'finished'")
                .bind(run)
                .execute(&self.writer)
                .await?;
        }
        Ok(())
    }

    async fn remember_run(&self, scope: i64, run: RunId) -> Result<(), Error> {
        let intents: Vec<(Seq, Seq, i64)> =
            sqlx::query_as("SELECT first, last, at FROM intent WHERE run = $1 ORDER BY at")
                .bind(run)
                .fetch_all(&self.reader)
                .await?;
        let mut from: Seq = 0;
        while let Some(block) = self.record_block(run, from).await? {
            let last = block.first + block.records.len() as Seq - 1;
            from = last + 1;
            let outcomes = self.outcomes(run, block.first..=last).await?;
            let mut lasts: HashMap<i64, Last> = HashMap::new();
            for (seq, record) in (block.first..).zip(&block.records) {
                let (Fate::Send(body), Some(key)) = (&record.fate, &record.key) else { continue };
                let said = match outcomes.get(&seq) {
                    Some(Outcome { state: OutcomeState::Sent, at, .. }) => {
                        (Some(request(record.target.as_deref(), body)), *at)
                    }
                    // A refused or lost call may have had an effect all the same.
                    Some(Outcome { state: OutcomeState::Failed | OutcomeState::Unknown, at, .. }) => (None, *at),
                    Some(_) => continue,
                    None => match intents.iter().rfind(|(first, last, _)| (*first..=*last).contains(&seq)) {
                        Some((.., at)) => (None, *at),
                        None => continue,
                    },
                };
                let last = lasts.entry(hash(&[key])).or_insert(said);
                if said.1 >= last.1 {
                    *last = said;
                }
            }
            self.keep(scope, lasts).await?;
        }
        Ok(())
    }

    async fn keep(&self, scope: i64, lasts: HashMap<i64, Last>) -> Result<(), Error> {
        if lasts.is_empty() {
            return Ok(());
        }
        let mut query = QueryBuilder::<Sqlite>::new("INSERT INTO accepted (scope, key, body, at) ");
        query.push_values(lasts, |mut row, (key, (body, at))| {
            row.push_bind(scope).push_bind(key).push_bind(body).push_bind(at);
        });
        query.push(
            " ON CONFLICT (scope, key) DO UPDATE SET body = excluded.body, at = excluded.at WHERE excluded.at >= accepted.at",
        );
        query.build().execute(&self.writer).await?;
        Ok(())
    }

    /// The hashes of the requests that were last accepted for these keys.
    async fn accepted(&self, scope: i64, keys: &[i64]) -> Result<HashMap<i64, i64>, Error> {
        let mut known = HashMap::new();
        if keys.is_empty() {
            return Ok(known);
        }
        let mut query = QueryBuilder::<Sqlite>::new("SELECT key, body FROM accepted WHERE scope = ");
        query.push_bind(scope).push(" AND body IS NOT NULL AND key IN (");
        let mut list = query.separated(", ");
        for key in keys {
            list.push_bind(*key);
        }
        query.push(")");
        for row in query.build().fetch_all(&self.reader).await? {
            known.insert(row.try_get(0)?, row.try_get(1)?);
        }
        Ok(known)
    }
}

fn scope(run: &Run) -> i64 {
    hash(&[&run.about.base_url, &run.about.workspace, &run.about.record])
}

fn request(target: Option<&str>, body: &str) -> i64 {
    hash(&[target.unwrap_or_default(), body])
}

/// Half a SHA-256 of the parts and their lengths. Two of a million keys share it once in thirty million ledgers, and then
/// their requests would have to share theirs, too, before anything is left out wrongly.
pub(super) fn hash(parts: &[&str]) -> i64 {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest = hasher.finalize();
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    i64::from_le_bytes(bytes)
}
