//! The current activity of a file under review, as shown on its pages.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sheetport_ledger::RunId;
use sheetport_operations::Event;
use tokio::sync::{Notify, watch};

/// The state of sending, and the progress shown on the pages.
pub(crate) struct Sending {
    is_running: AtomicBool,
    stop: Mutex<Option<Arc<Notify>>>,
    live: watch::Sender<Live>,
    /// How much work on the rows is under way.
    works: AtomicUsize,
    /// Whether somebody has cancelled it.
    is_cancelled: AtomicBool,
}

/// Work on the rows, such as a check or a fix, until it is dropped.
pub(crate) struct RowWork<'a>(&'a Sending);

impl Drop for RowWork<'_> {
    fn drop(&mut self) {
        if self.0.works.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.live.send_modify(|live| live.work = Value::Null);
        }
    }
}

/// Progress shown on the pages.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub revision: u64,
    pub status: Value,
    /// How many rows are checked or changed, and of how many, while that is under way.
    pub work: Value,
    /// The result of comparing the file with the service, as far as known.
    pub comparison: Value,
}

impl Default for Sending {
    fn default() -> Sending {
        let live = Live { revision: 0, status: json!({"phase": "idle"}), work: Value::Null, comparison: Value::Null };
        Sending {
            is_running: AtomicBool::new(false),
            stop: Mutex::new(None),
            live: watch::Sender::new(live),
            works: AtomicUsize::new(0),
            is_cancelled: AtomicBool::new(false),
        }
    }
}

impl Sending {
    pub(super) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::SeqCst)
    }

    pub(crate) fn live(&self) -> watch::Receiver<Live> {
        self.live.subscribe()
    }

    /// Whether a page is open.
    pub(crate) fn has_pages(&self) -> bool {
        self.live.receiver_count() > 0
    }

    pub(crate) fn status(&self) -> Value {
        self.live.borrow().status.clone()
    }

    /// Begins work on the rows. What was cancelled before has ended by then, or is cancelled with it.
    pub(super) fn begin_work(&self) -> RowWork<'_> {
        if self.works.fetch_add(1, Ordering::SeqCst) == 0 {
            self.is_cancelled.store(false, Ordering::SeqCst);
        }
        RowWork(self)
    }

    /// Cancels the work on the rows under way.
    pub(crate) fn cancel_work(&self) {
        if self.works.load(Ordering::SeqCst) > 0 {
            self.is_cancelled.store(true, Ordering::SeqCst);
        }
    }

    /// Whether the last work on the rows was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst)
    }

    /// Notes how many of the rows are done. Returns whether to go on.
    pub(super) fn note_work(&self, done: u64, all: Option<u64>) -> bool {
        self.live.send_modify(|live| live.work = json!({"done": done, "all": all}));
        !self.is_cancelled()
    }

    /// Notes how many rows a check has read.
    pub(super) fn note_reading(&self, event: Event<'_>, all: Option<u64>) {
        if let Event::Reading { rows } = event {
            self.note_work(rows, all);
        }
    }

    pub(super) fn note_revision(&self, revision: u64) {
        self.live.send_modify(|live| live.revision = revision);
    }

    /// Records the start of sending. Returns the notification that requests a stop, or `None` if something is being sent already.
    pub(crate) fn begin(&self) -> Option<Arc<Notify>> {
        if self.is_running.swap(true, Ordering::SeqCst) {
            return None;
        }
        let stop = Arc::new(Notify::new());
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&stop));
        Some(stop)
    }

    /// Records the end of sending, with its result.
    pub(crate) fn end(&self, status: Value) {
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.set(status);
        self.is_running.store(false, Ordering::SeqCst);
    }

    pub(crate) fn set_comparison(&self, comparison: Value) {
        self.live.send_modify(|live| live.comparison = comparison);
    }

    pub(crate) fn comparison(&self) -> Value {
        self.live.borrow().comparison.clone()
    }

    /// Updates the counts of an ended run after records were decided. `revision` is the revision of the file for which the end of
    /// the run still holds.
    pub(crate) fn set_counts(&self, run: RunId, counts: &Value, revision: Option<u64>) {
        self.live.send_if_modified(|live| {
            let is_it = live.status["phase"] == "ended" && live.status["run"] == run;
            if is_it {
                live.status["counts"] = counts.clone();
            }
            if let Some(revision) = revision {
                live.revision = revision;
                live.status["revision"] = revision.into();
            }
            is_it || revision.is_some()
        });
    }

    pub(crate) fn set(&self, status: Value) {
        self.live.send_modify(|live| live.status = status);
    }

    /// Notes that what was planned is given up, unless something is under way.
    pub(crate) fn set_idle(&self) {
        if !self.is_running() {
            self.set(json!({"phase": "idle"}));
        }
    }

    /// Stops after the requests in flight.
    pub(crate) fn stop(&self) {
        if let Some(stop) = self.stop.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            stop.notify_one();
            self.live.send_modify(|live| live.status["stopping"] = true.into());
        }
    }
}

/// The current or the last comparison.
#[derive(Default)]
pub(crate) struct Comparing {
    current: Mutex<Option<Current>>,
}

struct Current {
    /// The compared revision of the file.
    revision: u64,
    /// Whether other lines of orders are to be kept.
    keep_lines: bool,
    stop: Arc<Notify>,
    is_running: bool,
}

impl Comparing {
    /// Starts the comparison of a revision, with or without keeping other lines of orders, and stops an older one. Returns the
    /// notification that requests a stop, or `None` if the same is being compared or was compared before.
    pub(crate) fn begin(&self, revision: u64, keep_lines: bool) -> Option<Arc<Notify>> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|current| (current.revision, current.keep_lines) == (revision, keep_lines)) {
            return None;
        }
        let stop = Arc::new(Notify::new());
        let next = Current { revision, keep_lines, stop: Arc::clone(&stop), is_running: true };
        if let Some(old) = current.replace(next) {
            old.stop.notify_one();
        }
        Some(stop)
    }

    /// Stops the current comparison. A later call can start another one.
    pub(crate) fn stop(&self) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = current.take_if(|current| current.is_running) {
            old.stop.notify_one();
        }
    }

    /// Records the end of a comparison. Returns whether its result is still needed.
    pub(crate) fn end(&self, stop: &Arc<Notify>) -> bool {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(current) = current.as_mut().filter(|current| Arc::ptr_eq(&current.stop, stop)) else { return false };
        current.is_running = false;
        true
    }

    /// Forgets the last comparison, because something was sent.
    pub(super) fn expire(&self) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
