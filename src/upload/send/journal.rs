//! Writes intents and outcomes to the ledger in batches.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::ledger::{self, Ledger, Outcome, RunId, SendingChanges, Seq};
use crate::upload::dispatch::Job;

/// Maximum number of entries per batch.
const MAX_BATCH: usize = 2_048;
/// Maximum age of a batch without urgent entries. After a crash, records with lost outcomes are sent again.
const MAX_AGE: Duration = Duration::from_millis(20);
/// Maximum number of entries in the queue; then the sender waits.
pub(super) const CAPACITY: usize = 2 * MAX_BATCH;

/// An entry to be written.
pub(super) enum JournalEntry {
    /// Outcome of an idempotent call.
    Outcome(Outcome),
    /// Outcome of a non-idempotent call.
    Finished(Outcome),
    /// The record is about to be sent by a non-idempotent call, once this is on disk.
    Begin(Job),
    /// A record in flight has certainly not been applied.
    NotSent(Seq),
}

impl JournalEntry {
    /// Whether a request waits for this entry.
    fn is_urgent(&self) -> bool {
        !matches!(self, JournalEntry::Outcome(_))
    }
}

/// Entries about records in flight, after the write to disk.
#[derive(Default)]
pub(super) struct Durable {
    /// These may be sent.
    pub begun: Vec<Job>,
    /// Number of records no longer in flight.
    pub ended: usize,
}

/// Writes entries until all senders are gone.
pub(super) async fn write(
    ledger: Ledger,
    run: RunId,
    wall: fn() -> i64,
    mut entries: mpsc::Receiver<JournalEntry>,
    durable: mpsc::UnboundedSender<Durable>,
) -> Result<(), ledger::Error> {
    let mut batch = Vec::with_capacity(MAX_BATCH);
    while next_batch(&mut entries, &mut batch).await {
        let (mut changes, mut done) = (SendingChanges::default(), Durable::default());
        for entry in batch.drain(..) {
            match entry {
                JournalEntry::Outcome(outcome) => changes.outcomes.push(outcome),
                JournalEntry::Finished(outcome) => {
                    changes.finished.push(outcome.seq);
                    changes.outcomes.push(outcome);
                }
                JournalEntry::NotSent(seq) => changes.finished.push(seq),
                JournalEntry::Begin(job) => {
                    changes.started.push(job.seq);
                    done.begun.push(job);
                }
            }
        }
        ledger.store(run, &changes, wall()).await?;
        done.ended = changes.finished.len();
        if !done.begun.is_empty() || done.ended > 0 {
            // Fails only after the end of the sender.
            let _ = durable.send(done);
        }
    }
    Ok(())
}

/// Collects entries until the batch is full, old or urgent. Returns false at the end of all entries.
async fn next_batch(entries: &mut mpsc::Receiver<JournalEntry>, batch: &mut Vec<JournalEntry>) -> bool {
    if entries.recv_many(batch, MAX_BATCH).await == 0 {
        return false;
    }
    let deadline = Instant::now() + MAX_AGE;
    let mut checked = 0;
    while batch.len() < MAX_BATCH && !batch[checked..].iter().any(JournalEntry::is_urgent) {
        checked = batch.len();
        let room = MAX_BATCH - checked;
        if !timeout_at(deadline, entries.recv_many(batch, room)).await.is_ok_and(|added| added > 0) {
            break;
        }
    }
    true
}
