//! A link to the newest of several dated files: `--latest`.

use std::io;
use std::path::{Path, PathBuf};

use sheetport_files::absolute_path::absolute;
use sheetport_sheet as sheet;
use sheetport_sheet::write::folder;

use super::file_names::{is_dated, resolve};
use super::manifest::Manifest;
use crate::error::Error;
use crate::job::{Job, Output};

/// Links to a dated file and its manifest.
#[derive(Clone, Debug)]
pub(crate) struct LatestLink {
    link: PathBuf,
}

impl LatestLink {
    /// Returns the link of an export to `path`, if requested. Checks, before the first request, that it can be placed.
    ///
    /// # Errors
    /// If its name belongs to something else, or the folder can't have links.
    pub(crate) fn of(job: &Job, path: Option<&Path>) -> Result<Option<LatestLink>, Error> {
        let (Some(pattern), Some(path), Output::File { pattern: of_files, .. }) = (&job.latest, path, &job.output)
        else {
            return Ok(None);
        };
        let link = resolve(pattern, job.clock.local.datetime(), &job.workspace).map_err(Error::Name)?;
        let failed = |source| sheet::Error::Write { path: link.clone(), source };
        std::fs::create_dir_all(folder(&link)).map_err(failed)?;
        for (place, suffix) in [(link.clone(), ""), (Manifest::path_of(&link), Manifest::SUFFIX)] {
            let is_ours = |target: PathBuf| {
                let target = absolute(folder(&place).join(target));
                let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let is_in_folder = target.parent() == absolute(path).parent();
                is_in_folder && name.strip_suffix(suffix).is_some_and(|name| is_dated(of_files, &job.workspace, name))
            };
            let is_free = match place.symlink_metadata() {
                Ok(found) if found.is_symlink() => job.options.replace || place.read_link().is_ok_and(is_ours),
                Ok(found) => job.options.replace && found.is_file(),
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            };
            if !is_free {
                return Err(Error::LatestTaken { path: place });
            }
        }
        let latest = LatestLink { link };
        let trial =
            latest.make(&latest.link, path).map_err(|source| Error::NoLink { path: latest.link.clone(), source })?;
        // A link that stays is replaced by the next one.
        let _ = std::fs::remove_file(trial);
        Ok(Some(latest))
    }

    /// Points the links to the file at `path` and its manifest, and returns the first.
    pub(crate) fn place(self, path: &Path) -> Result<PathBuf, Error> {
        for (link, target) in
            [(self.link.clone(), path.to_owned()), (Manifest::path_of(&self.link), Manifest::path_of(path))]
        {
            let placed = self.make(&link, &target).and_then(|new| std::fs::rename(new, &link));
            placed.map_err(|source| Error::NoLink { path: link.clone(), source })?;
        }
        Ok(self.link)
    }

    /// Makes a link under a temporary name, and returns that.
    fn make(&self, link: &Path, target: &Path) -> io::Result<PathBuf> {
        let name = link.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let new = link.with_file_name(format!(".{name}.sheetport.link"));
        match std::fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // A folder with both can be moved.
        let is_beside = absolute(link).parent() == absolute(target).parent();
        match target.file_name().filter(|_| is_beside) {
            Some(name) => symlink(Path::new(name), &new)?,
            None => symlink(&absolute(target), &new)?,
        }
        Ok(new)
    }
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(windows)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, link)
}
