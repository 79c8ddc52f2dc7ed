//! The last steps of an export: writes the manifest, saves the state for the next export, and removes replaced files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sheetport_client::KnownSizes;
use sheetport_client::pages::Walk;
use sheetport_datasets::Kind;
use sheetport_files::absolute_path::absolute;
use sheetport_sheet::compression::Compression;
use sheetport_sheet::write::{FileFormat, Style, TextKind, Value, ValueTable, Written};

use super::file_names;
use super::history::History;
use super::manifest::Manifest;
use super::state::{ComparedRecords, LastList, State, WrittenFile};
use super::verdict::Verdict;
use crate::changes::{Changes, Comparison, hash_of_id};
use crate::error::{ChangedType, Error};
use crate::fetch::MissingRecord;
use crate::job::{Job, Output, Since, Source};
use crate::spool::{FrameKind, Spool};
use crate::table::{FinishedTable, MAX_COLUMNS, OTHER_FIELDS, RememberedColumns, UnusedField, shape};

/// The result of an export.
#[derive(Debug)]
pub struct Exported {
    /// Path of the table: the requested name, possibly with `.incomplete` appended. `None` for standard output.
    pub path: Option<PathBuf>,
    /// Path of the list of changes, if written.
    pub changes_file: Option<PathBuf>,
    /// The link to the newest of several dated files, if placed.
    pub latest: Option<PathBuf>,
    /// Manifest of these records. Also the manifest of the file, unless the file has other records.
    pub manifest: Manifest,
    /// Path of the list of IDs not found.
    pub not_found: Option<PathBuf>,
    /// Older files that were removed.
    pub removed: Vec<PathBuf>,
    /// Messages about the exported records.
    pub remarks: Vec<String>,
    /// A message that no record has the array to expand. In an export of several lists, some may lack the array.
    pub lacks_array: Option<String>,
    /// The minimum ratio was not checked, because no earlier export to this name is known.
    pub lacks_baseline: bool,
    /// Known page sizes of the list. `None` if the user chose the size.
    pub known_sizes: Option<KnownSizes>,
}

/// The results of all steps before.
pub(crate) struct ExportResults<'a> {
    pub(crate) job: &'a Job,
    pub(crate) history: History,
    /// The state of the previous export.
    pub(crate) previous: Option<State>,
    /// The place of the hashes of this export, if saved.
    pub(crate) new_records: ComparedRecords,
    pub(crate) verdict: Verdict,
    pub(crate) walk: Walk,
    /// A file that may contain the same changes, appended by an interrupted export.
    pub(crate) uncertain: Option<PathBuf>,
    pub(crate) since: Option<jiff::Timestamp>,
    /// Number of IDs not found.
    pub(crate) missing: u64,
    /// Number of listed records that were removed before their details were requested.
    pub(crate) gone: u64,
    /// The hashes of the IDs of listed records without details. `None` if no details were requested.
    pub(crate) unanswered: Option<Arc<HashSet<u64>>>,
    pub(crate) requested: Requested,
    pub(crate) was_resumed: bool,
    /// All IDs of the list were read a second time.
    pub(crate) is_verified: bool,
    /// When the first page was requested, possibly by an interrupted export.
    pub(crate) started: jiff::Timestamp,
    pub(crate) finished: FinishedExport,
}

/// A finished table, the comparison with the previous export, and the list of changes.
pub(crate) struct FinishedExport {
    pub(crate) table: FinishedTable,
    pub(crate) comparison: Comparison,
    pub(crate) changes: Option<ListedChanges>,
    pub(crate) spool: Spool,
    /// `None` for standard output.
    pub(crate) written: Option<Written>,
    /// The file for comparison by the next export. `None` if the file has several tables.
    pub(crate) file: Option<WrittenFile>,
    /// Number of rows of earlier exports in the file. `None` unless rows are appended.
    pub(crate) rows_before: Option<u64>,
}

/// Page sizes and number of requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requested {
    /// Known page sizes of the list. `None` if the user chose the size.
    pub(crate) known_sizes: Option<KnownSizes>,
    /// Number of entries per page of a list.
    pub(crate) page_size: Option<u64>,
    pub(crate) requests: u64,
}

/// The list of changes of an export.
#[derive(Debug)]
pub(crate) struct ListedChanges {
    /// The saved records of this export.
    pub(crate) records: ComparedRecords,
    /// The file, and the numbers of changes. `None` without an earlier export to compare with.
    pub(crate) written: Option<(PathBuf, Changes)>,
    /// Texts truncated to the maximum length of a workbook's cell.
    pub(crate) cut: u64,
    /// Number of texts with an apostrophe added, to keep them from running as formulas.
    pub(crate) defused: u64,
}

