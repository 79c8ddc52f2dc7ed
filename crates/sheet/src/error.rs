//! Errors of reading and writing files, with the place and a remedy.

use std::path::{Path, PathBuf};

/// `Display` shows the problem and its place, [`Error::hint`] the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path} can't be opened: {source}", path = path.display())]
    Open { path: PathBuf, source: std::io::Error },
    #[error("{path} is not a spreadsheet: {found}", path = path.display())]
    NotASpreadsheet { path: PathBuf, found: String },
    #[error("{path} is a ZIP archive of {count} files: {names}", path = path.display())]
    SeveralFiles { path: PathBuf, count: usize, names: String },
    /// A file in a ZIP archive is encrypted.
    #[error("{path} can't be read: its file {name} is packed with a password", path = path.display())]
    PackedWithPassword { path: PathBuf, name: String },
    /// The encryption of a workbook is not supported.
    #[error("{path} is an encrypted workbook", path = path.display())]
    Encrypted { path: PathBuf },
    #[error("{path} is protected with a password", path = path.display())]
    PasswordNeeded { path: PathBuf },
    #[error("{path} can't be opened with this password", path = path.display())]
    WrongPassword { path: PathBuf },
    /// The [`Options`](super::Options) are invalid.
    #[error("{path} can't be read with these options: {reason}", path = path.display())]
    BadOptions { path: PathBuf, reason: String },
    #[error("{path} is empty", path = path.display())]
    Empty { path: PathBuf },
    #[error("{path} can't be read{place}: {reason}", path = path.display())]
    Unreadable { path: PathBuf, place: String, reason: String },
    /// A signal has ended the reading process.
    #[error("{path} can't be read{place}: the system ended the process that reads it ({signal})", path = path.display())]
    ReaderKilled { path: PathBuf, place: String, signal: String },
    /// Changed since it was saved, according to its checksums.
    #[error("{path} is damaged: {reason}", path = path.display())]
    Damaged { path: PathBuf, reason: String },
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
    /// Replaces the path, for temporary copies of a file.
    pub fn of_file(mut self, name: &Path) -> Error {
        let path = match &mut self {
            Error::Open { path, .. }
            | Error::NotASpreadsheet { path, .. }
            | Error::SeveralFiles { path, .. }
            | Error::PackedWithPassword { path, .. }
            | Error::Encrypted { path }
            | Error::PasswordNeeded { path }
            | Error::WrongPassword { path }
            | Error::BadOptions { path, .. }
            | Error::Empty { path }
            | Error::Unreadable { path, .. }
            | Error::Damaged { path, .. }
            | Error::ReaderKilled { path, .. }
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
            Error::Open { .. } => Some("check the name and your permission to read it".to_owned()),
            Error::NotASpreadsheet { .. } => Some("save it as .csv or .xlsx and try again".to_owned()),
            Error::SeveralFiles { .. } => Some(
                "unpack it and give the name of the file to read; an archive is read if it has a single one".to_owned(),
            ),
            Error::PackedWithPassword { .. } => Some("unpack it with its password and try again".to_owned()),
            Error::Encrypted { .. } => Some("open it with its password, save it without one, and try again".to_owned()),
            Error::PasswordNeeded { .. } => {
                Some("write the password to a file that only you can read, and add --password-file FILE".to_owned())
            }
            Error::WrongPassword { .. } => Some("check the password in the file of --password-file".to_owned()),
            Error::BadOptions { .. } => None,
            Error::Empty { .. } => {
                Some("save the spreadsheet again and check that the file contains its rows".to_owned())
            }
            Error::Unreadable { .. } => {
                Some("open it in your spreadsheet program, save it again as .xlsx or .csv, and try again".to_owned())
            }
            Error::ReaderKilled { .. } => Some(
                "the memory of the computer may have run out: close other programs and try again, or save the file as .csv"
                    .to_owned(),
            ),
            Error::Damaged { .. } => Some(
                "copy or download it again; a program that repairs it may lose or change values without a message"
                    .to_owned(),
            ),
            Error::NoSuchSheet { available, .. } => Some(format!("it has: {}", available.join(", "))),
            Error::Write { .. } => {
                Some("check that the folder exists, that you may write there, and that the disk is not full".to_owned())
            }
            Error::Unwritable { .. } => None,
            Error::Exists { .. } => Some("choose another name, or move the existing file first".to_owned()),
        }
    }
}
