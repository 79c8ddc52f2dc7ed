//! The values that a column can have, offered in the drop-down lists of a workbook.

/// Maximum length of a drop-down list. Columns with more values get no list.
pub const MAX_CHOICES: usize = 10_000;

/// The known values of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// Zero-based column.
    pub column: usize,
    /// Total number of values.
    pub count: usize,
    /// Values in display order; empty if there are more than [`MAX_CHOICES`].
    pub values: Vec<String>,
    /// No other value is valid. The program then asks for confirmation of other values.
    pub is_closed: bool,
}

impl Choices {
    /// Returns true if a sheet of `columns` columns offers the values.
    pub(crate) fn is_shown(&self, columns: usize) -> bool {
        !self.values.is_empty() && self.values.len() <= MAX_CHOICES && self.column < columns
    }
}
