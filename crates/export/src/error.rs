//! Errors of an export.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sheetport_client as client;
use sheetport_datasets::{self as datasets, Kind, Misfits};
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
    #[error("the condition {condition} can't be decided for the record {id}: {reason}")]
    Undecided { condition: String, id: String, reason: String },
    #[error("the column {column} can't be computed for the record {id}: {reason}")]
    NotComputed { column: String, id: String, reason: String },
    #[error("none of the {records} has a field {path}")]
    NoField { records: &'static str, path: String, nearest: Option<String> },
    #[error("two columns are called '{0}'")]
    SameColumns(String),
    #[error("{path} is not a link to an export to this name, so it is not replaced", path = path.display())]
    LatestTaken { path: PathBuf },
    #[error("the link {path} can't be made: {source}", path = path.display())]
    NoLink { path: PathBuf, source: io::Error },
    #[error("{path} was not written: {changed}", path = path.display(), changed = joined(changed))]
    Types { path: PathBuf, changed: Vec<ChangedType> },
    #[error("{path} {source}, so nothing is changed", path = path.display())]
    Dataset { path: PathBuf, source: datasets::Error },
    #[error("internal error: {0}")]
    Internal(&'static str),
}

/// A column whose type does not hold all values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedType {
    column: String,
    declared: Kind,
    /// The date of the last export with this type. `None` if the contract or the template says so.
    until: Option<String>,
    count: u64,
    /// A record, and its value.
    record: String,
    value: String,
}

impl ChangedType {
    pub(crate) fn new(column: String, misfits: Misfits, until: Option<&str>) -> ChangedType {
        let Misfits { declared, count, record, value, .. } = misfits;
        ChangedType { column, declared, until: until.map(str::to_owned), count, record, value }
    }
}

impl fmt::Display for ChangedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ChangedType { column, declared, until, count, record, value } = self;
        let noun = declared.noun();
        match (until, count) {
            (Some(until), 1) => {
                write!(
                    f,
                    "the column {column} was {noun} until {until}, and a value is not: '{value}' in the record {record}"
                )
            }
            (Some(until), count) => write!(
                f,
                "the column {column} was {noun} until {until}, and {count} values are not, such as '{value}' in the record {record}"
            ),
            (None, 1) => write!(
                f,
                "the column {column} is {noun} in the contract or the template, and a value is not: '{value}' in the record {record}"
            ),
            (None, count) => write!(
                f,
                "the column {column} is {noun} in the contract or the template, and {count} values are not, such as '{value}' in the \
                 record {record}"
            ),
        }
    }
}

fn joined(changed: &[ChangedType]) -> String {
    changed.iter().map(ChangedType::to_string).collect::<Vec<_>>().join("; ")
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
    #[error("was begun with another column {}", columns.join(", "))]
    OtherColumns { columns: Vec<String> },
    #[error("was begun with other conditions (where)")]
    Conditions,
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
            NotAppended::OtherColumns { .. } => {
                "ask for the same columns as before, or move the file away: the next export begins a new one"
            }
            NotAppended::Conditions => {
                "give the same conditions as before, or move the file away: the next export begins a new one"
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

    /// Whether a value does not fit the type of its column.
    pub(crate) fn is_of_value(&self) -> bool {
        matches!(self, Error::Dataset { source: datasets::Error::Value { .. }, .. })
    }

    /// Whether the records are to blame, so that the same command has to read them again.
    pub(crate) fn is_of_records(&self) -> bool {
        use datasets::Error as E;
        match self {
            Error::Types { .. } | Error::NotComputed { .. } | Error::Undecided { .. } => true,
            Error::Dataset { source, .. } => {
                matches!(source, E::NoId { .. } | E::Value { .. } | E::TooManyColumns { .. })
            }
            _ => false,
        }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Api(error) => error.hint(),
            Error::Sheet(error) => error.hint(),
            Error::Page { .. } => Some("check the base URL; a proxy or another service may have answered".to_owned()),
            Error::Spool { .. } => {
                Some("check that the disk is not full, or set SHEETPORT_HOME to another folder".to_owned())
            }
            Error::Undecided { .. } => Some("change the condition; docs/expressions.md describes expressions".to_owned()),
            Error::NotComputed { .. } => {
                Some("change the expression of the column; docs/expressions.md describes expressions".to_owned())
            }
            Error::NoField { nearest: Some(nearest), .. } => Some(format!("did you mean {nearest}?")),
            Error::NoField { nearest: None, .. } => {
                Some("the first line of an export without --columns has the names of all fields".to_owned())
            }
            Error::SameColumns(_) => Some("give one of them another name".to_owned()),
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
            Error::LatestTaken { .. } => {
                Some("give --latest another name, move the file away, or add --replace (in a job: replace = true)".to_owned())
            }
            Error::NoLink { .. } => Some(
                "choose a folder of a file system with symbolic links (under Windows, only administrators can make them, unless the \
                 developer mode is on), or leave out --latest"
                    .to_owned(),
            ),
            Error::AppendedKept { .. } => Some("add --append, or move the file away".to_owned()),
            Error::Ids { .. } => {
                Some("specify the column with --column: its header, its letter or its number".to_owned())
            }
            Error::Types { .. } => Some(
                "correct these records, export to .csv or .ndjson, which take any values, or begin the file anew with the types \
                 of all values: --replace (in a job: replace = true)"
                    .to_owned(),
            ),
            Error::Dataset { source, .. } => Some(source.hint().to_owned()),
            Error::Internal(_) => Some("please report this".to_owned()),
        }
    }
}
