//! The paths of files that an inbox has taken. Each is alone in a private folder below the inbox, `inbox/.sheetport/ID/`, until its
//! upload has ended. The path stays with the run as its identity, but people know the file by its own name.

use std::path::{Path, PathBuf};

use sheetport_ledger::Run;

use super::stored_files::inside;

/// The folder below an inbox with the private folders.
pub const FOLDER: &str = ".sheetport";

/// Returns the path that a taken file had in its inbox, or `None` for other files.
pub(crate) fn before_taking(path: &Path) -> Option<PathBuf> {
    let (private, name) = (path.parent()?.parent()?, path.file_name()?.to_str()?);
    private.file_name().filter(|folder| *folder == FOLDER)?;
    Some(inside(private.parent()?, name))
}

/// Returns the path of the file of a run, as people know it.
pub fn shown_file(run: &Run) -> String {
    let file = &run.about.file;
    before_taking(Path::new(file)).map_or_else(|| file.clone(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_file_has_its_own_name() {
        for (path, before) in [
            ("/srv/in/.sheetport/0193/part.csv", Some("/srv/in/part.csv")),
            ("s3://shop/in/.sheetport/23-7e/part.csv", Some("s3://shop/in/part.csv")),
            ("s3://shop/.sheetport/23-7e/part.csv", Some("s3://shop/part.csv")),
            ("/srv/in/part.csv", None),
            ("/home/anna/.sheetport/part.csv", None),
            ("part.csv", None),
            ("", None),
        ] {
            assert_eq!(before_taking(Path::new(path)).as_deref(), before.map(Path::new), "{path}");
        }
    }
}
