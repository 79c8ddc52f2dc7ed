//! Values of the table from the JSON of fields.

use std::borrow::Cow;

use jiff::civil;
use sheetport_client::pages::{array_elements, unescaped};
use sheetport_sheet::write::Value;

/// Returns the value of a field. Arrays of plain values are joined by commas if the result is unambiguous; objects and other
/// arrays stay JSON.
pub(super) fn value(json: Option<&str>, is_date_time: bool) -> Value<'_> {
    let Some(json) = json else { return Value::Blank };
    match json.as_bytes().first() {
        None | Some(b'n') => Value::Blank,
        Some(b't') => Value::Boolean(true),
        Some(b'f') => Value::Boolean(false),
        Some(b'"') => match unescaped(json) {
            Cow::Borrowed(text) if is_date_time => {
                utc(text).map_or(Value::Text(Cow::Borrowed(text)), |at| Value::DateTime { at, text })
            }
            text => Value::Text(text),
        },
        Some(b'[') => joined(json).map_or(Value::Text(Cow::Borrowed(json)), |text| match text.is_empty() {
            true => Value::Blank,
            false => Value::Text(Cow::Owned(text)),
        }),
        Some(b'{') => Value::Text(Cow::Borrowed(json)),
        Some(_) => Value::Number(json),
    }
}

/// Returns a field as text, for conditions and sorting. Missing fields and nulls are empty.
pub(super) fn text(json: Option<&str>) -> Cow<'_, str> {
    match value(json, false) {
        Value::Text(text) => text,
        Value::Number(text) => Cow::Borrowed(text),
        other => Cow::Owned(shown(&other).to_owned()),
    }
}

/// Returns a value as text.
pub(super) fn shown<'v>(value: &'v Value<'_>) -> &'v str {
    match value {
        Value::Blank => "",
        Value::Text(text) => text,
        Value::Number(text) | Value::DateTime { text, .. } => text,
        Value::Digits(digits) => digits,
        Value::Boolean(true) => "true",
        Value::Boolean(false) => "false",
    }
}

/// Parses a time in UTC. Returns `None` for a time with another offset.
fn utc(text: &str) -> Option<civil::DateTime> {
    let clock = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00"))?;
    clock.parse().ok()
}

fn joined(json: &str) -> Option<String> {
    let elements = array_elements(json)?;
    if elements.iter().any(|element| *element == "null" || element.starts_with(['{', '['])) {
        return None;
    }
    let texts: Vec<Cow<'_, str>> = elements.iter().map(|element| unescaped(element)).collect();
    let is_ambiguous = |text: &Cow<'_, str>| {
        text.is_empty() || text.contains(',') || text.starts_with('[') || text.trim() != text.as_ref()
    };
    (!texts.iter().any(is_ambiguous)).then(|| texts.join(", "))
}