/// Concludes exports whose file is in place at `path`. Removes the spools last, so that no request is repeated after an earlier
/// failure.
pub(crate) fn conclude(
    results: Vec<ExportResults<'_>>,
    path: Option<&Path>,
    is_complete: bool,
) -> Result<Vec<Exported>, Error> {
    let mut exported = Vec::new();
    for result in &results {
        exported.push(Exported {
            path: path.map(Path::to_owned),
            changes_file: result.changes_file().map(Path::to_owned),
            latest: None,
            manifest: manifest(result, path),
            not_found: write_missing_records(result, path)?,
            removed: Vec::new(),
            remarks: remarks(result),
            lacks_array: result.finished.table.unused_fields.iter().find(|field| field.is_exploded).map(blank_field),
            lacks_baseline: result.verdict.lacks_baseline,
            known_sizes: result.requested.known_sizes,
        });
    }
    let manifest = Manifest::of_sheets(exported.iter().map(|exported| exported.manifest.clone()).collect());
    if let (Some(path), Some(manifest)) = (path, &manifest) {
        manifest.write(path)?;
    }
    let (keep, workspace) =
        results.first().map_or((None, ""), |first| (first.job.options.keep, first.job.workspace.as_str()));
    let lists: Vec<PathBuf> = results.iter().flat_map(|result| result.dated_lists(workspace)).collect();
    let mut spools = Vec::new();
    for (result, exported) in results.into_iter().zip(&exported) {
        let remembered = path.filter(|_| is_complete);
        spools.push(remember(result, &exported.manifest, remembered)?);
    }
    if let (Some(path), Some(manifest), Some(first)) = (path.filter(|_| is_complete), &manifest, exported.first_mut()) {
        first.remove_replaced_files(manifest, keep.map(usize::from), workspace, path, &lists);
    }
    for spool in spools {
        spool.remove()?;
    }
    Ok(exported)
}

/// Saves the state for the next export if this export is complete. Returns the spool.
fn remember(results: ExportResults<'_>, manifest: &Manifest, path: Option<&Path>) -> Result<Spool, Error> {
    let columns = remembered_columns(&results);
    let ExportResults { history, previous, walk, new_records, started, finished, .. } = results;
    let FinishedExport { table: finished_table, mut comparison, changes, spool, file, .. } = finished;
    if path.is_none() {
        return Ok(spool);
    }
    comparison.save()?;
    let (compared, listed) = previous.map_or((None, None), |previous| (previous.compared, previous.listed));
    let new_records = comparison.has_hashes().then_some(new_records);
    let finished = manifest.finished.clone();
    let new_list = changes.map(|changes| {
        let (file, counts) = changes.written.unzip();
        let count = counts.map_or(0, |Changes { added, changed, removed }| added + changed + removed);
        let file = file.map(|file| absolute(&file));
        LastList { records: changes.records, file, count, finished: finished.clone(), resumed: manifest.resumed }
    });
    // Takes effect immediately, together with the named files.
    history.remember(&State {
        written: file,
        distinct: walk.entries,
        started,
        finished,
        compared: new_records.or(compared),
        listed: new_list.or(listed),
        fields: finished_table.known_fields,
        columns: Some(columns),
    })?;
    Ok(spool)
}

/// Returns the columns of an export for the next one.
pub(crate) fn remembered_columns(results: &ExportResults<'_>) -> RememberedColumns {
    let ExportResults { job, finished, .. } = results;
    let until = job.clock.local.date().to_string();
    RememberedColumns::new(shape(job.template.as_ref(), job.exploded()), finished.table.columns.clone(), until)
}

impl ExportResults<'_> {
    fn changes_file(&self) -> Option<&Path> {
        self.finished.changes.as_ref()?.written.as_ref().map(|(path, _)| path.as_path())
    }

    /// Returns the earlier lists of changes with another date in their name.
    fn dated_lists(&self, workspace: &str) -> Vec<PathBuf> {
        let Some((file, path)) = self.job.changes.as_ref().zip(self.changes_file()) else { return Vec::new() };
        if !file_names::has_date(&file.pattern) {
            return Vec::new();
        }
        let mut lists = file_names::dated_files(&file.pattern, workspace, path);
        lists.retain(|(_, list)| list != path);
        lists.into_iter().map(|(_, list)| absolute(&list)).collect()
    }
}

