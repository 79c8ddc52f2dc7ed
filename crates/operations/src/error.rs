//! Why an operation was refused or failed.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use sheetport_client as client;
use sheetport_client::auth::StoreError;
use sheetport_documents::{Mistake, Mistakes, nearest};
use sheetport_export as export;
use sheetport_files::visible::one_line;
use sheetport_ledger as ledger;
use sheetport_ledger::{Accounting, RunId};
use sheetport_plan as plan;
use sheetport_report as report;
use sheetport_sheet as sheet;
use sheetport_storage as storage;
use sheetport_values::date::local_minute;

/// Files of a folder among which a similar name is looked for: a person does not wait for more.
const MAX_ENTRIES: usize = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Sheet(#[from] sheet::Error),
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    #[error(transparent)]
    Upload(#[from] plan::Error),
    #[error(transparent)]
    Client(#[from] client::Error),
    #[error(transparent)]
    Report(#[from] report::Error),
    #[error(transparent)]
    Export(#[from] export::Error),
    #[error(transparent)]
    Storage(#[from] storage::Error),
    #[error("{0}")]
    Template(Box<Mistakes>),
    #[error("no service address is set")]
    NoBaseUrl,
    #[error("the token does not allow this: its access level is Regular, which is read-only")]
    ReadOnlyToken,
    /// The state of the run forbids resuming or retrying, or the run belongs to another service or workspace.
    #[error("run {run} can't be {action}: {reason}")]
    RunRefused { run: RunId, action: &'static str, reason: String, hint: String },
    /// The request contradicts itself or names something unknown.
    #[error("{message}")]
    Invalid { message: String, hint: String },
    /// The spreadsheet can't be used.
    #[error("{message}")]
    BadInput { message: String, hint: String },
    /// Another process runs the job.
    #[error("the job {job} is already running{}", since(*began, *process))]
    JobIsRunning { job: String, began: Option<i64>, process: Option<u32> },
    /// Another program uses the file.
    #[error("{message}")]
    FileInUse { message: String, hint: String },
    /// This machine lacks something, such as room on the disk.
    #[error("{message}")]
    Local { message: String, hint: String },
    /// An error while a run was being sent. All outcomes before are saved.
    #[error("{error}")]
    InRun {
        run: RunId,
        /// The counts so far, if the ledger can be read.
        accounting: Option<Box<Accounting>>,
        /// The command for continuing the run.
        next: Option<String>,
        error: Box<Error>,
    },
    /// An error with a more specific hint.
    #[error("{error}")]
    WithOtherHint { error: Box<Error>, hint: String },
    /// An error in other words.
    #[error("{message}")]
    Reworded { error: Box<Error>, message: String },
    /// An error with further advice.
    #[error("{error}")]
    WithHint { error: Box<Error>, hint: String },
}

impl Error {
    /// Returns whether the file does not have the columns of the template.
    pub fn is_other_template(&self) -> bool {
        matches!(self, Error::Upload(plan::Error::Columns { .. }))
    }

    /// Returns whether the file caused the error, so that other files may succeed.
    pub fn is_about_file(&self) -> bool {
        use plan::Error as U;
        use sheet::Error as S;
        let is_sheet =
            |error: &sheet::Error| !matches!(error, S::Write { .. } | S::Unwritable { .. } | S::Exists { .. });
        match self {
            Error::Sheet(error) | Error::Upload(U::Sheet(error)) => is_sheet(error),
            // The file may be complete next time.
            Error::Upload(U::Changed { .. } | U::ReaderDied { .. } | U::NotKept { .. } | U::Ledger(_)) => false,
            Error::Upload(_) | Error::BadInput { .. } | Error::RunRefused { .. } => true,
            Error::WithHint { error, .. } | Error::WithOtherHint { error, .. } | Error::Reworded { error, .. } => {
                error.is_about_file()
            }
            _ => false,
        }
    }

    /// Returns whether the message shows lines of a template.
    pub fn is_about_template(&self) -> bool {
        match self {
            Error::Template(_) => true,
            Error::WithHint { error, .. } | Error::InRun { error, .. } => error.is_about_template(),
            _ => false,
        }
    }

    /// Returns advice for fixing the error.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Sheet(error) | Error::Upload(plan::Error::Sheet(error)) => {
                return similar_file(error).or_else(|| error.hint());
            }
            Error::Ledger(error) => return error.hint(),
            Error::Upload(error) => return error.hint(),
            Error::Client(error) => return error.hint(),
            Error::Report(error) => return error.hint(),
            Error::Export(error) => return error.hint(),
            Error::Storage(error) => error.hint(),
            Error::Template(mistakes) => return mistakes.hint(),
            Error::NoBaseUrl => {
                "run `sheetport login`, or give the address with --base-url or SHEETPORT_BASE_URL; `sheetport serve` runs a \
                 service on this machine"
                    .to_owned()
            }
            Error::ReadOnlyToken => {
                "create a token pair with Full Access in the service's developer settings, then run `sheetport login` or set \
                 SHEETPORT_ACCESS_TOKEN and SHEETPORT_REFRESH_TOKEN"
                    .to_owned()
            }
            Error::RunRefused { hint, .. }
            | Error::Invalid { hint, .. }
            | Error::BadInput { hint, .. }
            | Error::WithOtherHint { hint, .. }
            | Error::FileInUse { hint, .. }
            | Error::Local { hint, .. } => hint.clone(),
            Error::JobIsRunning { .. } => {
                "nothing was done; wait for it, or end that process: its work will be continued".to_owned()
            }
            Error::InRun { error, .. } | Error::Reworded { error, .. } => return error.hint(),
            Error::WithHint { error, hint } => match error.hint() {
                Some(first) => format!("{first}; {hint}"),
                None => hint.clone(),
            },
        })
    }

    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::Invalid { message: message.into(), hint: hint.into() }
    }

    pub(super) fn with_other_hint(self, hint: String) -> Error {
        Error::WithOtherHint { error: Box::new(self), hint }
    }

    pub(super) fn with_hint(self, hint: &str) -> Error {
        Error::WithHint { error: Box::new(self), hint: hint.to_owned() }
    }

    /// Changes the words of an error about files.
    pub(super) fn in_words(self, change: impl Fn(&str) -> String) -> Error {
        match self {
            Error::Export(error @ (export::Error::Api(_) | export::Error::Page { .. })) => Error::Export(error),
            Error::WithHint { error, hint } => Error::WithHint { error: Box::new(error.in_words(change)), hint },
            error @ (Error::Export(_) | Error::Sheet(_)) => {
                Error::Reworded { message: change(&error.to_string()), error: Box::new(error) }
            }
            error => error,
        }
    }

    /// Temporary files can't be written.
    pub fn no_temporary_files(error: &std::io::Error) -> Error {
        Error::Local {
            message: format!("temporary files can't be written: {error}"),
            hint: "free some disk space, or set TMPDIR to another folder".to_owned(),
        }
    }
}

/// Describes the start time and the process of a running job.
fn since(began: Option<i64>, process: Option<u32>) -> String {
    let since = began.map(|began| format!(", since {}", local_minute(began))).unwrap_or_default();
    let process = process.map(|process| format!(", in the process {process}")).unwrap_or_default();
    format!("{since}{process}")
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        Error::Client(error.into())
    }
}

impl From<storage::AddressError> for Error {
    fn from(error: storage::AddressError) -> Error {
        Error::Storage(error.into())
    }
}

impl From<Mistake> for Error {
    fn from(mistake: Mistake) -> Error {
        Mistakes::from(mistake).into()
    }
}

impl From<Mistakes> for Error {
    fn from(mistakes: Mistakes) -> Error {
        Error::Template(Box::new(mistakes))
    }
}

/// Returns the advice for a file that does not exist, if another one beside it has a similar name.
fn similar_file(error: &sheet::Error) -> Option<String> {
    let sheet::Error::Open { path, source } = error else { return None };
    let name = path.file_name()?.to_str().filter(|_| source.kind() == ErrorKind::NotFound)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).ok()?.take(MAX_ENTRIES).flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let similar = nearest(name, names.iter().map(String::as_str))?;
    Some(format!("did you mean {}?", one_line(&path.with_file_name(similar).display().to_string())))
}
