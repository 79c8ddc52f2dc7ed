//! Exports: pages of a list or single records, kept as they came in a spool, then written as a file that is whole or not
//! there, with a manifest beside it that says how that is known.

mod ahead;
mod before;
mod changes;
mod columns;
mod conclude;
mod gather;
mod history;
mod ids;
mod layout;
pub mod locale;
mod look;
mod making;
mod manifest;
mod names;
mod rows;
mod run;
mod sort;
mod spool;
pub mod template;

use std::path::PathBuf;
use std::time::SystemTime;

use jiff::civil::Date;

pub use self::changes::Changes;
pub use self::ids::IdFile;
pub use self::manifest::Manifest;
pub use self::names::has_date;
pub use self::run::export;
pub use self::template::Template;
use crate::client;
use crate::records::{List, Single};
use crate::sheet;
use crate::sheet::write::{Packing, Shape, Style, TextKind};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Api(#[from] client::Error),
    #[error(transparent)]
    Sheet(#[from] sheet::Error),
    #[error("page {page} can't be understood: {reason}")]
    Page { page: u64, reason: String },
    #[error("the folder {path} can't be used: {source}", path = path.display())]
    Spool { path: PathBuf, source: std::io::Error },
    #[error("another export to this file is under way")]
    Busy,
    #[error("the name of the file can't be made: {0}")]
    Name(String),
    #[error("{path}: {reason}", path = path.display())]
    Ids { path: PathBuf, reason: String },
    #[error("the export ended badly within")]
    Stuck,
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Api(error) => error.hint(),
            Error::Sheet(error) => error.hint(),
            Error::Page { .. } => {
                Some("check the base address; something else may have answered in the service's place".to_owned())
            }
            Error::Spool { .. } => {
                Some("check that the disk has room, or set SHEETPORT_HOME to another folder".to_owned())
            }
            Error::Busy => Some("wait for it to end, or give this one another name".to_owned()),
            Error::Name(_) => Some("a name can have {date} and {workspace} in it".to_owned()),
            Error::Ids { .. } => Some("name the column by its header, its letters or its number".to_owned()),
            Error::Stuck => Some("please report this".to_owned()),
        }
    }
}

/// What is read.
#[derive(Clone, Debug)]
pub enum What {
    List(&'static List),
    /// Each record by an id from a file.
    Ids {
        single: &'static Single,
        file: IdFile,
        by_external_id: bool,
    },
}

/// Where it goes.
#[derive(Clone, Debug)]
pub enum Output {
    /// The name, which may have `{date}` and `{workspace}` in it.
    File {
        pattern: String,
        shape: Shape,
    },
    Stdout {
        kind: TextKind,
        packing: Packing,
    },
}

/// Which of a list's records are in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// All.
    Ever,
    /// Those that changed since the last export to this name began, or all at the first.
    Last,
    Moment(jiff::Timestamp),
}

/// An export as it is asked for.
#[derive(Debug)]
pub struct Job {
    pub what: What,
    pub output: Output,
    pub style: Style,
    pub template: Option<Template>,
    /// The path of an array of which each element gets a row.
    pub explode: Option<String>,
    pub since: Since,
    /// Reads the ids a second time.
    pub verify: bool,
    /// Does not carry on with an earlier one that was cut off.
    pub fresh: bool,
    /// How many files of the name stay, this one included; nothing for all.
    pub keep: Option<usize>,
    /// The least share of the last export's records with which the file is put in place.
    pub min_ratio: Option<f64>,
    pub concurrency: usize,
    /// The folder of what outlives an export.
    pub home: PathBuf,
    pub base_url: String,
    pub workspace: String,
    /// The language that answers are asked for in.
    pub language: Option<String>,
    pub clock: Clock,
}

/// What time it is: told once, but for the end.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    pub started: jiff::Timestamp,
    /// The day for the file's name, where the person is.
    pub today: Date,
    pub now: fn() -> SystemTime,
}

/// What an export brought.
#[derive(Debug)]
pub struct Exported {
    /// Where the table is: the name that was asked for, or that with `.incomplete` at its end; nothing on standard
    /// output.
    pub path: Option<PathBuf>,
    pub manifest: Manifest,
    /// Where the ids stand that were not found.
    pub not_found: Option<PathBuf>,
    /// Older files that made room.
    pub removed: Vec<PathBuf>,
    /// What could not be done after the file was in place.
    pub remarks: Vec<String>,
}
