//! The operations of the program, for any front end: uploads, retries, resumes, reports, exports, and the locking of runs.
//! Operations take typed requests, return typed results and report progress to an [`Observer`]. Operations never print, and
//! know no command-line flags or exit codes.
//!
//! | module | purpose |
//! |---|---|
//! | [`uploads`] | uploads, and all that can be learned without sending: begin with `uploads/upload.rs` |
//! | [`look_again`] | the last look at the service before an approved plan, or only new or known records, are sent |
//! | [`runs`], [`send`], [`results`] | existing runs with locks, and how a run ends: counts, report, next command |
//! | `activities` | exports and runs of jobs in the ledger, for the list of what was done |
//! | [`exports`](mod@exports), [`files`], [`lists`] | exports, and files on disk or in object storage |
//! | [`templates`] | loading, proposing, recognizing and trusting templates |
//! | `login` | storing and checking credentials |
//! | [`review`] | a spreadsheet under review: rows, template, problems, edits |
//! | [`doctor`], [`schemas`] | checks of a machine, and schemas of `--json` |
//! | [`context`], [`learned`], [`older_ledger`](mod@older_ledger) | the service, learned limits, an outdated ledger |
//! | [`command_line`], [`programs`], [`event`], [`error`] | commands to print, other programs, progress, refusals |
//!
//! A run is resumed only at the address, workspace and access level of the plan, checked before the lock is taken
//! (`runs/resume.rs`).

mod activities;
mod approval;
pub mod command_line;
pub mod context;
mod count_stocks;
mod doctor;
pub mod error;
pub mod event;
pub mod exports;
pub mod files;
mod fill_blanks;
mod learned;
mod lists;
mod login;
mod look_again;
pub mod older_ledger;
mod operation;
mod planned_records;
pub mod programs;
mod question;
mod rate;
pub mod results;
pub mod review;
pub mod runs;
mod schemas;
pub mod send;
mod sheet_keys;
pub mod templates;
pub mod token_folder;
pub mod uploads;

pub use activities::{begin_activity, end_activity};
pub use approval::{Approval, LeftOutRows};
pub use command_line::{CommandLine, DEFAULT_PROFILE, Given, quoted, with_login};
pub use context::{Context, Defaults, ProfileOptions};
pub use doctor::{Finding, Health, database_risks, examine};
pub use error::Error;
pub use event::{Event, Observer};
pub use exports::{EXPORTABLE, ExportRequest, IdSource, export, lacks_array};
pub use files::TemporaryFolder;
pub use files::{
    InputFile, STANDARD_INPUT, Spreadsheet, check_report_path, open_input, reports_folder, shown_file, unused,
};
pub use login::{StoredTokens, login, verify};
pub use older_ledger::{accept_older_ledger, older_ledger};
pub use operation::{LocalOperation, Operation};
pub use question::Question;
pub use results::next_command::has_sent;
pub use results::{Finished, ReportRequest, Withheld, report};
pub use runs::apply::{Apply, PlanTarget, apply, discard_plan};
pub use runs::backup::{Backup, backup};
pub use runs::check_runs::{Checked, check_runs};
pub use runs::erase::{ErasedKey, erase_key};
pub use runs::list_runs::{
    ListedRun, RunDetails, RunFilter, RunStatus, list_existing_runs, list_runs, list_runs_and_activities, show_run,
};
pub use runs::next_step::{Continued, NextStep, next_step};
pub use runs::prune::{Pruned, prune};
pub use runs::resolve::{Resolved, Resolving};
pub use runs::resume::resume;
pub use runs::retry::retry_run;
pub use runs::undo::{PlannedUndo, Undo, WaysBack, plan_undo};
pub use runs::wait::{stop_run, wait};
pub use schemas::{schema, schema_names};
pub use send::{DEFAULT_CONCURRENCY, SendOptions};
pub use sheet_keys::{CurrencyCode, LocaleName, ZoneName};
pub use sheetport_ledger::AllowRepeat;
pub use templates::infer::{InferRequest, infer};
pub use templates::load_template::{
    TemplateChanges, format_template, load_template, load_template_for, unknown_template,
};
pub use templates::recognize::{Candidate, Recognized, TemplateOrigin, Unrecognized, recognize};
pub use templates::trust::{TrustedTemplate, is_trusted, trust, trust_template};
pub use uploads::{
    Check, CheckedFile, ColumnExplanation, ComparePace, ExplainedRecord, Explanation, Fate, FirstChange, Forecast,
    MissingFlags, NotPlanned, PlannedChanges, PlannedMissing, PlannedOutcome, Preview, PreviewedRequest, Questions,
    Rehearsal, RehearsalRecords, Rehearsed, RetryReport, RowName, SAMPLE_NAME, Sample, Upload, check, explain,
    explain_column, find_sample, plan_changes, preview_retry, preview_upload, rehearse_upload, retry_report, upload,
};
