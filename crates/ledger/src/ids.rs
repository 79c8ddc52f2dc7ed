//! Numbers of runs and records.

use std::ops::RangeInclusive;

/// The number of a run, from 1.
pub type RunId = i64;

/// The position of a record within a run, from 0.
pub type Seq = i64;

/// Consecutive records of a run, sent by one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub run: RunId,
    pub first: Seq,
    pub last: Seq,
}

impl Part {
    /// Returns all records of a run.
    pub fn whole(run: RunId) -> Part {
        Part { run, first: 0, last: Seq::MAX }
    }

    pub fn records(self) -> RangeInclusive<Seq> {
        self.first..=self.last
    }
}
