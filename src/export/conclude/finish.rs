//! The last steps of an export: writes the manifest, saves the state for the next export, and removes replaced files.

use std::path::{Path, PathBuf};

use super::file_names;
use super::history::{ComparedRecords, History, State};
use super::manifest::Manifest;
use super::verdict::Verdict;
use crate::client::pages::Walk;
use crate::export::changes::Comparison;
use crate::export::error::Error;
use crate::export::fetch::MissingRecord;
use crate::export::job::{Job, Output, Since, Source};
use crate::export::spool::{FrameKind, Spool};
use crate::export::table::{FinishedTable, MAX_COLUMNS, OTHER_FIELDS, UnusedField};
use crate::sheet::compression::Compression;
use crate::sheet::write::{Shape, Style, TextKind, Value, ValueTable};

/// The result of an export.
#[derive(Debug)]
pub struct Exported {
    /// Path of the table: the requested name, or that name with `.incomplete` appended. `None` for standard output.
    pub path: Option<PathBuf>,
    pub manifest: Manifest,
    /// Path of the list of IDs that were not found.
    pub not_found: Option<PathBuf>,
    /// Older files that were removed.
    pub removed: Vec<PathBuf>,
    /// Messages about the exported records.
    pub remarks: Vec<String>,
    /// The minimum ratio was not checked, because no earlier export to this name is known.
    pub lacks_baseline: bool,
}

/// The results of all steps before.
pub(in crate::export) struct ExportResults<'a> {
    pub(in crate::export) job: &'a Job,
    pub(in crate::export) history: &'a History,
    pub(in crate::export) verdict: Verdict,
    pub(in crate::export) walk: Walk,
    pub(in crate::export) table: FinishedTable,
    pub(in crate::export) comparison: Comparison,
    /// Path of the file; `None` for standard output.
    pub(in crate::export) path: Option<PathBuf>,
    pub(in crate::export) since: Option<jiff::Timestamp>,
    /// The hashes of the previous export, and those of this one if they are saved.
    pub(in crate::export) compared: [Option<ComparedRecords>; 2],
    /// Number of IDs that were not found.
    pub(in crate::export) missing: u64,
    pub(in crate::export) was_resumed: bool,
    /// All IDs of the list were read a second time.
    pub(in crate::export) is_verified: bool,
    /// When the first page was requested, possibly by an interrupted export.
    pub(in crate::export) started: jiff::Timestamp,
}

/// Concludes an export whose file is in place. The spool is removed last, so no request is repeated after an earlier failure.
pub(in crate::export) fn conclude(results: ExportResults<'_>, spool: Spool) -> Result<Exported, Error> {
    let not_found = write_missing_records(&results, &spool)?;
    let mut exported = Exported {
        path: results.path.clone(),
        manifest: manifest(&results),
        not_found,
        removed: Vec::new(),
        remarks: remarks(&results),
        lacks_baseline: results.verdict.lacks_baseline,
    };
    if let Some(path) = &results.path {
        exported.manifest.write(path)?;
        if results.verdict.is_complete {
            let (job, path) = (results.job, path.clone());
            remember(results, &exported.manifest, &path)?;
            exported.remove_replaced_files(job, &path);
        }
    }
    spool.remove()?;
    Ok(exported)
}

fn remember(results: ExportResults<'_>, manifest: &Manifest, path: &Path) -> Result<(), Error> {
    let ExportResults { history, walk, comparison, started, compared: [previous, new], .. } = results;
    comparison.save()?;
    // The state takes effect at once, with the file of hashes that it names.
    history.remember(&State {
        file: path.to_owned(),
        distinct: walk.entries,
        started,
        finished: manifest.finished.clone(),
        compared: new.or(previous),
    })
}

impl Exported {
    /// Removes an incomplete file of an earlier export, and dated files beyond `--keep`. Failures become remarks.
    fn remove_replaced_files(&mut self, job: &Job, path: &Path) {
        let incomplete = file_names::incomplete(path);
        if Manifest::beside(&incomplete).is_some_and(|manifest| self.is_same_export(&manifest)) {
            self.remove_with_manifest(&incomplete);
        }
        let Some(keep) = job.keep else { return };
        let mut dated = file_names::dated_files(&self.manifest.pattern, &job.workspace, path);
        dated.retain(|(_, file)| Manifest::beside(file).is_some_and(|manifest| self.is_same_export(&manifest)));
        let surplus = dated.len().saturating_sub(keep);
        for (_, file) in dated.into_iter().take(surplus) {
            self.remove_with_manifest(&file);
        }
    }

