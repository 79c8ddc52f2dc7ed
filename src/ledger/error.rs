//! What can keep the ledger from being used.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the ledger {path} can't be opened: {reason}", path = path.display())]
    Open { path: PathBuf, reason: String },
    #[error("the ledger {path} was made by another version of sheetport (step {step} of its tables is not known here)", path = path.display())]
    OtherVersion { path: PathBuf, step: i64 },
    #[error("the ledger can't be read or written: {0}")]
    Database(#[from] sqlx::Error),
    #[error("the ledger holds something that this version can't read: {0}")]
    Corrupt(String),
    #[error("another sheetport is at work on this {what}")]
    Busy { what: &'static str },
    #[error("there is no run {0}")]
    NoSuchRun(super::RunId),
    #[error("there are no runs yet")]
    NoRuns,
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Open { .. } => {
                "set SHEETPORT_HOME to a folder where you may write; an old ledger is never replaced".to_owned()
            }
            Error::OtherVersion { .. } => "use the version that made it, or set SHEETPORT_HOME to a new folder; an old \
                                           ledger is never replaced"
                .to_owned(),
            Error::Database(error) if is_damaged(error) => {
                "restore the ledger's folder from a backup, or set SHEETPORT_HOME to a new folder; nothing is made anew over an old ledger".to_owned()
            }
            Error::Database(_) => {
                "check that the disk has room and that the ledger's folder can be written; then resume the run"
                    .to_owned()
            }
            Error::Corrupt(_) => "use the version of sheetport that wrote it, or restore it from a backup".to_owned(),
            Error::Busy { .. } => "wait until that one has ended, or stop it".to_owned(),
            Error::NoSuchRun(_) => "`sheetport runs` lists them".to_owned(),
            Error::NoRuns => "`sheetport upload FILE -t TEMPLATE` makes one".to_owned(),
        })
    }
}

/// Whether the database itself says that it is corrupt or no database (the codes 11 and 26 of SQLite).
fn is_damaged(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    let code = code.and_then(|code| code.parse::<u32>().ok());
    code.is_some_and(|code| matches!(code & 0xFF, 11 | 26))
}
