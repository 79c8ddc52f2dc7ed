//! Jobs: uploads and exports that run in order, unattended, with notices about the results.

mod claimed;
mod inbox;
mod install;
mod keys;
mod load;
mod lock;
mod mail;
mod model;
mod news;
mod nightly;
mod notice_keys;
mod notify;
mod object_inbox;
mod outcome;
mod run_job;
mod schedule;
mod schedule_keys;
mod sources;
mod taken;
pub(super) mod upload_step;
mod worker_inbox;

pub use inbox::Waiting;
pub use install::{Installed, install, uninstall};
pub use load::load_job;
pub use lock::PreviousRun;
pub use model::{Job, Occasion, Schedule, Step, UploadStep, Work};
pub use news::{News, Notified};
pub use nightly::{Nightly, NightlyJob, obstacles};
pub use notify::{missing_secrets, notify};
pub use outcome::{ExportFailure, FileOutcome, JobObserver, JobRun, Place, Stage, StepOutcome, Stopping};
pub use run_job::run_job;
pub use schedule::{Entry, EntryFile, Scheduler};
pub use worker_inbox::{InboxRequest, inbox};
