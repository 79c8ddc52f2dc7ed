//! The columns of lists, and names in SQL.

use crate::kind::Kind;

/// When a record was found to be gone.
pub(super) const DELETED_AT: &str = "deleted_at";
/// Place of an element in its record, from 1 on.
pub(super) const POSITION: &str = "position";
/// Names and types of the columns of a table.
pub(super) const DATA_TYPES_OF: &str = "SELECT name, type FROM pragma_table_info(?1)";

/// A list in a database.
#[derive(Clone, Debug)]
pub struct ListInDatabase {
    pub table: String,
    pub workspace: String,
    pub base_url: String,
    /// When the last export of the list began.
    pub started: String,
    pub columns: Vec<DatabaseColumn>,
}

/// A column of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseColumn {
    /// The name in the table, which differs from the header if another column has this header in other letter case.
    pub name: String,
    pub header: String,
    /// Unique path of the field. `None` for columns with another source.
    pub field: Option<String>,
    /// `None` without values so far.
    pub kind: Option<Kind>,
    /// The type in the definition of the table, once it exists.
    pub declared: String,
}

impl DatabaseColumn {
    /// Returns a column that no table has yet.
    pub fn new(header: String, field: Option<String>, kind: Option<Kind>) -> DatabaseColumn {
        DatabaseColumn { name: header.clone(), header, field, kind, declared: String::new() }
    }

    pub(super) fn is_same(&self, other: &DatabaseColumn) -> bool {
        self.field == other.field && (self.field.is_some() || self.header == other.header)
    }

    pub(super) fn definition(&self) -> String {
        format!("{} {}", quoted(&self.name), self.declared)
    }
}

/// Returns a name as SQL.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
