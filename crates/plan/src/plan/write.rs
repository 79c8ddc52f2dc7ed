//! Writing the plan of a file to the ledger before the first request.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use sheetport_findings::Command;
use sheetport_ledger::{Disposition, Ledger, NewRun, PlannedRecord, RunId};
use sheetport_mapping::Template;
use tokio::sync::mpsc;

use super::assemble::Batch;
use super::gone::GoneRecord;
use super::read::{ReadMode, read};
use super::source::Source;
use crate::error::Error;
use crate::profile;
use crate::tally::Tally;

/// Maximum number of batches read ahead of the ledger.
const READ_AHEAD: usize = 8;

/// Plans an upload. The sheet is read and mapped on other threads while the ledger writes. `progress` receives the number of rows
/// so far. `history` has earlier runs of the template, to compare their values with the file.
///
/// # Errors
/// If the file can't be read to the end, the plan is deleted.
pub fn plan<'a>(
    ledger: &'a Ledger,
    history: Option<&'a Ledger>,
    new: &'a NewRun,
    source: Arc<Source>,
    template: Arc<Template>,
    now: i64,
    progress: &'a (dyn Fn(u64) + Sync),
) -> BoxFuture<'a, Result<(RunId, Tally), Error>> {
    Box::pin(async move {
        let mut plan = ledger.begin_plan(new, now).await?;
        let (sender, mut batches) = mpsc::channel::<Batch>(READ_AHEAD);
        let path = source.path.clone();
        if source.edits.is_some() {
            plan.set_edited();
        }
        let file = Arc::clone(&source);
        let reading = tokio::task::spawn_blocking(move || {
            read(&source, &template, ReadMode::Records, |batch| sender.blocking_send(batch).is_ok())
        });
        let mut rows = 0;
        while let Some(batch) = batches.recv().await {
            if batch.restarts {
                plan.clear().await?;
                rows = 0;
            }
            rows += batch.read;
            for row in batch.rows {
                plan.add_row(row).await?;
            }
            let mut records = batch.records;
            ledger.fill_service_ids(&mut records).await?;
            for record in records {
                plan.add_record(record).await?;
            }
            for withdrawal in batch.withdrawn {
                plan.withdraw(withdrawal.seq, withdrawal.state, withdrawal.problem, now);
            }
            progress(rows);
        }
        // The channel closes when the reader ends. The reader's result shows whether the file was complete.
        match reading.await.unwrap_or(Err(Error::ReaderDied { path })) {
            Ok(mut tally) => {
                for gone in &file.gone {
                    plan.add_record(record_of(gone)).await?;
                }
                if let Some(history) = history {
                    profile::warn_of_changes(history, &new.template, new.record, &mut tally).await?;
                    plan.set_profile(serde_json::to_string(&tally.profile).expect("a profile is valid JSON"));
                }
                tally.of_file.iter().for_each(|warning| plan.warn(warning.clone()));
                Ok((plan.finish(tally.width).await?, tally))
            }
            Err(error) => {
                plan.abandon().await?;
                Err(error)
            }
        }
    })
}

/// Returns the record of which the file has no row.
fn record_of(gone: &GoneRecord) -> PlannedRecord {
    PlannedRecord {
        key: Some(gone.key.to_string()),
        target: None,
        rows: Vec::new(),
        sheet: String::new(),
        disposition: Disposition::Send(gone.body.clone()),
        command: Some(Command::Update),
        warnings: Vec::new(),
    }
}
