//! Rows not split into columns.

/// Common delimiters.
pub(super) const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Remedy for a sheet with all columns in one.
pub const UNSPLIT_HINT: &str = "all columns of this sheet are in one, as after saving a CSV that was opened without splitting it: remove the quotes around \
     the lines, or split the column in the spreadsheet program (Data > Text to Columns) and save the file again";

/// Returns whether a text has the values of this number of columns.
pub fn is_unsplit(text: &str, columns: usize) -> bool {
    DELIMITERS.iter().any(|delimiter| text.matches(char::from(*delimiter)).count() + 1 >= columns)
}
