//! A life: a process that sends a run until the run ends or the process is killed.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use sheetport_ledger::{RecordState, RunId, SendingChanges, Seq};
use tokio::sync::Notify;
use tokio::time::Instant;

/// A process that sends a run.
pub(super) struct Life {
    pub run: RunId,
    /// Whether each record must not be sent twice.
    once: Vec<bool>,
    /// The number of steps until the process is killed.
    steps: AtomicU32,
    is_killed: AtomicBool,
    killed: Notify,
    random: Mutex<fastrand::Rng>,
    /// Consecutive unknown outcomes of non-idempotent requests, and their maximum.
    unknown: AtomicU64,
    most_unknown: AtomicU64,
    inherited: AtomicU64,
    has_begun: AtomicBool,
}

impl Life {
    /// Creates a life that ends after `steps` steps. `unknown`: the consecutive unknown outcomes at the end of the run's last
    /// life.
    pub(super) fn new(run: RunId, once: Vec<bool>, steps: Option<u32>, unknown: u64, seed: u64) -> Life {
        Life {
            run,
            once,
            steps: AtomicU32::new(steps.unwrap_or(u32::MAX)),
            is_killed: AtomicBool::new(false),
            killed: Notify::new(),
            random: Mutex::new(fastrand::Rng::with_seed(seed)),
            unknown: AtomicU64::new(unknown),
            most_unknown: AtomicU64::new(0),
            inherited: AtomicU64::new(0),
            has_begun: AtomicBool::new(false),
        }
    }

    /// Passes a point where the process may be killed. Does not return if the process is killed.
    pub(super) async fn step(&self) {
        if !self.is_killed() && self.steps.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.is_killed.store(true, Ordering::Relaxed);
            self.killed.notify_one();
        }
        if self.is_killed() {
            std::future::pending::<()>().await;
        }
    }

    pub(super) fn is_killed(&self) -> bool {
        self.is_killed.load(Ordering::Relaxed)
    }

    /// Waits until the process is killed.
    pub(super) async fn end(&self) {
        self.killed.notified().await;
    }

    /// Waits for up to 20 ms, as a write takes.
    pub(super) async fn takes_a_moment(&self) {
        let millis = match self.random.lock().expect("no panic").u64(..8) {
            0 => 20,
            1 => 3,
            _ => return,
        };
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }

    /// Counts the records in flight at the end of the last life.
    pub(super) fn began_with_unknown(&self, unknown: u64) {
        self.has_begun.store(true, Ordering::Relaxed);
        self.inherited.store(unknown + self.unknown.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Whether the process has read and changed the ledger.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Returns the unknown outcomes in a row until the end of the last life.
    pub(super) fn inherited(&self) -> u64 {
        self.inherited.load(Ordering::Relaxed)
    }

    /// Counts the unknown outcomes in a row.
    pub(super) fn wrote(&self, changes: &SendingChanges) {
        let is_once = |seq: Seq| self.once[usize::try_from(seq).expect("a place")];
        for outcome in changes.outcomes.iter().filter(|outcome| is_once(outcome.seq)) {
            match outcome.state {
                RecordState::Unknown => self.count_unknown(1),
                RecordState::Sent | RecordState::Failed => self.unknown.store(0, Ordering::Relaxed),
                _ => {}
            }
        }
    }

    fn count_unknown(&self, more: u64) {
        let unknown = self.unknown.fetch_add(more, Ordering::Relaxed) + more;
        self.most_unknown.fetch_max(unknown, Ordering::Relaxed);
    }

    /// Returns the number of consecutive unknown outcomes.
    pub(super) fn unknown(&self) -> u64 {
        self.unknown.load(Ordering::Relaxed)
    }

    /// Returns the highest number of unknown outcomes in a row.
    pub(super) fn most_unknown(&self) -> u64 {
        self.most_unknown.load(Ordering::Relaxed)
    }
}

thread_local! {
    /// The time of day when the clock of the current session began.
    static BEGAN: Cell<(i64, Option<Instant>)> = const { Cell::new((0, None)) };
}

/// Begins a session of lives at this time, in milliseconds.
pub(super) fn begin_session(at: i64) {
    BEGAN.set((at, Some(Instant::now())));
}

/// Returns the time of day in milliseconds.
pub(super) fn wall() -> i64 {
    let (at, began) = BEGAN.get();
    let passed = began.map_or(Duration::ZERO, |began| began.elapsed());
    at + i64::try_from(passed.as_millis()).expect("a plausible time")
}
