//! How the program ends: exit codes for scripts, and a message with a hint for people.

use std::fmt;

use crate::diagnostics::Mistake;
use crate::{client, export, ledger, operations, report, service, sheet, upload};

/// Exit codes. Their meaning is a stable interface.
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
  1  internal error or disk error
  2  wrong usage, settings or template; nothing was sent
  3  done, but some rows need fixing or were refused
  4  done, but the outcome of some records is unknown
  5  the service refused the credentials
  6  another process is using this file or ledger
  7  the input can't be read
  8  the export may be incomplete
  9  stopped early; `sheetport resume` continues
  130, 143  stopped by a signal; `sheetport resume` continues";

/// An error that ends a command, with advice on how to fix it.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure { exit, message: message.into(), hint: Some(hint.into()) }
    }

    fn of(exit: Exit, error: &impl fmt::Display, hint: Option<String>) -> Failure {
        Failure { exit, message: error.to_string(), hint }
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

impl From<sheet::Error> for Failure {
    fn from(error: sheet::Error) -> Failure {
        use sheet::Error as E;
        let exit = match &error {
            E::Open { .. }
            | E::NotASpreadsheet { .. }
            | E::Encrypted { .. }
            | E::Empty { .. }
            | E::Unreadable { .. } => Exit::InputRefused,
            E::NoSuchSheet { .. } | E::Exists { .. } | E::BadOptions { .. } => Exit::Usage,
            E::Write { .. } | E::Unwritable { .. } => Exit::Fault,
        };
        Failure::of(exit, &error, error.hint())
    }
}

impl From<Mistake> for Failure {
    fn from(mistake: Mistake) -> Failure {
        Failure::of(Exit::Usage, &mistake, mistake.hint.clone())
    }
}

impl From<ledger::Error> for Failure {
    fn from(error: ledger::Error) -> Failure {
        use ledger::Error as E;
        let exit = match &error {
            E::Busy { .. } => Exit::Busy,
            E::NoSuchRun(_) | E::NoRuns => Exit::Usage,
            E::Open { .. } | E::OtherVersion { .. } | E::Database(_) | E::Corrupt(_) => Exit::Fault,
        };
        Failure::of(exit, &error, error.hint())
    }
}

impl From<upload::Error> for Failure {
    fn from(error: upload::Error) -> Failure {
        use upload::Error as E;
        let exit = match error {
            E::Sheet(error) => return error.into(),
            E::Ledger(error) => return error.into(),
            E::Columns { .. } | E::NoSuchIndex { .. } | E::TooMuchLost { .. } => Exit::Usage,
            E::NoRows { .. }
            | E::Changed { .. }
            | E::TooManyRows { .. }
            | E::TooScattered { .. }
            | E::FilledTooMuch { .. } => Exit::InputRefused,
            E::ReaderDied { .. } => Exit::Fault,
        };
        Failure::of(exit, &error, error.hint())
    }
}

impl From<client::Error> for Failure {
    fn from(error: client::Error) -> Failure {
        use client::{Error as E, Stop};
        let exit = match &error {
            E::BaseUrl(_) | E::Language(_) | E::NoCredentials(_) => Exit::Usage,
            E::Client(_) => Exit::Fault,
            E::Stopped(Stop::Unauthorized(_) | Stop::Forbidden(_)) => Exit::Credentials,
            E::Stopped(_) | E::Status { .. } | E::Unreadable(_) => Exit::Stopped,
        };
        Failure::of(exit, &error, error.hint())
    }
}

impl From<report::Error> for Failure {
    fn from(error: report::Error) -> Failure {
        match error {
            report::Error::Ledger(error) => error.into(),
            report::Error::Sheet(error) => error.into(),
            report::Error::Corrupt(_) | report::Error::Page(_) => Failure::of(Exit::Fault, &error, error.hint()),
        }
    }
}

impl From<export::Error> for Failure {
    fn from(error: export::Error) -> Failure {
        match error {
            export::Error::Api(error) => error.into(),
            export::Error::Sheet(error) => error.into(),
            export::Error::Page { .. } => Failure::of(Exit::Stopped, &error, error.hint()),
            export::Error::Spool { .. } | export::Error::Internal(_) => Failure::of(Exit::Fault, &error, error.hint()),
            export::Error::Busy => Failure::of(Exit::Busy, &error, error.hint()),
            export::Error::Name(_) | export::Error::Ids { .. } => Failure::of(Exit::Usage, &error, error.hint()),
        }
    }
}

impl From<service::Error> for Failure {
    fn from(error: service::Error) -> Failure {
        use service::Error as E;
        let exit = match &error {
            E::InUse { .. } => Exit::Busy,
            E::WorkspaceName { .. } => Exit::Usage,
            E::File { .. }
            | E::SigningKey { .. }
            | E::Random { .. }
            | E::Sign(_)
            | E::NotRead(_)
            | E::NotStored
            | E::Database { .. }
            | E::Migrate { .. } => Exit::Fault,
        };
        Failure::of(exit, &error, Some(error.hint()))
    }
}

impl From<operations::Error> for Failure {
    fn from(error: operations::Error) -> Failure {
        use operations::Error as E;
        let hint = error.hint();
        let exit = match error {
            E::Sheet(error) => return error.into(),
            E::Ledger(error) => return error.into(),
            E::Upload(error) => return error.into(),
            E::Client(error) => return error.into(),
            E::Report(error) => return error.into(),
            E::Export(error) => return error.into(),
            E::Service(error) => return error.into(),
            E::Template(mistake) => return (*mistake).into(),
            E::WithHint { error, .. } => return Failure { hint, ..Failure::from(*error) },
            E::ReadOnlyToken => Exit::Credentials,
            E::NoBaseUrl | E::SentBefore { .. } | E::RunRefused { .. } | E::Invalid { .. } => Exit::Usage,
            E::BadInput { .. } => Exit::InputRefused,
            E::Local { .. } => Exit::Fault,
        };
        Failure::of(exit, &error, hint)
    }
}
