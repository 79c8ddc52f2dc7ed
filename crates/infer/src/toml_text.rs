//! Writes constants and columns of a template as TOML.

use sheetport_documents::write::quoted;
use sheetport_mapping::model::{ColumnName, Constant};

/// Returns a constant as TOML; `None` for null, because TOML has no null.
pub(super) fn constant(constant: &Constant) -> Option<String> {
    match constant {
        Constant::Text(text) => Some(quoted(text)),
        Constant::Number(number) => Some(number.to_string()),
        Constant::Boolean(boolean) => Some(boolean.to_string()),
        Constant::Null => None,
    }
}

/// Returns a column's name as TOML.
pub(super) fn column(column: &ColumnName) -> String {
    match column {
        ColumnName::Named(name) => quoted(name),
        ColumnName::Number(number) => number.to_string(),
    }
}
