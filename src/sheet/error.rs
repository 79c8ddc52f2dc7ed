//! Why a file could not be read or written, with the place and the remedy.

use std::path::{Path, PathBuf};

/// A fault of a file. `Display` says what is wrong and where; [`Error::hint`] says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path} can't be opened: {source}", path = path.display())]
    Open { path: PathBuf, source: std::io::Error },
    #[error("{path} is not a spreadsheet: {found}", path = path.display())]
    NotASpreadsheet { path: PathBuf, found: String },
    #[error("{path} is an encrypted workbook", path = path.display())]
    Encrypted { path: PathBuf },
    /// The file can't be read the way that [`Options`](super::Options) ask for.
    #[error("{path} can't be read as asked: {reason}", path = path.display())]
    BadOptions { path: PathBuf, reason: String },
    #[error("{path} is empty", path = path.display())]
    Empty { path: PathBuf },
    #[error("{path} can't be read{place}: {reason}", path = path.display())]
    Unreadable { path: PathBuf, place: String, reason: String },
    #[error("{path} has no sheet '{name}'", path = path.display())]
    NoSuchSheet { path: PathBuf, name: String, available: Vec<String> },
    #[error("{path} can't be written: {source}", path = path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("{path} can't be written: {reason}", path = path.display())]
    Unwritable { path: PathBuf, reason: String },
    #[error("{path} already exists", path = path.display())]
    Exists { path: PathBuf },
}

impl Error {
    /// The same fault, of the file by another name: what a person knows it as.
    pub fn of_file(mut self, name: &Path) -> Error {
        let path = match &mut self {
            Error::Open { path, .. }
            | Error::NotASpreadsheet { path, .. }
            | Error::Encrypted { path }
            | Error::BadOptions { path, .. }
            | Error::Empty { path }
            | Error::Unreadable { path, .. }
            | Error::NoSuchSheet { path, .. }
            | Error::Write { path, .. }
            | Error::Unwritable { path, .. }
            | Error::Exists { path } => path,
        };
        name.clone_into(path);
        self
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Open { .. } => Some("check the name and that you may read it".to_owned()),
            Error::NotASpreadsheet { .. } => Some("save it as .csv or .xlsx and try again".to_owned()),
            Error::Encrypted { .. } => Some("open it with its password, save it without one, and try that".to_owned()),
            Error::BadOptions { .. } => None,
            Error::Empty { .. } => {
                Some("save the spreadsheet again and check that its rows are in the file".to_owned())
            }
            Error::Unreadable { .. } => {
                Some("open it in your spreadsheet program, save it again as .xlsx or .csv, and try that".to_owned())
            }
            Error::NoSuchSheet { available, .. } => Some(format!("it has: {}", available.join(", "))),
            Error::Write { .. } => {
                Some("check that the folder exists, that you may write there and that the disk has room".to_owned())
            }
            Error::Unwritable { .. } => None,
            Error::Exists { .. } => Some("choose another name, or move that file away first".to_owned()),
        }
    }
}
