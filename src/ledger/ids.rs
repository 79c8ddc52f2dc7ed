//! Numbers of runs and records.

/// The number of a run, from 1.
pub type RunId = i64;

/// The position of a record within a run, from 0.
pub type Seq = i64;
