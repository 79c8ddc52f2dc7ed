//! The folder of a template. A template may come from somebody else, so it reads only what is below its own folder, or what a
//! flag permits.

use std::path::{Component, Path, PathBuf};

const OUTSIDE: &str = "it is outside of the folder of the template; --allow-lookup FOLDER permits another folder";

/// The folder of a template.
pub(super) struct TemplateFolder<'a> {
    /// Absolute path.
    pub folder: PathBuf,
    pub permitted: Permitted<'a>,
}

/// What a template may read.
pub(super) enum Permitted<'a> {
    Everywhere,
    /// What is below its own folder or one of these.
    Below(&'a [PathBuf]),
}

impl TemplateFolder<'_> {
    /// Returns the path of a file that the template names.
    ///
    /// # Errors
    /// With the reason, if the template may not read it, or it is not a regular file: a device or a pipe may never end.
    pub(super) fn find(&self, name: &Path) -> Result<PathBuf, String> {
        let path = lexical(&self.folder.join(name));
        let folders: Vec<&Path> = match self.permitted {
            Permitted::Everywhere => return Ok(path),
            Permitted::Below(others) => {
                std::iter::once(self.folder.as_path()).chain(others.iter().map(PathBuf::as_path)).collect()
            }
        };
        // The path alone is judged first: opening a network path would already tell others who opens it.
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
