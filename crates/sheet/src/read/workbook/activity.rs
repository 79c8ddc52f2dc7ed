//! Progress of the reading process, observed by its watchdog.

use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub(super) struct Activity {
    /// Output was produced since the last check.
    produced: AtomicBool,
    /// Input was consumed since the last check.
    consumed: AtomicBool,
    /// The process waits for the other side.
    waiting: AtomicBool,
}

impl Activity {
    pub(super) fn record_output(&self) {
        self.produced.store(true, Ordering::Relaxed);
    }

    pub(super) fn record_input(&self) {
        self.consumed.store(true, Ordering::Relaxed);
    }

    /// Runs work with a wait for the other side, and counts as output.
    pub(super) fn waiting<T>(&self, work: impl FnOnce() -> T) -> T {
        self.waiting.store(true, Ordering::Relaxed);
        let result = work();
        self.record_output();
        self.waiting.store(false, Ordering::Relaxed);
        result
    }

    /// Returns true if output was produced since the last call, or the process is waiting.
    pub(super) fn take_output(&self) -> bool {
        self.produced.swap(false, Ordering::Relaxed) || self.waiting.load(Ordering::Relaxed)
    }

    /// Returns true if input was consumed since the last call.
    pub(super) fn take_input(&self) -> bool {
        self.consumed.swap(false, Ordering::Relaxed)
    }
}
