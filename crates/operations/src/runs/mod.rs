//! Operations on existing runs: listing, checking, resuming, retrying, resolving and removing, and taking back what was sent.

pub(crate) mod apply;
pub(crate) mod backup;
pub(crate) mod check_runs;
pub(crate) mod erase;
pub mod list_runs;
pub(crate) mod next_step;
pub(crate) mod prune;
pub(crate) mod resolve;
pub mod resume;
pub(crate) mod retry;
pub(crate) mod undo;
pub(crate) mod wait;
