//! Code that several commands use: opening the input, showing progress, signals and the summary at the end.

pub(super) mod about_template;
pub(super) mod console;
pub(super) mod finish;
pub(super) mod input;
pub(super) mod job_summary;
pub(super) mod next;
pub(super) mod opened;
pub(super) mod person;
pub(super) mod recognize;
pub(super) mod service_storage;
pub(super) mod signals;
pub(super) mod summary;
