//! JSON Schemas of the output for programs. Generated from the tables in docs/json.md, which the tests compare with real output,
//! so there is a single description.

use serde_json::{Map, Value, json};

const DOCS: &str = include_str!("../../../docs/json.md");
/// Version of the schemas. Within a version, fields are added, but never removed or renamed.
const VERSION: u32 = 1;

/// A schema with its name.
struct Described {
    name: &'static str,
    /// The section of docs/json.md.
    section: &'static str,
    /// Fields always present in this output, even though they are optional elsewhere in the section.
    always: &'static [&'static str],
}

const SCHEMAS: [Described; 7] = [
    Described { name: "summary", section: "check, plan, apply, undo, upload, retry, resume", always: &[] },
    Described {
        name: "check",
        section: "check, plan, apply, undo, upload, retry, resume",
        always: &["problems", "profile"],
    },
    Described { name: "check-rows", section: "check --json-rows", always: &[] },
    Described { name: "manifest", section: "Manifest of an export", always: &[] },
    Described { name: "error", section: "Errors", always: &[] },
    Described { name: "runs", section: "runs", always: &[] },
    Described { name: "job", section: "job run", always: &[] },
];

/// Names of the schemas.
pub const SCHEMA_NAMES: [&str; 7] = ["summary", "check", "check-rows", "manifest", "error", "runs", "job"];

/// Returns the JSON Schema of this name.
pub fn schema(name: &str) -> Option<Value> {
    let described = SCHEMAS.iter().find(|described| described.name == name)?;
    let section = section(described.section)?;
    let mut schema = object(section, described.always);
    let mut result = Map::new();
    result.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    result.insert("$id".to_owned(), json!(format!("urn:sheetport:schema:{name}:{VERSION}")));
    result.insert("title".to_owned(), json!(format!("Sheetport: {}", described.section)));
    result.append(schema.as_object_mut()?);
    Some(Value::Object(result))
}

/// Returns the text of a section.
fn section(name: &str) -> Option<&'static str> {
    DOCS.split("\n## ").find(|text| text.lines().next() == Some(name))
}

/// Returns the schema of an object from the tables of a section: the first table has its fields, tables below `### Elements of …`
/// describe arrays and nested objects.
fn object(section: &'static str, always: &[&str]) -> Value {
    let mut parts = section.split("\n### ");
    let mut schema = fields(parts.next().unwrap_or_default(), always);
    for part in parts {
        let (heading, table) = part.split_once('\n').unwrap_or((part, ""));
        let element = fields(table, &[]);
        for name in heading.split('`').skip(1).step_by(2) {
            let Some(property) = schema["properties"].get_mut(name) else { continue };
            let is_array = property["type"] == json!("array");
            if is_array {
                property["items"] = element.clone();
            } else {
                property["properties"] = element["properties"].clone();
                property["required"] = element["required"].clone();
            }
        }
    }
    schema
}

/// Returns the schema of an object from a table: `| field | type | meaning |`.
fn fields(table: &'static str, always: &[&str]) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for line in table.lines() {
        let cells = line.strip_prefix("| `").and_then(|line| line.split_once("` | "));
        let Some((field, rest)) = cells else { continue };
        let (types, meaning) = rest.split_once(" |").unwrap_or((rest, ""));
        let is_sometimes = types.ends_with(", sometimes") && !always.contains(&field);
        let types: Vec<&str> = types.trim_end_matches(", sometimes").split(" or ").collect();
        let types = if let [only] = types.as_slice() { json!(only) } else { json!(types) };
        let meaning = meaning.trim().trim_end_matches('|').trim();
        properties.insert(field.to_owned(), json!({"type": types, "description": meaning}));
        if !is_sometimes {
            required.push(field);
        }
    }
    json!({"type": "object", "properties": properties, "required": required})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_schema_has_its_fields_and_those_of_its_elements() {
        for name in SCHEMA_NAMES {
            let schema = schema(name).expect("a schema");
            assert!(schema["properties"].as_object().is_some_and(|fields| !fields.is_empty()), "{name}");
            assert!(schema["required"].as_array().is_some_and(|fields| !fields.is_empty()), "{name}");
        }
        let of = |name: &str, pointer: &str| schema(name).and_then(|schema| schema.pointer(pointer).cloned());
        assert_eq!(of("summary", "/properties/run/type"), Some(json!(["number", "null"])));
        assert_eq!(of("check", "/properties/problems/items/properties/code/type"), Some(json!("string")));
        assert_eq!(of("error", "/properties/error/properties/exit/type"), Some(json!("number")));
        assert_eq!(of("runs", "/properties/runs/items/properties/state/type"), Some(json!("string")));
    }
}
