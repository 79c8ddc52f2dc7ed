//! The handshake between uploads at the same time, so that the request of an older one does not reach the service after that
//! of a newer one for the same key.
//!
//! A run that sends idempotent calls is entered in `sender`. A newer upload stores its intent and then waits until each older
//! sender has *yielded* to it: it has read the intent, leaves out its keys from now on, and has none of them in flight. An
//! older run that begins later is entered before it reads the intents, so it knows this one. Senders that have ended
//! without saying so hold no lock.

use super::database::Ledger;
use super::error::Error;
use super::ids::{RunId, Seq};
use super::run::Run;
use super::sql;

/// What a run has declared to send: the range of records that begins with `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Intent {
    pub run: RunId,
    pub first: Seq,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
}

impl Ledger {
    /// Enters a run that begins to send idempotent calls, so that newer uploads wait for it. Durable on return.
    pub async fn enter_sender(&self, run: RunId, now: i64) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        sql::query("DELETE FROM yielded WHERE run = $1").bind(run).execute(&mut transaction).await?;
        let enter = "INSERT INTO sender (run, at) VALUES ($1, $2) ON CONFLICT (run) DO UPDATE SET at = excluded.at";
        sql::query(enter).bind(run).bind(now).execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Removes a run that has no request in flight any more.
    pub async fn leave_sender(&self, run: RunId) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        for statement in ["DELETE FROM yielded WHERE run = $1", "DELETE FROM sender WHERE run = $1"] {
            sql::query(statement).bind(run).execute(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Stores that `run` leaves out the keys of these intents of newer uploads, and has none of them in flight.
    pub async fn yield_to(&self, run: RunId, intents: &[Intent]) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        for intent in intents {
            let insert = "INSERT INTO yielded (run, newer, first, at) VALUES ($1, $2, $3, $4) \
                          ON CONFLICT (run, newer, first, at) DO NOTHING";
            let insert = sql::query(insert).bind(run).bind(intent.run).bind(intent.first).bind(intent.at);
            insert.execute(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Returns the older uploads to the same service, workspace and kind that are being sent and have not yielded to an intent of
    /// `run`.
    pub async fn not_yielded(&self, run: &Run, intent: Intent) -> Result<Vec<RunId>, Error> {
        let query = "SELECT sender.run FROM sender JOIN run ON run.id = sender.run WHERE base_url = $1 AND workspace = $2 \
                     AND record = $3 AND sender.run <> $4 AND NOT EXISTS (SELECT 1 FROM yielded \
                     WHERE yielded.run = sender.run AND newer = $4 AND first = $5 AND yielded.at = $6)";
        let about = &run.about;
        let others: Vec<RunId> = sql::query_scalar(query)
            .bind(&about.base_url)
            .bind(&about.workspace)
            .bind(about.record.name())
            .bind(run.id)
            .bind(intent.first)
            .bind(intent.at)
            .fetch_all(&self.reader)
            .await?;
        if others.is_empty() {
            return Ok(others);
        }
        let age = self.age(run).await?;
        let mut waited_for = Vec::new();
        for other in others {
            if self.age(&self.run(other).await?).await? < age && self.is_locked_by_other(other, run.id).await? {
                waited_for.push(other);
            }
        }
        Ok(waited_for)
    }
}
