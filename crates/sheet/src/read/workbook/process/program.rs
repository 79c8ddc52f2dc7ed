//! The program of the reading processes.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The hidden first argument of a reading process.
pub(super) const FLAG: &str = "--read-workbook-child";
/// The hidden first argument of a process that attempts forbidden operations.
pub(super) const TRIAL: &str = "--try-reader-protections";

/// The program for reading workbooks.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Reads workbooks in processes of `program`. Its `main` must start with [`run_reader_if_asked`](super::run_reader_if_asked).
/// Only the first call counts.
pub fn read_workbooks_with(program: PathBuf) {
    PROGRAM.get_or_init(|| program);
}

/// Returns the program for reading workbooks, if registered.
pub(super) fn program() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path)
}
