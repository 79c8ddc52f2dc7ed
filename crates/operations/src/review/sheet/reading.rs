//! The reading options of a file under review, and its rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sheetport_sheet::{self as sheet, Book, Options, Table};

use super::row_store::RowStore;
use crate::error::Error;
use crate::files::InputFile;

/// The reading options chosen by a person. `None` means detection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The name of the sheet.
    pub sheet: Option<String>,
    pub encoding: Option<String>,
    pub delimiter: Option<u8>,
    /// The number of the row with the names of the columns.
    pub header_row: Option<u64>,
}

impl Reading {
    /// Returns the options of the file.
    pub fn options(&self) -> Options {
        Options { delimiter: self.delimiter, encoding: self.encoding.clone(), ..Options::default() }
    }

    /// Returns the chosen options as keys of a template.
    pub fn keys(&self) -> Vec<(&'static str, String)> {
        let delimiter = self.delimiter.map(|byte| match byte {
            b'\t' => "tab".to_owned(),
            b' ' => "space".to_owned(),
            byte => char::from(byte).to_string(),
        });
        let keys = [("delimiter", delimiter), ("encoding", self.encoding.clone())];
        keys.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }
}

/// A sheet with its rows. A background thread reads the rows until the value is dropped.
#[derive(Debug)]
pub struct OpenSheet {
    pub book: Book,
    /// The index in [`Book::sheets`].
    pub sheet: usize,
    /// The number of the header row, as far as detected without a template.
    pub header_row: Option<u64>,
    pub rows: Arc<RowStore>,
    is_wanted: Arc<AtomicBool>,
}

/// Opens a sheet and waits for its first rows.
///
/// # Errors
/// If the file can't be read as a table.
pub fn open_sheet(file: &InputFile, reading: &Reading) -> Result<OpenSheet, Error> {
    let of_file = |error: sheet::Error| Error::from(error.of_file(&file.name));
    let book = sheet::open(&file.path, &reading.options()).map_err(of_file)?;
    let sheet = match &reading.sheet {
        Some(name) => book.find_named_sheet(name).map_err(of_file)?,
        None => book.first_filled_sheet().map_err(of_file)?,
    };
    let found = book.rows(sheet).and_then(Table::new).map_err(of_file)?;
    let header_row = reading.header_row.or(found.header_row());
    let (rows, is_wanted) = (Arc::new(RowStore::default()), Arc::new(AtomicBool::new(true)));
    let filling = (book.clone(), Arc::clone(&rows), Arc::clone(&is_wanted));
    std::thread::spawn(move || {
        let (book, rows, is_wanted) = filling;
        rows.fill(&book, sheet, || is_wanted.load(Ordering::Relaxed));
    });
    rows.wait_for_first();
    Ok(OpenSheet { book, sheet, header_row, rows, is_wanted })
}

impl OpenSheet {
    /// Returns the name of the sheet, if the sheets have names.
    pub fn name(&self) -> Option<&str> {
        self.book.sheets().get(self.sheet).filter(|_| self.book.has_named_sheets()).map(String::as_str)
    }
}

impl Drop for OpenSheet {
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::Relaxed);
    }
}
