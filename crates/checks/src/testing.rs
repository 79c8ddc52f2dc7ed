//! Rows for tests.

use sheetport_sheet::{Cell, Row};

/// Returns a row of texts. Empty ones are blank cells.
pub(super) fn row<T: AsRef<str>>(number: u64, texts: &[T]) -> Row {
    let mut row = Row::default();
    row.clear(number);
    for text in texts.iter().map(AsRef::as_ref) {
        row.push(if text.is_empty() { Cell::Blank } else { Cell::Text(text) });
    }
    row
}
