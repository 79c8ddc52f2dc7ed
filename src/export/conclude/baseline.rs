//! The number of records in the previous export, for `--min-ratio`.

use std::path::Path;

use super::file_names;
use super::history::State;
use super::manifest::Manifest;
use crate::export::job::{Job, Output, Source};

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
        let manifest = Manifest::beside(file)?;
        let is_its_file = file.metadata().is_ok_and(|found| found.len() == manifest.bytes);
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
