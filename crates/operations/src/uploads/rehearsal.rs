//! What an upload asks of the temporary service of a rehearsal. `trial` has the service.

use sheetport_ledger::{Ledger, Run};

use super::super::event::Observer;
use crate::operation::LocalOperation;

/// A temporary service that takes an upload in place of the real one.
pub trait Rehearsal: Sync {
    /// Whether records were loaded that an upload can be compared with.
    fn has_exports(&self) -> bool;

    /// Makes up the records that the pending requests of a run refer to, except records covered by exports.
    fn make_up<'a>(&'a self, ledger: &'a Ledger, run: &'a Run, observer: Observer<'a>)
    -> LocalOperation<'a, Rehearsed>;

    /// Estimates the duration of an upload with this number of requests. `None` if no rate is known.
    fn forecast(&self, requests: u64) -> Option<Forecast>;
}

/// Forecast for an upload with the requests of a rehearsal.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    pub requests: u64,
    pub per_second: f64,
    /// The rate in words.
    pub rate: String,
}

impl Forecast {
    /// Returns the time in whole seconds.
    pub fn seconds(&self) -> u64 {
        (self.requests as f64 / self.per_second.max(f64::MIN_POSITIVE)).ceil() as u64
    }
}

/// The records of one kind in the service of a rehearsal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RehearsalRecords {
    /// The plural, such as `companies`.
    pub kind: &'static str,
    /// The singular.
    pub one: &'static str,
    pub records: u64,
}

/// The content of the rehearsal service before the first request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rehearsed {
    pub made_up: Vec<RehearsalRecords>,
    pub from_exports: Vec<RehearsalRecords>,
    /// `None` if no rate is known.
    pub forecast: Option<Forecast>,
}
