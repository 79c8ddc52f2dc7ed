//! The manifest: a JSON file beside the exported file. Consumers use the manifest to check that the file is complete and
//! unchanged.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sheetport_files::absolute_path::absolute;
use sheetport_sheet as sheet;
use sheetport_sheet::write::{Existing, WholeFile, folder};

use super::file_names::not_found;
use crate::changes::Changes;
use crate::error::Error;

/// Maximum size of a manifest.
const MAX_SIZE: u64 = 4 << 20;

/// The content of a manifest. Its fields are part of the interface. Times are in UTC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of Sheetport.
    pub sheetport: String,
    /// File name without the folder.
    pub file: String,
    pub bytes: u64,
    pub sha256: String,
    /// Kind of the records, such as `items`.
    pub records: String,
    pub family: String,
    pub base_url: String,
    pub workspace: String,
    /// Requested file name with its placeholders.
    pub pattern: String,
    pub started: String,
    pub finished: String,
    /// Whether an interrupted export was resumed.
    pub resumed: bool,
    pub complete: bool,
    /// Reason for `complete`.
    pub how: String,
    /// Whether all IDs were read a second time.
    pub verified: bool,
    /// Number of records written by this export.
    pub count: u64,
    /// Number of rows written by this export.
    pub rows: u64,
    /// Number of rows of earlier exports in the file. Only set when appending.
    #[serde(default)]
    pub rows_before: Option<u64>,
    /// Number of distinct records in the service's list.
    pub distinct: u64,
    pub pages: u64,
    /// Number of entries per page of a list.
    #[serde(default)]
    pub page_size: Option<u64>,
    /// Number of requests, all repetitions included.
    #[serde(default)]
    pub requests: u64,
    /// Number of repeated entries.
    pub duplicates: u64,
    /// Latest total reported by the service.
    pub total: Option<u64>,
    /// Start of the selected period: the file omits records unchanged since then.
    pub since: Option<String>,
    /// Whether the file has only the changes since the previous export to the same name: `--since last`.
    #[serde(default)]
    pub changes_only: bool,
    /// Number of records omitted because of `since`.
    pub older: u64,
    /// Number of records that do not meet the conditions.
    pub left_out: u64,
    /// Number of requested IDs not found.
    pub not_found: u64,
    /// Whether each listed record was requested by its ID, because the list has no lines.
    #[serde(default)]
    pub lines: bool,
    /// Number of listed records that were removed before they were requested by their ID.
    #[serde(default)]
    pub gone: u64,
    pub columns: Vec<String>,
    /// Conditions that all records in the file meet.
    #[serde(default, rename = "where")]
    pub conditions: Vec<String>,
    /// Order of the records: fields and computed columns, with a minus if from the highest. Empty for the order of the list.
    #[serde(default)]
    pub sort: Vec<String>,
    /// The types of the columns, in a format that has types.
    #[serde(default)]
    pub types: Vec<String>,
    /// The columns that no earlier export to the same name had.
    #[serde(default)]
    pub new_columns: Vec<String>,
    /// Path of the array with a row for each element.
    #[serde(default)]
    pub explode: Option<String>,
    /// Whether texts that look like formulas are unprotected, so that an apostrophe in front belongs to the text.
    #[serde(default)]
    pub exact: bool,
    /// Number of values in the column for fields beyond the maximum number of columns.
    pub gathered: u64,
    /// Number of texts cut to the maximum length of a workbook's cell.
    #[serde(default)]
    pub cut: u64,
    /// Number of texts with an apostrophe added, to keep a spreadsheet program from running them as formulas.
    #[serde(default)]
    pub defused: u64,
    /// Differences from the previous export to the same name.
    pub changes: Option<Changes>,
    /// The list of these changes: a name in the same folder, or a path.
    #[serde(default)]
    pub changes_file: Option<PathBuf>,
    /// Same as `cut` and `defused`, for the list of changes.
    #[serde(default)]
    pub changes_cut: u64,
    #[serde(default)]
    pub changes_defused: u64,
    /// The manifests of the sheets, if the file is a workbook with several kinds of records. The counts above are then sums over
    /// all sheets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sheets: Vec<Manifest>,
}

impl Manifest {
    /// The manifest of `items.csv` is `items.csv.manifest.json`.
    pub(super) const SUFFIX: &str = ".manifest.json";

