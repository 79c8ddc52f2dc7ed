//! The JSON Schema of mapping templates, for editors: `schema.json`, with the fields of each kind of record and the names
//! of locales added.

use serde_json::{Map, Value, json};
use sheetport_findings::Code;
use sheetport_records::{Field, Input, JsonType, RecordKind, transaction};
use sheetport_values::check_digit::SCHEMES;
use sheetport_values::locale;

use super::commands::COMMAND;

const SCHEMA: &str = include_str!("schema.json");

/// Identifier of the schema, including the version of templates.
const ID: &str = "urn:sheetport:template:1";

/// The keys of a field that determine its source.
const SOURCES: [&str; 4] = ["column", "columns", "text", "value"];

/// Returns the schema of a template.
pub fn schema() -> Value {
    let mut schema: Value = serde_json::from_str(SCHEMA).expect("the file is compiled in, and a test parses it");
    let inputs = || RecordKind::ALL.iter().map(|kind| kind.input()).chain([&transaction::COUNT]);
    let kinds: Vec<&str> = inputs().map(|input| input.name).collect();
    schema["$id"] = json!(ID);
    schema["properties"]["record"]["enum"] = json!(kinds);
    schema["properties"]["accept"]["items"]["enum"] = json!(Code::questions().map(Code::name).collect::<Vec<_>>());
    let languages: Vec<&str> = locale::names().into_iter().filter(|name| !name.contains('-')).collect();
    let names: Vec<&str> = [locale::AUTO].into_iter().chain(locale::names()).collect();
    schema["$defs"]["locale"]["anyOf"] =
        json!([{"enum": names}, {"pattern": format!("^({})[-_][A-Za-z]{{2}}$", languages.join("|"))}]);
    let schemes: Vec<&str> = SCHEMES.iter().map(|scheme| scheme.name).collect();
    schema["$defs"]["field"]["properties"]["check"]["enum"] = json!(schemes);
    for keys in ["/$defs/field/properties", "/properties/sheet/properties"] {
        let keys = schema.pointer_mut(keys).and_then(Value::as_object_mut).into_iter().flatten();
        keys.for_each(|(_, key)| allow_parameter(key));
    }
    // With `extends`, keys and fields may also come from the base template, so none is required.
    let sourced = json!({"type": "object", "anyOf": SOURCES.map(|source| json!({"required": [source]}))});
    let mut rules = vec![
        json!({"anyOf": [{"required": ["record"]}, {"required": ["extends"]}]}),
        json!({
            "if": {"not": {"required": ["extends"]}},
            "then": {"properties": {
                "fields": {"additionalProperties": sourced},
                "lines": {"additionalProperties": sourced},
            }},
        }),
    ];
    rules.extend(inputs().flat_map(of_kind));
    schema["allOf"] = Value::Array(rules);
    schema
}

/// Allows a parameter in place of a text, a number or a boolean.
fn allow_parameter(key: &mut Value) {
    let is_scalar = |value: &Value| {
        let types = value.get("type").map_or_else(String::new, Value::to_string);
        value.get("enum").is_some()
            || ["string", "number", "integer", "boolean"].iter().any(|kind| types.contains(kind))
    };
    let is_choice = key.get("anyOf").and_then(Value::as_array).is_some_and(|all| all.iter().any(is_scalar));
    if !is_scalar(key) && !is_choice && key.get("$ref") != Some(&json!("#/$defs/locale")) {
        return;
    }
    let Some(keys) = key.as_object_mut() else { return };
    let shown = ["description", "default", "examples"].map(|name| (name, keys.shift_remove(name)));
    let mut allowed = json!({"anyOf": [Value::Object(std::mem::take(keys)), {"$ref": "#/$defs/parameter"}]});
    for (name, value) in shown {
        if let Some(value) = value {
            allowed[name] = value;
        }
    }
    *key = allowed;
}

/// Returns the possible values of the key at a path as written in a template, or an empty list for other keys.
pub(super) fn values_of(path: &[&str]) -> Vec<String> {
    let schema = schema();
    let Some(key) = path.iter().try_fold(&schema, |table, key| member(&schema, table, key)) else { return Vec::new() };
    let own = key.get("anyOf").and_then(|all| all.get(0)).unwrap_or(key);
    own.get("enum").and_then(Value::as_array).into_iter().flatten().map(Value::to_string).collect()
}

/// Returns the keys of the table at a path, in the usual order.
pub(super) fn keys_of(path: &[&str]) -> Vec<String> {
    let schema = schema();
    let table = path.iter().try_fold(&schema, |table, key| member(&schema, table, key));
    let keys = table.and_then(|table| properties(&schema, table));
    keys.into_iter().flat_map(|keys| keys.keys().cloned()).collect()
}

/// Returns the keys of a table with fixed keys.
fn properties<'s>(schema: &'s Value, table: &'s Value) -> Option<&'s Map<String, Value>> {
    let table = resolved(schema, table)?;
    let inner = |value: &'s Value| properties(schema, value);
    let own = table.get("properties").and_then(Value::as_object);
    own.or_else(|| table.get("items").and_then(inner))
        .or_else(|| table.get("anyOf").and_then(Value::as_array)?.iter().find_map(inner))
}

