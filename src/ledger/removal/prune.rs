//! Removal of old runs, in short transactions.

use super::super::checksums::totals::{self, States, Sum};
use super::super::conflicts::keep_claims;
use super::super::database::Ledger;
use super::super::error::Error;
use super::super::event::{Action, NewEvent};
use super::super::ids::{RunId, Seq};
use crate::sql::{self, Dialect, Transaction};

const PLAN: [&str; 3] = [
    "DELETE FROM source_block WHERE run = $1",
    "DELETE FROM record_block WHERE run = $1",
    "DELETE FROM outcome WHERE run = $1",
];
/// Rows removed by a transaction, at most, from each table.
const BATCH: i64 = 10_000;
/// Tables with many rows per run, and their position columns.
const LARGE: [(&str, &str); 5] = [
    ("source_block", "first"),
    ("record_block", "first"),
    ("outcome", "seq"),
    ("in_flight", "seq"),
    ("resolution", "seq"),
];
const SMALL: [&str; 3] = ["intent", "sender", "yielded"];

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
            small.push("part");
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
    pub(in crate::ledger) async fn remove_plan(&self, run: RunId) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        delete_plan(&mut transaction, run).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Returns the disk space of deleted runs to the system, little by little.
    pub async fn shrink(&self) -> Result<(), Error> {
        let Some(statement) = self.dialect().release_some_space() else { return Ok(()) };
        let mut free = i64::MAX;
        loop {
            let left: i64 = sql::query_scalar("PRAGMA freelist_count").fetch_one(&self.writer).await?;
            if left == 0 || left >= free {
                return Ok(());
            }
            free = left;
            // The pragma returns no rows, but works only while its result is read.
            sql::query(statement).fetch_all(&self.writer).await?;
        }
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
