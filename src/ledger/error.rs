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
    #[error("run {run} is damaged in the ledger: {what}; nothing of it was sent now")]
    Damaged { run: RunId, what: String },
    /// Commits are lost, or the tables are not ours.
    #[error("the ledger {path} is damaged: {what}", path = path.display())]
    DamagedFile { path: PathBuf, what: String },
    #[error("another sheetport process is working on this {what}")]
    Busy { what: &'static str },
    #[error("there is no run {0}")]
    NoSuchRun(RunId),
    #[error("there are no runs yet")]
    NoRuns,
}

impl Error {
    /// Whether something in the file was lost or altered.
    pub fn is_damage(&self) -> bool {
        match self {
            Error::Damaged { .. } | Error::DamagedFile { .. } | Error::Corrupt(_) => true,
            Error::Database(error) => is_damaged(error) || is_undecodable(error),
            _ => false,
        }
    }

    /// Returns how to fix the error.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Open { .. } => {
                "set SHEETPORT_HOME to a folder where you may write; an existing ledger is never replaced".to_owned()
            }
            Error::OtherVersion { .. } => "use the version that created it, or set SHEETPORT_HOME to a new folder; an \
                                           existing ledger is never replaced"
                .to_owned(),
            error @ Error::Database(_) if error.is_damage() => FILE_REMEDY.to_owned(),
            Error::DamagedFile { .. } => FILE_REMEDY.to_owned(),
            Error::Damaged { run, .. } => format!(
                "`sheetport runs check {run}` shows all of the damage, and `sheetport runs repair {run}` rebuilds what it can"
            ),
            Error::Database(_) => {
                "check that the disk is not full and that the ledger's folder is writable; then resume the run"
                    .to_owned()
            }
            Error::Corrupt(_) => format!("{FILE_REMEDY}; or use the version of sheetport that wrote it"),
            Error::Busy { .. } => "wait until the other process has finished, or stop it".to_owned(),
            Error::NoSuchRun(_) => "`sheetport runs` lists the runs".to_owned(),
            Error::NoRuns => "`sheetport upload FILE -t TEMPLATE` creates one".to_owned(),
        })
    }
}

const FILE_REMEDY: &str = "`sheetport runs check` shows what is damaged, and `sheetport runs repair` rebuilds what it can and \
                           keeps a copy; or restore the ledger's folder from a backup";

pub(super) fn damaged(run: RunId, what: impl std::fmt::Display) -> Error {
    Error::Damaged { run, what: what.to_string() }
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

/// Whether a value is of another type than it was stored as.
fn is_undecodable(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_))
}
