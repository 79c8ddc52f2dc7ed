//! Lookup tables of templates.

use std::fs::File;
use std::path::Path;

use sheetport_files::digest;
use sheetport_mapping::lookup::{Lookup, LookupReader, TableError};
use sheetport_sheet::{self as sheet, Book};

use super::template_folder::TemplateFolder;

impl TemplateFolder<'_> {
    /// Reads the first sheet of a lookup table. Also returns the SHA-256 of the file.
    pub(super) fn read_table(&self, name: &str, reader: LookupReader) -> Result<(Lookup, String), TableError> {
        let path = self.find(Path::new(name)).map_err(TableError::Unreadable)?;
        let hash = File::open(&path).and_then(|mut file| digest::of_reader(&mut file));
        let (hash, _) = hash.map_err(|error| TableError::Unreadable(error.to_string()))?;
        let book = sheet::open(&path, &sheet::Options::default()).map_err(unreadable)?;
        Ok((read_rows(&book, 0, reader)?, hash))
    }
}

/// Reads a lookup table from a sheet.
pub(super) fn read_rows(book: &Book, sheet: usize, mut reader: LookupReader) -> Result<Lookup, TableError> {
    let mut rows = book.rows(sheet).map_err(unreadable)?;
    let mut row = sheet::Row::default();
    while rows.next(&mut row).map_err(unreadable)? {
        reader.row(&row)?;
    }
    Ok(reader.end()?)
}

pub(super) fn unreadable(error: sheet::Error) -> TableError {
    TableError::Unreadable(error.to_string())
}
