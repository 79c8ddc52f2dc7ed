//! Finds a spreadsheet to begin with.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use futures_util::future::BoxFuture;

use sheetport_mapping::load::SheetKeys;
use sheetport_sheet::Options;

use super::super::context::Context;
use super::super::files::InputFile;
use super::super::templates::recognize::{Recognized, Unrecognized, recognize};

/// Extensions of spreadsheets.
const EXTENSIONS: [&str; 8] = ["xlsx", "xlsm", "xlsb", "xls", "ods", "fods", "csv", "tsv"];
/// Name of the sample file written by `init` if the folder has no spreadsheet.
pub const SAMPLE_NAME: &str = "sheetport-sample.csv";
/// Maximum number of files to read, newest first.
const MOST: usize = 10;

/// A spreadsheet, and a template that fits.
#[derive(Debug)]
pub struct Sample {
    pub path: PathBuf,
    /// `None` if no template fits.
    pub template: Option<String>,
}

/// Returns the newest spreadsheet in a folder that fits a template, or else the newest spreadsheet. Returns `None` if there is
/// none.
pub fn find_sample<'a>(context: &'a Context, folder: &'a Path) -> BoxFuture<'a, Option<Sample>> {
    Box::pin(async move {
        let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().to_lowercase();
            let has_extension = Path::new(&name)
                .extension()
                .is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known));
            let is_ours = name.contains(".report.") || name.contains(".errors.");
            let modified =
                entry.metadata().ok().filter(std::fs::Metadata::is_file).and_then(|found| found.modified().ok());
            // A file of one's own comes first.
            let modified = modified.map(|modified| if name == SAMPLE_NAME { SystemTime::UNIX_EPOCH } else { modified });
            if let Some(modified) = modified.filter(|_| has_extension && !is_ours && !name.starts_with(['.', '~'])) {
                found.push((modified, path));
            }
        }
        found.sort_by(|a, b| b.cmp(a));
        let mut newest = None;
        for (_, path) in found.into_iter().take(MOST) {
            // As written in a command.
            let path = path.strip_prefix(".").map_or(path.clone(), Path::to_owned);
            let file = InputFile::at(&path);
            let unknown =
                Unrecognized { file: &file, sheet: None, text: Options::default(), keys: SheetKeys::default() };
            // Skips unreadable files; a check explains the problem.
            let Ok(Recognized { candidates, .. }) = recognize(context, &unknown, &|_| {}).await else { continue };
            let template = candidates.into_iter().next().filter(|best| best.fit.is_good()).map(|best| best.name);
            match template {
                Some(template) => return Some(Sample { path, template: Some(template) }),
                None => newest = newest.or(Some(Sample { path, template: None })),
            }
        }
        newest
    })
}
