//! The operations of the program, for any front end: uploads, retries, resumes, reports, exports, and the locking of runs.
//! Operations take typed requests, return typed results and report progress to an [`Observer`]. Operations never print, and
//! know no command-line flags or exit codes.

mod check;
mod compare;
mod context;
mod error;
mod event;
mod explain;
mod export;
mod infer;
mod input;
mod known_templates;
mod load;
mod local_service;
mod login;
mod next_command;
mod prune;
mod recognize;
mod report;
mod report_path;
mod resolve;
mod resume;
mod retry;
mod retry_report;
mod runs;
mod send;
mod templates;
mod upload;

pub use crate::upload::sent_before::AllowRepeat;
pub use check::{Check, Preview, PreviewedRequest, check};
pub use compare::ComparePace;
pub use context::Context;
pub use error::Error;
pub use event::{Event, Observer};
pub use explain::{Explanation, PlannedOutcome, RowName, explain};
pub use export::{EXPORTABLE, ExportRequest, IdSource, export};
pub use infer::{InferRequest, infer};
pub use input::{InputFile, STANDARD_INPUT, Spreadsheet};
pub use load::{LOAD_KINDS, LoadKind, LoadOutcome, LoadedFile, load};
pub use local_service::LocalService;
pub use login::{StoredTokens, login, verify};
pub use next_command::quoted;
pub use prune::{Pruned, prune};
pub use recognize::{Candidate, Recognized, TemplateOrigin, Unrecognized, recognize};
pub use report::{ReportRequest, check_report_path, report};
pub use resolve::{Resolved, Resolving};
pub use resume::resume;
pub use retry::retry_run;
pub use retry_report::{RetryReport, preview_retry, retry_report};
pub use runs::{RunDetails, RunFilter, RunStatus, list_runs, show_run};
pub use send::{Finished, SendOptions, Withheld};
pub use templates::{TemplateChanges, format_template, load_template, load_template_for, unknown_template};
pub use upload::{Questions, Upload, preview_upload, upload};
