//! Detection of damage: checksums of rows, totals of runs, and the check of a run before sending.
//!
//! Each row that can affect a request has a checksum, each run has the number and sums of its rows, and the file's log is
//! compared with the committed state. A flipped bit or a lost row is therefore detected before it can affect a request.

pub(super) mod checksum;
pub(super) mod inspect;
pub(super) mod log;
pub(super) mod part;
pub(super) mod repair;
pub(super) mod seal;
pub(super) mod totals;
mod verify;
