//! The handshake between simultaneous uploads, so that an older request never reaches the service after a newer request for the
//! same key. This closes the gap between the comparison of keys (`newer`) and the request.
//!
//! A run that sends idempotent calls has a row in `sender`. A newer upload stores its intent and then waits until each older
//! sender has *yielded*: the sender has read the intent, skips the keys of the intent from now on, and has no request for these
//! keys in flight. It does not wait for one that sends none of its keys. An older run that starts later adds its row before reading the intents, so it sees this intent too. Senders
//! that died without removing their row hold no lock. Only newer uploads wait for older uploads, so there is no deadlock.

use sheetport_sql::{self as sql, Dialect, Query, Row};

use super::super::database::Ledger;
use super::super::error::Error;
use super::super::ids::{Part, RunId, Seq};
use super::super::runs::Run;
use super::accepted::hash;
use super::identities::{AGE, sent_keys};

/// Length from which the keys of a part are not compared: that of the longest parts of queued runs.
const LOOKED_THROUGH: i64 = 4_096;
/// Blocks of records loaded together.
const BLOCKS: u32 = 8;

/// A declared range of records to send, starting at `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Intent {
    pub run: RunId,
    pub first: Seq,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
}

/// Returns the statements of [`Ledger::enter_sender`].
pub(crate) fn entering(part: Part, now: i64) -> Vec<Query<Row>> {
    let forget = sql::query("DELETE FROM yielded WHERE run = $1 AND part = $2").bind(part.run).bind(part.first);
    let enter =
        "INSERT INTO sender (run, part, at) VALUES ($1, $2, $3) ON CONFLICT (run, part) DO UPDATE SET at = excluded.at";
    vec![forget, sql::query(enter).bind(part.run).bind(part.first).bind(now)]
}

impl Ledger {
    /// Registers a part of a run as a sender of idempotent calls, so that newer uploads wait for it. Durable on return.
    pub async fn enter_sender(&self, part: Part, now: i64) -> Result<(), Error> {
        self.write_and_read(entering(part, now), Vec::new()).await?;
        Ok(())
    }

    /// Removes a sender with no more requests in flight.
    pub async fn leave_sender(&self, part: Part) -> Result<(), Error> {
        let leave = [
            "DELETE FROM yielded WHERE run = $1 AND part BETWEEN $2 AND $3",
            "DELETE FROM sender WHERE run = $1 AND part BETWEEN $2 AND $3",
        ];
        let leave = leave.map(|statement| sql::query(statement).bind(part.run).bind(part.first).bind(part.last));
        self.write_and_read(leave.into(), Vec::new()).await?;
        Ok(())
    }

    /// Stores that the sender of `part` skips the keys of these intents of newer uploads, and has no request for them in flight.
    pub async fn yield_to(&self, part: Part, intents: &[Intent]) -> Result<(), Error> {
        let insert = |intent: &Intent| {
            let insert = "INSERT INTO yielded (run, part, newer, first, at) VALUES ($1, $2, $3, $4, $5) \
                          ON CONFLICT (run, part, newer, first, at) DO NOTHING";
            let insert = sql::query(insert).bind(part.run).bind(part.first);
            insert.bind(intent.run).bind(intent.first).bind(intent.at)
        };
        self.write_and_read(intents.iter().map(insert).collect(), Vec::new()).await?;
        Ok(())
    }

    /// Returns the older uploads to the same service, workspace and kind that are being sent, have not yielded to the intent of `run`, and may send one
    /// of its `keys`.
    pub async fn not_yielded(&self, run: &Run, intent: Intent, keys: &[&str]) -> Result<Vec<RunId>, Error> {
        let last = match self.dialect() {
            Dialect::Postgres => {
                "COALESCE((SELECT part.last FROM part WHERE part.run = sender.run AND part.first = sender.part), run.records - 1)"
            }
            Dialect::Sqlite => "run.records - 1",
        };
        let query = format!(
            "SELECT sender.run, sender.part, {last} FROM sender JOIN run ON run.id = sender.run WHERE base_url = $1 \
             AND workspace = $2 AND record = $3 AND sender.run <> $4 AND NOT EXISTS (SELECT 1 FROM yielded \
             WHERE yielded.run = sender.run AND yielded.part = sender.part AND newer = $4 AND first = $5 \
             AND yielded.at = $6)"
        );
        let about = &run.about;
        let others: Vec<(RunId, Seq, Seq)> = sql::query_as(query)
            .bind(&about.base_url)
            .bind(&about.workspace)
            .bind(about.record.name())
            .bind(run.id)
            .bind(intent.first)
            .bind(intent.at)
            .fetch_all(&self.reader)
            .await?;
        if others.is_empty() {
            return Ok(Vec::new());
        }
        let of_run = |id: RunId| sql::query(AGE).bind(id);
        let ages = std::iter::once(run.id).chain(others.iter().map(|(other, ..)| *other)).map(of_run);
        let results = self.reader.run_all(ages.collect()).await?;
        let ages = results.iter().map(|result| result.rows().first().map_or(Ok(None), |row| row.try_get(0)));
        let ages: Vec<Option<RunId>> = ages.collect::<Result<_, _>>()?;
        let mut hashes: Vec<i64> = keys.iter().map(|key| hash(&[key])).collect();
        hashes.sort_unstable();
        let mut waited_for = Vec::new();
        for ((run_of_part, first, last), age) in others.into_iter().zip(ages.iter().skip(1)) {
            // A run that was removed meanwhile has no age.
            let is_older = *age < ages.first().copied().flatten() && age.is_some();
            let part = Part { run: run_of_part, first, last };
            if is_older && self.may_send(part, run, &hashes).await? && self.is_sending(part.run, first, run.id).await? {
                waited_for.push(part.run);
            }
        }
        Ok(waited_for)
    }

    /// Whether the records of a part of another run have one of these keys, given by their sorted hashes. Taken for granted of a long part: its
    /// sender yields before its keys are read.
    async fn may_send(&self, part: Part, run: &Run, hashes: &[i64]) -> Result<bool, Error> {
        if part.last - part.first >= LOOKED_THROUGH {
            return Ok(true);
        }
        let mut from = part.first;
        while from <= part.last
            && let Some(block) = self.records_without_bodies(part.run, from, BLOCKS).await?.filter(|it| it.end() > from)
        {
            from = block.end();
            let of_part = sent_keys(&block, run.about.record).filter(|(seq, _)| part.records().contains(seq));
            if of_part.into_iter().any(|(_, key)| hashes.binary_search(&hash(&[key])).is_ok()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a process other than the one sending `own` may be sending the part of `run` that starts at `part`.
    async fn is_sending(&self, run: RunId, part: Seq, own: RunId) -> Result<bool, Error> {
        if self.dialect() == Dialect::Postgres {
            let query = "SELECT until > clock_timestamp() FROM part WHERE run = $1 AND first = $2 \
                         AND EXISTS (SELECT 1 FROM lease WHERE lease.identity = part.identity AND is_shared)";
            let is_held: Option<bool> =
                sql::query_scalar(query).bind(run).bind(part).fetch_optional(&self.reader).await?;
            if let Some(is_held) = is_held {
                return Ok(is_held);
            }
        }
        self.is_locked_by_other(run, own).await
    }
}
