//! The keys of mapping templates as `help` explains them: from the JSON Schema, which editors have as well.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sheetport_language::word;
use sheetport_mapping::schema::schema;

use super::paragraphs::{paragraph, title};

/// The key that may stand in place of most values: `{ parameter = "NAME" }`.
const PARAMETER: &str = "parameter";

/// A key of a template.
pub(super) struct Key {
    pub(super) name: String,
    /// The tables around it: `sheet`, `fields.NAME`; blank at the top.
    place: String,
    description: String,
    default: Option<Value>,
    /// Allowed values.
    values: Vec<Value>,
    /// A value as a template may have it.
    example: Option<Value>,
}

/// Returns the keys of templates, those at the top first. Keys of a list's elements have the place of the list.
pub(super) fn all() -> Vec<Key> {
    let schema = schema();
    let mut keys = Vec::new();
    collect(&schema, &schema, "", &mut keys);
    let mut known = BTreeSet::new();
    keys.retain(|key: &Key| key.name != PARAMETER && known.insert((key.place.clone(), key.name.clone())));
    keys
}

/// Returns the keys that a topic names: `fill_down`, or with its table `sheet.fill_down`.
pub(super) fn named(topic: &str) -> Vec<Key> {
    let (place, name) = topic.rsplit_once('.').map_or((None, topic), |(place, name)| (Some(place), name));
    let is_in =
        |key: &Key| place.is_none_or(|place| key.place == place || key.place.strip_suffix(".NAME") == Some(place));
    all().into_iter().filter(|key| key.name == name && is_in(key)).collect()
}

fn collect(root: &Value, node: &Value, place: &str, keys: &mut Vec<Key>) {
    let of = |name: &str| node.get(name).and_then(Value::as_object).into_iter().flatten();
    for (name, value) in of("properties") {
        let resolved = resolved(root, value);
        // A value in place of which a parameter may stand is the first of two alternatives.
        let own = resolved.pointer("/anyOf/0").unwrap_or(&Value::Null);
        let text = |key: &str| [value, resolved, own].into_iter().find_map(|part| part.get(key)).cloned();
        keys.push(Key {
            name: name.clone(),
            place: place.to_owned(),
            description: text("description").and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default(),
            default: text("default"),
            values: text("enum").and_then(|values| values.as_array().cloned()).unwrap_or_default(),
            example: text("examples").and_then(|examples| examples.get(0).cloned()),
        });
    }
    // Keys of the same table stand together, before those of the tables below.
    for (name, value) in of("properties") {
        let inner = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        below(root, resolved(root, value), &inner, keys);
    }
}

/// Collects the keys of a table, or of the tables in a list or of any name.
fn below(root: &Value, node: &Value, place: &str, keys: &mut Vec<Key>) {
    if node.get("properties").is_some() {
        collect(root, node, place, keys);
    }
    let list = |key: &str| node.get(key).and_then(Value::as_array).into_iter().flatten();
    let inner = list("anyOf").chain(node.get("items"));
    inner.for_each(|inner| below(root, resolved(root, inner), place, keys));
    if let Some(named) = node.get("additionalProperties").filter(|named| named.is_object()) {
        below(root, resolved(root, named), &format!("{place}.NAME"), keys);
    }
}

/// Returns the definition that a part of the schema refers to, or the part itself.
fn resolved<'v>(root: &'v Value, node: &'v Value) -> &'v Value {
    let pointer = node.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
    pointer.and_then(|pointer| root.pointer(pointer)).unwrap_or(node)
}

impl Key {
    pub(super) fn full_name(&self) -> String {
        format!("{}.{}", self.place, self.name).trim_start_matches('.').to_owned()
    }

    pub(super) fn description(&self) -> &str {
        &self.description
    }

    /// Returns the heading of the table that the key stands in, as a template has it.
    fn table(&self) -> Option<String> {
        (!self.place.is_empty()).then(|| format!("[{}]", self.place))
    }

