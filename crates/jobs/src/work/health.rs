//! Whether a worker can use its ledger, measured by a query of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sheetport_ledger::{Ledger, RunId};
use sheetport_operations::context::Context;
use sheetport_operations::error::Error;
use tokio::task::JoinHandle;

/// Interval of the queries.
const INTERVAL: Duration = Duration::from_secs(1);
/// Time for the answer of a query.
const ANSWER: Duration = Duration::from_secs(3);
/// A run that does not exist, so that the query reads as little as possible.
const NO_RUN: RunId = 0;

/// Asks the ledger every second, over a connection of its own, until dropped.
#[derive(Debug)]
pub struct LedgerHealth {
    is_usable: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl LedgerHealth {
    /// Begins to ask the ledger of `context`. Must be called within a runtime.
    pub fn watch(context: &Context) -> LedgerHealth {
        let is_usable = Arc::new(AtomicBool::new(false));
        let (context, shared) = (context.clone(), Arc::clone(&is_usable));
        // A task of its own is polled at any time, so no session is left in the middle of a transaction.
        let task = tokio::spawn(async move {
            let mut kept = None;
            loop {
                let asked = tokio::time::timeout(ANSWER, ask(&context, &mut kept)).await;
                let is_usable = matches!(asked, Ok(Ok(())));
                if !is_usable {
                    // The next query opens a connection, and finds out whether the database can be written.
                    kept = None;
                }
                shared.store(is_usable, Ordering::Relaxed);
                tokio::time::sleep(INTERVAL).await;
            }
        });
        LedgerHealth { is_usable, task }
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
