//! How the program ends: exit codes for scripts, and a message with a hint for people.

use std::fmt;

use sheetport_client as client;
use sheetport_client::auth::StoreError;
use sheetport_export as export;
use sheetport_files::visible::one_line;
use sheetport_ledger as ledger;
use sheetport_ledger::{Accounting, RunId};
use sheetport_operations as operations;
use sheetport_plan as plan;
use sheetport_report as report;
use sheetport_service as service;
use sheetport_sheet as sheet;
use sheetport_storage as storage;

/// Exit codes, a stable interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// Internal error or disk error.
    Fault = 1,
    /// Wrong usage, settings or template; nothing was sent.
    Usage = 2,
    /// Done, but some rows need fixing or were refused.
    RowsFailed = 3,
    /// Done, but the outcome of some records is unknown.
    Unknown = 4,
    /// The service refused the credentials.
    Credentials = 5,
    /// Another process is using this file or ledger.
    Busy = 6,
    /// The input is unreadable or hostile.
    InputRefused = 7,
    /// The export may be incomplete.
    Incomplete = 8,
    /// Stopped early; `resume` continues.
    Stopped = 9,
    /// Stopped by Ctrl-C; `resume` continues.
    Interrupted = 130,
    /// Stopped by SIGTERM; `resume` continues.
    Terminated = 143,
}

/// The exit codes as shown by `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  internal error or disk error; `doctor` or `runs check` found a problem
  2  wrong usage, settings or template; nothing was sent
  3  done, but some rows need fixing or were refused
  4  done, but the outcome of some records is unknown
  5  the service refused the credentials
  6  another process is using this file or ledger
  7  the input can't be read
  8  the export may be incomplete
  9  stopped early; `sheetport resume` continues
  130, 143  stopped by a signal; `sheetport resume` continues";

/// An error at the end of a command, with advice.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
    pub hint: Option<String>,
    /// The run in progress, and the counts so far.
    pub run: Option<(RunId, Option<Box<Accounting>>)>,
    /// The next command to run.
    pub next: Option<String>,
}

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure { exit, message: message.into(), hint: Some(hint.into()), run: None, next: None }
    }

    /// Makes the hint a part of the message, and leaves out the next command.
    pub fn in_one_line(self) -> Failure {
        Failure { message: self.to_string(), hint: None, next: None, ..self }
    }

    /// Adds the next command, unless there is one.
    pub fn or_next(mut self, next: impl FnOnce() -> String) -> Failure {
        self.next.get_or_insert_with(next);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

impl<E: Into<operations::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        let error = error.into();
        let (exit, mut message, hint) = (exit_of(&error), error.to_string(), error.hint());
        // Only mistakes in templates are shown over several lines; cells and names of files may have line breaks, too.
        if !error.is_about_template() {
            message = one_line(&message).into_owned();
        }
        let (run, next) = match error {
            operations::Error::InRun { run, accounting, next, .. } => (Some((run, accounting)), next),
            _ => (None, None),
        };
        Failure { exit, message, hint, run, next }
    }
}

fn exit_of(error: &operations::Error) -> Exit {
    use operations::Error as E;
    match error {
        E::Sheet(error) => exit_of_sheet(error),
        E::Ledger(error) => exit_of_ledger(error),
        E::Upload(error) => exit_of_upload(error),
        E::Client(error) => exit_of_client(error),
        E::Export(error) => exit_of_export(error),
        E::Storage(error) => exit_of_storage(error),
        E::Report(report::Error::Ledger(error)) => exit_of_ledger(error),
        E::Report(report::Error::Sheet(error)) => exit_of_sheet(error),
        E::Service(service::Error::InUse { .. }) | E::JobIsRunning { .. } | E::FileInUse { .. } => Exit::Busy,
        E::WithHint { error, .. }
        | E::WithOtherHint { error, .. }
        | E::Reworded { error, .. }
        | E::InRun { error, .. } => exit_of(error),
        E::ReadOnlyToken => Exit::Credentials,
        E::Service(service::Error::WorkspaceName { .. } | service::Error::NoData { .. })
        | E::Template(_)
        | E::NoBaseUrl
        | E::RunRefused { .. }
        | E::Invalid { .. } => Exit::Usage,
        E::BadInput { .. } => Exit::InputRefused,
        E::Report(_) | E::Service(_) | E::Local { .. } => Exit::Fault,
    }
}

