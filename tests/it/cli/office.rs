//! A real office program that opens and saves files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::{Place, name};
use crate::environment;

/// Filter for current Excel workbooks.
pub const XLSX: &str = "xlsx:Calc MS Excel 2007 XML";

/// Filter for UTF-8 CSV with commas and quotes.
pub const CSV: &str = "csv:Text - txt - csv (StarCalc):44,34,76";

/// Import filter for such a file, as selected in the dialog of the program.
pub const FROM_CSV: &str = "CSV:44,34,76";

/// Returns false with a message if no office program is installed.
pub fn is_there() -> bool {
    environment::has_program("soffice")
}

/// Opens `file`, saves it as `to` in the folder `saved`, and returns that folder.
pub fn save_again(place: &Place, file: &Path, to: &str) -> PathBuf {
    let saved = place.path("saved");
    save_all_again(place, &[name(file)], to, &saved);
    saved
}

/// Opens the files and saves each of them as `to` in `folder`.
#[track_caller]
pub fn save_all_again(place: &Place, files: &[&str], to: &str, folder: &Path) {
    import_and_save(place, files, None, to, folder);
}

/// Opens the files with an import filter, or the one the program chooses, and saves each of them as `to` in `folder`.
#[track_caller]
pub fn import_and_save(place: &Place, files: &[&str], from: Option<&str>, to: &str, folder: &Path) {
    let scratch = place.path("scratch");
    fs::create_dir_all(&scratch).unwrap();
    let profile = format!("-env:UserInstallation=file://{}", name(&place.path("office")));
    let converted = Command::new("soffice")
        .args([&profile, "--headless", "--convert-to", to, "--outdir", name(folder)])
        .args(from.map(|filter| format!("--infilter={filter}")))
        .args(files)
        .env("TMPDIR", &scratch)
        .output()
        .unwrap();
    assert!(converted.status.success(), "{converted:?}");
}
