//! Validation of inputs: the contract's types and required fields, then lengths, NUL characters, digits, date-times and
//! codes. Collects all errors of an input.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};
use sheetport_documents as documents;
use sheetport_records::check::{self, Fault};
use sheetport_records::{Field, JsonType};
use sheetport_values::decimal;

use super::rules::{MAX_ENTRIES, Rules};
use crate::reading::Reading;
use crate::timestamp;

/// The errors of an input by field.
pub type Errors = BTreeMap<String, Vec<String>>;

/// Validates a body. Returns the fields of the contract, with numbers in plain notation and date-times in UTC. Fails with all
/// errors.
pub(crate) fn validate(
    fields: &'static [Field],
    rules: &Rules,
    body: &Map<String, Value>,
    reading: Reading,
) -> Result<Map<String, Value>, Errors> {
    let without_nulls = (rules.null_is_absent && !reading.is_literal()).then(|| without_nulls(fields, body));
    let body = without_nulls.as_ref().unwrap_or(body);
    let validated = apply_rules(check::faults(fields, body), fields, rules, body);
    if !reading.refuses_unknown() {
        return validated;
    }
    let (known, mut errors) = match validated {
        Ok(known) => (known, Errors::new()),
        Err(errors) => (Map::new(), errors),
    };
    add_unknown(fields, body, "", &mut errors);
    if errors.is_empty() { Ok(known) } else { Err(errors) }
}

/// Returns the body without the nulls of fields that must not be null, also within objects.
fn without_nulls(fields: &'static [Field], body: &Map<String, Value>) -> Map<String, Value> {
    let given = body.iter().filter_map(|(name, value)| {
        let field = fields.iter().find(|field| field.name == name);
        let value = match (field.map(|field| field.json), value) {
            (Some(_), Value::Null) if field.is_some_and(|field| !field.nullable) => return None,
            (Some(JsonType::Object(fields)), Value::Object(body)) => Value::Object(without_nulls(fields, body)),
            (Some(JsonType::Objects(fields)), Value::Array(entries)) => {
                let entries = entries.iter().map(|entry| match entry {
                    Value::Object(body) => Value::Object(without_nulls(fields, body)),
                    other => other.clone(),
                });
                Value::Array(entries.collect())
            }
            _ => value.clone(),
        };
        Some((name.clone(), value))
    });
    given.collect()
}

