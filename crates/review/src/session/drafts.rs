//! The decisions about the columns of files that were not sent yet, so that a person who opens a file again is not asked again.
//! They are no templates: no other file and no other command finds them.

use std::path::{Path, PathBuf};

use sheetport_files::text_file::read_text;
use sheetport_sheet::write::{Existing, WholeFile};

/// The folder of the drafts, below the home folder.
const FOLDER: &str = "drafts";

/// The draft of the template for a file.
#[derive(Debug)]
pub(super) struct KeptDraft {
    path: PathBuf,
}

impl KeptDraft {
    /// Returns the draft for the file with this hash, whether or not there is one.
    pub(super) fn of(home: &Path, file_hash: &str) -> KeptDraft {
        KeptDraft { path: home.join(FOLDER).join(format!("{file_hash}.toml")) }
    }

    /// Returns the text of the draft, if there is one that can be read.
    pub(super) fn text(&self) -> Option<String> {
        read_text(&self.path).ok()
    }

    /// Keeps a text.
    ///
    /// # Errors
    /// If the folder can't be written.
    pub(super) fn keep(&self, text: &str) -> Result<(), String> {
        if let Some(folder) = self.path.parent() {
            sheetport_files::readers::create_private_folder(folder).map_err(|error| error.to_string())?;
        }
        let file = WholeFile::create(&self.path, Existing::Replace).map_err(|error| error.to_string())?;
        file.finish_with(text.as_bytes()).map(drop).map_err(|error| error.to_string())
    }

    /// Forgets the draft: its template is saved, or it is not wanted any more.
    pub(super) fn forget(&self) {
        // One that stays does no harm: it says what the saved template says.
        let _ = std::fs::remove_file(&self.path);
    }
}
