//! The previous export to the same name: its number of records, and whether its file may be replaced.

use std::path::{Path, PathBuf};

use sheetport_files::absolute_path::absolute;

use super::file_names;
use super::manifest::Manifest;
use super::state::State;
use crate::error::Error;
use crate::format::Format;
use crate::job::{Job, Output, Since, Source};

/// Returns the number of records that the previous complete export to this name found in the list. `path` is the name of
/// the new file.
///
/// If no export is remembered, as on a new machine or with another `SHEETPORT_HOME`, the manifest of the newest complete
/// file is used.
pub(crate) fn records_before(job: &Job, path: Option<&Path>, state: Option<&State>) -> Option<u64> {
    let from_manifest = || newest_manifest(job, path?).map(|manifest| manifest.distinct);
    state.map(|state| state.distinct).or_else(from_manifest)
}

fn newest_manifest(job: &Job, path: &Path) -> Option<Manifest> {
    let (Output::File { .. }, Source::List(list)) = (&job.output, &job.source) else { return None };
    let complete_manifest = |file: &Path| {
        let whole = Manifest::beside(file)?;
        let is_its_file = file.metadata().is_ok_and(|found| found.len() == whole.bytes);
        let manifest = whole.of_records(list.name)?;
        let is_same_list = (manifest.records.as_str(), manifest.base_url.as_str(), manifest.workspace.as_str())
            == (list.name, job.base_url.as_str(), job.workspace.as_str());
        (is_its_file && is_same_list && manifest.complete).then_some(manifest)
    };
    files_of_name(job, path).iter().find_map(|file| complete_manifest(file))
}

/// Returns the file at `path`, or if the name has a date, the existing files with any date, the newest first.
fn files_of_name(job: &Job, path: &Path) -> Vec<PathBuf> {
    match &job.output {
        Output::File { pattern, .. } if file_names::has_date(pattern) => {
            let dated = file_names::dated_files(pattern, &job.workspace, path);
            dated.into_iter().rev().map(|(_, file)| file).collect()
        }
        _ => vec![path.to_owned()],
    }
}

/// Checks, before the first request, that this export may replace the existing file.
pub(crate) fn check_existing(job: &Job, path: Option<&Path>) -> Result<(), Error> {
    let Some(path) = path else { return Ok(()) };
    let refused = |path: &Path, Manifest { workspace, base_url, .. }: Manifest| {
        Err(Error::OtherOrigin { path: path.to_owned(), workspace, base_url })
    };
    let is_other = |manifest: &Manifest| (&manifest.workspace, &manifest.base_url) != (&job.workspace, &job.base_url);
    let Some(manifest) = Manifest::beside(path).filter(|_| path.exists()) else {
        let mut existing = files_of_name(job, path).into_iter().filter(|file| file.exists());
        let newest = existing.find_map(|file| Manifest::beside(&file).map(|manifest| (file, manifest)));
        return match newest.filter(|(_, manifest)| job.options.min_ratio.is_some() && is_other(manifest)) {
            Some((file, manifest)) => refused(&file, manifest),
            None => Ok(()),
        };
    };
    if (job.options.min_ratio.is_some() || job.options.since == Since::Last) && is_other(&manifest) {
        return refused(path, manifest);
    }
    // Both keep the changes of earlier exports.
    if job.options.append || matches!(&job.output, Output::File { format: Format::Sqlite, .. }) {
        return Ok(());
    }
    if job.options.since == Since::Last && manifest.rows_before.is_some_and(|before| before + manifest.rows > 0) {
        return Err(Error::AppendedKept { path: path.to_owned() });
    }
    let is_of_today = is_of_today(job, manifest.started.parse().ok(), manifest.resumed, &manifest.finished);
    // The next process may not have read the changes yet.
    if job.options.since == Since::Last && manifest.changes_only && manifest.count > 0 && is_of_today {
        return Err(Error::ChangesKept { path: path.to_owned(), count: manifest.count });
    }
    Ok(())
}

/// Refuses to replace a list of changes of the same day, before anything is requested.
pub(crate) fn check_existing_changes(job: &Job, path: Option<&Path>, previous: Option<&State>) -> Result<(), Error> {
    let Some(path) = path.filter(|path| path.exists()) else { return Ok(()) };
    let Some(listed) = previous.and_then(|previous| previous.listed.as_ref()) else { return Ok(()) };
    let is_it = listed.file.as_deref() == Some(&*absolute(path));
    let is_of_today = is_of_today(job, Some(listed.records.started), listed.resumed, &listed.finished);
    match is_it && listed.count > 0 && is_of_today {
        true => Err(Error::ChangesKept { path: path.to_owned(), count: listed.count }),
        false => Ok(()),
    }
}

/// Returns whether an earlier export is of the same day: it started today, or was resumed and ended today.
fn is_of_today(job: &Job, started: Option<jiff::Timestamp>, resumed: bool, finished: &str) -> bool {
    let finished = finished.parse().ok().filter(|_| resumed);
    let day = |time: jiff::Timestamp| time.to_zoned(job.clock.local.time_zone().clone()).date();
    [started, finished].into_iter().flatten().any(|time| day(time) == job.clock.local.date())
}
