//! A file claimed by an upload step: in a folder, or in object storage.

use std::path::{Path, PathBuf};

use sheetport_operations::error::Error;
use sheetport_operations::files::InputFile;

use super::objects::TakenObject;
use super::taken::Taken;

/// A claimed file. Other processes leave the file alone.
pub(crate) enum Claimed {
    File(Taken),
    Object(Box<TakenObject>),
}

impl Claimed {
    /// Returns the path or address of the file in the ledger.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Claimed::File(taken) => taken.path.clone(),
            Claimed::Object(taken) => taken.path(),
        }
    }

    /// Returns the spreadsheet, shown as `name` in messages.
    pub(crate) async fn input(&self, name: &Path) -> Result<InputFile, Error> {
        match self {
            Claimed::File(taken) => {
                let file = taken.open().map_err(|why| refused(name, &why.to_string()))?;
                Ok(InputFile::dropped(file, &taken.path, name))
            }
            Claimed::Object(taken) => taken.input(name).await,
        }
    }

    /// Puts the file back into its inbox. Returns its current path.
    pub(crate) async fn put_back(self) -> PathBuf {
        match self {
            Claimed::File(taken) => taken.put_back(),
            Claimed::Object(taken) => taken.put_back().await,
        }
    }

    /// Moves the file to a folder under its name, with a number if the name is taken. Returns the new path.
    ///
    /// # Errors
    /// The file and the reason, if the move fails. The file then stays in place.
    pub(crate) async fn move_into(self, folder: &Path) -> Result<PathBuf, (Claimed, String)> {
        match self {
            Claimed::File(taken) => {
                taken.move_into(folder).map_err(|(taken, error)| (Claimed::File(taken), error.to_string()))
            }
            Claimed::Object(taken) => {
                let moved = taken.move_into(folder).await;
                moved.map_err(|(taken, error)| (Claimed::Object(Box::new(taken)), error.to_string()))
            }
        }
    }
}

/// Returns the error for a file that was exchanged for another after it was found.
pub(crate) fn refused(name: &Path, why: &str) -> Error {
    let message = format!("{} is not read: {why}", name.display());
    Error::FileInUse { message, hint: "whoever can write to the folder has put it there".to_owned() }
}