/// Follows a reference.
fn resolved<'s>(schema: &'s Value, value: &'s Value) -> Option<&'s Value> {
    match value.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#')) {
        Some(pointer) => schema.pointer(pointer),
        None => Some(value),
    }
}

/// Returns the schema of a key of a table. Lists and tables of other names are passed through.
fn member<'s>(schema: &'s Value, table: &'s Value, key: &str) -> Option<&'s Value> {
    let table = resolved(schema, table)?;
    let inner = |value: &'s Value| member(schema, value, key);
    table
        .get("properties")
        .and_then(|properties| properties.get(key))
        .or_else(|| table.get("additionalProperties").filter(|other| other.is_object()))
        .or_else(|| table.get("items").and_then(inner))
        .or_else(|| table.get("anyOf").and_then(Value::as_array)?.iter().find_map(inner))
}

/// Returns the schemas for the fields of a kind of record: their names, and the required fields.
fn of_kind(input: &'static Input) -> [Value; 2] {
    let names = |fields: &[&Field]| -> Value {
        let described = |field: &&Field| (field.name.to_owned(), json!({"description": description(field)}));
        json!({
            "properties": fields.iter().map(described).collect::<Map<_, _>>(),
            "propertyNames": {"enum": fields.iter().map(|field| field.name).collect::<Vec<_>>()},
        })
    };
    let required = |fields: &[&Field]| -> Vec<&str> {
        fields.iter().filter(|field| field.required).map(|field| field.name).collect()
    };
    let command = (input.name != transaction::COUNT.name).then_some(&COMMAND);
    let fields: Vec<&Field> = input.mappable().chain(command).collect();
    let lines: Option<Vec<&Field>> = input.lines().map(|(_, fields)| fields.iter().collect());
    let line_names = lines.as_ref().map_or(json!({"maxProperties": 0}), |lines| names(lines));
    let line_required = lines.as_ref().map_or_else(Vec::new, |lines| required(lines));
    let is_kind = json!({"properties": {"record": {"const": input.name}}, "required": ["record"]});
    let needs_fields: &[&str] = if required(&fields).is_empty() { &[] } else { &["fields"] };
    [
        json!({"if": is_kind, "then": {"properties": {"fields": names(&fields), "lines": line_names}}}),
        json!({
            "if": {"allOf": [is_kind, {"not": {"required": ["extends"]}}]},
            "then": {
                "required": needs_fields,
                "properties": {"fields": {"required": required(&fields)}, "lines": {"required": line_required}},
            },
        }),
    ]
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

    /// Returns the keys that the loader knows in a table, from its error about an unknown one.
    fn keys_of_the_loader(source: &str) -> Vec<String> {
        let mistakes = load("t", source, &no_tables).expect_err("an unknown key");
        let unknown = mistakes.iter().find(|mistake| mistake.message == "unknown key 'xyzzy'");
        let hint = unknown.and_then(|mistake| mistake.hint.clone()).expect("an error about the key");
        let keys = hint.strip_prefix("it is one of: ").expect("no key is similar");
        keys.split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn schema_and_loader_know_the_same_keys() {
        for (path, source) in [
            (&[][..], "xyzzy = 1\n"),
            (&["parameters", "p"], "[parameters.p]\nxyzzy = 1\n"),
            (&["sheet"], "[sheet]\nxyzzy = 1\n"),
            (&["sheet", "fill_down"], "[sheet]\nfill_down = { xyzzy = 1 }\n"),
            (&["unpivot"], "[unpivot]\nxyzzy = 1\n"),
            (&["group"], "[group]\nxyzzy = 1\n"),
            (&["fields", "name"], "[fields.name]\nxyzzy = 1\n"),
            (&["lines", "name"], "[lines.name]\nxyzzy = 1\n"),
            (&["fields", "name", "lookup"], "[fields.name]\nlookup = { xyzzy = 1 }\n"),
            (&["rules"], "[[rules]]\nxyzzy = 1\n"),
            (&["examples"], "[[examples]]\nxyzzy = 1\n"),
        ] {
            let (mut ours, mut theirs) = (keys_of(path), keys_of_the_loader(source));
            ours.sort();
            theirs.sort();
            assert_eq!(ours, theirs, "{path:?}");
        }
    }

    #[test]
    fn every_key_is_described() {
        fn check(schema: &Value, value: &Value, path: &str) {
            for (name, key) in value.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let described = [Some(key), resolved(schema, key)].into_iter().flatten();
                let mut described = described.filter_map(|key| key.get("description").and_then(Value::as_str));
                assert!(described.any(|text| text.len() > 5), "{path}.{name} has no description");
            }
            let (inner, list) = (value.as_object(), value.as_array());
            let inner = inner.into_iter().flatten().filter(|(name, _)| *name != "allOf");
            inner.for_each(|(name, value)| check(schema, value, &format!("{path}.{name}")));
            list.into_iter().flatten().for_each(|value| check(schema, value, path));
        }
        let schema = schema();
        check(&schema, &schema, "");
    }

    #[test]
    fn schema_has_all_fields_of_every_kind() {
        let schema = schema().to_string();
        for kind in RecordKind::ALL {
            assert!(kind.input().mappable().all(|field| schema.contains(&format!("\"{}\"", field.name))), "{kind}");
        }
    }
}
