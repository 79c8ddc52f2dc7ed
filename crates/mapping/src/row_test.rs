//! Tests that select rows of a sheet: `skip_where`, `keep_where` and `warn_where`.

use regex::Regex;
use sheetport_values::locale::Locale;

use super::column_name::ColumnName;
use super::language::Expression;

/// A condition as written in a template.
#[derive(Debug)]
pub struct Condition {
    pub expression: Expression,
    /// The expression in the template.
    pub written: String,
}

/// Selects rows, for `skip_where`, `keep_where` and `warn_where`.
#[derive(Debug)]
pub struct RowTest {
    pub subject: Tested,
    /// What people are told about the selected rows.
    pub because: Option<String>,
    /// Whether the columns may be missing. A missing column is blank, and matches no pattern.
    pub optional: bool,
}

/// What a [`RowTest`] looks at.
#[derive(Debug)]
pub enum Tested {
    /// By the text of a cell.
    Matches {
        /// Alternative names of the column.
        column: Vec<ColumnName>,
        pattern: Regex,
    },
    /// By a condition over several cells.
    Condition {
        condition: Condition,
        /// The number style of texts.
        locale: Option<Locale>,
    },
}

impl std::fmt::Display for Tested {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Tested::Matches { pattern, .. } => write!(f, "matches {pattern}"),
            Tested::Condition { condition, .. } => f.write_str(&condition.written),
        }
    }
}

impl RowTest {
    /// Returns the columns in the order of the test, each with alternative names.
    pub fn columns(&self) -> Vec<Vec<ColumnName>> {
        match &self.subject {
            Tested::Matches { column, .. } => vec![column.clone()],
            Tested::Condition { condition, .. } => {
                let names = condition.expression.columns().iter();
                names.map(|name| vec![ColumnName::Named(name.clone())]).collect()
            }
        }
    }
}
