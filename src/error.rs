//! What the program ends with: an exit code for scripts, and for people a message that says what to do.

use std::fmt;

use crate::diagnostics::Mistake;
use crate::{client, export, ledger, report, service, sheet, upload};

/// How the program ends. Part of the interface: a code keeps its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All went well.
    Done = 0,
    /// A fault of ours or of the disk.
    Fault = 1,
    /// Usage, settings or template; nothing was sent.
    Usage = 2,
    /// Done, but some rows were rejected or failed.
    RowsFailed = 3,
    /// Done, but of some rows it is unknown whether they were applied.
    Unknown = 4,
    /// The service refused the credentials.
    Credentials = 5,
    /// Another run holds this file or ledger.
    Busy = 6,
    /// The input can't be read or is hostile.
    InputRefused = 7,
    /// An export that can't be shown to be complete.
    Incomplete = 8,
    /// Stopped early; `resume` carries on.
    Stopped = 9,
    /// Stopped by Ctrl-C; `resume` carries on.
    Interrupted = 130,
    /// Stopped by SIGTERM; `resume` carries on.
    Terminated = 143,
}

/// The exit codes as the help shows them.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  all went well
  1  a fault of sheetport or of the disk
  2  usage, settings or template; nothing was sent
  3  done, some rows were rejected or failed
  4  done, of some rows it is unknown whether they were applied
  5  the service refused the credentials
  6  another run holds this file or ledger
  7  the input can't be read
  8  the export can't be shown to be complete
  9  stopped early; `sheetport resume` carries on
  130, 143  stopped by a signal; `sheetport resume` carries on";

/// Why a command could not do its work. The message ends the command; the hint says what to do.
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
