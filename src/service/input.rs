//! The checks that all inputs share, on top of the contract's types: lengths, NUL, digits, date-times, codes; all faults
//! at once. What is particular to a resource is in its own file.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use crate::records::check::{self, Fault};
use crate::records::{Field, JsonType};

use super::{moment, number};

/// Everything that is wrong with an input, by the field.
pub type Errors = BTreeMap<String, Vec<String>>;

/// The most characters of a text that no rule names.
pub const LONGEST: usize = 255;

/// The most entries of an array.
pub const MOST_ENTRIES: usize = 1000;

/// What a resource asks of its fields beyond their types; fields are named without what they are in.
#[derive(Debug)]
pub struct Rules {
    /// The most characters that each text may have, where it is not 255.
    pub longest: &'static [(&'static str, usize)],
    /// Three capital letters.
    pub codes: &'static [&'static str],
    pub not_blank: &'static [&'static str],
    pub date_times: &'static [&'static str],
}

/// The fields of the body that the contract names, with numbers in plain notation and date-times in UTC; or everything
/// that is wrong with them.
pub fn checked(
    fields: &'static [Field],
    rules: &Rules,
    body: &Map<String, Value>,
) -> Result<Map<String, Value>, Errors> {
    of_faults(check::faults(fields, body), fields, rules, body)
}

/// As [`checked`], but nothing is required.
pub fn checked_in_part(
    fields: &'static [Field],
    rules: &Rules,
    body: &Map<String, Value>,
) -> Result<Map<String, Value>, Errors> {
    of_faults(check::mismatches(fields, body), fields, rules, body)
}

/// Adds one to the errors of a field.
pub fn push(errors: &mut Errors, field: &str, message: impl Into<String>) {
    errors.entry(field.to_owned()).or_default().push(message.into());
}

/// Takes a text out of a checked body; None if it is absent or null.
pub fn take_text(body: &mut Map<String, Value>, name: &str) -> Option<String> {
    match body.shift_remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Takes a number out of a checked body; None if it is absent or null.
pub fn take_number(body: &mut Map<String, Value>, name: &str) -> Option<Number> {
    match body.shift_remove(name) {
        Some(Value::Number(number)) => Some(number),
        _ => None,
    }
}

/// Takes a boolean out of a checked body; false if it is absent or null.
pub fn take_flag(body: &mut Map<String, Value>, name: &str) -> bool {
    matches!(body.shift_remove(name), Some(Value::Bool(true)))
}

/// Takes the objects of an array out of a checked body; None if it is absent or null.
pub fn take_objects(body: &mut Map<String, Value>, name: &str) -> Option<Vec<Map<String, Value>>> {
    let Some(Value::Array(entries)) = body.shift_remove(name) else { return None };
    let objects = entries.into_iter().filter_map(|entry| match entry {
        Value::Object(object) => Some(object),
        _ => None,
    });
    Some(objects.collect())
}

fn of_faults(
    faults: Vec<Fault>,
    fields: &'static [Field],
    rules: &Rules,
    body: &Map<String, Value>,
) -> Result<Map<String, Value>, Errors> {
    let mut errors = Errors::new();
    for fault in faults {
        errors.entry(fault.field).or_default().push(fault.message);
    }
    let known = object(fields, rules, body, "", &mut errors);
    if errors.is_empty() { Ok(known) } else { Err(errors) }
}

fn object(
    fields: &'static [Field],
    rules: &Rules,
    body: &Map<String, Value>,
    within: &str,
    errors: &mut Errors,
) -> Map<String, Value> {
    let mut known = Map::new();
    for field in fields {
        if let Some(found) = body.get(field.name) {
            let path = format!("{within}{}", field.name);
            known.insert(field.name.to_owned(), value(field, rules, found, &path, errors));
        }
    }
    known
}

/// The value as it is kept. One of the wrong type has been found to be so already and is passed over.
fn value(field: &Field, rules: &Rules, found: &Value, path: &str, errors: &mut Errors) -> Value {
    match (field.json, found) {
        (JsonType::String | JsonType::DateTime, Value::String(sent)) => {
            Value::String(text(field.name, rules, sent, path, errors))
        }
        (JsonType::Number, Value::Number(sent)) => match number::plain(sent) {
            Some(plain) => Value::Number(plain),
            None => refused(errors, path, "has more digits than can be kept"),
        },
        (JsonType::Integer, Value::Number(sent)) => match number::integer(sent) {
            Some(integer) => Value::from(integer),
            // One with a fraction has been found to be of the wrong type already.
            None if errors.contains_key(path) => Value::Null,
            None => refused(errors, path, "is too large"),
        },
        (JsonType::Object(fields), Value::Object(body)) => {
            Value::Object(object(fields, rules, body, &format!("{path}."), errors))
        }
        (JsonType::Strings | JsonType::Objects(_), Value::Array(entries)) if entries.len() > MOST_ENTRIES => {
            refused(errors, path, &format!("must not have more than {MOST_ENTRIES} entries"))
        }
        (JsonType::Objects(fields), Value::Array(entries)) => {
            let entries = entries.iter().enumerate().map(|(index, entry)| match entry {
                Value::Object(body) => Value::Object(object(fields, rules, body, &format!("{path}[{index}]."), errors)),
                _ => Value::Null,
            });
            Value::Array(entries.collect())
        }
        (JsonType::Strings, Value::Array(entries)) => {
            let entries = entries.iter().enumerate().map(|(index, entry)| match entry {
                Value::String(sent) => {
                    Value::String(text(field.name, rules, sent, &format!("{path}[{index}]"), errors))
                }
                _ => Value::Null,
            });
            Value::Array(entries.collect())
        }
        _ => found.clone(),
    }
}

fn text(name: &str, rules: &Rules, sent: &str, path: &str, errors: &mut Errors) -> String {
    let longest = rules.longest.iter().find(|(named, _)| *named == name).map_or(LONGEST, |(_, longest)| *longest);
    if sent.chars().count() > longest {
        push(errors, path, format!("must not be longer than {longest} characters"));
    }
    if sent.contains('\0') {
        push(errors, path, "must not contain NUL");
    }
    if rules.not_blank.contains(&name) && sent.trim().is_empty() {
        push(errors, path, "must not be blank");
    }
    if rules.codes.contains(&name) && !(sent.len() == 3 && sent.bytes().all(|b| b.is_ascii_uppercase())) {
        push(errors, path, "must be a three-letter code such as EUR");
    }
    if rules.date_times.contains(&name) {
        match moment::parse(sent) {
            Some(millisecond) => return moment::show(millisecond),
            None => push(errors, path, "must be an ISO 8601 date-time such as 2026-01-31T08:30:00Z"),
        }
    }
    sent.to_owned()
}

fn refused(errors: &mut Errors, path: &str, message: &str) -> Value {
    push(errors, path, message);
    Value::Null
}
