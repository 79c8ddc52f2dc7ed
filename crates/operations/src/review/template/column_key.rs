//! Columns in the notation of templates.

use toml_edit::Value;

/// A column in the notation of templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKey {
    Name(String),
    /// The number of the column, from 1, if its name is blank or not unique.
    Number(u64),
}

impl ColumnKey {
    pub(super) fn to_value(&self) -> Value {
        match self {
            ColumnKey::Name(name) => name.as_str().into(),
            ColumnKey::Number(number) => i64::try_from(*number).unwrap_or(i64::MAX).into(),
        }
    }
}
