//! Stops a worker: one interrupt for all parts in progress.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use sheetport_ledger::{InQueue, Ledger, Part, RunId};
use sheetport_send::{Grace, Stage, Stopping, pass_on};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

/// Interval of looking whether a run is still queued, and whether another is due.
const LOOK: Duration = Duration::from_secs(1);
/// Time for requests in flight when another process stops a run, or another run is due.
const GRACE: Duration = Duration::from_secs(30);
/// How long a part is sent before it is given back for a run that was served before. Each change costs some round trips to the ledger. A run
/// that was never served waits no longer than until the next look.
const SLICE: Duration = Duration::from_secs(10);

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

    /// Waits until the worker is stopped, the run of a part is not queued any more, or another run is due. `held_back`: the runs that this
    /// worker can't send now.
    pub(super) async fn of_part(&self, ledger: &Ledger, part: Part, held_back: impl Fn() -> Vec<RunId>) -> Grace {
        let mut level = self.level.subscribe();
        // In a task of its own, aborted on drop: the sender does not poll this future while it writes to the ledger, and a query
        // that is not polled keeps a session of the database, for which the sender may be waiting.
        let (mut looks, mut look, began) = (JoinSet::new(), tokio::time::interval(LOOK), Instant::now());
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        look.reset();
        let limit = loop {
            tokio::select! {
                biased;
                stage = level.wait_for(|level| *level != Stage::Running) => break match stage.as_deref() {
                    Ok(Stage::Soon(limit)) => *limit,
                    _ => Duration::ZERO,
                },
                Some(looked) = looks.join_next() => match looked {
                    Ok(Ok(queue)) if !goes_on(queue, part.run, began.elapsed()) => break GRACE,
                    // If the ledger can't be read, sending fails by itself.
                    _ => {}
                },
                _ = look.tick(), if looks.is_empty() => {
                    let (ledger, held_back) = (ledger.clone(), held_back());
                    looks.spawn(async move { ledger.in_queue(part, &held_back).await });
                }
            }
        };
        Grace { limit, at_once: self.stopping().at_once() }
    }
}

/// Whether a part of a run that was sent for `time` is sent on.
fn goes_on(queue: InQueue, run: RunId, time: Duration) -> bool {
    let yields = queue.next.is_some_and(|next| next.id != run && (!next.was_served || time >= SLICE));
    queue.is_queued && !yields
}

#[cfg(test)]
mod tests {
    use sheetport_ledger::NextRun;

    use super::*;

    #[test]
    fn a_part_is_given_back_for_a_run_that_is_due() {
        let queue = |is_queued, next: Option<(RunId, bool)>| InQueue {
            is_queued,
            next: next.map(|(id, was_served)| NextRun { id, was_served }),
        };
        let second = Duration::from_secs(1);
        for (queue, time, expected) in [
            (queue(true, None), SLICE, true),
            (queue(true, Some((1, true))), SLICE, true),
            (queue(false, Some((1, true))), second, false),
            (queue(true, Some((2, false))), second, false),
            (queue(true, Some((2, true))), second, true),
            (queue(true, Some((2, true))), SLICE, false),
        ] {
            assert_eq!(goes_on(queue, 1, time), expected, "{queue:?} after {time:?}");
        }
    }
}
