//! Early stops of a run: the request, and its way to every step that is in progress.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use tokio::sync::watch;

/// Resolves at an event, or never.
type Signal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Maximum time for requests in flight after a request to stop.
pub struct Grace {
    pub limit: Duration,
    /// Resolves if the requests in flight are to be given up before.
    pub at_once: Signal,
}

impl Grace {
    pub(super) fn never() -> Signal {
        Box::pin(std::future::pending())
    }
}

impl From<Duration> for Grace {
    fn from(limit: Duration) -> Grace {
        Grace { limit, at_once: Grace::never() }
    }
}

/// How far a step was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Running,
    /// Requests in flight may take so long.
    Soon(Duration),
    AtOnce,
}

/// Receives requests to stop. Clones share them.
#[derive(Clone, Debug)]
pub struct Stopping(watch::Receiver<Stage>);

impl Stopping {
    pub fn new(stage: watch::Receiver<Stage>) -> Stopping {
        Stopping(stage)
    }

    pub fn is_asked(&self) -> bool {
        *self.0.borrow() != Stage::Running
    }

    /// Waits until the step is to stop.
    pub async fn wait(&self) -> Grace {
        let mut first = self.0.clone();
        // The guard of the value must not live as long as the wait for ever.
        let asked = first.wait_for(|stage| *stage != Stage::Running).await.map(|stage| *stage);
        let limit = match asked {
            Ok(Stage::Soon(limit)) => limit,
            Ok(Stage::Running | Stage::AtOnce) => Duration::ZERO,
            // Nobody is left to ask.
            Err(_) => return std::future::pending().await,
        };
        Grace { limit, at_once: self.at_once() }
    }

    /// Returns a signal that the step is to stop at once.
    pub fn at_once(&self) -> Signal {
        let mut stage = self.0.clone();
        Box::pin(async move {
            if stage.wait_for(|stage| *stage == Stage::AtOnce).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

/// Passes an interrupt on to everything that listens to `stage`. Never returns.
pub async fn pass_on(interrupt: impl Future<Output = Grace>, stage: &watch::Sender<Stage>) -> Infallible {
    let grace = interrupt.await;
    stage.send_replace(Stage::Soon(grace.limit));
    grace.at_once.await;
    stage.send_replace(Stage::AtOnce);
    std::future::pending().await
}
