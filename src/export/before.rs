//! How many records the list had before, for `--min-ratio`: as it is remembered, and where nothing is, as the manifest of
//! the last whole file of that name says. A machine that is set up anew, or a changed `SHEETPORT_HOME`, has the files of
//! before and remembers nothing.

use std::path::Path;

use jiff::civil::Date;

use super::history::State;
use super::manifest::Manifest;
use super::{Job, Output, What, names};
use crate::sheet::write::folder;

/// The records in the service's list at the last export to this name that was put in place whole. `path` is the name that
/// the file is to have now.
pub fn records_before(job: &Job, path: Option<&Path>, state: Option<&State>) -> Option<u64> {
    let manifest = || newest_manifest(job, path?).map(|manifest| manifest.distinct);
    state.map(|state| state.distinct).or_else(manifest)
}

fn newest_manifest(job: &Job, path: &Path) -> Option<Manifest> {
    let (Output::File { pattern, .. }, What::List(list)) = (&job.output, &job.what) else { return None };
    let is_of_before = |file: &Path| {
        let manifest = Manifest::beside(file)?;
        let is_its = file.metadata().is_ok_and(|found| found.len() == manifest.bytes);
        let is_kin = (manifest.records.as_str(), manifest.base_url.as_str(), manifest.workspace.as_str())
            == (list.name, job.base_url.as_str(), job.workspace.as_str());
        (is_its && is_kin && manifest.complete).then_some(manifest)
    };
    if !names::has_date(pattern) {
        return is_of_before(path);
    }
    let entries = std::fs::read_dir(folder(path)).into_iter().flatten().flatten();
    let mut dated: Vec<(Date, _)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some((names::date_in(pattern, &job.workspace, &name)?, path.with_file_name(name)))
        })
        .collect();
    dated.sort();
    dated.iter().rev().find_map(|(_, file)| is_of_before(file))
}
