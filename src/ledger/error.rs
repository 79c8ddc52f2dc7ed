//! Errors of the ledger.

use std::path::PathBuf;

use super::ids::RunId;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the ledger {path} can't be opened: {reason}", path = path.display())]
    Open { path: PathBuf, reason: String },
    #[error("the ledger {path} was created by another version of sheetport (migration {step} is unknown here)", path = path.display())]
    OtherVersion { path: PathBuf, step: i64 },
    #[error("the ledger can't be read or written: {0}")]
    Database(#[from] sqlx::Error),
    #[error("the ledger contains data that this version can't read: {0}")]
    Corrupt(String),
    #[error("another sheetport process is working on this {what}")]
    Busy { what: &'static str },
    #[error("there is no run {0}")]
    NoSuchRun(RunId),
    #[error("there are no runs yet")]
    NoRuns,
}

impl Error {
    /// Returns how to fix the error.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Open { .. } => {
                "set SHEETPORT_HOME to a folder where you may write; an existing ledger is never replaced".to_owned()
            }
            Error::OtherVersion { .. } => "use the version that created it, or set SHEETPORT_HOME to a new folder; an \
                                           existing ledger is never replaced"
                .to_owned(),
            Error::Database(error) if is_damaged(error) => {
                "restore the ledger's folder from a backup, or set SHEETPORT_HOME to a new folder; an existing ledger is never replaced".to_owned()
            }
            Error::Database(_) => {
                "check that the disk is not full and that the ledger's folder is writable; then resume the run"
                    .to_owned()
            }
            Error::Corrupt(_) => "use the version of sheetport that wrote it, or restore it from a backup".to_owned(),
            Error::Busy { .. } => "wait until the other process has finished, or stop it".to_owned(),
            Error::NoSuchRun(_) => "`sheetport runs` lists the runs".to_owned(),
            Error::NoRuns => "`sheetport upload FILE -t TEMPLATE` creates one".to_owned(),
        })
    }
}

pub(super) fn corrupt(error: impl std::fmt::Display) -> Error {
    Error::Corrupt(error.to_string())
}

/// Whether SQLite reports a corrupt file or a file of another kind (result codes 11 and 26).
fn is_damaged(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    let code = code.and_then(|code| code.parse::<u32>().ok());
    code.is_some_and(|code| matches!(code & 0xFF, 11 | 26))
}
