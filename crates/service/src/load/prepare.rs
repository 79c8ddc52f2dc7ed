//! Validates records to load, and orders the fields of stored records. Pure.

use serde_json::{Map, Value};
use sheetport_records::{Field, JsonType, company, contact, inventory, item, order, transaction};
use sheetport_values::decimal;

use super::model::{Entry, Keys, LoadRecord, Prepared};
use crate::handlers::items;
use crate::handlers::transactions::LoadTransaction;
use crate::reading::Reading;
use crate::request::{DEFAULT_MAX_LENGTH, Errors, READ_RULES, add_error, check_text, validate_partial};
use crate::store::Kind;

/// The times of an item. Lists contain only some of these.
const ITEM_TIMES: &[Field] = &[
    Field::optional("created_at", JsonType::String, "time of creation"),
    Field::optional("updated_at", JsonType::String, "time of the last change"),
];

/// Validates a record and separates the keys from the other fields. Fails with all errors.
pub(super) fn prepare(record: LoadRecord) -> Result<Prepared, Errors> {
    let entry = match record {
        LoadRecord::Item(fields) => prepare_item(fields),
        LoadRecord::Company(fields) => prepare_record(Kind::Company, fields),
        LoadRecord::Contact(fields) => prepare_record(Kind::Contact, fields),
        LoadRecord::Inventory(fields) => prepare_record(Kind::Inventory, fields),
        LoadRecord::Order(fields) => prepare_record(Kind::Order, fields),
        LoadRecord::Transaction(fields) => return prepare_transaction(fields).map(Prepared::Transaction),
    };
    entry.map(Prepared::Entry)
}

fn prepare_transaction(mut fields: Map<String, Value>) -> Result<LoadTransaction, Errors> {
    drop_nulls(Kind::Transaction, &mut fields);
    let mut errors = Errors::new();
    let id = take_key(&mut fields, "id", &mut errors);
    let transaction_id = take_key(&mut fields, "transaction_id", &mut errors);
    let inventory_uuid = take_key(&mut fields, "inventory_uuid", &mut errors);
    // Next to the id, the short name is a value like others.
    let inventory_id = match inventory_uuid {
        Some(_) => None,
        None => take_key(&mut fields, "inventory_id", &mut errors),
    };
    let (id, inventory) = (id.or(transaction_id), inventory_uuid.or(inventory_id));
    for (field, key) in [("id", &id), ("inventory_id", &inventory)] {
        if key.is_none() {
            errors.entry(field.to_owned()).or_insert_with(|| vec!["is required".to_owned()]);
        }
    }
    match (id, inventory, validate_partial(read_fields(Kind::Transaction), &READ_RULES, &fields)) {
        (Some(id), Some(inventory), Ok(fields)) if errors.is_empty() => Ok(LoadTransaction { id, inventory, fields }),
        (_, _, validated) => {
            errors.extend(validated.err().into_iter().flatten());
            Err(errors)
        }
    }
}

/// Removes nulls where the contract does not allow null: exports have null for missing values.
fn drop_nulls(kind: Kind, fields: &mut Map<String, Value>) {
    for field in read_fields(kind).iter().filter(|field| !field.nullable) {
        if fields.get(field.name).is_some_and(Value::is_null) {
            fields.shift_remove(field.name);
        }
    }
}

/// Validates an item as the input of an upsert. Some services list items without external ids: the id replaces a missing
/// external id.
fn prepare_item(mut fields: Map<String, Value>) -> Result<Entry, Errors> {
    for (input, listed) in item::RENAMED_IN_LISTS.iter() {
        if let Some(value) = fields.shift_remove(listed) {
            fields.entry(*input).or_insert(value);
        }
    }
    let mut errors = Errors::new();
    let id = take_key(&mut fields, "id", &mut errors);
    if fields.get("externalId").is_none_or(Value::is_null)
        && let Some(id) = &id
    {
        fields.insert("externalId".to_owned(), Value::from(id.as_str()));
    }
    if fields.get("externalId").is_some_and(Value::is_null) {
        fields.shift_remove("externalId");
    }
    // The times of an item are no input of an upsert.
    let times =
        fields.iter().filter(|(name, time)| ["created_at", "updated_at"].contains(&name.as_str()) && !time.is_null());
    let times = times.map(|(name, time)| (name.clone(), time.clone())).collect();
    match (items::parse_upsert(&fields, Reading::Tolerant), validate_partial(ITEM_TIMES, &READ_RULES, &times)) {
        (Ok(mut upsert), Ok(mut times)) if errors.is_empty() => {
            upsert.changes.append(&mut times);
            let keys = Keys { id, external_id: Some(upsert.external_id), ..Keys::default() };
            Ok(Entry { kind: Kind::Item, keys, fields: upsert.changes })
        }
        (upsert, times) => {
            errors.extend(upsert.err().into_iter().chain(times.err()).flatten());
            Err(errors)
        }
    }
}

