//! Records that must not be sent twice: noted one by one before they are sent, and in doubt when nothing was noted after.

use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Row, Sqlite};

use super::block::Problem;
use super::error::Error;
use super::open::Ledger;
use super::send::{Outcome, OutcomeState, insert_outcomes};
use super::{RunId, Seq};

/// Changes that are committed together.
#[derive(Debug, Default)]
pub struct Notes {
    pub outcomes: Vec<Outcome>,
    /// These are under way no more: they have an outcome, or it is certain that they were not applied.
    pub ended: Vec<Seq>,
    /// These are about to be sent.
    pub begun: Vec<Seq>,
}

impl Notes {
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty() && self.ended.is_empty() && self.begun.is_empty()
    }

    pub fn clear(&mut self) {
        self.outcomes.clear();
        self.ended.clear();
        self.begun.clear();
    }
}

impl Ledger {
    /// Adds all of `notes` or nothing. Durable when it returns.
    pub async fn note(&self, run: RunId, notes: &Notes, now: i64) -> Result<(), Error> {
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        insert_outcomes(&mut transaction, run, &notes.outcomes).await?;
        end(&mut transaction, run, &notes.ended).await?;
        begin(&mut transaction, run, &notes.begun, now).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Gives every record that may have been under way when the last sender of this run ended the outcome *unknown*, and
    /// answers how many there were. Only for whoever holds the run's lock.
    pub async fn doubt(&self, run: RunId) -> Result<u64, Error> {
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let rows = sqlx::query("SELECT seq, at FROM under_way WHERE run = $1 ORDER BY seq")
            .bind(run)
            .fetch_all(&mut *transaction)
            .await?;
        let mut notes = Notes::default();
        for row in rows {
            let (seq, at) = (row.try_get(0)?, row.try_get(1)?);
            let problem = Problem::of_record("service", "sheetport ended while the request was under way");
            let outcome =
                Outcome { problems: vec![problem], attempts: 1, ..Outcome::new(seq, OutcomeState::Unknown, at) };
            notes.outcomes.push(outcome);
            notes.ended.push(seq);
        }
        insert_outcomes(&mut transaction, run, &notes.outcomes).await?;
        end(&mut transaction, run, &notes.ended).await?;
        transaction.commit().await?;
        Ok(notes.ended.len() as u64)
    }
}

async fn begin(connection: &mut SqliteConnection, run: RunId, seqs: &[Seq], now: i64) -> Result<(), Error> {
    for seqs in seqs.chunks(1_000) {
        let mut query = QueryBuilder::<Sqlite>::new("INSERT INTO under_way (run, seq, at) ");
        query.push_values(seqs, |mut row, seq| {
            row.push_bind(run).push_bind(*seq).push_bind(now);
        });
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

async fn end(connection: &mut SqliteConnection, run: RunId, seqs: &[Seq]) -> Result<(), Error> {
    for seqs in seqs.chunks(1_000) {
        let mut query = QueryBuilder::<Sqlite>::new("DELETE FROM under_way WHERE run = ");
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
