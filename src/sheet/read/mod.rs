//! What a file turns out to be, and the rows of its sheets.

use std::path::{Path, PathBuf};

use super::{Error, Row};

/// What the caller knows better than detection. Everything unset is found out.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// One byte between the fields of a CSV.
    pub delimiter: Option<u8>,
    /// A label of the WHATWG Encoding Standard, such as `windows-1252`.
    pub encoding: Option<String>,
}

/// A file whose format is known. It can be read any number of times.
#[derive(Clone, Debug)]
pub struct Book {
    path: PathBuf,
}

/// The rows of one sheet, in order. Rows that the file leaves out (a workbook's empty rows) are not given;
/// [`Row::number`] tells.
pub struct Rows {}

/// Finds out what `path` is. Reads a bounded sample of it.
pub fn open(path: &Path, options: &Options) -> Result<Book, Error> {
    let _ = options;
    Ok(Book { path: path.to_owned() })
}

impl Book {
    /// The sheets by name, in the file's order. A CSV has one, named like the file without its extension.
    pub fn sheets(&self) -> &[String] {
        &[]
    }

    /// False for a CSV, whose one sheet is named after the file.
    pub fn has_named_sheets(&self) -> bool {
        false
    }

    /// One line for people on how the file was read: `CSV, windows-1252, delimiter ';'`.
    pub fn description(&self) -> String {
        String::new()
    }

    /// The rows of the sheet at `index` of [`Book::sheets`], from its first.
    pub fn rows(&self, index: usize) -> Result<Rows, Error> {
        let _ = index;
        Err(Error::Empty { path: self.path.clone() })
    }
}

impl Rows {
    /// Reads the next row into `row` and answers true, or false after the last.
    pub fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        let _ = row;
        Ok(false)
    }
}
