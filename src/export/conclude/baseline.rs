//! The previous export to the same name: its number of records, and whether it may be replaced.

use std::path::Path;

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
    let Some(manifest) = Manifest::beside(path).filter(|_| path.exists()) else { return Ok(()) };
    let is_guarded = job.min_ratio.is_some() || job.since == Since::Last;
    let is_other = (&manifest.workspace, &manifest.base_url) != (&job.workspace, &job.base_url);
    if is_guarded && is_other {
        let Manifest { workspace, base_url, .. } = manifest;
        return Err(Error::OtherOrigin { path: path.to_owned(), workspace, base_url });
    }
    if job.append {
        return Ok(());
    }
    if job.since == Since::Last && manifest.rows_before.is_some_and(|before| before + manifest.rows > 0) {
        return Err(Error::AppendedKept { path: path.to_owned() });
    }
    // The next process may not have read the changes yet.
    if job.since == Since::Last && manifest.changes_only && manifest.count > 0 && is_today(job, &manifest.finished) {
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
    match is_it && listed.count > 0 && is_today(job, &listed.finished) {
        true => Err(Error::ChangesKept { path: path.to_owned(), count: listed.count }),
        false => Ok(()),
    }
}

/// Returns whether a time is on the day of the export.
fn is_today(job: &Job, time: &str) -> bool {
    let time: Option<jiff::Timestamp> = time.parse().ok();
    let day = |time: jiff::Timestamp| time.to_zoned(job.clock.local.time_zone().clone()).date();
    time.is_some_and(|time| day(time) == job.clock.local.date())
}
