//! The location of a spreadsheet's bytes, and its name in messages.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::PrivateFile;

#[derive(Clone, Debug)]
pub(super) struct Location {
    /// Opens the bytes in this process.
    pub at: PathBuf,
    /// The file in messages.
    pub shown: PathBuf,
    /// The name of the only sheet of a text.
    pub title: String,
    /// The file unpacked from an archive.
    unpacked: Option<Arc<PrivateFile>>,
}

impl Location {
    pub(super) fn of(path: &Path) -> Location {
        let title = match PrivateFile::is_private(path) {
            true => PrivateFile::TITLE.to_owned(),
            false => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        };
        Location { at: path.to_owned(), shown: path.to_owned(), title, unpacked: None }
    }

    /// Returns the location of a file with this name from the archive at this location.
    pub(super) fn unpacked(&self, name: &str, file: PrivateFile) -> Location {
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let title = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (at, shown) = (file.path().to_owned(), self.shown.clone());
        Location { at, shown, title, unpacked: Some(Arc::new(file)) }
    }

    pub(super) fn is_unpacked(&self) -> bool {
        self.unpacked.is_some()
    }
}
