//! The programs that open and save workbooks, as `tests/run` installs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::super::office;
use super::super::process::{Place, name};
use crate::environment;

/// Where `tests/run` installs the libraries.
pub(super) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/programs");
pub(super) const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");

/// A program that opens workbooks and saves them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    LibreOffice,
    OpenPyXl,
    SheetJs,
    ExcelJs,
}

impl Program {
    pub const ALL: [Program; 4] = [Program::LibreOffice, Program::OpenPyXl, Program::SheetJs, Program::ExcelJs];
}

/// All programs. A value means that they are installed.
pub struct Programs;

impl Programs {
    /// Returns `None` with a message if a program is not installed.
    pub fn find() -> Option<Programs> {
        let is_there = |part: &&str| Path::new(FOLDER).join(part).exists();
        let parts = ["python/bin/python", "node_modules/xlsx", "node_modules/exceljs", "node_modules/@xarsh"];
        if let Some(missing) = parts.iter().find(|part| !is_there(part)) {
            environment::report_missing(&format!("target/programs/{missing}"));
            return None;
        }
        (office::is_there() && environment::has_program("node")).then_some(Programs)
    }

    /// Opens the files and saves each under its own name in a new folder, and returns the folder.
    #[track_caller]
    pub fn save_again(&self, program: Program, place: &Place, files: &[&str]) -> PathBuf {
        let folder = place.path(&format!("{program:?}"));
        fs::create_dir(&folder).unwrap();
        match program {
            Program::LibreOffice => office::save_all_again(place, files, office::XLSX, &folder),
            Program::OpenPyXl => {
                let python = Path::new(FOLDER).join("python/bin/python");
                let script = format!("{SCRIPTS}/workbooks.py");
                succeed(Command::new(python).arg(script).arg(&folder).args(files));
            }
            Program::SheetJs => drop(node("sheetjs", name(&folder), files)),
            Program::ExcelJs => drop(node("exceljs", name(&folder), files)),
        }
        for file in files {
            let saved = folder.join(Path::new(file).file_name().unwrap());
            assert!(saved.exists(), "{program:?} did not save {file}");
        }
        folder
    }

    /// Asserts that the files are valid by the schemas and rules of the Open XML SDK.
    #[track_caller]
    pub fn validate(&self, files: &[&str]) {
        let errors: Value = serde_json::from_slice(&node("validator", "-", files).stdout).unwrap();
        let errors = errors.as_object().unwrap();
        assert_eq!(errors.len(), files.len(), "the names of the files are different: {files:?}");
        for (file, errors) in errors {
            assert_eq!(errors, &Value::Array(Vec::new()), "{file}");
        }
    }
}

#[track_caller]
fn node(program: &str, folder: &str, files: &[&str]) -> Output {
    let script = format!("{SCRIPTS}/workbooks.mjs");
    succeed(Command::new("node").args([&script, FOLDER, program, folder]).args(files))
}

#[track_caller]
pub(super) fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}