    /// Returns the path of a file's manifest.
    pub fn path_of(file: &Path) -> PathBuf {
        let mut name = file.as_os_str().to_owned();
        name.push(Manifest::SUFFIX);
        PathBuf::from(name)
    }

    /// Returns the path of a file's list of IDs not found.
    pub fn not_found_of(file: &Path) -> PathBuf {
        not_found(file)
    }

    /// Returns the manifest of a file from the manifests of its sheets. A single manifest stays as it is.
    pub(super) fn of_sheets(sheets: Vec<Manifest>) -> Option<Manifest> {
        let mut whole = sheets.first()?.clone();
        for sheet in &sheets[1..] {
            whole.records = format!("{},{}", whole.records, sheet.records);
            whole.finished.clone_from(&sheet.finished);
            whole.resumed |= sheet.resumed;
            whole.lines |= sheet.lines;
            whole.complete &= sheet.complete;
            whole.verified &= sheet.verified;
            for (sum, count) in [
                (&mut whole.count, sheet.count),
                (&mut whole.rows, sheet.rows),
                (&mut whole.distinct, sheet.distinct),
                (&mut whole.pages, sheet.pages),
                (&mut whole.duplicates, sheet.duplicates),
                (&mut whole.older, sheet.older),
                (&mut whole.left_out, sheet.left_out),
                (&mut whole.not_found, sheet.not_found),
                (&mut whole.gone, sheet.gone),
                (&mut whole.gathered, sheet.gathered),
                (&mut whole.cut, sheet.cut),
                (&mut whole.defused, sheet.defused),
                (&mut whole.changes_cut, sheet.changes_cut),
                (&mut whole.changes_defused, sheet.changes_defused),
            ] {
                *sum += count;
            }
            whole.total = whole.total.zip(sheet.total).map(|(one, other)| one + other);
            whole.changes = whole.changes.zip(sheet.changes).map(|(one, other)| one + other);
        }
        if sheets.len() > 1 {
            let reasons = sheets.iter().map(|sheet| format!("{}: {}", sheet.records, sheet.how));
            whole.how = reasons.collect::<Vec<_>>().join("; ");
            whole.columns = Vec::new();
            whole.types = Vec::new();
            whole.new_columns = Vec::new();
            whole.sheets = sheets;
        }
        Some(whole)
    }

    /// Returns whether a manifest is of an export of the same records to the same name.
    pub(super) fn is_same_export(&self, other: &Manifest) -> bool {
        (&self.pattern, &self.records, &self.base_url, &self.workspace)
            == (&other.pattern, &other.records, &other.base_url, &other.workspace)
    }

    /// Returns the absolute paths of the lists of changes of this file and its sheets.
    pub fn lists_beside(&self, file: &Path) -> Vec<PathBuf> {
        let all = std::iter::once(self).chain(&self.sheets).filter_map(|manifest| manifest.changes_file.as_ref());
        let mut lists: Vec<PathBuf> = all.map(|list| absolute(folder(file).join(list))).collect();
        lists.dedup();
        lists
    }

    /// Returns the manifest of these records: this manifest, or the manifest of their sheet.
    pub fn of_records(self, records: &str) -> Option<Manifest> {
        if self.sheets.is_empty() {
            return Some(self);
        }
        self.sheets.into_iter().find(|sheet| sheet.records == records)
    }

    /// Reads the manifest of a file, or returns `None` if missing or invalid.
    pub fn beside(file: &Path) -> Option<Manifest> {
        let path = Manifest::path_of(file);
        // Reading a pipe or a device may never end.
        let is_small_file = path.metadata().is_ok_and(|found| found.is_file() && found.len() <= MAX_SIZE);
        if !is_small_file {
            return None;
        }
        let bytes = std::fs::read(path).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes the manifest beside its file.
    pub(super) fn write(&self, file: &Path) -> Result<PathBuf, Error> {
        let path = Manifest::path_of(file);
        let mut whole = WholeFile::create(&path, Existing::Replace)?;
        let failed = |source| sheet::Error::Write { path: path.clone(), source };
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(error.into()))?;
        whole.write_all(text.as_bytes()).and_then(|()| whole.write_all(b"\n")).map_err(failed)?;
        Ok(whole.finish()?)
    }
}
