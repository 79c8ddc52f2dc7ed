//! Errors of an export.

use std::path::PathBuf;

use crate::client;
use crate::sheet;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Api(#[from] client::Error),
    #[error(transparent)]
    Sheet(#[from] sheet::Error),
    #[error("page {page} is not a valid response: {reason}")]
    Page { page: u64, reason: String },
    #[error("cannot use {path}: {source}", path = path.display())]
    Spool { path: PathBuf, source: std::io::Error },
    #[error("another export to this file is running")]
    Busy,
    #[error("invalid file name: {0}")]
    Name(String),
    #[error("{path}: {reason}", path = path.display())]
    Ids { path: PathBuf, reason: String },
    #[error("{path} is an export of workspace {workspace} at {base_url}, so it is not replaced", path = path.display())]
    OtherOrigin { path: PathBuf, workspace: String, base_url: String },
    #[error("{path} has {count} changes of an earlier export of today, so it is not replaced", path = path.display())]
    ChangesKept { path: PathBuf, count: u64 },
    #[error("internal error: {0}")]
    Internal(&'static str),
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Api(error) => error.hint(),
            Error::Sheet(error) => error.hint(),
            Error::Page { .. } => Some("check the base URL; a proxy or another service may have answered".to_owned()),
            Error::Spool { .. } => {
                Some("check that the disk is not full, or set SHEETPORT_HOME to another folder".to_owned())
            }
            Error::Busy => Some("wait until it ends, or choose another file name".to_owned()),
            Error::Name(_) => Some("file names can contain {kind}, {date}, {time} and {workspace}".to_owned()),
            Error::OtherOrigin { .. } => Some(
                "check the profile, the tokens and the address; if this export is to take its place, move the file away"
                    .to_owned(),
            ),
            Error::ChangesKept { .. } => Some(
                "move the file away once its changes are processed, or name each file by its time, as in \
                 changes-{date}-{time}.csv"
                    .to_owned(),
            ),
            Error::Ids { .. } => {
                Some("specify the column with --column: its header, its letter or its number".to_owned())
            }
            Error::Internal(_) => Some("please report this".to_owned()),
        }
    }
}
