//! Records of non-idempotent calls: stored as in flight before sending, and unknown if no result follows.

use sqlx::Row;

use super::database::{Ledger, to_json};
use super::error::Error;
use super::ids::{RunId, Seq};
use super::model::{Outcome, Problem};
use super::outcomes::insert_outcomes;
use super::state::RecordState;

/// Changes made while sending, committed together.
#[derive(Debug, Default)]
pub struct SendingChanges {
    pub outcomes: Vec<Outcome>,
    /// Records no longer in flight, with an outcome or certainly not applied.
    pub finished: Vec<Seq>,
    /// Records about to be sent.
    pub started: Vec<Seq>,
}

impl Ledger {
    /// Stores the intent to send these records by idempotent calls. Durable on return.
    pub async fn store_intent(&self, run: RunId, first: Seq, last: Seq, now: i64) -> Result<(), Error> {
        sqlx::query(
            "INSERT INTO intent (run, first, last, at) VALUES ($1, $2, $3, $4) ON CONFLICT (run, first, at) DO NOTHING",
        )
        .bind(run)
        .bind(first)
        .bind(last)
        .bind(now)
        .execute(&self.writer)
        .await?;
        Ok(())
    }

    /// Stores all changes in one transaction. Durable on return.
    pub async fn store(&self, run: RunId, changes: &SendingChanges, now: i64) -> Result<(), Error> {
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        insert_outcomes(&mut transaction, run, &changes.outcomes).await?;
        if !changes.finished.is_empty() {
            sqlx::query("DELETE FROM in_flight WHERE run = $1 AND seq IN (SELECT value FROM json_each($2))")
                .bind(run)
                .bind(to_json(&changes.finished)?)
                .execute(&mut *transaction)
                .await?;
        }
        if !changes.started.is_empty() {
            sqlx::query("INSERT INTO in_flight (run, seq, at) SELECT $1, value, $3 FROM json_each($2)")
                .bind(run)
                .bind(to_json(&changes.started)?)
                .bind(now)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Gives every record in flight the outcome *unknown* and returns the number of such records. Requires
    /// the lock of the run: no process may be sending.
    pub async fn mark_in_flight_unknown(&self, run: RunId) -> Result<u64, Error> {
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let rows = sqlx::query("SELECT seq, at FROM in_flight WHERE run = $1 ORDER BY seq")
            .bind(run)
            .fetch_all(&mut *transaction)
            .await?;
        let mut outcomes = Vec::with_capacity(rows.len());
        for row in rows {
            let problem = Problem::of_record("service", "sheetport ended while the request was in flight");
            let outcome = Outcome::new(row.try_get(0)?, RecordState::Unknown, row.try_get(1)?);
            outcomes.push(Outcome { problems: vec![problem], attempts: 1, ..outcome });
        }
        insert_outcomes(&mut transaction, run, &outcomes).await?;
        sqlx::query("DELETE FROM in_flight WHERE run = $1").bind(run).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(outcomes.len() as u64)
    }
}
