//! Hears a request to stop also while sending waits for the ledger, when it polls nothing else.

use std::time::Duration;

use sheetport_ledger::{Error, Ledger};
use tokio::sync::watch;

use crate::interrupt::{Grace, Stage, Stopping, pass_on};

/// Time for the last write to the ledger, after the time for requests in flight. A local file takes milliseconds, a server on another
/// continent less than a second; a system that shuts down waits ten seconds before it kills.
const LAST_WRITE: Duration = Duration::from_secs(5);

/// The way of a request to stop to the sender.
pub(super) struct Hearing {
    stage: watch::Sender<Stage>,
    stopping: Stopping,
}

impl Default for Hearing {
    fn default() -> Hearing {
        let stage = watch::Sender::new(Stage::Running);
        let stopping = Stopping::new(stage.subscribe());
        Hearing { stage, stopping }
    }
}

impl Hearing {
    /// The interrupt as the sender hears it.
    pub(super) fn interrupt(&self) -> impl Future<Output = Grace> + use<'_> {
        self.stopping.wait()
    }

    /// Sends, and passes `interrupt` on meanwhile. Writes wait for another program as long as nobody asks to stop.
    ///
    /// # Errors
    /// Those of `sending`, and [`Error::Unanswered`] if it does not end in time.
    pub(super) async fn during<T>(
        &self,
        sending: impl Future<Output = Result<T, Error>>,
        interrupt: impl Future<Output = Grace>,
        ledger: &Ledger,
    ) -> Result<T, Error> {
        let _patience = ledger.wait_patiently();
        tokio::select! {
            biased;
            ended = sending => ended,
            never = pass_on(interrupt, &self.stage) => match never {},
            error = give_up(ledger, &self.stopping) => Err(error),
        }
    }
}

/// Waits until the time of a request to stop is over, and sending has not ended by itself because it waits for the ledger.
async fn give_up(ledger: &Ledger, stopping: &Stopping) -> Error {
    let Grace { limit, at_once } = stopping.wait().await;
    tokio::select! {
        () = at_once => {}
        () = tokio::time::sleep(limit) => {}
    }
    ledger.give_up_waiting();
    tokio::time::sleep(LAST_WRITE).await;
    Error::Unanswered
}
