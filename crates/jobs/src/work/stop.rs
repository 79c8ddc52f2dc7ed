//! Stops a worker: one interrupt for all parts in progress.

use std::convert::Infallible;
use std::time::Duration;

use sheetport_ledger::{Ledger, RunId};
use sheetport_send::{Grace, Stage, Stopping, pass_on};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Interval of looking whether a run is still queued.
const LOOK: Duration = Duration::from_secs(1);
/// Time for requests in flight when another process stops a run.
const GRACE: Duration = Duration::from_secs(30);

/// Whether the worker is to stop.
pub(super) struct Stop {
    level: watch::Sender<Stage>,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { level: watch::Sender::new(Stage::Running) }
    }
}

impl Stop {
    /// Passes an interrupt on to all parts. Never returns.
    pub(super) async fn pass_on(&self, interrupt: impl Future<Output = Grace>) -> Infallible {
        pass_on(interrupt, &self.level).await
    }

    /// Returns the same for the uploads of an inbox.
    pub(super) fn stopping(&self) -> Stopping {
        Stopping::new(self.level.subscribe())
    }

    pub(super) fn is_set(&self) -> bool {
        *self.level.borrow() != Stage::Running
    }

    /// Waits, but not longer than the worker works.
    pub(super) async fn sleep(&self, time: Duration) {
        let mut level = self.level.subscribe();
        let stopped = level.wait_for(|level| *level != Stage::Running);
        // The sender lives as long as this.
        let _ = tokio::time::timeout(time, stopped).await;
    }

    /// Waits until the worker is stopped or the run is not queued any more.
    pub(super) async fn of_run(&self, ledger: &Ledger, run: RunId) -> Grace {
        let mut level = self.level.subscribe();
        // In a task of its own, aborted on drop: the sender does not poll this future while it writes to the ledger, and a query
        // that is not polled keeps a session of the database, for which the sender may be waiting.
        let mut looks = JoinSet::new();
        looks.spawn(until_not_queued(ledger.clone(), run));
        let limit = tokio::select! {
            biased;
            stage = level.wait_for(|level| *level != Stage::Running) => match stage.as_deref() {
                Ok(Stage::Soon(limit)) => *limit,
                _ => Duration::ZERO,
            },
            _ = looks.join_next() => GRACE,
        };
        Grace { limit, at_once: self.stopping().at_once() }
    }
}

/// Waits until a run is not queued any more.
async fn until_not_queued(ledger: Ledger, run: RunId) {
    loop {
        tokio::time::sleep(LOOK).await;
        // If the ledger can't be read, sending fails by itself.
        if !ledger.is_queued(run).await.unwrap_or(true) {
            return;
        }
    }
}
