//! Reading and writing of spreadsheets as files on disk.

mod cells;
mod encrypted;
mod fuzz;
mod hostile_texts;
mod hostile_workbooks;
mod kinds;
mod markup;
mod old_workbooks;
pub mod parts;
mod process;
mod roundtrip;
mod table;
mod text;
mod workbook;

use std::fs;
use std::path::{Path, PathBuf};

use sheetport_sheet::{Book, Error, Options, Row, open, read_workbooks_with};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn file(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Opens a file. Workbooks are read in processes of the real program.
fn read(path: &Path) -> Result<Book, Error> {
    read_workbooks_with(env!("CARGO_BIN_EXE_sheetport").into());
    open(path, &Options::default())
}

/// Returns all rows of a sheet as `number: cell|cell`, and the error, if any.
fn rows(book: &Book, sheet: usize) -> (Vec<String>, Option<Error>) {
    let mut rows = book.rows(sheet).unwrap();
    let (mut row, mut lines) = (Row::default(), Vec::new());
    loop {
        match rows.next(&mut row) {
            Ok(true) => {
                let cells: Vec<_> = row.cells().map(|cell| cell.shown().into_owned()).collect();
                lines.push(format!("{}: {}", row.number, cells.join("|")));
            }
            Ok(false) => return (lines, None),
            Err(error) => return (lines, Some(error)),
        }
    }
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}
