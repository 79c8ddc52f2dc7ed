//! Which files an export may replace: only those that an export wrote. Its manifest beside the file proves it, or the record of written
//! files in the home folder, because programs that take a file away often take its manifest first.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sheetport_files::absolute_path::absolute;
use sheetport_files::digest;
use sheetport_files::readers::create_private_folder;
use sheetport_sheet::write::Written;

use super::file_names::incomplete;
use super::manifest::Manifest;
use super::state::{Content, State, read, write};
use crate::error::Error;
use crate::format::Format;
use crate::job::{Job, Output};

/// The folder in the home folder with a record for each path.
const FOLDER: &str = "written-files";

/// The files that exports with this home folder wrote.
pub(crate) struct WrittenFiles {
    folder: PathBuf,
}

/// What exports wrote to a path last.
#[derive(Serialize, Deserialize)]
struct Record {
    path: PathBuf,
    /// The content before the last one, and the last one, which is recorded before it is put in place.
    contents: Vec<Content>,
}

impl WrittenFiles {
    pub(crate) fn of(home: &Path) -> WrittenFiles {
        WrittenFiles { folder: home.join(FOLDER) }
    }

    fn record_of(&self, path: &Path) -> PathBuf {
        let digest = digest::of_parts([path.as_os_str().as_encoded_bytes()]);
        self.folder.join(format!("{}.json", digest::hex(&digest[..12])))
    }

    /// Records a file that is about to be put in place.
    pub(crate) fn announce(&self, file: &Written) -> Result<(), Error> {
        let path = absolute(&file.path);
        let record = self.record_of(&path);
        let earlier = read::<Record>(&record).and_then(|mut earlier| earlier.contents.pop());
        let content = Content { bytes: file.bytes, sha256: file.sha256.clone() };
        create_private_folder(&self.folder).map_err(Error::at(&self.folder))?;
        write(&record, &Record { path, contents: earlier.into_iter().chain([content]).collect() })
    }

    /// Checks, before the first request, that an export may replace the files at `path` and at the name for an incomplete export.
    ///
    /// # Errors
    /// [`Error::NotOurs`] if a file with content is there that no export wrote, or that was changed since.
    pub(crate) fn check(&self, job: &Job, path: Option<&Path>, state: Option<&State>) -> Result<(), Error> {
        let Some(path) = path.filter(|_| !job.options.replace) else { return Ok(()) };
        // Appending has a stricter rule for the file, and a database says itself whose it is.
        let is_database = matches!(&job.output, Output::File { format: Format::Sqlite, .. });
        let whole = (!job.options.append && !is_database).then(|| path.to_owned());
        for path in whole.into_iter().chain([incomplete(path)]) {
            self.check_file(job, &path, state)?;
        }
        Ok(())
    }

    fn check_file(&self, job: &Job, path: &Path, state: Option<&State>) -> Result<(), Error> {
        let Ok(found) = path.symlink_metadata() else { return Ok(()) };
        // A file without content is a name that somebody has reserved.
        if found.len() == 0 && found.is_file() {
            return Ok(());
        }
        let manifest = Manifest::beside(path).filter(|manifest| is_of_file(manifest, path));
        let record: Option<Record> = read(&self.record_of(&absolute(path)));
        let written = state.and_then(|state| state.written.as_ref()).filter(|written| written.path == absolute(path));
        let is_known = manifest.is_some() || record.is_some() || written.is_some();
        let of_manifest =
            manifest.as_ref().map(|manifest| Content { bytes: manifest.bytes, sha256: manifest.sha256.clone() });
        // An object in a bucket is represented by a file of its length.
        let is_stand_in = job.shown_pattern.is_some();
        if of_manifest.as_ref().is_some_and(|content| content.bytes == found.len())
            && (is_stand_in || is_older_than_manifest(&found, path))
        {
            return Ok(());
        }
        let contents = record.map(|record| record.contents).unwrap_or_default();
        let contents = contents.into_iter().chain(written.map(|written| written.content.clone())).chain(of_manifest);
        let mut of_length = contents.filter(|content| content.bytes == found.len()).peekable();
        let is_ours = found.is_file()
            && of_length.peek().is_some()
            && (is_stand_in || Content::of(path)?.is_some_and(|now| of_length.any(|content| content == now)));
        match is_ours {
            true => Ok(()),
            false => Err(Error::NotOurs { path: path.to_owned(), is_changed: is_known }),
        }
    }

    /// Does the same for a list of changes. Its name proves enough, because people mark in the list what they have done.
    ///
    /// # Errors
    /// [`Error::NotOurs`] if no export wrote a list there.
    pub(crate) fn check_changes(
        &self,
        job: &Job,
        path: Option<&Path>,
        of: Option<&Path>,
        state: Option<&State>,
    ) -> Result<(), Error> {
        let Some(path) = path.filter(|path| !job.options.replace && path.metadata().is_ok_and(|found| found.len() > 0))
        else {
            return Ok(());
        };
        let list = absolute(path);
        let named =
            state.and_then(|state| state.listed.as_ref()).is_some_and(|listed| listed.file.as_ref() == Some(&list));
        let manifest = of.and_then(|of| Manifest::beside(of).map(|manifest| manifest.lists_beside(of)));
        let is_ours = named || manifest.is_some_and(|lists| lists.contains(&list)) || self.record_of(&list).exists();
        match is_ours {
            true => Ok(()),
            false => Err(Error::NotOurs { path: path.to_owned(), is_changed: false }),
        }
    }
}

fn is_of_file(manifest: &Manifest, path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy() == manifest.file)
}

/// Whether a file was not written to after its manifest, so that its content need not be read.
fn is_older_than_manifest(found: &Metadata, path: &Path) -> bool {
    let of_manifest = Manifest::path_of(path).metadata().and_then(|found| found.modified());
    found.is_file() && found.modified().ok().zip(of_manifest.ok()).is_some_and(|(file, manifest)| file <= manifest)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::job::Clock;

    fn written(path: &Path) -> Written {
        let (sha256, bytes) = digest::of_reader(&mut std::fs::File::open(path).expect("a file")).expect("read");
        Written { path: path.to_owned(), bytes, sha256 }
    }

    #[test]
    fn files_are_ours_as_long_as_they_are_as_an_export_left_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("items.csv");
        let job = || {
            let local = "2026-11-21T02:00:00[UTC]".parse().expect("a time");
            Job::in_folder(folder.path(), "items.csv", Clock { local, now: SystemTime::now })
        };
        let files = WrittenFiles::of(folder.path());
        let check = |job: &Job| files.check(job, Some(&path), None);
        let changed = |error| matches!(error, Error::NotOurs { is_changed, .. } if is_changed);
        assert!(check(&job()).is_ok(), "no file");
        std::fs::write(&path, "").expect("written");
        assert!(check(&job()).is_ok(), "a reserved name");
        std::fs::write(&path, "mine").expect("written");
        assert!(!check(&job()).map_err(changed).expect_err("refused"));
        let mut replacing = job();
        replacing.options.replace = true;
        assert!(check(&replacing).is_ok());

        files.announce(&written(&path)).expect("recorded");
        assert!(check(&job()).is_ok());
        // The next file is announced, and not yet in place.
        let next = Written { path: path.clone(), bytes: 9, sha256: "0".repeat(64) };
        files.announce(&next).expect("recorded");
        assert!(check(&job()).is_ok());
        std::fs::write(&path, "MINE").expect("written");
        assert!(check(&job()).map_err(changed).expect_err("refused"));
    }
}
