//! Whether a JSON object is a valid input: required fields, types and nulls, all faults at once.

use serde_json::{Map, Value};

use super::field::{Input, JsonType};

/// A field of an input and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub field: &'static str,
    pub message: String,
}

/// Every field of `body` that breaks the contract. Fields that the contract does not name are not looked at.
pub fn faults(input: &'static Input, body: &Map<String, Value>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for field in input.fields {
        let message = match body.get(field.name) {
            None if field.required => "is required".to_owned(),
            None => continue,
            Some(Value::Null) if field.nullable => continue,
            Some(value) if has_type(value, field.json) => continue,
            Some(value) => format!(
                "must be a {}{}, not {}",
                field.json,
                if field.nullable { " or null" } else { "" },
                type_name(value)
            ),
        };
        faults.push(Fault { field: field.name, message });
    }
    faults
}

fn has_type(value: &Value, json: JsonType) -> bool {
    match json {
        JsonType::String => value.is_string(),
        JsonType::Number => value.is_number(),
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
    use crate::records::item;

    #[test]
    fn all_faults_of_an_input_are_found_at_once() {
        let body = json!({"name": 5, "price": "12", "tax": null, "unknown": []});
        let found = faults(&item::INPUT, body.as_object().expect("an object"));
        let found: Vec<_> = found.iter().map(|f| (f.field, f.message.as_str())).collect();
        assert_eq!(
            found,
            [
                ("externalId", "is required"),
                ("name", "must be a string or null, not a number"),
                ("price", "must be a number or null, not a string"),
            ]
        );
    }
}
