//! Names of columns in templates, and their comparison with headers.

/// The name of a column in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnName {
    /// The header, or the column's letters if no header has this text.
    Named(String),
    /// Position of the column, from 1.
    Number(usize),
}

impl ColumnName {
    /// Returns the name, or `None` for a position.
    pub fn name(&self) -> Option<&str> {
        match self {
            ColumnName::Named(name) => Some(name),
            ColumnName::Number(_) => None,
        }
    }

    /// Returns whether both name the same column in every sheet.
    pub fn is_same(&self, other: &ColumnName) -> bool {
        match (self, other) {
            (ColumnName::Named(left), ColumnName::Named(right)) => same_header(left, right),
            (left, right) => left == right,
        }
    }
}

impl std::fmt::Display for ColumnName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ColumnName::Named(name) => write!(f, "'{name}'"),
            ColumnName::Number(number) => write!(f, "number {number}"),
        }
    }
}

/// Compares headers in any case and with any white space.
pub fn same_header(left: &str, right: &str) -> bool {
    folded_header(left) == folded_header(right)
}

/// Converts a header to lower case with single spaces. Fold once for many comparisons: headers can be megabytes long.
pub fn folded_header(name: &str) -> String {
    let mut folded = String::new();
    for word in name.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(&word.to_lowercase());
    }
    folded
}

/// Placeholder for the number of a line in the names of columns: `Item {n}` for `Item 1`, `Item 2` ….
pub const LINE_NUMBER: &str = "{n}";

/// Whether a column has a number for each line of a row.
pub fn has_line_number(names: &[ColumnName]) -> bool {
    names.iter().any(|name| matches!(name, ColumnName::Named(name) if name.contains(LINE_NUMBER)))
}
