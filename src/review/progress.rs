//! What happens to a file under review at the moment, as its pages are told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use crate::operations::Event;

/// The state of sending, as pages see it.
pub(super) struct Sending {
    is_running: AtomicBool,
    stop: Mutex<Option<Arc<Notify>>>,
    live: watch::Sender<Live>,
}

/// What pages are told while something happens.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub revision: u64,
    pub status: Value,
}

impl Default for Sending {
    fn default() -> Sending {
        let live = watch::Sender::new(Live { revision: 0, status: json!({"phase": "idle"}) });
        Sending { is_running: AtomicBool::new(false), stop: Mutex::new(None), live }
    }
}

impl Sending {
    pub(super) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::SeqCst)
    }

    pub(super) fn live(&self) -> watch::Receiver<Live> {
        self.live.subscribe()
    }

    pub(super) fn status(&self) -> Value {
        self.live.borrow().status.clone()
    }

    /// Notes how many rows a check has read.
    pub(super) fn note_reading(&self, event: Event<'_>) {
        if let Event::Reading { rows } = event
            && !self.is_running()
        {
            self.live.send_modify(|live| live.status["checked_rows"] = rows.into());
        }
    }

    pub(super) fn note_revision(&self, revision: u64) {
        self.live.send_modify(|live| live.revision = revision);
    }

    /// Notes that sending begins. Returns what is notified when it is to stop, or `None` if something is being sent already.
    pub(super) fn begin(&self) -> Option<Arc<Notify>> {
        if self.is_running.swap(true, Ordering::SeqCst) {
            return None;
        }
        let stop = Arc::new(Notify::new());
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&stop));
        Some(stop)
    }

    /// Notes that sending has ended, and how.
    pub(super) fn end(&self, status: Value) {
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.is_running.store(false, Ordering::SeqCst);
        self.set(status);
    }

    pub(super) fn set(&self, status: Value) {
        self.live.send_modify(|live| live.status = status);
    }

    /// Stops after the requests in flight.
    pub(super) fn stop(&self) {
        if let Some(stop) = self.stop.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            stop.notify_one();
            self.live.send_modify(|live| live.status["stopping"] = true.into());
        }
    }
}