/// Adds an error for each field outside `fields`, also within objects.
fn add_unknown(fields: &'static [Field], body: &Map<String, Value>, parent: &str, errors: &mut Errors) {
    for (name, value) in body {
        let path = format!("{parent}{name}");
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            add_error(errors, &path, not_known("field", name, fields.iter().map(|field| field.name)));
            continue;
        };
        match (field.json, value) {
            (JsonType::Object(fields), Value::Object(body)) => add_unknown(fields, body, &format!("{path}."), errors),
            (JsonType::Objects(fields), Value::Array(entries)) => {
                for (index, entry) in entries.iter().enumerate() {
                    if let Value::Object(body) = entry {
                        add_unknown(fields, body, &format!("{path}[{index}]."), errors);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the message about an unknown name, with the most similar known name.
pub(crate) fn not_known<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match documents::nearest(name, known) {
        Some(nearest) => format!("is not a {what} of this call; did you mean {nearest}?"),
        None => format!("is not a {what} of this call"),
    }
}

/// Validates a body like [`validate`], but requires no fields.
pub(crate) fn validate_partial(
    fields: &'static [Field],
    rules: &Rules,
    body: &Map<String, Value>,
) -> Result<Map<String, Value>, Errors> {
    apply_rules(check::mismatches(fields, body), fields, rules, body)
}

/// Adds an error to a field.
pub(crate) fn add_error(errors: &mut Errors, field: &str, message: impl Into<String>) {
    errors.entry(field.to_owned()).or_default().push(message.into());
}

/// Removes a text from a validated body. Returns `None` if absent or null.
pub(crate) fn take_text(body: &mut Map<String, Value>, name: &str) -> Option<String> {
    match body.shift_remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Removes a number from a validated body. Returns `None` if absent or null.
pub(crate) fn take_number(body: &mut Map<String, Value>, name: &str) -> Option<Number> {
    match body.shift_remove(name) {
        Some(Value::Number(number)) => Some(number),
        _ => None,
    }
}

/// Removes a boolean from a validated body. Returns false if absent or null.
pub(crate) fn take_flag(body: &mut Map<String, Value>, name: &str) -> bool {
    matches!(body.shift_remove(name), Some(Value::Bool(true)))
}

/// Removes an array of objects from a validated body. Returns `None` if absent or null.
pub(crate) fn take_objects(body: &mut Map<String, Value>, name: &str) -> Option<Vec<Map<String, Value>>> {
    let Some(Value::Array(entries)) = body.shift_remove(name) else { return None };
    let objects = entries.into_iter().filter_map(|entry| match entry {
        Value::Object(object) => Some(object),
        _ => None,
    });
    Some(objects.collect())
}

/// Checks a text for its maximum length and for NUL characters. Returns the errors.
pub(crate) fn check_text(text: &str, max_length: usize) -> impl Iterator<Item = String> {
    let too_long = text.chars().count() > max_length;
    let length = too_long.then(|| format!("must not be longer than {max_length} characters"));
    let nul = text.contains('\0').then(|| "must not contain NUL".to_owned());
    length.into_iter().chain(nul)
}

fn apply_rules(
    faults: Vec<Fault>,
    fields: &'static [Field],
    rules: &Rules,
    body: &Map<String, Value>,
) -> Result<Map<String, Value>, Errors> {
    let mut validator = Validator { rules, errors: Errors::new() };
    for fault in faults {
        add_error(&mut validator.errors, &fault.field, fault.message);
    }
    let known = validator.object(fields, body, "");
    if validator.errors.is_empty() { Ok(known) } else { Err(validator.errors) }
}

/// Returns the value of a whole number such as `5` or `5.0`. Returns `None` for fractions and beyond 64 bits.
fn integer(number: &Number) -> Option<i64> {
    decimal::to_integer(decimal::parse(number.as_str()).ok()?)?.try_into().ok()
}

struct Validator<'a> {
    rules: &'a Rules,
    errors: Errors,
}

impl Validator<'_> {
    fn object(&mut self, fields: &'static [Field], body: &Map<String, Value>, parent: &str) -> Map<String, Value> {
        let mut known = Map::new();
        for field in fields {
            if let Some(value) = body.get(field.name) {
                let path = format!("{parent}{}", field.name);
                known.insert(field.name.to_owned(), self.value(field, value, &path));
            }
        }
        known
    }

    /// Returns the normalized value. Values of a wrong type already have an error and are returned unchanged.
    fn value(&mut self, field: &Field, value: &Value, path: &str) -> Value {
        match (field.json, value) {
            (JsonType::String | JsonType::DateTime, Value::String(text)) => {
                Value::String(self.text(field.name, text, path))
            }
            (JsonType::Number, Value::Number(number)) => match decimal::written_out(number) {
                Ok(number) => Value::Number(number),
                Err(error) => self.reject(path, &error.to_string()),
            },
            (JsonType::Integer, Value::Number(number)) => match integer(number) {
                Some(integer) => Value::from(integer),
                // A fraction, reported as a wrong type.
                None if self.errors.contains_key(path) => Value::Null,
                None => self.reject(path, "is too large"),
            },
            (JsonType::Object(fields), Value::Object(body)) => {
                Value::Object(self.object(fields, body, &format!("{path}.")))
            }
            (JsonType::Strings | JsonType::Objects(_), Value::Array(entries)) if entries.len() > MAX_ENTRIES => {
                self.reject(path, &format!("must not have more than {MAX_ENTRIES} entries"))
            }
            (JsonType::Strings | JsonType::Objects(_), Value::Array(entries))
                if entries.is_empty() && self.rules.not_empty.contains(&field.name) =>
            {
                self.reject(path, "must not be empty")
            }
            (JsonType::Strings | JsonType::Objects(_), Value::Array(entries)) => {
                let entries = entries.iter().enumerate().map(|(index, entry)| match (field.json, entry) {
                    (JsonType::Objects(fields), Value::Object(body)) => {
                        Value::Object(self.object(fields, body, &format!("{path}[{index}].")))
                    }
                    (JsonType::Strings, Value::String(text)) => {
                        Value::String(self.text(field.name, text, &format!("{path}[{index}]")))
                    }
                    // A wrong type, already reported.
                    _ => Value::Null,
                });
                Value::Array(entries.collect())
            }
            _ => value.clone(),
        }
    }

    fn text(&mut self, name: &str, text: &str, path: &str) -> String {
        for message in check_text(text, self.rules.max_length(name)) {
            add_error(&mut self.errors, path, message);
        }
        if self.rules.not_blank.contains(&name) && text.trim().is_empty() {
            add_error(&mut self.errors, path, "must not be blank");
        }
        let is_code = |text: &str| text.len() == 3 && text.bytes().all(|b| b.is_ascii_uppercase());
        if self.rules.codes.contains(&name) && !is_code(text) {
            add_error(&mut self.errors, path, "must be a three-letter code such as EUR");
        }
        if self.rules.date_times.contains(&name) {
            match timestamp::parse(text) {
                Some(millisecond) => return timestamp::format(millisecond),
                None => {
                    add_error(&mut self.errors, path, "must be an ISO 8601 date-time such as 2026-01-31T08:30:00Z");
                }
            }
        }
        text.to_owned()
    }

    fn reject(&mut self, path: &str, message: &str) -> Value {
        add_error(&mut self.errors, path, message);
        Value::Null
    }
}
