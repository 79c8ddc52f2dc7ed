//! Paths of reports: their formats, and the default ones.

use std::path::{Path, PathBuf};

use sheetport_files::readers::create_private_folder;
use sheetport_report::Format;
use sheetport_sheet::write::{Existing, WholeFile};

use super::super::context::Context;
use super::super::error::Error;
use super::input::STANDARD_INPUT;

/// Name of the folder of reports in the home.
const REPORTS: &str = "reports";
/// Extensions of compressed text files.
const COMPRESSED: [&str; 2] = ["gz", "zst"];

/// Returns paths next to the file, in the order to try: `prices.report.xlsx`, then
/// `prices.report-2.xlsx`. Reports of standard input go to the current folder.
pub fn beside<'e>(file: &Path, extension: &'e str) -> impl Iterator<Item = PathBuf> + use<'e> {
    let is_stdin = file == Path::new(STANDARD_INPUT);
    let mut file = if is_stdin { PathBuf::from("stdin") } else { file.to_owned() };
    if is_stdin && let Ok(path) = std::path::absolute(&file) {
        file = path;
    }
    if has_extension(&file, &COMPRESSED) {
        file.set_extension("");
    }
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_else(|| "rows".to_owned());
    let stem = without_report(&stem).to_owned();
    (1_u64..).map(move |number| match number {
        1 => file.with_file_name(format!("{stem}.report.{extension}")),
        number => file.with_file_name(format!("{stem}.report-{number}.{extension}")),
    })
}

/// Returns `path`, or the same name with a number if there is such a file.
pub fn unused(path: &Path) -> PathBuf {
    numbered(path).find(|path| !path.exists()).expect("some number is not taken")
}

/// Returns whether a new file can be written to `path` now.
pub fn is_writable(path: &Path) -> bool {
    // The new file is removed on drop.
    WholeFile::create(path, Existing::Keep).is_ok()
}

/// Returns `path`, then the same name with a number: `out.xlsx`, `out-2.xlsx`.
pub fn numbered(path: &Path) -> impl Iterator<Item = PathBuf> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let extension = path.extension().map(|extension| extension.to_string_lossy().into_owned()).unwrap_or_default();
    (1_u64..).map(move |number| match number {
        1 => path.to_owned(),
        number => path.with_file_name(format!("{stem}-{number}.{extension}")),
    })
}

/// Returns the home's folder of reports. Only this user can read it.
///
/// # Errors
/// If the folder can't be created.
pub fn reports_folder(context: &Context) -> Result<PathBuf, Error> {
    let folder = context.home.join(REPORTS);
    create_private_folder(&folder).map_err(|error| Error::Local {
        message: format!("{} can't be created: {error}", folder.display()),
        hint: "check the permissions of the folder above".to_owned(),
    })?;
    Ok(folder)
}

/// Returns the format for the extension of `path`.
pub fn report_format(path: &Path) -> Result<Format, Error> {
    Format::of(path).ok_or_else(|| {
        let message = format!("{} has no extension that says what to write", path.display());
        Error::invalid(message, "use .xlsx or .csv for a report to fix rows in, or .html for a page to read")
    })
}

/// Strips `.report` or `.report-2` from the end of a file stem.
fn without_report(stem: &str) -> &str {
    match stem.rsplit_once(".report") {
        Some((file, "")) if !file.is_empty() => file,
        Some((file, number)) if !file.is_empty() => {
            let is_number = number.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok());
            if is_number { file } else { stem }
        }
        _ => stem,
    }
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extensions.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_gets_the_name_of_its_file() {
        let name = |file: &str, nth| {
            let path = beside(&Path::new("folder").join(file), "xlsx").nth(nth).expect("a name");
            assert_eq!(path.parent(), Some(Path::new("folder")));
            path.file_name().expect("a name").to_string_lossy().into_owned()
        };
        for (file, report) in [
            ("prices.csv", "prices.report.xlsx"),
            ("prices", "prices.report.xlsx"),
            ("prices.csv.gz", "prices.report.xlsx"),
            ("prices.tsv.ZST", "prices.report.xlsx"),
            ("prices.XLS", "prices.report.xlsx"),
            ("prices.report.csv", "prices.report.xlsx"),
            ("prices.report-12.xlsx", "prices.report.xlsx"),
            ("my.reporting.csv", "my.reporting.report.xlsx"),
            ("my.report-draft.csv", "my.report-draft.report.xlsx"),
            ("my.report-.csv", "my.report-.report.xlsx"),
            (".report.csv", ".report.report.xlsx"),
        ] {
            assert_eq!(name(file, 0), report, "{file}");
        }
        assert_eq!(name("prices.report-2.xlsx", 2), "prices.report-3.xlsx");
    }
}
