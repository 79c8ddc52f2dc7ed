//! A workbook under construction together with its destination file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rust_xlsxwriter::{Workbook, XlsxError};

use crate::Error;
use crate::write::whole_file::{WholeFile, folder};

pub struct WorkbookFile {
    file: WholeFile,
    workbook: Workbook,
    /// The library panicked; the workbook is unusable.
    is_broken: bool,
}

impl WorkbookFile {
    /// Creates an empty workbook. Temporary data goes beside the file, where users expect disk usage, rather than to the
    /// system's temporary folder.
    pub fn create(file: WholeFile) -> Result<WorkbookFile, Error> {
        let mut workbook = Workbook::new();
        workbook.set_zip_compression_level(1);
        workbook.set_tempdir(folder(file.path())).map_err(|error| failed(file.path(), error))?;
        Ok(WorkbookFile { file, workbook, is_broken: false })
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Runs `work` on the workbook and converts panics into errors. The library panics if its temporary file cannot be
    /// written, for example on a full disk.
    pub fn edit<T>(&mut self, work: impl FnOnce(&mut Workbook) -> Result<T, XlsxError>) -> Result<T, Error> {
        let workbook = &mut self.workbook;
        guard(self.file.path(), &mut self.is_broken, || work(workbook))
    }

    /// Writes the workbook to the file. The caller must finish the file.
    pub fn save(self) -> Result<WholeFile, Error> {
        let WorkbookFile { mut file, mut workbook, mut is_broken } = self;
        let path: PathBuf = file.path().to_owned();
        guard(&path, &mut is_broken, || workbook.save_to_writer(&mut file))?;
        Ok(file)
    }
}

fn guard<T>(path: &Path, is_broken: &mut bool, work: impl FnOnce() -> Result<T, XlsxError>) -> Result<T, Error> {
    if !*is_broken {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(outcome) => return outcome.map_err(|error| failed(path, error)),
            Err(_) => *is_broken = true,
        }
    }
    let source = std::io::Error::other("its temporary data could not be written; the disk may be full");
    Err(Error::Write { path: path.to_owned(), source })
}

fn failed(path: &Path, error: XlsxError) -> Error {
    match error {
        XlsxError::IoError(source) => Error::Write { path: path.to_owned(), source },
        error => Error::Unwritable { path: path.to_owned(), reason: error.to_string() },
    }
}
