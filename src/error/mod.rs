//! How the program ends: exit codes for scripts, error codes for programs, and a message with a hint for people.

mod cause;
mod code;

use std::fmt;

use serde_json::{Value, json};
use sheetport_client::Stop;
use sheetport_files::visible::one_line;
use sheetport_ledger::{Accounting, RunId};
use sheetport_operations as operations;

pub use code::ErrorCode;

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
    pub code: ErrorCode,
    pub message: String,
    pub hint: Option<String>,
    /// The run in progress, and the counts so far.
    pub run: Option<(RunId, Option<Box<Accounting>>)>,
    /// The next command to run.
    pub next: Option<String>,
}

impl Failure {
    pub fn new(code: ErrorCode, message: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure { code, message: message.into(), hint: Some(hint.into()), run: None, next: None }
    }

    /// Returns the exit code of a command that ends with this failure.
    pub fn exit(&self) -> Exit {
        self.code.exit()
    }

    /// Returns the member `error` of the output of `--json`.
    pub fn json(&self) -> Value {
        json!({"code": self.code, "message": self.message, "hint": self.hint, "exit": self.exit() as u8})
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
        let (code, mut message, hint) = (cause::code_of(&error), error.to_string(), error.hint());
        // Only mistakes in templates are shown over several lines; cells and names of files may have line breaks, too.
        if !error.is_about_template() {
            message = one_line(&message).into_owned();
        }
        let (run, next) = match error {
            operations::Error::InRun { run, accounting, next, .. } => (Some((run, accounting)), next),
            _ => (None, None),
        };
        Failure { code, message, hint, run, next }
    }
}

impl From<&Stop> for ErrorCode {
    fn from(stop: &Stop) -> ErrorCode {
        cause::of_stop(stop)
    }
}