fn exit_of_storage(error: &storage::Error) -> Exit {
    use storage::Error as E;
    match error {
        E::NotFound { .. } | E::Changed { .. } => Exit::InputRefused,
        E::Address(_) | E::Settings { .. } | E::Exists { .. } => Exit::Usage,
        E::Denied { .. } => Exit::Credentials,
        E::Failed { .. } | E::Local { .. } => Exit::Fault,
    }
}

fn exit_of_sheet(error: &sheet::Error) -> Exit {
    use sheet::Error as E;
    match error {
        E::Open { .. }
        | E::NotASpreadsheet { .. }
        | E::SeveralFiles { .. }
        | E::PackedWithPassword { .. }
        | E::Encrypted { .. }
        | E::PasswordNeeded { .. }
        | E::WrongPassword { .. }
        | E::Empty { .. }
        | E::Unreadable { .. }
        | E::Damaged { .. }
        | E::ReaderKilled { .. } => Exit::InputRefused,
        E::NoSuchSheet { .. } | E::Exists { .. } | E::BadOptions { .. } => Exit::Usage,
        E::Write { .. } | E::Unwritable { .. } => Exit::Fault,
    }
}

fn exit_of_ledger(error: &ledger::Error) -> Exit {
    use ledger::Error as E;
    match error {
        E::Busy { .. } | E::Held { .. } | E::Unanswered | E::LockLost | E::HeldUp => Exit::Busy,
        E::SharedFolder { .. } | E::NoSuchRun(_) | E::NoRuns | E::OnlyForServers(_) => Exit::Usage,
        E::Open { .. }
        | E::Connect { .. }
        | E::NewerVersion { .. }
        | E::TooManyConnections(_)
        | E::DevelopmentVersion { .. }
        | E::Database(_)
        | E::Corrupt(_)
        | E::Damaged { .. }
        | E::DamagedFile { .. } => Exit::Fault,
    }
}

fn exit_of_upload(error: &plan::Error) -> Exit {
    use plan::Error as E;
    match error {
        E::Sheet(error) => exit_of_sheet(error),
        E::Ledger(error) => exit_of_ledger(error),
        E::Columns { .. } | E::SeveralColumns { .. } | E::NoSuchIndex { .. } | E::TooMuchLost { .. } => Exit::Usage,
        E::NoChosenRows { .. } | E::NoSuchNumbers { .. } => Exit::Usage,
        E::NoRows { .. }
        | E::BlankColumn { .. }
        | E::Doubled { .. }
        | E::Changed { .. }
        | E::TooManyRows { .. }
        | E::TooScattered { .. }
        | E::FilledTooMuch { .. } => Exit::InputRefused,
        E::ReaderDied { .. } => Exit::Fault,
    }
}

fn exit_of_client(error: &client::Error) -> Exit {
    use client::{Error as E, Stop};
    match error {
        E::BaseUrl(_)
        | E::Language(_)
        | E::NoCredentials(_)
        | E::TwoWorkspaces { .. }
        | E::Withheld(_)
        | E::Unencrypted(_)
        | E::Exposed(_)
        | E::Store(StoreError::NoKeyring)
        | E::File { .. } => Exit::Usage,
        E::Client(_) | E::Store(StoreError::Keyring { .. } | StoreError::File { .. }) => Exit::Fault,
        E::Stopped(Stop::Unauthorized(_) | Stop::Forbidden(_)) | E::Status { status: 403, .. } => Exit::Credentials,
        E::Stopped(_) | E::Status { .. } | E::TooLong(_) | E::Unreadable(_) => Exit::Stopped,
    }
}

fn exit_of_export(error: &export::Error) -> Exit {
    use export::Error as E;
    match error {
        E::Api(error) => exit_of_client(error),
        E::Sheet(error) => exit_of_sheet(error),
        E::Page { .. } => Exit::Stopped,
        E::Spool { .. } | E::Internal(_) => Exit::Fault,
        E::Busy => Exit::Busy,
        E::Name(_)
        | E::Ids { .. }
        | E::NotOurs { .. }
        | E::ChangesKept { .. }
        | E::NotAppended { .. }
        | E::AppendedKept { .. }
        | E::Undecided { .. } => Exit::Usage,
        E::OtherOrigin { .. } => Exit::Incomplete,
    }
}
