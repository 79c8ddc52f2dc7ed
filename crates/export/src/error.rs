//! Errors of an export.

use std::io;
use std::path::{Path, PathBuf};

use sheetport_client as client;
use sheetport_sheet as sheet;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Api(#[from] client::Error),
    #[error(transparent)]
    Sheet(#[from] sheet::Error),
    #[error("page {page} is not a valid response: {reason}")]
    Page { page: u64, reason: String },
    #[error("cannot use {path}: {source}", path = path.display())]
    Spool { path: PathBuf, source: io::Error },
    #[error("another export to this file is running")]
    Busy,
    #[error("invalid file name: {0}")]
    Name(String),
    #[error("{path}: {reason}", path = path.display())]
    Ids { path: PathBuf, reason: String },
    #[error("{path} is an export of workspace {workspace} at {base_url}, so it is not replaced", path = path.display())]
    OtherOrigin { path: PathBuf, workspace: String, base_url: String },
    #[error("{path} {why}, so it is not replaced", path = path.display(), why = not_ours(*is_changed))]
    NotOurs { path: PathBuf, is_changed: bool },
    #[error("{path} has {count} changes of an earlier export of today, so it is not replaced", path = path.display())]
    ChangesKept { path: PathBuf, count: u64 },
    #[error("{path} {why}, so nothing is appended", path = path.display())]
    NotAppended { path: PathBuf, why: NotAppended },
    #[error("{path} has the changes of several exports, so it is not replaced", path = path.display())]
    AppendedKept { path: PathBuf },
    #[error("the conditions of the template can't be decided for the record {id}: {reason}")]
    Undecided { id: String, reason: String },
    #[error("internal error: {0}")]
    Internal(&'static str),
}

/// Why nothing is appended to a file.
#[derive(Debug, thiserror::Error)]
pub enum NotAppended {
    #[error("has changed since the last export wrote to it")]
    Changed,
    #[error("is not the file of an earlier export to this name")]
    Unknown,
    #[error("was begun with other values of --delimiter, --locale, --bom or --exact")]
    Style,
    #[error("has no column {}", columns.join(", "))]
    Columns { columns: Vec<String> },
    #[error("can't be compared with the last export, whose records are gone")]
    NoRecords,
    #[error("has changed since an export to it was interrupted")]
    Interrupted,
}

impl NotAppended {
    fn hint(&self) -> &'static str {
        match self {
            NotAppended::Changed => {
                "nothing is lost: move the file away, and the next export begins a new one with all changes since then"
            }
            NotAppended::Unknown => "choose another name, or move the file away: the next export begins a new one",
            NotAppended::Style => "leave these flags out, or move the file away: the next export begins a new one",
            NotAppended::Columns { .. } => {
                "nothing is lost: move the file away, and the next export begins a new one with the further columns"
            }
            NotAppended::NoRecords => "move the file away: the next export begins a new one with all records",
            NotAppended::Interrupted => {
                "move the file away: the next export begins a new one with all changes since the export before, some of \
                 which may be in both files"
            }
        }
    }
}

fn not_ours(is_changed: bool) -> &'static str {
    if is_changed { "has changed since it was exported" } else { "is not known to be an export" }
}

impl Error {
    /// Returns the conversion of an error of a file of ours.
    pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Error + use<'_> {
        |source| Error::Spool { path: path.to_owned(), source }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Api(error) => error.hint(),
            Error::Sheet(error) => error.hint(),
            Error::Page { .. } => Some("check the base URL; a proxy or another service may have answered".to_owned()),
            Error::Spool { .. } => {
                Some("check that the disk is not full, or set SHEETPORT_HOME to another folder".to_owned())
            }
            Error::Undecided { .. } => Some("change `where` in the template; docs/expressions.md describes conditions".to_owned()),
            Error::Busy => Some("wait until it ends, or choose another file name".to_owned()),
            Error::Name(_) => Some("file names can contain {kind}, {date}, {time} and {workspace}".to_owned()),
            Error::OtherOrigin { .. } => Some(
                "check the profile, the tokens and the address; if this export is to take its place, move the file away"
                    .to_owned(),
            ),
            Error::NotOurs { .. } => {
                Some("choose another name, move the file away, or add --replace (in a job: replace = true)".to_owned())
            }
            Error::ChangesKept { .. } => Some(
                "move the file away once its changes are processed, or name each file by its time, as in \
                 changes-{date}-{time}.csv"
                    .to_owned(),
            ),
            Error::NotAppended { why, .. } => Some(why.hint().to_owned()),
            Error::AppendedKept { .. } => Some("add --append, or move the file away".to_owned()),
            Error::Ids { .. } => {
                Some("specify the column with --column: its header, its letter or its number".to_owned())
            }
            Error::Internal(_) => Some("please report this".to_owned()),
        }
    }
}
