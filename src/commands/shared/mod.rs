//! Code shared by several commands: opening the input, progress, signals, and the final summary.

pub(super) mod about_template;
pub(super) mod console;
pub(super) mod finish;
pub(super) mod input;
pub(super) mod job_summary;
pub(super) mod next;
pub(super) mod opened;
pub(super) mod recognize;
pub(super) mod service_storage;
pub(super) mod signals;
pub(super) mod summary;
pub(super) mod time;
