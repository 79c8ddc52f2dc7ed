//! Stopping a worker: one interrupt for all the parts that it sends.

use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::watch;

use crate::ledger::{Ledger, RunId};
use crate::upload::Grace;

/// Interval of looking whether a run is still queued.
const LOOK: Duration = Duration::from_secs(1);
/// Time for the requests in flight of a run that was stopped elsewhere.
const GRACE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Work,
    /// No new requests; time for those in flight.
    Finish(Duration),
    GiveUp,
}

/// Whether the worker is to stop.
pub(super) struct Stop {
    level: watch::Sender<Level>,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { level: watch::Sender::new(Level::Work) }
    }
}

impl Stop {
    /// Passes an interrupt on to all parts. Never returns.
    pub(super) async fn pass_on(&self, interrupt: impl Future<Output = Grace>) -> Infallible {
        let grace = interrupt.await;
        self.level.send_replace(Level::Finish(grace.limit));
        grace.at_once.await;
        self.level.send_replace(Level::GiveUp);
        std::future::pending().await
    }

    pub(super) fn is_set(&self) -> bool {
        *self.level.borrow() != Level::Work
    }

    /// Waits, but not longer than the worker works.
    pub(super) async fn sleep(&self, time: Duration) {
        let mut level = self.level.subscribe();
        let stopped = level.wait_for(|level| *level != Level::Work);
        // The sender lives as long as this.
        let _ = tokio::time::timeout(time, stopped).await;
    }

    /// Waits until the worker is stopped or the run is not queued any more.
    pub(super) async fn of_run(&self, ledger: &Ledger, run: RunId) -> Grace {
        let level = self.level.subscribe();
        loop {
            self.sleep(LOOK).await;
            let limit = match *level.borrow() {
                Level::Work => {
                    // If the ledger can't be read, sending fails by itself.
                    if ledger.is_queued(run).await.unwrap_or(true) {
                        continue;
                    }
                    GRACE
                }
                Level::Finish(limit) => limit,
                Level::GiveUp => Duration::ZERO,
            };
            let mut level = level.clone();
            let at_once = Box::pin(async move {
                if level.wait_for(|level| *level == Level::GiveUp).await.is_err() {
                    std::future::pending().await
                }
            });
            return Grace { limit, at_once };
        }
    }
}
