//! Columns as templates name them.

use toml_edit::Value;

/// A column as it is named in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKey {
    Name(String),
    /// From 1, for columns without a name of their own.
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