fn prepare_record(kind: Kind, mut body: Map<String, Value>) -> Result<Entry, Errors> {
    drop_nulls(kind, &mut body);
    let mut errors = Errors::new();
    let external_id = take_key(&mut body, "external_id", &mut errors);
    let id = take_key(&mut body, "id", &mut errors);
    match validate_partial(read_fields(kind), &READ_RULES, &body) {
        Ok(mut fields) if errors.is_empty() => {
            if allows_other_fields(kind) {
                body.retain(|name, _| !fields.contains_key(name));
                body.values_mut().for_each(write_plainly);
                fields.append(&mut body);
            }
            let number = number_field(kind).and_then(|name| fields.shift_remove(name));
            let is_without_number = id.is_some() && number.as_ref().is_some_and(Value::is_null);
            let number = number.and_then(|number| match number {
                Value::String(text) => Some(text),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            });
            Ok(Entry { kind, keys: Keys { id, number, is_without_number, external_id }, fields })
        }
        result => {
            errors.extend(result.err().into_iter().flatten());
            Err(errors)
        }
    }
}

/// Writes the numbers of other fields in plain notation, like the numbers of known fields: spreadsheets know no other notation.
fn write_plainly(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Ok(plain) = decimal::written_out(number) {
                *number = plain;
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(write_plainly),
        _ => {}
    }
}

/// Removes a key from the body. Returns `None` if absent, null or invalid.
fn take_key(body: &mut Map<String, Value>, name: &str, errors: &mut Errors) -> Option<String> {
    let text = match body.shift_remove(name) {
        None | Some(Value::Null) => return None,
        Some(Value::String(text)) => text,
        Some(_) => {
            add_error(errors, name, "must be a string");
            return None;
        }
    };
    if text.trim().is_empty() {
        add_error(errors, name, "must not be blank");
    }
    for message in check_text(&text, DEFAULT_MAX_LENGTH) {
        add_error(errors, name, message);
    }
    Some(text)
}

/// Returns the fields of a kind in responses.
fn read_fields(kind: Kind) -> &'static [Field] {
    match kind {
        Kind::Item => item::READ_FIELDS,
        Kind::Company => company::READ_FIELDS,
        Kind::Contact => contact::READ_FIELDS,
        Kind::Inventory => inventory::READ_FIELDS,
        Kind::Order => order::READ_FIELDS,
        Kind::Transaction => transaction::READ_FIELDS,
        Kind::Subscription | Kind::Invoice | Kind::Job => unreachable!("never loaded"),
    }
}

/// Returns whether records of this kind may have fields unknown to the contract.
fn allows_other_fields(kind: Kind) -> bool {
    matches!(kind, Kind::Company | Kind::Contact)
}

/// Returns the field with the number or short name of a record.
pub(super) fn number_field(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Order => Some("order_id"),
        Kind::Inventory => Some("inventory_id"),
        _ => None,
    }
}

/// Orders the fields as in responses: the contract's fields, null if unknown, then the others.
pub(super) fn ordered(kind: Kind, mut fields: Map<String, Value>) -> Map<String, Value> {
    let mut ordered = Map::new();
    for field in read_fields(kind) {
        let value = fields.shift_remove(field.name).unwrap_or(Value::Null);
        ordered.insert(field.name.to_owned(), value);
    }
    if allows_other_fields(kind) {
        ordered.append(&mut fields);
    }
    ordered
}
