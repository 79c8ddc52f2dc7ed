//! Whether a worker can use its ledger, and what waits for workers, by queries of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sheetport_ledger::{Backlog, Ledger, RunId};
use sheetport_operations::context::Context;
use sheetport_operations::error::Error;
use tokio::task::JoinHandle;

/// Interval of the queries.
const INTERVAL: Duration = Duration::from_secs(1);
/// Time for the answer of a query.
const ANSWER: Duration = Duration::from_secs(3);
/// The queue is read with every tenth query: it takes longer, and metrics are read less often.
const QUEUE: u32 = 10;
/// A run that does not exist, so that the query reads as little as possible.
const NO_RUN: RunId = 0;

/// Asks the ledger every second, over a connection of its own, until dropped.
#[derive(Debug)]
pub struct LedgerHealth {
    is_usable: Arc<AtomicBool>,
    backlog: Arc<Mutex<Vec<Backlog>>>,
    task: JoinHandle<()>,
}

impl LedgerHealth {
    /// Begins to ask the ledger of `context`. Must be called within a runtime.
    pub fn watch(context: &Context) -> LedgerHealth {
        let is_usable = Arc::new(AtomicBool::new(false));
        let backlog = Arc::new(Mutex::new(Vec::new()));
        let (context, shared, queue) = (context.clone(), Arc::clone(&is_usable), Arc::clone(&backlog));
        // A task of its own is polled at any time, so no session is left in the middle of a transaction.
        let task = tokio::spawn(async move {
            let (mut kept, mut nth) = (None, 0);
            loop {
                let asked = tokio::time::timeout(ANSWER, ask(&context, &mut kept)).await;
                let is_usable = matches!(asked, Ok(Ok(())));
                if !is_usable {
                    // The next query opens a connection, and finds out whether the database can be written.
                    kept = None;
                }
                shared.store(is_usable, Ordering::Relaxed);
                if let Some(ledger) = kept.as_ref().filter(|_| nth % QUEUE == 0) {
                    let found = tokio::time::timeout(ANSWER, ledger.backlog()).await;
                    // No numbers rather than old ones.
                    let found = found.ok().and_then(Result::ok).unwrap_or_default();
                    *queue.lock().unwrap_or_else(PoisonError::into_inner) = found;
                }
                nth += 1;
                tokio::time::sleep(INTERVAL).await;
            }
        });
        LedgerHealth { is_usable, backlog, task }
    }

    /// Returns what waited for workers a few seconds ago.
    pub fn backlog(&self) -> Vec<Backlog> {
        self.backlog.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the last query was answered.
    pub fn is_usable(&self) -> bool {
        self.is_usable.load(Ordering::Relaxed)
    }
}

impl Drop for LedgerHealth {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn ask(context: &Context, kept: &mut Option<Ledger>) -> Result<(), Error> {
    let ledger = match kept {
        Some(ledger) => ledger,
        None => kept.insert(context.ledger().await?),
    };
    ledger.is_queued(NO_RUN).await?;
    Ok(())
}
