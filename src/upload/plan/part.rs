//! A sheet bound to the template.

use super::columns::ColumnMap;
use crate::sheet::{self, Book, Row};
use crate::template::Layout;
use crate::template::bind::HEADER_SEARCH_ROWS;

/// A sheet to read.
#[derive(Debug)]
pub struct Part {
    /// The index in [`Book::sheets`].
    pub sheet: usize,
    pub layout: Layout,
    /// The positions of the columns in the common header.
    pub columns: ColumnMap,
}

/// Reads the first rows, for finding the header.
pub(in crate::upload) fn first_rows(book: &Book, sheet: usize) -> Result<Vec<Row>, sheet::Error> {
    /// Maximum bytes of text: each row may have megabytes.
    const MAX_BYTES: usize = 16 << 20;
    let mut rows = book.rows(sheet)?;
    let mut first_rows = Vec::new();
    let mut row = Row::default();
    let mut bytes = 0;
    while first_rows.len() < HEADER_SEARCH_ROWS && bytes < MAX_BYTES && rows.next(&mut row)? {
        bytes += row.text_len();
        first_rows.push(row.clone());
    }
    Ok(first_rows)
}
