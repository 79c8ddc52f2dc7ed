//! Records of non-idempotent calls: stored as in flight before sending, and unknown if no result follows.

use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Row, Sqlite};

use super::database::Ledger;
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
        finish(&mut transaction, run, &changes.finished).await?;
        start(&mut transaction, run, &changes.started, now).await?;
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

async fn start(connection: &mut SqliteConnection, run: RunId, seqs: &[Seq], now: i64) -> Result<(), Error> {
    for seqs in seqs.chunks(1_000) {
        let mut query = QueryBuilder::<Sqlite>::new("INSERT INTO in_flight (run, seq, at) ");
        query.push_values(seqs, |mut row, seq| {
            row.push_bind(run).push_bind(*seq).push_bind(now);
        });
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

async fn finish(connection: &mut SqliteConnection, run: RunId, seqs: &[Seq]) -> Result<(), Error> {
    for seqs in seqs.chunks(1_000) {
        let mut query = QueryBuilder::<Sqlite>::new("DELETE FROM in_flight WHERE run = ");
        query.push_bind(run).push(" AND seq IN (");
        let mut list = query.separated(", ");
        for seq in seqs {
            list.push_bind(*seq);
        }
        query.push(")");
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}
