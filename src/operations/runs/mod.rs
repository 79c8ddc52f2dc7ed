//! Operations on existing runs: listing, checking, resuming, retrying, resolving and removing.

pub(in crate::operations) mod backup;
pub(in crate::operations) mod check_runs;
pub(in crate::operations) mod erase;
pub(in crate::operations) mod list_runs;
pub(in crate::operations) mod prune;
pub(in crate::operations) mod resolve;
pub(in crate::operations) mod resume;
pub(in crate::operations) mod retry;
pub(in crate::operations) mod wait;
