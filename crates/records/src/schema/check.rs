//! Validation of a JSON object as an input: required fields, types and nulls, also in nested objects. Collects all faults.

use serde_json::{Map, Value};
use sheetport_values::decimal;

use super::field::{Field, JsonType};

/// A fault of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Path of the field, such as `order.items[2].quantity`.
    pub field: String,
    pub message: String,
}

/// Returns the faults of all fields. Ignores fields that are not in the contract.
pub fn faults(fields: &'static [Field], body: &Map<String, Value>) -> Vec<Fault> {
    let mut faults = Vec::new();
    object(fields, body, "", true, &mut faults);
    faults
}

/// Returns the faults of all fields like [`faults`], but requires no fields.
pub fn mismatches(fields: &'static [Field], body: &Map<String, Value>) -> Vec<Fault> {
    let mut faults = Vec::new();
    object(fields, body, "", false, &mut faults);
    faults
}

fn object(fields: &'static [Field], body: &Map<String, Value>, parent: &str, requires: bool, faults: &mut Vec<Fault>) {
    for field in fields {
        let name = format!("{parent}{}", field.name);
        match body.get(field.name) {
            None if field.required && requires => faults.push(Fault { field: name, message: "is required".to_owned() }),
            None => {}
            Some(Value::Null) if field.nullable => {}
            Some(found) if has_type(found, field.json) => nested(field.json, found, &name, requires, faults),
            Some(found) => {
                let message = mismatch(field.json, field.nullable, found);
                faults.push(Fault { field: name, message });
            }
        }
    }
}

/// Checks the contents of a value of the right type.
fn nested(json: JsonType, value: &Value, name: &str, requires: bool, faults: &mut Vec<Fault>) {
    match (json, value) {
        (JsonType::Object(fields), Value::Object(body)) => object(fields, body, &format!("{name}."), requires, faults),
        (JsonType::Objects(fields), Value::Array(entries)) => {
            for (index, entry) in entries.iter().enumerate() {
                match entry {
                    Value::Object(body) => object(fields, body, &format!("{name}[{index}]."), requires, faults),
                    other => {
                        let message = mismatch(JsonType::Object(fields), false, other);
                        faults.push(Fault { field: format!("{name}[{index}]"), message });
                    }
                }
            }
        }
        (JsonType::Strings, Value::Array(entries)) => {
            for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| !entry.is_string()) {
                let message = mismatch(JsonType::String, false, entry);
                faults.push(Fault { field: format!("{name}[{index}]"), message });
            }
        }
        _ => {}
    }
}

fn mismatch(json: JsonType, nullable: bool, found: &Value) -> String {
    let article = if matches!(json, JsonType::String | JsonType::DateTime | JsonType::Number | JsonType::Boolean) {
        "a"
    } else {
        "an"
    };
    let or_null = if nullable { " or null" } else { "" };
    format!("must be {article} {json}{or_null}, not {}", type_name(found))
}

fn has_type(value: &Value, json: JsonType) -> bool {
    match json {
        JsonType::String | JsonType::DateTime => value.is_string(),
        JsonType::Number => value.is_number(),
        JsonType::Integer => value.as_number().is_some_and(|number| decimal::is_whole(number.as_str())),
        JsonType::Boolean => value.is_boolean(),
        JsonType::Object(_) => value.is_object(),
        JsonType::Strings | JsonType::Objects(_) => value.is_array(),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{item, order};

    fn found(fields: &'static [Field], body: &Value) -> Vec<(String, String)> {
        let found = faults(fields, body.as_object().expect("an object"));
        found.into_iter().map(|fault| (fault.field, fault.message)).collect()
    }

    fn owned(faults: &[(&str, &str)]) -> Vec<(String, String)> {
        faults.iter().map(|(field, message)| ((*field).to_owned(), (*message).to_owned())).collect()
    }

    #[test]
    fn all_faults_of_an_input_are_reported() {
        let body = json!({"name": 5, "price": "12", "tax": null, "unknown": []});
        let expected = [
            ("externalId", "is required"),
            ("name", "must be a string or null, not a number"),
            ("price", "must be a number or null, not a string"),
        ];
        assert_eq!(found(item::INPUT_FIELDS, &body), owned(&expected));
    }

    #[test]
    fn faults_in_nested_objects_have_paths() {
        let body = json!({
            "order": {"externalId": null, "items": [{"quantity": "1"}, 7, {"item_id": "a", "price": []}]},
            "createMissingItems": "yes",
        });
        let expected = [
            ("order.externalId", "must be a string, not null"),
            ("order.items[0].quantity", "must be a number, not a string"),
            ("order.items[1]", "must be an object, not a number"),
            ("order.items[2].price", "must be a number, not an array"),
            ("createMissingItems", "must be a boolean, not a string"),
        ];
        assert_eq!(found(order::INPUT_FIELDS, &body), owned(&expected));
        assert_eq!(found(order::INPUT_FIELDS, &json!({})), owned(&[("order", "is required")]));
    }
}
