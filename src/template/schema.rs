//! The JSON Schema of mapping templates, for editors: `schema.json`, with the fields of each kind of record added.

use serde_json::{Map, Value, json};

use crate::records::{Field, JsonType, RecordKind};

const SCHEMA: &str = include_str!("schema.json");

/// Returns the schema of a template.
pub fn schema() -> Value {
    let mut schema: Value = serde_json::from_str(SCHEMA).expect("the file is compiled in, and a test parses it");
    let kinds: Vec<&str> = RecordKind::ALL.iter().map(|kind| kind.name()).collect();
    schema["properties"]["record"]["enum"] = json!(kinds);
    schema["allOf"] = RecordKind::ALL.iter().map(|kind| of_kind(*kind)).collect();
    schema
}

/// Returns the possible values of the key at a path as they are written in a template, or nothing for other keys.
pub(super) fn values_of(path: &[&str]) -> Vec<String> {
    let schema = schema();
    let values =
        path.iter().try_fold(&schema, |table, key| member(&schema, table, key)).and_then(|key| key.get("enum"));
    values.and_then(Value::as_array).into_iter().flatten().map(Value::to_string).collect()
}

/// Returns the schema of a key of a table. Lists and tables of other names are passed through.
fn member<'s>(schema: &'s Value, table: &'s Value, key: &str) -> Option<&'s Value> {
    let resolved = match table.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#')) {
        Some(pointer) => schema.pointer(pointer)?,
        None => table,
    };
    let inner = |value: &'s Value| member(schema, value, key);
    resolved
        .get("properties")
        .and_then(|properties| properties.get(key))
        .or_else(|| resolved.get("additionalProperties").filter(|other| other.is_object()))
        .or_else(|| resolved.get("items").and_then(inner))
        .or_else(|| resolved.get("anyOf").and_then(Value::as_array)?.iter().find_map(inner))
}

/// Returns the schema of the fields of a kind of record.
fn of_kind(kind: RecordKind) -> Value {
    let input = kind.input();
    let table = |fields: &[&Field]| -> Value {
        let described = |field: &&Field| (field.name.to_owned(), json!({"description": description(field)}));
        let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
        json!({
            "properties": fields.iter().map(described).collect::<Map<_, _>>(),
            "propertyNames": {"enum": fields.iter().map(|field| field.name).collect::<Vec<_>>()},
            "required": required,
        })
    };
    let fields: Vec<&Field> = input.mappable().collect();
    let lines = match input.lines() {
        Some((_, fields)) => table(&fields.iter().collect::<Vec<_>>()),
        None => json!({"maxProperties": 0}),
    };
    json!({
        "if": {"properties": {"record": {"const": input.name}}},
        "then": {"properties": {"fields": table(&fields), "lines": lines}},
    })
}

/// Returns a short description of a field.
pub fn description(field: &Field) -> String {
    let json = match field.json {
        JsonType::DateTime => "date".to_owned(),
        other => other.to_string(),
    };
    let required = if field.required { ", required" } else { "" };
    format!("{} ({json}{required})", field.doc)
}

#[cfg(test)]
mod tests {
    use super::super::load::{load, no_tables};
    use super::*;

    /// Returns the keys that the loader knows, from its error about an unknown one.
    fn keys_of_the_loader() -> Vec<String> {
        let source = "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\n[fields.name]\nxyzzy = 1\n";
        let mistake = toml::from_str::<toml::Value>(source).err().map(|error| error.to_string());
        assert_eq!(mistake, None);
        let raw = load("t", source, &no_tables).expect_err("an unknown key");
        assert!(raw.first().message.contains("xyzzy"), "{}", raw.first().message);
        let hint = raw.hint().expect("a hint");
        hint.trim_start_matches("it is one of: ").split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn schema_and_loader_know_the_same_keys() {
        let schema = schema();
        let keys = schema["$defs"]["field"]["properties"].as_object().expect("the keys of a field");
        let mut ours: Vec<String> = keys.keys().cloned().collect();
        let mut theirs = keys_of_the_loader();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs);
    }

    #[test]
    fn schema_has_all_fields_of_every_kind() {
        let schema = schema().to_string();
        for kind in RecordKind::ALL {
            assert!(kind.input().mappable().all(|field| schema.contains(&format!("\"{}\"", field.name))), "{kind}");
        }
    }
}
