//! Adds rows to the ones a template leaves out.

use toml_edit::{Array, InlineTable, Item, Table, Value};

use super::column_key::ColumnKey;
use crate::error::Error;

/// Adds a test that leaves out rows with one of these texts in a column.
pub(super) fn add(sheet: &mut Table, column: &ColumnKey, texts: &[String]) -> Result<(), Error> {
    let mut texts: Vec<String> = texts.iter().map(|text| regex::escape(text.trim())).collect();
    texts.dedup();
    let (column, pattern) = (column.to_value(), format!(r"^\s*(?:{})\s*$", texts.join("|")));
    let mut tests = match sheet.get("skip_where").cloned().map(Item::into_value) {
        None => Array::new(),
        Some(Ok(Value::Array(tests))) => tests,
        Some(Ok(mut test)) => {
            test.decor_mut().clear();
            Array::from_iter([test])
        }
        Some(Err(_)) => return Err(unsuitable("skip_where")),
    };
    let known = tests.iter().enumerate().find_map(|(nth, test)| Some((nth, pattern_of(test, &column)?.to_owned())));
    let mut test = InlineTable::new();
    test.insert("column", column);
    match known {
        Some((nth, known)) => {
            test.insert("matches", format!("(?:{known})|(?:{pattern})").into());
            tests.replace(nth, test);
        }
        None => {
            test.insert("matches", pattern.into());
            tests.push(test);
        }
    }
    let only = if tests.len() == 1 { tests.get(0).cloned() } else { None };
    let mut tests = only.unwrap_or(Value::Array(tests));
    tests.decor_mut().clear();
    sheet.insert("skip_where", toml_edit::value(tests));
    Ok(())
}

/// Returns the pattern of a test that only has this column and a pattern. A test with a reason is about other rows.
fn pattern_of<'t>(test: &'t Value, column: &Value) -> Option<&'t str> {
    let test = test.as_inline_table().filter(|test| test.len() == 2)?;
    test.get("column").filter(|known| is_same(known, column))?;
    test.get("matches")?.as_str()
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_str(), other.as_str()) {
        (Some(one), Some(other)) => one == other,
        _ => one.as_integer().is_some() && one.as_integer() == other.as_integer(),
    }
}

/// Returns the error for a key of the template that the page can't extend.
pub(super) fn unsuitable(key: &str) -> Error {
    Error::invalid(format!("{key} of the template can't be changed by a click"), "change the text of the template")
}
