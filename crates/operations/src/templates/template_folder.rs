//! The folder of a template. A template may come from another person, so a template reads only files below its own folder, or
//! below folders permitted by a flag.

use std::path::{Component, Path, PathBuf};

const OUTSIDE: &str = "it is outside of the folder of the template; --allow-lookup FOLDER permits another folder";

/// The folder of a template.
pub(super) struct TemplateFolder<'a> {
    /// Absolute path.
    pub folder: PathBuf,
    pub permitted: Permitted<'a>,
}

/// The files that a template may read.
pub(super) enum Permitted<'a> {
    Everywhere,
    /// Files below the own folder or below one of these.
    Below(&'a [PathBuf]),
}

impl TemplateFolder<'_> {
    /// Returns the path of a file that the template refers to.
    ///
    /// # Errors
    /// The reason, if the template may not read the file, or the file is not a regular file: a device or pipe may never end.
    pub(super) fn find(&self, name: &Path) -> Result<PathBuf, String> {
        let path = lexical(&self.folder.join(name));
        let folders: Vec<&Path> = match self.permitted {
            Permitted::Everywhere => return Ok(path),
            Permitted::Below(others) => {
                std::iter::once(self.folder.as_path()).chain(others.iter().map(PathBuf::as_path)).collect()
            }
        };
        // Checks the path before any access: opening a network path would already disclose the user to others.
        let absolute = |folder: &&Path| std::path::absolute(folder).map(|folder| lexical(&folder)).ok();
        if !folders.iter().filter_map(absolute).any(|folder| path.starts_with(folder)) {
            return Err(OUTSIDE.to_owned());
        }
        let real = path.canonicalize().map_err(|error| error.to_string())?;
        // A link may lead out of the folder.
        if !folders.iter().filter_map(|folder| folder.canonicalize().ok()).any(|folder| real.starts_with(folder)) {
            return Err(OUTSIDE.to_owned());
        }
        match real.metadata().map_err(|error| error.to_string())?.is_file() {
            true => Ok(path),
            false => Err("it is not a file".to_owned()),
        }
    }
}

/// Resolves `.` and `..` without looking at the disk.
fn lexical(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(resolved.pop()),
            other => resolved.push(other),
        }
    }
    resolved
}
