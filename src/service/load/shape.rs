//! From an exported record to the form in which it is stored, and how a stored record is shown. Pure.

use serde_json::{Map, Value};

use crate::records::{Field, company, contact, inventory, order};

use super::super::input::{self, Errors, Rules};
use super::super::store::Kind;
use super::batch::{Entry, Keys};

/// The rules of records as they are read.
pub const RULES: Rules = Rules {
    longest: &[("name", 500), ("record_source_detail", 10_000)],
    codes: &[],
    not_blank: &["id", "external_id", "inventory_id"],
    date_times: &["created_at", "updated_at", "order_at", "date"],
};

/// The fields of a kind as it is read.
fn fields(kind: Kind) -> &'static [Field] {
    match kind {
        Kind::Company => company::READ_FIELDS,
        Kind::Contact => contact::READ_FIELDS,
        Kind::Inventory => inventory::READ_FIELDS,
        Kind::Order => order::READ_FIELDS,
        // These are never loaded.
        Kind::Transaction | Kind::Subscription | Kind::Invoice | Kind::Job => &[],
    }
}

/// Whether records of this kind may have fields that the contract does not name.
fn is_open(kind: Kind) -> bool {
    matches!(kind, Kind::Company | Kind::Contact)
}

/// The field by which people name a record of this kind.
pub fn number_field(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Order => Some("order_id"),
        Kind::Inventory => Some("inventory_id"),
        _ => None,
    }
}

/// The record's keys and its other fields, checked; or everything that is wrong with it.
pub fn entry(kind: Kind, mut body: Map<String, Value>) -> Result<Entry, Errors> {
    // What the contract does not let be null is null in an export for want of a value.
    for field in fields(kind).iter().filter(|field| !field.nullable) {
        if body.get(field.name).is_some_and(Value::is_null) {
            body.shift_remove(field.name);
        }
    }
    let external_id = key(&mut body, "external_id");
    let id = key(&mut body, "id");
    let checked = input::checked_in_part(fields(kind), &RULES, &body);
    match (id, external_id, checked) {
        (Ok(id), Ok(external_id), Ok(mut fields)) => {
            if is_open(kind) {
                body.retain(|name, _| !fields.contains_key(name));
                fields.append(&mut body);
            }
            let number = number_field(kind).and_then(|name| match fields.shift_remove(name)? {
                Value::String(text) => Some(text),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            });
            Ok(Entry::Record { kind, keys: Keys { id, number, external_id }, fields })
        }
        (id, external_id, checked) => {
            let mut errors = checked.err().unwrap_or_default();
            for (name, key) in [("id", id), ("external_id", external_id)] {
                if let Err(message) = key {
                    input::push(&mut errors, name, message);
                }
            }
            Err(errors)
        }
    }
}

/// Takes a key out of the body; one that is null is absent.
pub fn key(body: &mut Map<String, Value>, name: &str) -> Result<Option<String>, &'static str> {
    match body.shift_remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Err("must not be blank"),
        Some(Value::String(text)) if text.contains('\0') => Err("must not contain NUL"),
        Some(Value::String(text)) if text.chars().count() > 255 => Err("must not be longer than 255 characters"),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err("must be a string"),
    }
}

/// The record as it is read: every field of the contract in its order, null where nothing is known, then the others.
pub fn shown(kind: Kind, mut fields_known: Map<String, Value>) -> Map<String, Value> {
    let mut shown = Map::new();
    for field in fields(kind) {
        let value = fields_known.shift_remove(field.name).unwrap_or(Value::Null);
        shown.insert(field.name.to_owned(), value);
    }
    if is_open(kind) {
        shown.append(&mut fields_known);
    }
    shown
}
