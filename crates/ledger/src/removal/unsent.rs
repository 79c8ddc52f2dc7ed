//! Removal of the rows and records of runs that sent nothing, so that a nightly upload of an unchanged file does not grow the
//! ledger by several hundred megabytes for a million items.
//!
//! The final counts stay in the row of the run; reports are refused. The keys still matter to older runs that may send them: `accepted`
//! has their age since they were found unchanged.

use sheetport_sql::{self as sql, Transaction};

use super::super::checksums::seal;
use super::super::database::Ledger;
use super::super::error::Error;
use super::super::history::accepted::INDEXED;
use super::super::ids::RunId;
use super::super::runs::{PlannedCounts, Run, RunCommand};
use super::super::state::RunState;
use super::prune::delete_plan;

impl Ledger {
    /// Removes the rows, records and outcomes of a finished upload that sent nothing because the service already had all records.
    /// Keeps the final counts. Returns false without a change for any other run. Requires the lock of the run.
    pub async fn drop_unsent_plan(&self, run: RunId) -> Result<bool, Error> {
        let run = self.run(run).await?;
        let Some(counts) = self.final_counts(&run).await? else { return Ok(false) };
        let mut transaction = self.begin().await?;
        delete_plan(&mut transaction, run.id).await?;
        store_counts(&mut transaction, run.id, &counts).await?;
        transaction.commit().await?;
        if let Some(statement) = self.dialect().release_space() {
            // The pragma returns no rows, but works only while its result is read. If another program holds the file, a later
            // run returns the space.
            match sql::query(statement).fetch_all(&self.writer).await.map_err(Error::from) {
                Err(error) if !error.is_busy() => return Err(error),
                _ => {}
            }
        }
        Ok(true)
    }

    /// Returns the final counts of a run whose plan was removed, or `None` for other runs.
    pub(crate) async fn counts_without_plan(&self, run: RunId) -> Result<Option<PlannedCounts>, Error> {
        let has_plan: Option<i64> =
            sql::query_scalar("SELECT has_plan FROM run WHERE id = $1").bind(run).fetch_optional(&self.reader).await?;
        match has_plan {
            Some(0) => Ok(Some(self.run(run).await?.planned)),
            _ => Ok(None),
        }
    }

    /// Returns the final counts of an upload that sent nothing, or `None` for other runs.
    async fn final_counts(&self, run: &Run) -> Result<Option<PlannedCounts>, Error> {
        let is_alone = run.about.command == RunCommand::Upload && self.retried_by(run.id).await?.is_none();
        if run.state != RunState::Finished || !run.has_plan || run.damage.is_some() || !is_alone {
            return Ok(None);
        }
        if self.is_begun(run.id).await? {
            return Ok(None);
        }
        let accounting = self.accounting(run.id).await?;
        let is_left_out = accounting.unchanged > 0
            && accounting.unchanged + accounting.skipped == accounting.total
            && self.superseded(run.id).await?.is_empty();
        let count = |number: u64| number.cast_signed();
        Ok(is_left_out.then(|| PlannedCounts {
            skipped: count(accounting.skipped),
            unchanged: count(accounting.unchanged),
            ..run.planned
        }))
    }
}

async fn store_counts(transaction: &mut Transaction, run: RunId, counts: &PlannedCounts) -> Result<(), Error> {
    let update =
        "UPDATE run SET has_plan = 0, is_indexed = $4, profile = NULL, skipped = $2, unchanged = $3 WHERE id = $1";
    let update = sql::query(update).bind(run).bind(counts.skipped).bind(counts.unchanged).bind(INDEXED);
    seal::change(transaction, run, update).await?;
    Ok(())
}
