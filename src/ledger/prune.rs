//! Removal of old runs.

use super::claims::keep_claims;
use super::database::Ledger;
use super::error::Error;
use super::ids::RunId;
use super::integrity::totals::{self, Sum};
use crate::sql::{self, Dialect, Transaction};

const PLAN: [&str; 3] = [
    "DELETE FROM source_block WHERE run = $1",
    "DELETE FROM record_block WHERE run = $1",
    "DELETE FROM outcome WHERE run = $1",
];
/// Only PostgreSQL has them.
const PARTS: [&str; 2] = ["DELETE FROM part WHERE run = $1", "DELETE FROM chain WHERE run = $1"];
const SENDING_AND_RUN: [&str; 7] = [
    "DELETE FROM total WHERE run = $1",
    "DELETE FROM intent WHERE run = $1",
    "DELETE FROM sender WHERE run = $1",
    "DELETE FROM yielded WHERE run = $1",
    "DELETE FROM in_flight WHERE run = $1",
    "DELETE FROM resolution WHERE run = $1",
    "DELETE FROM run WHERE id = $1",
];

impl Ledger {
    /// Deletes a run with plan and outcomes. Requires the lock of the run.
    pub async fn remove(&self, run: RunId) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        keep_claims(&mut transaction, run).await?;
        delete(&mut transaction, run, &PLAN).await?;
        if self.dialect() == Dialect::Postgres {
            delete(&mut transaction, run, &PARTS).await?;
        }
        delete(&mut transaction, run, &SENDING_AND_RUN).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Deletes the rows and records of a plan, but not its run.
    pub(super) async fn remove_plan(&self, run: RunId) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        delete_plan(&mut transaction, run).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Returns the disk space of deleted runs to the system. Needs as much free space as the ledger has data.
    pub async fn shrink(&self) -> Result<(), Error> {
        if let Some(statement) = self.dialect().shrink() {
            sql::query(statement).execute(&self.writer).await?;
        }
        Ok(())
    }
}

/// Deletes the rows, records and outcomes of a run.
pub(super) async fn delete_plan(transaction: &mut Transaction, run: RunId) -> Result<(), Error> {
    delete(transaction, run, &PLAN).await?;
    totals::change(transaction, run, |totals| totals.outcomes = Sum::default()).await
}

async fn delete(transaction: &mut Transaction, run: RunId, statements: &[&'static str]) -> Result<(), Error> {
    for statement in statements {
        sql::query(*statement).bind(run).execute(&mut *transaction).await?;
    }
    Ok(())
}