    /// Returns a line as a template may have it.
    fn line(&self) -> Option<String> {
        // A line with the default says nothing.
        let of_default = self.default.as_ref().and_then(Value::as_bool).map(|default| Value::Bool(!default));
        let other = self.values.iter().find(|value| Some(*value) != self.default.as_ref());
        let value = self.example.clone().or(of_default).or_else(|| other.cloned())?;
        let value: toml::Value = serde_json::from_value(value).ok()?;
        Some(format!("{} = {}", self.name, inline(&value)))
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "key": self.name,
            "table": self.place,
            "meaning": self.description,
            "default": self.default,
            "values": self.values,
            "line": self.line(),
        })
    }

    pub(super) fn show(&self) {
        let place = self.table().unwrap_or_else(|| word("at the top of the template").to_owned());
        title(&self.name, &place);
        let texts = |values: &[Value]| values.iter().map(shown).collect::<Vec<_>>().join(", ");
        let facts = [
            ("Meaning", Some(self.description.clone()).filter(|text| !text.is_empty())),
            ("Values", Some(texts(&self.values)).filter(|text| !text.is_empty())),
            ("Default", self.default.as_ref().map(shown)),
            ("Line", self.line()),
        ];
        for (name, text) in facts {
            paragraph(name, &text.unwrap_or_default());
        }
    }
}

/// Writes a value on one line.
fn inline(value: &toml::Value) -> String {
    match value {
        toml::Value::Table(table) => {
            let entries = table.iter().map(|(key, value)| format!("{} = {}", quoted_key(key), inline(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        toml::Value::Array(values) => format!("[{}]", values.iter().map(inline).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn quoted_key(key: &str) -> String {
    let is_bare =
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if is_bare { key.to_owned() } else { toml::Value::String(key.to_owned()).to_string() }
}

fn shown(value: &Value) -> String {
    serde_json::from_value::<toml::Value>(value.clone()).map_or_else(|_| value.to_string(), |value| inline(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_meaning_and_a_line_for_a_template() {
        for key in all() {
            assert!(!key.description.is_empty(), "{}.{}", key.place, key.name);
            // Tables have keys of their own.
            let is_table = all().iter().any(|other| other.place.starts_with(&key.full_name()));
            assert!(key.line().is_some() || is_table, "{}.{} has no example in schema.json", key.place, key.name);
        }
    }

    /// Returns the tables of docs/keys.md, each below a heading.
    fn documented() -> String {
        let mut page = String::new();
        let mut last = None;
        // The keys of a line are those of a field.
        for key in all().into_iter().filter(|key| !key.place.starts_with("lines.")) {
            if last.as_ref() != Some(&key.place) {
                let heading = match &*key.place {
                    "" => "At the top".to_owned(),
                    list @ ("rules" | "examples") => format!("`[[{list}]]`"),
                    place => format!("`[{place}]`"),
                };
                page += &format!("\n### {heading}\n\n| key | | default | for example |\n|---|---|---|---|\n");
                last = Some(key.place.clone());
            }
            let code = |text: String| format!("`{}`", text.replace('|', "\\|"));
            let cells = [
                code(key.name.clone()),
                key.description.replace('|', "\\|"),
                key.default.as_ref().map(|value| code(shown(value))).unwrap_or_default(),
                key.line().map(code).unwrap_or_default(),
            ];
            page += &format!("| {} |\n", cells.join(" | ").replace(" |  |", " | |"));
        }
        page + "\n"
    }

    #[test]
    fn the_page_of_keys_is_that_of_the_schema() {
        const BEGIN: &str = "<!-- Generated from crates/mapping/src/schema.json: SHEETPORT_UPDATE_DOCS=1 cargo test -p sheetport keys -->\n";
        sheetport_testing::generated::assert_tables("docs/keys.md", BEGIN, &[documented()]);
    }

    #[test]
    fn keys_are_found_with_and_without_their_table() {
        let places = |topic: &str| named(topic).into_iter().map(|key| key.place).collect::<Vec<_>>();
        assert_eq!(places("fill_down"), ["sheet"]);
        assert_eq!(places("sheet.fill_down"), ["sheet"]);
        assert_eq!(places("scale"), ["fields.NAME", "lines.NAME"]);
        assert_eq!(places("lines.scale"), ["lines.NAME"]);
        assert!(places("fill_up").is_empty());
    }
}
