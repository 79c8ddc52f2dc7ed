//! The exports for a rehearsal: files, and of a folder the newest export of each whole list, with the changes since.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use sheetport_export::Manifest;

use sheetport_operations::{Error, Event, Observer};

use super::load::{LoadFile, LoadKind};

/// The number of file names in a message.
const SHOWN_NAMES: usize = 5;

/// The service and the workspace of an export.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Origin {
    base_url: String,
    workspace: String,
}

/// Records of one kind in a file of a folder.
#[derive(Clone, Debug)]
struct Candidate {
    kind: &'static LoadKind,
    path: PathBuf,
    /// `None` without a manifest.
    export: Option<ExportFacts>,
}

/// The facts of a manifest that matter for the choice.
#[derive(Clone, Debug)]
struct ExportFacts {
    finished: Timestamp,
    origin: Origin,
    /// Whether the records can be loaded as they are in the file.
    is_loadable: bool,
    /// Whether the file has all records of the list.
    is_whole: bool,
}

/// The files to load, in this order, and what to tell about the others.
#[derive(Debug, Default)]
struct Choice {
    used: Vec<Candidate>,
    not_used: Vec<PathBuf>,
    warnings: Vec<String>,
}

impl Origin {
    pub(super) fn new(base_url: &str, workspace: &str) -> Origin {
        Origin { base_url: base_url.trim_end_matches('/').to_owned(), workspace: workspace.to_owned() }
    }
}

impl ExportFacts {
    fn of(manifest: &Manifest) -> Option<ExportFacts> {
        let rows_in_file = manifest.rows_before.map(|before| before + manifest.rows);
        let is_selection = manifest.page_size.is_none() || manifest.left_out > 0;
        Some(ExportFacts {
            finished: manifest.finished.parse().ok()?,
            origin: Origin::new(&manifest.base_url, &manifest.workspace),
            is_loadable: manifest.complete
                && manifest.explode.is_none()
                && (manifest.columns.is_empty() || LoadKind::has_key_column(&manifest.columns)),
            is_whole: !is_selection && rows_in_file.map_or(manifest.older == 0, |rows| rows >= manifest.distinct),
        })
    }
}

/// Opens exports: the files, and the suitable files of the folders. Notes the files used of a folder. `origin`: the service and the
/// workspace of the upload, if known.
pub(super) fn open_exports(
    places: &[PathBuf],
    origin: Option<&Origin>,
    observer: Observer<'_>,
) -> Result<Vec<(&'static LoadKind, LoadFile)>, Error> {
    let mut opened = Vec::new();
    for place in places {
        if place.is_file() {
            let files = LoadFile::open_named(place)?;
            if files.is_empty() {
                return Err(Error::BadInput {
                    message: format!(
                        "neither the name of {} nor the names of its sheets say which records it has",
                        place.display()
                    ),
                    hint: "name it like items.csv or companies-2026.xlsx".to_owned(),
                });
            }
            opened.extend(files);
        } else {
            opened.append(&mut open_folder(place, origin, observer)?);
        }
    }
    Ok(opened)
}

