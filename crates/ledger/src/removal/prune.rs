//! Removal of old runs, in short transactions.

use std::time::Duration;

use sheetport_sql::{self as sql, Dialect, Transaction};

use super::super::checksums::totals::{self, States, Sum};
use super::super::database::Ledger;
use super::super::error::Error;
use super::super::event::{Action, NewEvent};
use super::super::history::keep_claims;
use super::super::ids::{RunId, Seq};

const PLAN: [&str; 4] = [
    "DELETE FROM source_block WHERE run = $1",
    "DELETE FROM record_block WHERE run = $1",
    "DELETE FROM seen_block WHERE run = $1",
    "DELETE FROM outcome WHERE run = $1",
];
/// Attempts to write the file anew.
const ATTEMPTS: u32 = 30;
/// Attempts to empty the log, and the time between them. A checkpoint waits for other processes itself, too.
const CHECKPOINTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);
/// Rows removed by a transaction, at most, from each table.
const BATCH: i64 = 10_000;
/// Tables with many rows per run, and their position columns.
const LARGE: [(&str, &str); 6] = [
    ("source_block", "first"),
    ("record_block", "first"),
    ("seen_block", "first"),
    ("outcome", "seq"),
    ("in_flight", "seq"),
    ("resolution", "seq"),
];
const SMALL: [&str; 4] = ["intent", "sender", "yielded", "doubt"];

impl Ledger {
    /// Deletes a run with its plan and outcomes. Requires the lock of the run. The first transaction deletes the run, short
    /// further transactions delete the rest, so that uploads do not wait. [`Ledger::remove_rest`] finishes after a kill. With
    /// `noted_at`, an event with the removal stays.
    pub async fn remove(&self, run: RunId, noted_at: Option<i64>) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        sql::query("DELETE FROM event WHERE run = $1").bind(run).execute(&mut transaction).await?;
        if let Some(now) = noted_at {
            NewEvent::of(Action::Removed).write(&mut transaction, run, now).await?;
        }
        // Edits belong to the content of a file, which another run may have, too.
        let edits = "DELETE FROM edit WHERE file_hash = (SELECT file_hash FROM run WHERE id = $1) \
                     AND NOT EXISTS (SELECT 1 FROM run AS other WHERE other.file_hash = edit.file_hash AND other.id <> $1)";
        if noted_at.is_some() {
            sql::query(edits).bind(run).execute(&mut transaction).await?;
        }
        sql::query("DELETE FROM run WHERE id = $1").bind(run).execute(&mut transaction).await?;
        transaction.commit().await?;
        self.remove_rows(run).await
    }

    /// Finishes the removal of runs after a kill. Several processes may do so at the same time.
    pub async fn remove_rest(&self) -> Result<(), Error> {
        let query = "SELECT run FROM total WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = total.run)";
        let removed: Vec<RunId> = sql::query_scalar(query).fetch_all(&self.reader).await?;
        for run in removed {
            self.remove_rows(run).await?;
        }
        Ok(())
    }

    /// Removes the rows of a deleted run, its totals last.
    async fn remove_rows(&self, run: RunId) -> Result<(), Error> {
        let mut large = LARGE.to_vec();
        let mut small = SMALL.to_vec();
        // Tables of PostgreSQL only.
        if self.dialect() == Dialect::Postgres {
            large.push(("chain", "seq"));
            small.extend(["part", "turn"]);
        }
        let mut last: Seq = 0;
        for (table, position) in large.iter().chain(&[("claim", "seq")]) {
            let query = format!("SELECT COALESCE(MAX({position}), 0) FROM {table} WHERE run = $1");
            last = last.max(sql::query_scalar(query).bind(run).fetch_one(&self.reader).await?);
        }
        let mut from: Seq = 0;
        while from <= last {
            let range = from..=from.saturating_add(BATCH - 1);
            from = range.end().saturating_add(1);
            let mut transaction = self.begin().await?;
            keep_claims(&mut transaction, run, &range).await?;
            for (table, position) in &large {
                let delete = format!("DELETE FROM {table} WHERE run = $1 AND {position} BETWEEN $2 AND $3");
                let delete = sql::query(delete).bind(run).bind(range.start()).bind(range.end());
                delete.execute(&mut transaction).await?;
            }
            transaction.commit().await?;
        }
        let mut transaction = self.begin().await?;
        for table in small.into_iter().chain(["total"]) {
            let delete = format!("DELETE FROM {table} WHERE run = $1");
            sql::query(delete).bind(run).execute(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Deletes the rows and records of a plan, but keeps the run.
    pub(crate) async fn remove_plan(&self, run: RunId) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        delete_plan(&mut transaction, run).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Has SQLite overwrite what this process deletes from now on. Otherwise, deleted rows stay in unused parts of the file.
    pub async fn overwrite_deleted(&self) -> Result<(), Error> {
        if self.file.is_some() {
            sql::query("PRAGMA secure_delete = ON").fetch_all(&self.writer).await?;
        }
        Ok(())
    }

    /// Writes the file anew without what was deleted, also before, and empties its log. Returns false if another process reads the
    /// log, so that it could not be emptied. PostgreSQL removes deleted rows by itself.
    pub async fn erase_deleted(&self) -> Result<bool, Error> {
        if self.file.is_none() {
            return Ok(true);
        }
        // Each attempt waits for a second while another program writes.
        let mut attempts = ATTEMPTS;
        while let Err(error) = sql::query("VACUUM").execute(&self.writer).await.map_err(Error::from) {
            attempts -= 1;
            if !error.is_busy() || attempts == 0 {
                return Err(error);
            }
        }
        for _ in 0..CHECKPOINTS {
            let checkpoint = sql::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(&self.writer).await?;
            if checkpoint.first().map(|row| row.try_get::<i64, _>(0)).transpose()? == Some(0) {
                return Ok(true);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(false)
    }
}

/// Deletes the rows, records and outcomes of a run.
pub(super) async fn delete_plan(transaction: &mut Transaction, run: RunId) -> Result<(), Error> {
    delete(transaction, run, &PLAN).await?;
    totals::change(transaction, run, |totals| {
        (totals.outcomes, totals.states) = (Sum::default(), States::default());
    })
    .await
}

async fn delete(transaction: &mut Transaction, run: RunId, statements: &[&'static str]) -> Result<(), Error> {
    for statement in statements {
        sql::query(*statement).bind(run).execute(&mut *transaction).await?;
    }
    Ok(())
}
