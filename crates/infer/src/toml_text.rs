//! Writes values as TOML, with escapes for invisible characters.

use sheetport_files::visible::has_no_width;
use sheetport_mapping::model::{ColumnName, Constant};

/// Returns the text as a TOML string.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if is_interpreted(c) => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns a key, in quotes if necessary.
pub(super) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

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

/// Returns a map of texts as an inline table.
pub(super) fn map<'a>(entries: impl Iterator<Item = (&'a str, String)>) -> String {
    let entries: Vec<String> = entries.map(|(from, to)| format!("{} = {to}", quoted(from))).collect();
    format!("{{ {} }}", entries.join(", "))
}

/// Returns a column in an expression.
pub fn row_value(name: &str) -> String {
    let escaped = name.replace('\\', "\\\\").replace('\'', "\\'");
    format!("row['{escaped}']")
}

/// Whether terminals and editors interpret the character instead of displaying it.
pub(super) fn is_interpreted(c: char) -> bool {
    c.is_control() || has_no_width(c)
}