fn open_folder(
    folder: &Path,
    origin: Option<&Origin>,
    observer: Observer<'_>,
) -> Result<Vec<(&'static LoadKind, LoadFile)>, Error> {
    let candidates = candidates(tables_in(folder)?, observer);
    let choice = choose(folder, candidates, origin)?;
    for warning in &choice.warnings {
        observer(Event::Warning(warning));
    }
    if choice.used.is_empty() {
        return Err(Error::BadInput {
            message: format!("{} has no exports", folder.display()),
            hint: "write some there: sheetport export items -o items.csv; the names of the files say which records they have"
                .to_owned(),
        });
    }
    let used: BTreeSet<&PathBuf> = choice.used.iter().map(|candidate| &candidate.path).collect();
    observer(Event::Note(&format!("used of {}: {}", folder.display(), names(used.into_iter()))));
    if !choice.not_used.is_empty() {
        let others = names(choice.not_used.iter());
        observer(Event::Note(&format!(
            "not used of {}, because others are newer or whole: {others}",
            folder.display()
        )));
    }
    let mut opened: Vec<(&'static LoadKind, LoadFile)> = Vec::new();
    for Candidate { kind, path, .. } in choice.used {
        let known = opened.iter().find_map(|(_, file)| match file {
            LoadFile::Table { path: known, book } if *known == path => Some(Arc::clone(book)),
            _ => None,
        });
        let file = match known {
            Some(book) => LoadFile::Table { path, book },
            None => LoadFile::open(&path)?,
        };
        opened.push((kind, file));
    }
    Ok(opened)
}

/// Returns the paths of all tables in a folder, sorted.
fn tables_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |error: std::io::Error| Error::BadInput {
        message: format!("the folder {} can't be read: {error}", folder.display()),
        hint: "name the folder that has the exports".to_owned(),
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file() && is_table(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns whether the file has the extension of an export. Manifests, reports in HTML and lists of missing IDs do not.
fn is_table(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    let extensions = [".csv", ".tsv", ".xlsx", ".ndjson", ".jsonl"];
    !name.starts_with('.')
        && !name.ends_with(".not-found.csv")
        && extensions.iter().any(|extension| name.ends_with(extension))
}

/// Returns the records of the files: according to their manifests, or else according to the names of the files or sheets.
fn candidates(paths: Vec<PathBuf>, observer: Observer<'_>) -> Vec<Candidate> {
    let manifests: Vec<Option<Manifest>> = paths.iter().map(|path| Manifest::beside(path)).collect();
    let with_manifests = || paths.iter().zip(&manifests).filter_map(|(path, found)| Some((path, found.as_ref()?)));
    let lists_of_changes: BTreeSet<PathBuf> =
        with_manifests().flat_map(|(path, manifest)| manifest.lists_beside(path)).collect();
    let mut candidates = Vec::new();
    for (path, manifest) in with_manifests() {
        let sheets = if manifest.sheets.is_empty() { std::slice::from_ref(manifest) } else { &manifest.sheets[..] };
        for sheet in sheets {
            if let (Some(kind), Some(export)) = (LoadKind::named(&sheet.records), ExportFacts::of(sheet)) {
                candidates.push(Candidate { kind, path: path.clone(), export: Some(export) });
            }
        }
    }
    let is_other = |path: &&PathBuf| {
        let is_listed = std::path::absolute(path).is_ok_and(|path| lists_of_changes.contains(&path));
        !is_listed && candidates.iter().all(|candidate| candidate.path != **path)
    };
    let others: Vec<PathBuf> = paths.iter().filter(is_other).cloned().collect();
    for path in others {
        match LoadFile::kinds_of(&path) {
            Ok(kinds) => {
                candidates.extend(kinds.into_iter().map(|kind| Candidate { kind, path: path.clone(), export: None }));
            }
            // A spreadsheet whose name says nothing about its records may have none of them.
            Err(error) => observer(Event::Warning(&format!("{} is not used: {error}", path.display()))),
        }
    }
    candidates
}

/// Chooses the files of a folder: of each kind, the newest whole list and the changes since.
fn choose(folder: &Path, candidates: Vec<Candidate>, origin: Option<&Origin>) -> Result<Choice, Error> {
    let origin = one_origin(folder, &candidates, origin)?;
    let is_of_origin =
        |candidate: &Candidate| candidate.export.as_ref().is_none_or(|export| Some(&export.origin) == origin.as_ref());
    let (candidates, foreign): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_of_origin);
    let mut choice = Choice::default();
    let mut kinds: Vec<&'static LoadKind> = Vec::new();
    for candidate in &candidates {
        if !kinds.iter().any(|kind| kind.name == candidate.kind.name) {
            kinds.push(candidate.kind);
        }
    }
    for kind in kinds {
        let all: Vec<&Candidate> = candidates.iter().filter(|candidate| candidate.kind.name == kind.name).collect();
        choice.add_kind(folder, kind, &all)?;
    }
    let is_used = |path: &PathBuf| choice.used.iter().any(|candidate| candidate.path == *path);
    let mut not_used: Vec<PathBuf> =
        candidates.iter().map(|candidate| &candidate.path).filter(|path| !is_used(path)).cloned().collect();
    not_used.sort();
    not_used.dedup();
    choice.not_used = not_used;
    if let Some(first) = foreign.first().and_then(|candidate| candidate.export.as_ref()) {
        choice.warnings.push(format!(
            "the exports of the workspace '{}' of {} in {} are not used",
            first.origin.workspace,
            first.origin.base_url,
            folder.display()
        ));
    }
    Ok(choice)
}

impl Choice {
    /// Adds the files of a kind, the oldest first.
    fn add_kind(&mut self, folder: &Path, kind: &'static LoadKind, all: &[&Candidate]) -> Result<(), Error> {
        let told = self.warnings.len();
        let loadable = |candidate: &&&Candidate| candidate.export.as_ref().is_some_and(|export| export.is_loadable);
        let finished = |candidate: &Candidate| candidate.export.as_ref().map(|export| export.finished);
        let is_whole = |candidate: &Candidate| candidate.export.as_ref().is_some_and(|export| export.is_whole);
        let mut exports: Vec<&Candidate> = all.iter().filter(loadable).copied().collect();
        exports.sort_by_key(|candidate| finished(candidate));
        let plain: Vec<&Candidate> = all.iter().filter(|candidate| candidate.export.is_none()).copied().collect();
        if kind.has_list() {
            match (exports.iter().rposition(|candidate| is_whole(candidate)), exports.last()) {
                (Some(newest), _) => drop(exports.drain(..newest)),
                (None, Some(last)) if plain.is_empty() => {
                    self.warnings.push(format!(
                        "{} has no export of all {}: {} has only some of them, and is not used",
                        folder.display(),
                        kind.name,
                        file_name(&last.path)
                    ));
                    exports.clear();
                }
                (None, _) => exports.clear(),
            }
            if let [_, .., last] = exports.as_slice() {
                self.warnings.push(format!(
                    "{} has only changes: {} that were removed since the export of the whole list are still accepted",
                    file_name(&last.path),
                    kind.name
                ));
            }
        }
        match (exports.as_slice(), plain.as_slice()) {
            ([], []) if self.warnings.len() == told => self.warnings.push(format!(
                "{} has no complete export of {} that can be loaded",
                folder.display(),
                kind.name
            )),
            ([], []) => {}
            ([], [only]) => self.used.push((*only).clone()),
            ([], several) => {
                return Err(Error::BadInput {
                    message: format!(
                        "{} has several files of {}, and no manifest says which is the newest export: {}",
                        folder.display(),
                        kind.name,
                        names(several.iter().map(|candidate| &candidate.path))
                    ),
                    hint: "name the right ones: --from FILE, once for each".to_owned(),
                });
            }
            (exports, _) => self.used.extend(exports.iter().copied().cloned()),
        }
        Ok(())
    }
}

/// Returns the origin of the exports to use, or `None` without manifests.
///
/// # Errors
/// If the exports are of several workspaces, and none is that of the upload.
fn one_origin(folder: &Path, candidates: &[Candidate], wanted: Option<&Origin>) -> Result<Option<Origin>, Error> {
    let origins: BTreeSet<&Origin> =
        candidates.iter().filter_map(|candidate| Some(&candidate.export.as_ref()?.origin)).collect();
    if let Some(wanted) = wanted.filter(|wanted| origins.contains(wanted)) {
        return Ok(Some(wanted.clone()));
    }
    match origins.len() {
        0 | 1 => Ok(origins.into_iter().next().cloned()),
        _ => {
            let names = origins.iter().map(|origin| format!("'{}' of {}", origin.workspace, origin.base_url));
            Err(Error::BadInput {
                message: format!(
                    "{} has exports of several workspaces: {}",
                    folder.display(),
                    names.collect::<Vec<_>>().join(", ")
                ),
                hint: "name the files of one workspace: --from FILE, once for each".to_owned(),
            })
        }
    }
}

/// Lists the first names of files.
fn names<'a>(paths: impl ExactSizeIterator<Item = &'a PathBuf>) -> String {
    let more = paths.len().saturating_sub(SHOWN_NAMES);
    let shown = paths.take(SHOWN_NAMES).map(|path| file_name(path)).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} … (+{more})") }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
