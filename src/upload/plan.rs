//! Planning: the whole file read, mapped and checked into the ledger before the first request.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::error::Error;
use super::read::{Batch, Keep, read};
use super::source::Source;
use super::tally::Tally;
use crate::ledger::{Ledger, NewRun, RunId};
use crate::template::Template;

/// Batches read ahead of the ledger.
const AHEAD: usize = 8;

/// Plans an upload. `progress` is told the rows so far. The sheet is read and mapped on a thread of its own while the
/// ledger writes.
pub async fn plan(
    ledger: &Ledger,
    new: &NewRun,
    source: Arc<Source>,
    template: Arc<Template>,
    now: i64,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(RunId, Tally), Error> {
    let mut plan = ledger.begin_plan(new, now).await?;
    let (sender, mut batches) = mpsc::channel::<Batch>(AHEAD);
    let path = source.path.clone();
    let reading = tokio::task::spawn_blocking(move || {
        read(&source, &template, Keep::Everything, |batch| sender.blocking_send(batch).is_ok())
    });
    let mut rows = 0;
    while let Some(batch) = batches.recv().await {
        rows += batch.read;
        for row in batch.rows {
            plan.add_row(row).await?;
        }
        let mut records = batch.records;
        ledger.fill_service_ids(&mut records).await?;
        for record in records {
            plan.add_record(record).await?;
        }
        for (seq, state, problem) in batch.late {
            plan.withdraw(seq, state, problem, now);
        }
        progress(rows);
    }
    // The channel closes when the reader ends, so its word on whether the file was whole comes before the plan counts.
    let tally = match reading.await.unwrap_or(Err(Error::ReaderDied { path })) {
        Ok(tally) => tally,
        Err(error) => {
            plan.abandon().await?;
            return Err(error);
        }
    };
    Ok((plan.finish(tally.width).await?, tally))
}