impl Exported {
    /// Removes an incomplete file of an earlier export, and dated files beyond `--keep`, together with the lists of changes in
    /// `lists` named by their manifests. Failures become remarks.
    fn remove_replaced_files(
        &mut self,
        manifest: &Manifest,
        keep: Option<usize>,
        workspace: &str,
        path: &Path,
        lists: &[PathBuf],
    ) {
        let is_earlier = |file: &Path| Manifest::beside(file).is_some_and(|other| other.is_same_export(manifest));
        let incomplete = file_names::incomplete(path);
        if is_earlier(&incomplete) {
            self.remove_with_manifest(&incomplete);
        }
        let Some(keep) = keep else { return };
        let dated = file_names::dated_files(&manifest.pattern, workspace, path).into_iter();
        let earlier = dated.filter(|(_, file)| file != path).filter_map(|(named, file)| {
            let other = Manifest::beside(&file).filter(|other| other.is_same_export(manifest))?;
            // Ordered by start first: a local time in a name occurs twice in the night when daylight saving time ends.
            Some((other.started.parse::<jiff::Timestamp>().ok(), named, file, other))
        });
        let mut earlier: Vec<_> = earlier.collect();
        earlier.sort_by_key(|(started, named, ..)| (*started, *named));
        let surplus = (earlier.len() + 1).saturating_sub(keep);
        for (_, _, file, other) in earlier.into_iter().take(surplus) {
            let named = other.lists_beside(&file);
            self.remove_with_manifest(&file);
            for list in named.iter().filter(|list| lists.contains(list)) {
                match std::fs::remove_file(list) {
                    Ok(()) => self.removed.push(list.clone()),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    Err(error) => self.remarks.push(format!("cannot remove {}: {error}", list.display())),
                }
            }
        }
    }

    fn remove_with_manifest(&mut self, path: &Path) {
        match std::fs::remove_file(path) {
            Ok(()) => self.removed.push(path.to_owned()),
            Err(error) => self.remarks.push(format!("cannot remove {}: {error}", path.display())),
        }
        for companion in [Manifest::path_of(path), file_names::not_found(path)] {
            // The file may not exist.
            let _ = std::fs::remove_file(companion);
        }
    }
}

fn manifest(results: &ExportResults<'_>, path: Option<&Path>) -> Manifest {
    let ExportResults {
        job,
        verdict,
        walk,
        since,
        missing,
        gone,
        requested,
        was_resumed,
        is_verified,
        started,
        finished: FinishedExport { table, written, comparison, changes, rows_before, .. },
        ..
    } = results;
    let FinishedTable { columns, counts, .. } = table;
    let (_, records) = job.source.layout();
    let family = match &job.source {
        Source::List(list) => list.family.name(),
        Source::Ids { .. } => "public",
    };
    let listed = changes.as_ref().and_then(|changes| changes.written.as_ref());
    let changes_file = results.changes_file().map(|file| match file.file_name() {
        Some(name) if file.parent() == path.and_then(Path::parent) => PathBuf::from(name),
        _ => absolute(file),
    });
    let pattern = match &job.output {
        Output::File { pattern, .. } => pattern.as_str(),
        Output::Stdout { .. } => "-",
    };
    let file = written.as_ref().and_then(|written| written.path.file_name());
    let finished = job.clock.timestamp();
    Manifest {
        sheetport: env!("CARGO_PKG_VERSION").to_owned(),
        file: file.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        bytes: written.as_ref().map_or(0, |written| written.bytes),
        sha256: written.as_ref().map(|written| written.sha256.clone()).unwrap_or_default(),
        records: records.to_owned(),
        family: family.to_owned(),
        base_url: job.base_url.clone(),
        workspace: job.workspace.clone(),
        pattern: job.shown_pattern.as_deref().unwrap_or(pattern).to_owned(),
        started: started.to_string(),
        finished: finished.to_string(),
        resumed: *was_resumed,
        complete: verdict.is_complete,
        how: verdict.reason.clone(),
        verified: *is_verified,
        count: counts.records,
        rows: counts.rows,
        rows_before: *rows_before,
        distinct: walk.entries,
        pages: walk.pages,
        page_size: requested.page_size,
        requests: requested.requests,
        duplicates: walk.duplicates,
        total: walk.total,
        since: since.map(|since| since.to_string()),
        changes_only: job.options.since == Since::Last,
        older: counts.older,
        left_out: counts.left_out,
        not_found: *missing,
        gone: *gone,
        lines: job.details.is_some(),
        conditions: job.conditions(),
        sort: job.order(),
        columns: columns.iter().map(|column| column.name.header.clone()).collect(),
        types: match &job.output {
            Output::File { format, .. } if format.is_typed() => {
                columns.iter().map(|column| format.store().name_of(column.kind.unwrap_or(Kind::Text))).collect()
            }
            _ => Vec::new(),
        },
        new_columns: table.new_columns.clone(),
        explode: job.exploded().map(str::to_owned),
        exact: job.is_exact(),
        gathered: counts.other_fields,
        cut: counts.cut,
        defused: counts.defused,
        // Records that were not read do not count as removed.
        changes: listed.map(|(_, counts)| *counts).or(comparison.changes).filter(|_| verdict.is_complete),
        changes_file,
        changes_cut: changes.as_ref().map_or(0, |changes| changes.cut),
        changes_defused: changes.as_ref().map_or(0, |changes| changes.defused),
        sheets: Vec::new(),
    }
}

