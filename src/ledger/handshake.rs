//! The handshake between uploads at the same time, so that the request of an older one does not reach the service after that
//! of a newer one for the same key.
//!
//! A run that sends idempotent calls is entered in `sender`. A newer upload stores its intent and then waits until each older
//! sender has *yielded* to it: it has read the intent, leaves out its keys from now on, and has none of them in flight. An
//! older run that begins later is entered before it reads the intents, so it knows this one. Senders that have ended
//! without saying so hold no lock.

use super::database::Ledger;
use super::error::Error;
use super::ids::{Part, RunId, Seq};
use super::run::Run;
use crate::sql::{self, Dialect};

/// What a run has declared to send: the range of records that begins with `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Intent {
    pub run: RunId,
    pub first: Seq,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
}

impl Ledger {
    /// Enters a part of a run that begins to send idempotent calls, so that newer uploads wait for it. Durable on return.
    pub async fn enter_sender(&self, part: Part, now: i64) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        let forget = sql::query("DELETE FROM yielded WHERE run = $1 AND part = $2").bind(part.run).bind(part.first);
        forget.execute(&mut transaction).await?;
        let enter = "INSERT INTO sender (run, part, at) VALUES ($1, $2, $3) ON CONFLICT (run, part) DO UPDATE SET at = excluded.at";
        sql::query(enter).bind(part.run).bind(part.first).bind(now).execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Removes a part of a run that has no request in flight any more.
    pub async fn leave_sender(&self, part: Part) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        for statement in [
            "DELETE FROM yielded WHERE run = $1 AND part BETWEEN $2 AND $3",
            "DELETE FROM sender WHERE run = $1 AND part BETWEEN $2 AND $3",
        ] {
            let leave = sql::query(statement).bind(part.run).bind(part.first).bind(part.last);
            leave.execute(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Stores that the sender of `part` leaves out the keys of these intents of newer uploads, and has none of them in flight.
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

    /// Returns the older uploads to the same service, workspace and kind that are being sent and have not yielded to an intent of
    /// `run`.
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

    /// Whether another process than that of the run `own` may be sending the part of a run that begins with this record.
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
