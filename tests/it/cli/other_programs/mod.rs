//! What Sheetport writes is never repaired: programs of others open every report and every export, and what they save
//! again is the same report and the same export.

#[cfg(feature = "parquet")]
mod analysis;
mod exports;
mod formulas;
mod hostile_texts;
mod odd_reports;
mod programs;
mod reports;
mod sums;
pub(super) mod worksheet_xml;

use std::path::{Path, PathBuf};

use super::process::{Place, name};
use programs::{Program, Programs};

/// Checks the files, and has each program save all of them again. Returns each program with the folder of its files.
#[track_caller]
fn check_and_save_again(programs: &Programs, place: &Place, files: &[PathBuf]) -> Vec<(Program, PathBuf)> {
    files.iter().for_each(|file| worksheet_xml::check(file));
    let files: Vec<&str> = files.iter().map(|file| name(file)).collect();
    programs.validate(&files);
    Program::ALL.map(|program| (program, programs.save_again(program, place, &files))).to_vec()
}

/// Asserts that the program kept the cells `then` of a file, as far as it can.
#[track_caller]
fn assert_same_cells(place: &Place, program: Program, then: &[String], saved: &Path) {
    let kept: fn(&str) -> String = match program {
        // Dates become numbers, because it does not keep number formats.
        Program::SheetJs => return,
        // It loses characters of two UTF-16 code units now and then.
        Program::ExcelJs => |cell| cell.replace(|char: char| char.len_utf16() == 2, "\u{fffd}\u{fffd}"),
        Program::LibreOffice => |cell| cell.replace("\\r\\n", "\\n").replace("\\r", "\\n"),
        Program::OpenPyXl => str::to_owned,
    };
    let now = cells(place, saved);
    assert_eq!(then.len(), now.len(), "{program:?}, {}", saved.display());
    let different = then.iter().zip(&now).find(|(then, now)| kept(then) != kept(now));
    assert_eq!(different, None, "{program:?}, {}", saved.display());
}

/// Returns the filled cells of all sheets as `view` shows them, with their positions.
#[track_caller]
fn cells(place: &Place, file: &Path) -> Vec<String> {
    let seen = place.sheetport(["view", name(file), "--json", "--all-sheets"]).exits(0).json();
    let mut cells = Vec::new();
    for sheet in seen["sheets"].as_array().unwrap() {
        for (number, row) in (1..).zip(sheet["rows"].as_array().unwrap()) {
            for (column, cell) in row.as_array().unwrap().iter().enumerate().filter(|(_, cell)| !cell.is_null()) {
                cells.push(format!("{} row {number} column {column}: {cell}", sheet["name"]));
            }
        }
    }
    cells
}
