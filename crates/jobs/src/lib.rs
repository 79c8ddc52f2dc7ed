//! Jobs: uploads and exports in order, unattended, with notices about the results. Also the workers for queued runs.
//!
//! Knows no command line: the executable prints the outcome, and notices have the same content.
//!
//! | module | purpose |
//! |---|---|
//! | [`run_job`](mod@run_job), [`upload_step`] | the steps of a job, and the files of an upload step; begin here |
//! | [`definition`] | files of jobs, read with all mistakes |
//! | [`inbox`](mod@inbox), [`worker_inbox`] | waiting files in a folder or a bucket, and files taken out |
//! | [`lock`], [`outcome`] | the lock against a second process, and how a job ended |
//! | [`status`] | the last run of a job, its next start, and whether it is late |
//! | [`notices`] | commands, webhooks and mail |
//! | [`scheduler`] | entries for cron, systemd, launchd and the Task Scheduler |
//! | [`work`](mod@work) | workers: parts of queued runs, until stopped |
//!
//! A job runs its steps through the same operations as the commands. A file is taken out of an inbox by a move to a folder of its own,
//! `inbox/.sheetport/ID/`. No other file ever has this path, so the ledger knows the state of the run, and jobs need
//! no further records. A taken file is locked during the lifetime of the process. The next run continues the files of dead processes: with
//! `resume` if a run was planned, otherwise with a new upload. A file leaves the folder only when the run has ended: first the report is
//! written, then the file is moved by a hard link, without ever replacing another file.
//!
//! Nothing blocks the thread of a worker's parts, and queries beside a `select!` run in separate tasks: see the rules of `sheetport_sql`.

mod definition;
mod inbox;
mod lock;
mod notices;
mod outcome;
mod run_job;
mod scheduler;
mod status;
pub(crate) mod upload_step;
mod work;
mod worker_inbox;

pub use definition::{Job, Occasion, Schedule, Step, UploadStep, Work, load_job};
pub use inbox::Waiting;
pub use lock::{PreviousRun, note_schedule, record_exit};
pub use notices::{News, Notified, missing_secrets, notify};
pub use outcome::{ExportFailure, FileOutcome, JobObserver, JobRun, Place, StepOutcome};
pub use run_job::run_job;
pub use scheduler::{Entry, EntryFile, Installed, Nightly, NightlyJob, Scheduler, install, obstacles, uninstall};
pub use status::{JobStatus, examine_jobs, job_status, known_jobs, lateness};
pub use work::{LedgerHealth, Left, Obstacle, Unsent, WorkEvent, Working, work};
pub use worker_inbox::{InboxRequest, inbox};
