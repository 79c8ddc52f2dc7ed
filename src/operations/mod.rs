//! The operations of the program, for any front end: uploads, retries, resumes, reports, exports, and the locking of runs.
//! Operations take typed requests, return typed results and report progress to an [`Observer`]. Operations never print, and
//! know no command-line flags or exit codes.

mod check;
mod command_line;
mod compare;
mod context;
mod doctor;
mod ending;
mod error;
mod event;
mod explain;
mod export;
mod export_staging;
mod find_sample;
mod inbox_path;
mod input;
mod jobs;
mod learned;
mod lists;
mod next_command;
mod preview;
mod problem_codes;
mod report;
mod report_path;
pub mod review;
mod runs;
mod schemas;
mod send;
mod service;
mod shared_rate;
mod stored_files;
mod templates;
mod temporary_folder;
mod upload;
mod work;

pub use crate::ledger::AllowRepeat;
pub use check::{Check, CheckedFile, check};
pub use command_line::{CommandLine, DEFAULT_PROFILE, Given, quoted, with_login};
pub use compare::ComparePace;
pub use context::{Context, ProfileOptions};
pub use doctor::{Finding, Health, examine};
pub use ending::{Finished, Withheld};
pub use error::Error;
pub use event::{Event, Observer};
pub use explain::{ExplainedRecord, Explanation, PlannedOutcome, RowName, explain};
pub use export::{EXPORTABLE, ExportRequest, IdSource, export, lacks_array};
pub use find_sample::{SAMPLE_NAME, Sample, find_sample};
pub use inbox_path::shown_file;
pub use input::{InputFile, STANDARD_INPUT, Spreadsheet};
pub use jobs::{
    Entry, EntryFile, ExportFailure, FileOutcome, InboxRequest, Installed, Job, JobObserver, JobRun, News, Nightly,
    NightlyJob, Notified, Occasion, Place, PreviousRun, Schedule, Scheduler, Stage, Step, StepOutcome, Stopping,
    UploadStep, Waiting, Work, inbox, install, load_job, missing_secrets, notify, obstacles, run_job, uninstall,
};
pub use next_command::has_sent;
pub use preview::{Preview, PreviewedRequest};
pub use problem_codes::{CodeGroup, ExplainedCode, code_groups, codes, explain_code, nearest_topic};
pub use report::{ReportRequest, report};
pub use report_path::unused;
pub use runs::check_runs::{Checked, RepairedRuns, check_runs, repair_runs};
pub use runs::list_runs::{ListedRun, RunDetails, RunFilter, RunStatus, list_existing_runs, list_runs, show_run};
pub use runs::prune::{Pruned, prune};
pub use runs::resolve::{Resolved, Resolving};
pub use runs::resume::resume;
pub use runs::retry::retry_run;
pub use runs::retry_report::{RetryReport, preview_retry, retry_report};
pub use runs::wait::{stop_run, wait};
pub use schemas::{SCHEMA_NAMES, schema};
pub use send::{DEFAULT_CONCURRENCY, SendOptions};
pub use service::load::{LOAD_KINDS, LoadKind, LoadOutcome, LoadedFile, load};
pub use service::local_service::LocalService;
pub use service::login::{StoredTokens, login, verify};
pub use service::rehearsal::{Forecast, RehearsalRecords, Rehearse, Rehearsed};
pub use stored_files::{check_report_path, open_input};
pub use templates::infer::{InferRequest, infer};
pub use templates::load_template::{
    TemplateChanges, format_template, load_template, load_template_for, unknown_template,
};
pub use templates::recognize::{Candidate, Recognized, TemplateOrigin, Unrecognized, recognize};
pub use templates::trust::{TrustedTemplate, is_trusted, trust, trust_template};
pub use upload::{Questions, Upload, preview_upload, upload};
pub use work::{LedgerHealth, Left, Obstacle, Unsent, WorkEvent, Working, work};
