//! The input and the result of sending.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sheetport_client::{Client, KeyMemory, Shortage, Speed};
use sheetport_ledger::{Ledger, Part, Policy, Seq};
use sheetport_plan::sent_before::LeftOut;
use sheetport_records::RecordKind;
use sheetport_telemetry::Totals;

use crate::dispatch::{Limits, StopReason};
use crate::slowness::Slowness;

/// Records of a planned run, and the means to send them.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    pub ledger: &'a Ledger,
    pub client: Arc<Client>,
    /// The records, reserved for this process by the lock of their run or a lease.
    pub part: Part,
    pub kind: RecordKind,
    pub concurrency: usize,
    pub rate: Option<Speed>,
    /// Service and workspace, if their rate is shared with other processes.
    pub shares_rate_of: Option<(&'a str, &'a str)>,
    pub limits: Limits,
    /// Whether requests of newer uploads hold records back.
    pub policy: Policy,
    /// How long the service remembers idempotency keys. `None` if the service does not honour them.
    pub keys: Option<KeyMemory>,
}

/// Looks at the next batch of pending records, from the given one on, right before they are sent. It may settle them. Returns the last record of
/// the batch, [`Seq::MAX`] if none is left, or why nothing may be sent unseen.
pub type Look<'a> = dyn Fn(Seq) -> BoxFuture<'a, Result<Seq, String>> + Send + Sync + 'a;

/// Progress since the sending began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    pub sent: u64,
    pub failed: u64,
    pub unknown: u64,
    pub retries: u64,
    pub throttled: u64,
    /// Records waiting for a retry.
    pub retrying: u64,
    /// Remaining time of a pause.
    pub pause: Option<Duration>,
    /// Whether the service has asked for the pause.
    pub is_pause_requested: bool,
    /// What this machine is short of, and how many requests are in flight at once because of it.
    pub shortage: Option<(Shortage, usize)>,
    /// Current limit in requests per second.
    pub rate: Option<f64>,
}

impl Progress {
    /// Returns the number of records with an outcome.
    pub(super) fn settled(&self) -> u64 {
        self.sent + self.failed + self.unknown
    }

    /// Returns the counts for the metrics.
    pub fn totals(&self) -> Totals {
        let Progress { sent, failed, unknown, retries, throttled, .. } = *self;
        Totals { sent, failed, unknown, retries, throttled }
    }
}

/// Result of sending.
#[derive(Debug)]
pub struct SendResult {
    /// Reason for an early stop, or `None` if every record has an outcome.
    pub stopped: Option<StopReason>,
    /// Rate limit found by the automatic rate, in requests per second.
    pub learned_rate: Option<f64>,
    /// Records skipped because newer uploads have started to send their keys in the meantime.
    pub superseded: Vec<LeftOut>,
    /// That the part was sent more slowly than asked.
    pub slowness: Option<Slowness>,
    /// The records sent.
    pub progress: Progress,
    pub millis: i64,
}
