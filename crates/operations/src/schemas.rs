//! JSON Schemas of the output for programs. Generated from the tables in docs/json.md, which the tests compare with the output of each
//! command that they run, so there is a single description.

use serde_json::{Map, Value, json};

const DOCS: &str = include_str!("../../../docs/json.md");
/// Version of the schemas. Within a version, fields are added, but never removed or renamed.
const VERSION: u32 = 1;
/// How deep descriptions may refer to others: a job has uploads, and these have changes.
const MAX_DEPTH: u8 = 4;

/// A schema with its name.
struct Described {
    name: &'static str,
    /// The section of docs/json.md.
    section: &'static str,
    /// Fields always present in this output, even though they are optional elsewhere in the section.
    always: &'static [&'static str],
}

const fn of(name: &'static str, section: &'static str) -> Described {
    Described { name, section, always: &[] }
}

const UPLOADS: &str = "check, plan, apply, undo, upload, retry, resume";

const SCHEMAS: [Described; 47] = [
    of("summary", UPLOADS),
    Described { name: "check", section: UPLOADS, always: &["problems", "profile"] },
    of("check-rows", "check --json-rows"),
    of("report", "report"),
    of("resolve", "resolve"),
    of("continue", "continue"),
    of("runs", "runs"),
    of("runs-show", "runs show"),
    of("runs-check", "runs check"),
    of("runs-prune", "runs prune"),
    of("runs-erase", "runs erase"),
    of("runs-backup", "runs backup"),
    of("runs-stop", "runs stop"),
    of("export", "export"),
    of("exports", "export of several lists"),
    of("export-failed", "export of a list that failed"),
    of("manifest", "Manifest of an export"),
    of("login", "login, whoami"),
    of("init", "init"),
    of("config", "config"),
    of("doctor", "doctor"),
    of("logout", "logout"),
    of("view", "view"),
    of("view-all-sheets", "view --all-sheets"),
    of("explain-column", "explain --column"),
    of("explain", "explain"),
    of("template-list", "template list"),
    of("template-show", "template show"),
    of("template-check", "template check"),
    of("template-trust", "template trust"),
    of("template-fmt", "template fmt"),
    of("template-infer", "template infer"),
    of("demo", "demo"),
    of("review", "review"),
    of("work", "work"),
    of("serve", "serve"),
    of("serve-load", "serve load"),
    of("serve-token", "serve token"),
    of("serve-show", "serve show"),
    of("job", "job run"),
    of("job-file", "job run: a file"),
    of("job-check", "job check"),
    of("job-status", "job status"),
    of("job-schedule", "job schedule"),
    of("help", "help"),
    of("error", "Errors"),
    of("failure", "The object `error`"),
];

/// Returns the names of the schemas.
pub fn schema_names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|described| described.name)
}

/// Returns the JSON Schema of this name.
pub fn schema(name: &str) -> Option<Value> {
    let described = SCHEMAS.iter().find(|described| described.name == name)?;
    let mut schema = object(section(described.section)?, described.always, MAX_DEPTH);
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

/// Returns the schema of an object from the tables of a section: the first table has its fields, and those below `### Elements of …` describe
/// the elements of arrays, and objects in it. `a.b` is the field `b` of what `a` describes.
fn object(section: &'static str, always: &[&str], depth: u8) -> Value {
    let mut parts = section.split("\n### ");
    let mut schema = fields(parts.next().unwrap_or_default(), always, depth);
    for part in parts {
        let (heading, table) = part.split_once('\n').unwrap_or((part, ""));
        let element = fields(table, &[], depth);
        for path in heading.split('`').skip(1).step_by(2) {
            let described = path.split('.').try_fold(&mut schema, |schema, name| {
                let schema = if schema.get("items").is_some() { schema.get_mut("items")? } else { schema };
                schema.get_mut("properties")?.get_mut(name)
            });
            let Some(property) = described else { continue };
            if is_a(property, "array") {
                property["items"] = element.clone();
            } else {
                property["properties"] = element["properties"].clone();
                property["required"] = element["required"].clone();
            }
        }
    }
    schema
}

/// Whether a schema allows a type.
fn is_a(schema: &Value, name: &str) -> bool {
    match &schema["type"] {
        Value::Array(types) => types.iter().any(|one| one == name),
        one => one == name,
    }
}

/// Returns the schema of an object from a table: `| field | type | meaning |`. A type may say of what an array or object is: `array of string`,
/// or of which output.
fn fields(table: &'static str, always: &[&str], depth: u8) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for line in table.lines() {
        let cells = line.strip_prefix("| `").and_then(|line| line.split_once("` | "));
        let Some((field, rest)) = cells else { continue };
        let (types, meaning) = rest.split_once(" |").unwrap_or((rest, ""));
        let is_sometimes = types.ends_with(", sometimes") && !always.contains(&field);
        let meaning = meaning.trim().trim_end_matches('|').trim();
        let mut property = property(types.trim_end_matches(", sometimes"), depth);
        property["description"] = json!(meaning);
        properties.insert(field.to_owned(), property);
        if !is_sometimes {
            required.push(field);
        }
    }
    json!({"type": "object", "properties": properties, "required": required})
}

