//! The previous export to the same name: its number of records, and whether it may be replaced.

use std::path::{Path, PathBuf};

use super::file_names;
use super::manifest::Manifest;
use super::state::State;
use crate::export::error::Error;
use crate::export::job::{Job, Output, Since, Source};

/// Returns the number of records that the previous complete export to this name found in the list. `path` is the name of
/// the new file.
///
/// If no export is remembered, as on a new machine or with another `SHEETPORT_HOME`, the manifest of the newest complete
/// file is used.
pub(in crate::export) fn records_before(job: &Job, path: Option<&Path>, state: Option<&State>) -> Option<u64> {
    let from_manifest = || newest_manifest(job, path?).map(|manifest| manifest.distinct);
    state.map(|state| state.distinct).or_else(from_manifest)
}

fn newest_manifest(job: &Job, path: &Path) -> Option<Manifest> {
    let (Output::File { pattern, .. }, Source::List(list)) = (&job.output, &job.source) else { return None };
    let complete_manifest = |file: &Path| {
        let whole = Manifest::beside(file)?;
        let is_its_file = file.metadata().is_ok_and(|found| found.len() == whole.bytes);
        let manifest = whole.of_records(list.name)?;
        let is_same_list = (manifest.records.as_str(), manifest.base_url.as_str(), manifest.workspace.as_str())
            == (list.name, job.base_url.as_str(), job.workspace.as_str());
        (is_its_file && is_same_list && manifest.complete).then_some(manifest)
    };
    if !file_names::has_date(pattern) {
        return complete_manifest(path);
    }
    let dated = file_names::dated_files(pattern, &job.workspace, path);
    dated.iter().rev().find_map(|(_, file)| complete_manifest(file))
}

/// Refuses to replace a file that this export is not meant to replace, before anything is requested.
pub(in crate::export) fn check_existing(job: &Job, path: Option<&Path>) -> Result<(), Error> {
    let Some(path) = path else { return Ok(()) };
    let refused = |path: &Path, Manifest { workspace, base_url, .. }: Manifest| {
        Err(Error::OtherOrigin { path: path.to_owned(), workspace, base_url })
    };
    let is_other = |manifest: &Manifest| (&manifest.workspace, &manifest.base_url) != (&job.workspace, &job.base_url);
    let Some(manifest) = Manifest::beside(path).filter(|_| path.exists()) else {
        return match newest_dated(job, path).filter(|(_, manifest)| job.min_ratio.is_some() && is_other(manifest)) {
            Some((file, manifest)) => refused(&file, manifest),
            None => Ok(()),
        };
    };
    if (job.min_ratio.is_some() || job.since == Since::Last) && is_other(&manifest) {
        return refused(path, manifest);
    }
    if job.append {
        return Ok(());
    }
    if job.since == Since::Last && manifest.rows_before.is_some_and(|before| before + manifest.rows > 0) {
        return Err(Error::AppendedKept { path: path.to_owned() });
    }
    // The next process may not have read the changes yet.
    if job.since == Since::Last && manifest.changes_only && manifest.count > 0 && is_of_today(job, &manifest) {
        return Err(Error::ChangesKept { path: path.to_owned(), count: manifest.count });
    }
    Ok(())
}

/// Refuses to replace a list of changes of the same day, before anything is requested.
pub(in crate::export) fn check_existing_changes(
    job: &Job,
    path: Option<&Path>,
    previous: Option<&State>,
) -> Result<(), Error> {
    let Some(path) = path.filter(|path| path.exists()) else { return Ok(()) };
    let Some(listed) = previous.and_then(|previous| previous.listed.as_ref()) else { return Ok(()) };
    let is_it = listed.file.as_deref().is_some_and(|file| file == std::path::absolute(path).as_deref().unwrap_or(path));
    let is_of_today =
        is_today(job, Some(listed.records.started)) || listed.resumed && is_today(job, listed.finished.parse().ok());
    match is_it && listed.count > 0 && is_of_today {
        true => Err(Error::ChangesKept { path: path.to_owned(), count: listed.count }),
        false => Ok(()),
    }
}

/// Returns the newest file with another date in its name, and its manifest.
fn newest_dated(job: &Job, path: &Path) -> Option<(PathBuf, Manifest)> {
    let Output::File { pattern, .. } = &job.output else { return None };
    let dated = file_names::has_date(pattern).then(|| file_names::dated_files(pattern, &job.workspace, path))?;
    dated.into_iter().rev().find_map(|(_, file)| Manifest::beside(&file).map(|manifest| (file, manifest)))
}

/// Returns whether a file is of the day of the export: one that began on it, or was resumed on it.
fn is_of_today(job: &Job, manifest: &Manifest) -> bool {
    is_today(job, manifest.started.parse().ok()) || manifest.resumed && is_today(job, manifest.finished.parse().ok())
}

/// Returns whether a time is on the day of the export.
fn is_today(job: &Job, time: Option<jiff::Timestamp>) -> bool {
    let day = |time: jiff::Timestamp| time.to_zoned(job.clock.local.time_zone().clone()).date();
    time.is_some_and(|time| day(time) == job.clock.local.date())
}