    /// Returns whether a manifest is of an earlier export of the same records to the same name.
    fn is_same_export(&self, other: &Manifest) -> bool {
        let own = &self.manifest;
        (&own.pattern, &own.records, &own.base_url, &own.workspace)
            == (&other.pattern, &other.records, &other.base_url, &other.workspace)
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

fn manifest(results: &ExportResults<'_>) -> Manifest {
    let ExportResults {
        job, verdict, walk, table, comparison, since, missing, was_resumed, is_verified, started, ..
    } = results;
    let FinishedTable { written, header, counts, .. } = table;
    let (records, family) = match &job.source {
        Source::List(list) => (list.name, list.family.name()),
        Source::Ids { single, .. } => (single.name, "public"),
    };
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
        pattern: pattern.to_owned(),
        started: started.to_string(),
        finished: finished.to_string(),
        resumed: *was_resumed,
        complete: verdict.is_complete,
        how: verdict.reason.clone(),
        verified: *is_verified,
        count: counts.records,
        rows: counts.rows,
        distinct: walk.entries,
        pages: walk.pages,
        duplicates: walk.duplicates,
        total: walk.total,
        since: since.map(|since| since.to_string()),
        changes_only: job.since == Since::Last,
        older: counts.older,
        left_out: counts.left_out,
        not_found: *missing,
        columns: header.clone(),
        gathered: counts.other_fields,
        cut: counts.cut,
        defused: counts.defused,
        changes: comparison.changes,
    }
}

fn remarks(results: &ExportResults<'_>) -> Vec<String> {
    let FinishedTable { counts, unused_fields, .. } = &results.table;
    let unused = |UnusedField { path, nearest }: &UnusedField| {
        let meant = nearest.as_ref().map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default();
        format!("the field {path} is blank in every record{meant}")
    };
    let mut remarks: Vec<String> = unused_fields.iter().map(unused).collect();
    if counts.records == 0 && counts.left_out > 0 {
        remarks.push("no record meets the conditions ([[where]]) of the template".to_owned());
    }
    if counts.other_fields > 0 {
        remarks.push(format!(
            "there are more than {MAX_COLUMNS} columns; the column {OTHER_FIELDS} contains {} values of further fields \
             as JSON",
            counts.other_fields
        ));
    }
    if counts.cut > 0 {
        let texts = if counts.cut == 1 { "text was" } else { "texts were" };
        remarks.push(format!(
            "{} {texts} longer than 32,767 characters, the maximum of a workbook's cell, and cut: they end in '… [cut]'. \
             Export to .csv or .ndjson to get the whole text",
            counts.cut
        ));
    }
    remarks
}

/// Writes the list of IDs that were not found. If all were found, removes the list of an earlier export.
fn write_missing_records(results: &ExportResults<'_>, spool: &Spool) -> Result<Option<PathBuf>, Error> {
    let (Source::Ids { .. }, Some(path)) = (&results.job.source, &results.path) else { return Ok(None) };
    let path = file_names::not_found(path);
    if results.missing == 0 {
        // The file may not exist.
        let _ = std::fs::remove_file(path);
        return Ok(None);
    }
    let shape = Shape::Text { kind: TextKind::Csv, packing: Compression::None };
    let header = ["id", "row", "reason"].map(str::to_owned);
    let mut table = ValueTable::create(&path, shape, Style::default(), "not found", &header)?;
    let mut frames = spool.frames()?;
    while let Some(frame) = frames.next()? {
        if frame.kind == FrameKind::Missing
            && let Ok(MissingRecord { id, row, reason, .. }) = serde_json::from_slice(&frame.payload)
        {
            table.row(&[Value::Text(id.into()), Value::Digits(row.to_string()), Value::Text(reason.into())])?;
        }
    }
    table.finish_as(path.clone())?;
    Ok(Some(path))
}