fn property(types: &'static str, depth: u8) -> Value {
    let mut property = Map::new();
    let (mut names, mut items) = (Vec::new(), Vec::new());
    for one in types.split(" or ") {
        let Some((container, content)) = one.split_once(" of ") else {
            names.push(one);
            continue;
        };
        if !names.contains(&container) {
            names.push(container);
        }
        let described = SCHEMAS.iter().find(|described| described.name == content);
        let content = match described.and_then(|described| section(described.section)) {
            Some(section) if depth > 0 => object(section, &[], depth - 1),
            Some(_) => continue,
            None => json!({"type": content}),
        };
        if container == "array" {
            items.push(content);
        } else {
            property.extend(content.as_object().cloned().unwrap_or_default());
        }
    }
    match items.len() {
        0 => {}
        1 => drop(property.insert("items".to_owned(), items.remove(0))),
        _ => drop(property.insert("items".to_owned(), json!({"anyOf": items}))),
    }
    let names = if let [only] = names.as_slice() { json!(only) } else { json!(names) };
    property.insert("type".to_owned(), names);
    Value::Object(property)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_schema_has_its_fields_and_those_of_its_elements() {
        for name in schema_names() {
            let schema = schema(name).expect("a schema");
            assert!(schema["properties"].as_object().is_some_and(|fields| !fields.is_empty()), "{name}");
            // Of a job's file, every field depends on what became of it.
            let has_required = schema["required"].as_array().is_some_and(|fields| !fields.is_empty());
            assert!(has_required || name == "job-file", "{name}");
        }
        let of = |name: &str, pointer: &str| schema(name).and_then(|schema| schema.pointer(pointer).cloned());
        assert_eq!(of("summary", "/properties/run/type"), Some(json!(["number", "null"])));
        assert_eq!(of("check", "/properties/problems/items/properties/code/type"), Some(json!("string")));
        assert_eq!(of("error", "/properties/error/properties/exit/type"), Some(json!("number")));
        assert_eq!(of("runs", "/properties/runs/items/properties/state/type"), Some(json!("string")));
        assert_eq!(
            of("job", "/properties/steps/items/properties/files/items/anyOf/0/properties/summary/properties/sent/type"),
            Some(json!("number"))
        );
    }

    /// Returns the first part of a schema that is an array or object of a described kind without a description of it.
    fn undescribed(schema: &Value, at: &str) -> Option<String> {
        let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let below = fields
            .map(|(name, field)| (field, format!("{at}.{name}")))
            .chain(schema.get("items").map(|items| (items, at.to_owned())));
        below.into_iter().find_map(|(field, at)| match field {
            Value::Object(_) => undescribed(field, &at),
            _ => Some(at),
        })
    }

    #[test]
    fn descriptions_are_schemas_down_to_the_last_field() {
        for name in schema_names() {
            assert_eq!(schema(name).and_then(|schema| undescribed(&schema, name)), None);
        }
    }

    #[test]
    fn each_section_has_a_schema_and_each_part_describes_a_field() {
        for text in DOCS.split("\n## ").skip(1) {
            let heading = text.lines().next().unwrap_or_default();
            assert!(SCHEMAS.iter().any(|described| described.section == heading), "no schema of {heading}");
            for part in text.split("\n### ").skip(1) {
                let heading = part.lines().next().unwrap_or_default();
                for path in heading.split('`').skip(1).step_by(2) {
                    let name = path.rsplit('.').next().unwrap_or_default();
                    assert!(text.contains(&format!("| `{name}` | ")), "{heading}: no field {path}");
                }
            }
        }
    }

    #[test]
    fn contents_of_arrays_and_objects_are_known_types_or_outputs() {
        let known = ["string", "number", "boolean", "array", "object"];
        for line in DOCS.lines().filter(|line| line.starts_with("| `")) {
            let types = line.split(" | ").nth(1).unwrap_or_default().trim_end_matches(", sometimes");
            for content in types.split(" or ").filter_map(|one| one.split_once(" of ")).map(|(_, content)| content) {
                assert!(
                    known.contains(&content) || SCHEMAS.iter().any(|described| described.name == content),
                    "{line}"
                );
            }
        }
    }
}
