//! The manifest: what an export says of itself, in a file beside it, so that whoever takes the file up can tell that it
//! is whole and that it is the one.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Error;
use super::changes::Changes;
use crate::sheet;
use crate::sheet::write::{Existing, WholeFile};

/// Beside `items.csv` stands `items.csv.manifest.json`.
const SUFFIX: &str = ".manifest.json";
/// No manifest is longer.
const LONGEST: u64 = 4 << 20;

/// Its fields are part of the interface; times are in UTC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The version that wrote it.
    pub sheetport: String,
    /// The file's name, without its folder.
    pub file: String,
    pub bytes: u64,
    pub sha256: String,
    /// What was exported: `items`.
    pub records: String,
    pub family: String,
    pub base_url: String,
    pub workspace: String,
    /// The name that was asked for, with what it leaves open.
    pub pattern: String,
    pub started: String,
    pub finished: String,
    /// An earlier export that was cut off was carried on with.
    pub resumed: bool,
    pub complete: bool,
    /// How that was found out.
    pub how: String,
    /// The ids were read a second time.
    pub verified: bool,
    /// Records in the file, and the rows that they fill.
    pub count: u64,
    pub rows: u64,
    /// Different records in the service's list.
    pub distinct: u64,
    pub pages: u64,
    /// Entries that came again.
    pub duplicates: u64,
    /// What the service said at last.
    pub total: Option<u64>,
    /// Records that last changed before this are not in the file.
    pub since: Option<String>,
    /// Records that are not in the file because of that, and because of the template.
    pub older: u64,
    pub left_out: u64,
    /// Ids that were not found, where records were read by their ids.
    pub not_found: u64,
    pub columns: Vec<String>,
    /// Values beyond the most columns that there can be, together in the last one.
    pub gathered: u64,
    /// Texts that are cut, with a mark at their end, because a workbook's cells can't hold more of them.
    #[serde(default)]
    pub cut: u64,
    /// Beside the export before to the same name.
    pub changes: Option<Changes>,
}

impl Manifest {
    /// Where the manifest of a file stands.
    pub fn path_of(file: &Path) -> PathBuf {
        let mut name = file.as_os_str().to_owned();
        name.push(SUFFIX);
        PathBuf::from(name)
    }

    /// The manifest beside a file; nothing where there is none that can be read.
    pub fn beside(file: &Path) -> Option<Manifest> {
        let path = Manifest::path_of(file);
        let is_short = path.metadata().ok()?.len() <= LONGEST;
        let bytes = std::fs::read(path).ok().filter(|_| is_short)?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Puts it in place beside the file that it is of.
    pub fn write(&self, file: &Path) -> Result<PathBuf, Error> {
        let path = Manifest::path_of(file);
        let mut whole = WholeFile::create(&path, Existing::Replace)?;
        let failed = |source| sheet::Error::Write { path: path.clone(), source };
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(error.into()))?;
        whole.write_all(text.as_bytes()).and_then(|()| whole.write_all(b"\n")).map_err(failed)?;
        Ok(whole.finish()?)
    }
}
