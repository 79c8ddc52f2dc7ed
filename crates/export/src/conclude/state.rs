//! The saved state of an export for the next export, including an interrupted replacement of the file.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sheetport_files::absolute_path::absolute;
use sheetport_files::digest;
use sheetport_sheet as sheet;
use sheetport_sheet::write::{Existing, Style, WholeFile, Written};

use crate::error::Error;
use crate::table::{RememberedColumns, SavedColumn};

const STATE: &str = "state.json";
/// The announced replacement of the file.
const REPLACEMENT: &str = "replacement.json";

/// The state of the last complete export.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    /// The file. `None` for a workbook of several lists.
    #[serde(default)]
    pub(crate) written: Option<WrittenFile>,
    /// Number of records in the list.
    pub(crate) distinct: u64,
    /// Time of the first page request. A spool with the same time is left over, not interrupted.
    pub(crate) started: jiff::Timestamp,
    pub(crate) finished: String,
    /// The records for the next comparison and for `--since last`.
    #[serde(default)]
    pub(crate) compared: Option<ComparedRecords>,
    /// The last list of changes.
    #[serde(default)]
    pub(crate) listed: Option<LastList>,
    /// Fields that were named by a flag, and that the records had.
    #[serde(default)]
    pub(crate) fields: Vec<String>,
    /// The columns that the next export has as well.
    #[serde(default)]
    pub(crate) columns: Option<RememberedColumns>,
}

/// The last list of changes, and the records for the next comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastList {
    pub(crate) records: ComparedRecords,
    /// The list, unless there was nothing to compare with.
    pub(super) file: Option<PathBuf>,
    /// Number of changes in the list.
    pub(super) count: u64,
    pub(super) finished: String,
    /// Whether the export was resumed, and may have started on an earlier day.
    #[serde(default)]
    pub(super) resumed: bool,
}

/// The saved records of an export, or their hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ComparedRecords {
    /// File name in the folder of the export.
    pub(super) name: String,
    /// Time of the first page request of the export.
    pub(crate) started: jiff::Timestamp,
}

/// A file as left by an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenFile {
    /// Absolute path.
    pub(super) path: PathBuf,
    pub(super) content: Content,
    pub(super) columns: Vec<SavedColumn>,
    /// Number of rows without the header.
    pub(crate) rows: u64,
    pub(super) style: Style,
    /// The conditions for its records. `None` in the state of an earlier version.
    #[serde(default)]
    pub(super) conditions: Option<Vec<String>>,
}

/// Length and digest of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// A new file that is about to replace another file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Replacement {
    before: Option<Content>,
    /// Name of the new file until then.
    temporary: PathBuf,
    /// The state from then on.
    state: State,
}

/// Whether a replacement has happened.
#[derive(Debug)]
pub(super) enum Replaced {
    Yes(Box<State>),
    No,
    /// The file has been moved or changed since.
    Unknown(PathBuf),
}

impl WrittenFile {
    pub(crate) fn new(
        written: &Written,
        columns: Vec<SavedColumn>,
        rows: u64,
        style: Style,
        conditions: Vec<String>,
    ) -> WrittenFile {
        let content = Content { bytes: written.bytes, sha256: written.sha256.clone() };
        WrittenFile { path: absolute(&written.path), content, columns, rows, style, conditions: Some(conditions) }
    }

    pub(super) fn as_written(&self) -> Written {
        let Content { bytes, sha256 } = self.content.clone();
        Written { path: self.path.clone(), bytes, sha256 }
    }
}

impl Content {
    /// Returns size and hash of the file at `path`. Returns `None` if the file is missing or empty.
    pub(super) fn of(path: &Path) -> Result<Option<Content>, Error> {
        let failed = |source| Error::Sheet(sheet::Error::Open { path: path.to_owned(), source });
        match File::open(path).and_then(|mut file| digest::of_reader(&mut file)) {
            Ok((_, 0)) => Ok(None),
            Ok((sha256, bytes)) => Ok(Some(Content { bytes, sha256 })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}

impl State {
    /// Returns the state in the folder of an export, or `None` if missing or unreadable.
    pub(super) fn read(folder: &Path) -> Option<State> {
        read(&folder.join(STATE))
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), Error> {
        write(&folder.join(STATE), self)
    }
}

impl Replacement {
    pub(super) fn new(before: Option<&WrittenFile>, temporary: &Path, state: State) -> Replacement {
        Replacement { before: before.map(|before| before.content.clone()), temporary: absolute(temporary), state }
    }

    /// Returns the announcement in the folder of an export, or `None` if missing or unreadable.
    pub(super) fn read(folder: &Path) -> Option<Replacement> {
        read(&folder.join(REPLACEMENT))
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), Error> {
        write(&folder.join(REPLACEMENT), self)
    }

    /// Removes an announcement. If the removal fails, a later state shows that the announcement is old.
    pub(super) fn forget(folder: &Path) {
        let _ = std::fs::remove_file(folder.join(REPLACEMENT));
    }

    /// Determines whether an interrupted export has replaced the file. `current` is the saved state.
    pub(super) fn settle(self, current: Option<&State>) -> Result<Replaced, Error> {
        let Replacement { before, temporary, state } = self;
        let Some(file) = &state.written else { return Ok(Replaced::No) };
        // The state was already saved, but the announcement was not removed.
        if current.is_some_and(|current| current.started == state.started) {
            return Ok(Replaced::No);
        }
        let path = file.path.clone();
        Ok(match Content::of(&path)? {
            Some(found) if found == file.content => Replaced::Yes(Box::new(state)),
            // A file without rows counts as missing.
            None if file.content.bytes == 0 => Replaced::Yes(Box::new(state)),
            found if temporary.exists() || found.is_some() && found == before => Replaced::No,
            _ => Replaced::Unknown(path),
        })
    }
}

/// Reads a JSON file, or returns `None` if missing or unreadable.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

pub(super) fn write(path: &Path, content: &impl Serialize) -> Result<(), Error> {
    let failed = |source| sheet::Error::Write { path: path.to_owned(), source };
    let mut file = WholeFile::create(path, Existing::Replace)?;
    let text = serde_json::to_string(content).map_err(|error| failed(error.into()))?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.finish()?;
    Ok(())
}
