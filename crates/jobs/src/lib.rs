//! Jobs: uploads and exports that run in order, unattended, with notices about the results.

mod definition;
mod inbox;
mod lock;
mod notices;
mod outcome;
mod run_job;
mod scheduler;
pub(crate) mod upload_step;
mod work;
mod worker_inbox;

pub use definition::{Job, Occasion, Schedule, Step, UploadStep, Work, load_job};
pub use inbox::Waiting;
pub use lock::PreviousRun;
pub use notices::{News, Notified, missing_secrets, notify};
pub use outcome::{ExportFailure, FileOutcome, JobObserver, JobRun, Place, StepOutcome};
pub use run_job::run_job;
pub use scheduler::{Entry, EntryFile, Installed, Nightly, NightlyJob, Scheduler, install, obstacles, uninstall};
pub use work::{LedgerHealth, Left, Obstacle, Unsent, WorkEvent, Working, work};
pub use worker_inbox::{InboxRequest, inbox};
