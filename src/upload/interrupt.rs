//! Early stops of a run.

use std::pin::Pin;
use std::time::Duration;

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