fn remarks(results: &ExportResults<'_>) -> Vec<String> {
    let FinishedExport {
        table: FinishedTable { counts, unused_fields, new_columns, changed_types, .. }, changes, ..
    } = &results.finished;
    let mut remarks: Vec<String> = unused_fields.iter().filter(|field| !field.is_exploded).map(blank_field).collect();
    if let Some(path) = &results.uncertain {
        remarks.push(format!(
            "an earlier export was interrupted while it wrote {}, which has been moved or changed since: the changes of that \
             export are written again, and may be in both files",
            path.display()
        ));
    }
    if !new_columns.is_empty() {
        remarks.push(format!(
            "since the last export to this name, the records have new fields, whose columns are the last ones: {}",
            new_columns.join(", ")
        ));
    }
    remarks.extend(changed_types.iter().map(ChangedType::to_string));
    if counts.records == 0 && counts.left_out > 0 {
        remarks.push("no record meets the conditions (where)".to_owned());
    }
    if counts.other_fields > 0 {
        remarks.push(format!(
            "the column {OTHER_FIELDS} contains {} values as JSON, of fields with very long names or beyond {MAX_COLUMNS} \
             columns",
            counts.other_fields
        ));
    }
    remarks.extend(cut_texts(counts.cut, "", "Export to .csv or .ndjson"));
    let cut_in_list = changes.as_ref().map_or(0, |changes| changes.cut);
    remarks.extend(cut_texts(cut_in_list, " in the list of changes", "Give --changes a name with .csv or .ndjson"));
    if changes.as_ref().is_some_and(|changes| changes.written.is_none()) {
        let (_, records) = results.job.source.layout();
        remarks.push(format!(
            "no changes of {records} are listed, because no earlier export to this name with --changes is remembered; the \
             next one lists what has changed from now on"
        ));
    }
    remarks
}

fn blank_field(UnusedField { path, nearest, .. }: &UnusedField) -> String {
    let meant = nearest.as_ref().map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default();
    format!("the field {path} is blank in every record{meant}")
}

/// Returns a message that texts were cut, with a way to get the whole text.
fn cut_texts(count: u64, place: &str, remedy: &str) -> Option<String> {
    let texts = if count == 1 { "text was" } else { "texts were" };
    (count > 0).then(|| {
        format!(
            "{count} {texts} longer than 32,767 characters, the maximum of a workbook's cell, and cut{place}: they end in \
             '… [cut]'. {remedy} to get the whole text"
        )
    })
}

/// Writes the list of IDs not found. If all were found, removes the list of an earlier export.
fn write_missing_records(results: &ExportResults<'_>, path: Option<&Path>) -> Result<Option<PathBuf>, Error> {
    let has_requests_by_id = matches!(results.job.source, Source::Ids { .. }) || results.unanswered.is_some();
    let Some(path) = path.filter(|_| has_requests_by_id) else { return Ok(None) };
    let path = file_names::not_found(path);
    if results.missing == 0 {
        // The file may not exist.
        let _ = std::fs::remove_file(path);
        return Ok(None);
    }
    let format = FileFormat::Text { kind: TextKind::Csv, packing: Compression::None };
    let header = ["id", "row", "reason"].map(str::to_owned);
    let mut table = ValueTable::create(&path, format, Style::default(), "not found", &header)?;
    let mut frames = results.finished.spool.frames()?;
    while let Some(frame) = frames.next()? {
        if frame.kind == FrameKind::Missing
            && let Ok(MissingRecord { id, row, reason, .. }) = serde_json::from_slice(&frame.payload)
            && results.unanswered.as_ref().is_none_or(|unanswered| unanswered.contains(&hash_of_id(id.as_bytes())))
        {
            table.row(&[Value::Text(id.into()), Value::Digits(row.to_string()), Value::Text(reason.into())])?;
        }
    }
    table.finish_as(path.clone())?;
    Ok(Some(path))
}
