//! The handshake between simultaneous uploads, so that an older request never reaches the service after a newer request for the
//! same key. This closes the gap between the comparison of keys (`newer`) and the request.
//!
//! A run that sends idempotent calls has a row in `sender`. A newer upload stores its intent and then waits until each older
//! sender has *yielded*: the sender has read the intent, skips the keys of the intent from now on, and has no request for these
//! keys in flight. An older run that starts later adds its row before reading the intents, so it sees this intent too. Senders
//! that died without removing their row hold no lock. Only newer uploads wait for older uploads, so there is no deadlock.

use sheetport_sql::{self as sql, Dialect};

use super::super::database::Ledger;
use super::super::error::Error;
use super::super::ids::{Part, RunId, Seq};
use super::super::runs::Run;

/// A declared range of records to send, starting at `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Intent {
    pub run: RunId,
    pub first: Seq,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
}

impl Ledger {
    /// Registers a part of a run as a sender of idempotent calls, so that newer uploads wait for it. Durable on return.
    pub async fn enter_sender(&self, part: Part, now: i64) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let forget = sql::query("DELETE FROM yielded WHERE run = $1 AND part = $2").bind(part.run).bind(part.first);
        let enter = "INSERT INTO sender (run, part, at) VALUES ($1, $2, $3) ON CONFLICT (run, part) DO UPDATE SET at = excluded.at";
        let enter = sql::query(enter).bind(part.run).bind(part.first).bind(now);
        transaction.commit_after(vec![forget, enter]).await?;
        Ok(())
    }

    /// Removes a sender with no more requests in flight.
    pub async fn leave_sender(&self, part: Part) -> Result<(), Error> {
        let transaction = self.begin().await?;
        let leave = [
            "DELETE FROM yielded WHERE run = $1 AND part BETWEEN $2 AND $3",
            "DELETE FROM sender WHERE run = $1 AND part BETWEEN $2 AND $3",
        ];
        let leave = leave.map(|statement| sql::query(statement).bind(part.run).bind(part.first).bind(part.last));
        transaction.commit_after(leave.into()).await?;
        Ok(())
    }

    /// Stores that the sender of `part` skips the keys of these intents of newer uploads, and has no request for them in flight.
    pub async fn yield_to(&self, part: Part, intents: &[Intent]) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        for intent in intents {
            let insert = "INSERT INTO yielded (run, part, newer, first, at) VALUES ($1, $2, $3, $4, $5) \
                          ON CONFLICT (run, part, newer, first, at) DO NOTHING";
            let insert = sql::query(insert).bind(part.run).bind(part.first);
            let insert = insert.bind(intent.run).bind(intent.first).bind(intent.at);
            insert.execute(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Returns the older uploads to the same service, workspace and kind that are being sent and have not yielded to the intent
    /// of `run`.
    pub async fn not_yielded(&self, run: &Run, intent: Intent) -> Result<Vec<RunId>, Error> {
        let query = "SELECT sender.run, sender.part FROM sender JOIN run ON run.id = sender.run WHERE base_url = $1 \
                     AND workspace = $2 AND record = $3 AND sender.run <> $4 AND NOT EXISTS (SELECT 1 FROM yielded \
                     WHERE yielded.run = sender.run AND yielded.part = sender.part AND newer = $4 AND first = $5 \
                     AND yielded.at = $6)";
        let about = &run.about;
        let others: Vec<(RunId, Seq)> = sql::query_as(query)
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
        let age = self.age(run).await?;
        let mut waited_for = Vec::new();
        for (other, part) in others {
            if self.age(&self.run(other).await?).await? < age && self.is_sending(other, part, run.id).await? {
                waited_for.push(other);
            }
        }
        Ok(waited_for)
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
