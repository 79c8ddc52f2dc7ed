//! Removal of the rows and records of runs that sent nothing, so that a nightly upload of an unchanged file does not grow the
//! ledger by several hundred megabytes for a million items.
//!
//! The final counts stay in the row of the run; reports are refused. The keys still matter to older runs: keys that an older run may
//! still send are added to `accepted`, where `history::newer` looks for removed plans.

use std::collections::HashSet;

use sheetport_sql::{self as sql, Transaction};

use super::super::checksums::{seal, totals};
use super::super::database::Ledger;
use super::super::error::Error;
use super::super::history::accepted::{AcceptedKey, hash, scope, upsert_keys};
use super::super::ids::{RunId, Seq};
use super::super::records::{Disposition, RecordBlock};
use super::super::runs::{PlannedCounts, Run, RunCommand};
use super::super::state::RunState;
use super::prune::delete_plan;

/// Blocks loaded together.
const BLOCKS: u32 = 16;

impl Ledger {
    /// Removes the rows, records and outcomes of a finished upload that sent nothing because the service already had all records.
    /// Keeps the final counts. Returns false without a change for any other run. Requires the lock of the run.
    pub async fn drop_unsent_plan(&self, run: RunId, now: i64) -> Result<bool, Error> {
        let run = self.run(run).await?;
        let Some(counts) = self.final_counts(&run).await? else { return Ok(false) };
        // An older run with an open request for one of the keys must not overwrite the values of the newer file.
        let open = self.open_keys(&run).await?;
        let known = self.keys_among(&run, &open).await?;
        let mut transaction = self.begin().await?;
        upsert_keys(&mut transaction, scope(&run), run.id, now, known).await?;
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
        let totals = totals::load(&self.reader, run.id).await?;
        let intents: i64 = sql::query_scalar("SELECT COUNT(*) FROM intent WHERE run = $1")
            .bind(run.id)
            .fetch_one(&self.reader)
            .await?;
        if totals.requests > 0 || totals.in_flight.rows > 0 || totals.claims > 0 || intents > 0 {
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

    /// Returns the hashes of the keys that older runs with the same service, workspace and kind may still send: pending, refused,
    /// unknown or superseded.
    async fn open_keys(&self, run: &Run) -> Result<HashSet<i64>, Error> {
        let about = &run.about;
        let query = "SELECT id FROM run WHERE base_url = $1 AND workspace = $2 AND record = $3 AND id < $4 \
                     AND state IN ('planned', 'queued', 'finished') AND has_plan = 1 \
                     AND records > run.skipped + run.rejected + run.unchanged + COALESCE((SELECT total.sent + total.unchanged \
                     + total.rejected - resolutions FROM total WHERE total.run = run.id), 0)";
        let older: Vec<RunId> = sql::query_scalar(query)
            .bind(&about.base_url)
            .bind(&about.workspace)
            .bind(about.record.name())
            .bind(run.id)
            .fetch_all(&self.reader)
            .await?;
        let mut open = HashSet::new();
        for older in older {
            let mut from: Seq = 0;
            while let Some(block) = self.records_without_bodies(older, from, BLOCKS).await?.filter(|it| it.end() > from)
            {
                from = block.end();
                let query = "SELECT seq FROM outcome WHERE run = $1 AND seq BETWEEN $2 AND $3 \
                             AND state IN ('sent', 'unchanged', 'rejected')";
                let closed: Vec<Seq> = sql::query_scalar(query)
                    .bind(older)
                    .bind(block.first)
                    .bind(from - 1)
                    .fetch_all(&self.reader)
                    .await?;
                let closed: HashSet<Seq> = closed.into_iter().collect();
                open.extend(sent_keys(&block).filter(|(seq, _)| !closed.contains(seq)).map(|(_, key)| key));
            }
        }
        Ok(open)
    }

    /// Returns the keys of `run` in `open`.
    async fn keys_among(&self, run: &Run, open: &HashSet<i64>) -> Result<Vec<AcceptedKey>, Error> {
        let mut found = Vec::new();
        let mut from: Seq = 0;
        while !open.is_empty()
            && let Some(block) = self.record_block(run.id, from).await?
        {
            from = block.end();
            found.extend(block.records.iter().filter_map(AcceptedKey::of).filter(|known| open.contains(&known.key)));
        }
        Ok(found)
    }
}

/// Iterates over the hashes of the keys of records to be sent.
fn sent_keys(block: &RecordBlock<()>) -> impl Iterator<Item = (Seq, i64)> {
    let sent = block.numbered().filter(|(_, record)| matches!(record.disposition, Disposition::Send(())));
    sent.filter_map(|(seq, record)| Some((seq, hash(&[record.key.as_deref()?]))))
}

async fn store_counts(transaction: &mut Transaction, run: RunId, counts: &PlannedCounts) -> Result<(), Error> {
    let update =
        "UPDATE run SET has_plan = 0, is_indexed = 1, profile = NULL, skipped = $2, unchanged = $3 WHERE id = $1";
    let update = sql::query(update).bind(run).bind(counts.skipped).bind(counts.unchanged);
    seal::change(transaction, run, update).await?;
    Ok(())
}
