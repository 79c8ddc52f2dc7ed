//! Adds rows to the ones a template leaves out.

use toml_edit::{InlineTable, Item, Table, Value};

use super::column_key::ColumnKey;
use crate::operations::error::Error;

/// A condition of `skip_where`: a column and a pattern.
struct Matches {
    column: Value,
    pattern: String,
}

/// Adds a condition that leaves out rows with one of these texts in a column.
pub(super) fn add(sheet: &mut Table, column: &ColumnKey, texts: &[String]) -> Result<(), Error> {
    let mut texts: Vec<String> = texts.iter().map(|text| regex::escape(text.trim())).collect();
    texts.dedup();
    let mut new = Matches { column: column.to_value(), pattern: format!(r"^\s*(?:{})\s*$", texts.join("|")) };
    let known = match sheet.get("skip_where") {
        None => None,
        Some(Item::Value(Value::String(condition))) => Some(condition.value().clone()),
        Some(item) => {
            let known = matches_of(item).ok_or_else(|| unsuitable("skip_where"))?;
            if is_same(&known.column, &new.column) {
                new.pattern = format!("(?:{})|(?:{})", known.pattern, new.pattern);
                None
            } else {
                Some(condition(&known).ok_or_else(|| unsuitable("skip_where"))?)
            }
        }
    };
    let value = match known {
        None => {
            let mut table = InlineTable::new();
            table.insert("column", new.column);
            table.insert("matches", new.pattern.into());
            Value::from(table)
        }
        Some(known) => {
            let new = condition(&new).ok_or_else(|| unsuitable("skip_where"))?;
            Value::from(format!("({known}) or ({new})"))
        }
    };
    sheet.insert("skip_where", toml_edit::value(value));
    Ok(())
}

fn matches_of(item: &Item) -> Option<Matches> {
    let table = item.as_table_like()?;
    let column = table.get("column")?.as_value()?.clone();
    let pattern = table.get("matches")?.as_str()?.to_owned();
    (column.is_str() || column.is_integer()).then_some(Matches { column, pattern })
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_str(), other.as_str()) {
        (Some(one), Some(other)) => one == other,
        _ => one.as_integer().is_some() && one.as_integer() == other.as_integer(),
    }
}

/// Returns a pattern as an expression. A blank cell is no text there.
fn condition(Matches { column, pattern }: &Matches) -> Option<String> {
    let column = format!("row[{}]", quoted(column.as_str()?)?);
    let of_pattern = format!("{column} | matches({})", quoted(pattern)?);
    let matches_blank = regex::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(""));
    Some(if matches_blank { format!("{column} == \"\" or ({of_pattern})") } else { of_pattern })
}

/// Returns a text in quotes. Expressions have no escapes.
fn quoted(text: &str) -> Option<String> {
    ['"', '\''].into_iter().find(|quote| !text.contains(*quote)).map(|quote| format!("{quote}{text}{quote}"))
}

/// Returns the error for a key of the template that the page can't extend.
pub(super) fn unsuitable(key: &str) -> Error {
    Error::invalid(format!("{key} of the template can't be changed by a click"), "change the text of the template")
}
