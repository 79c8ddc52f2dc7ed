//! The JSON Schema of mapping templates, by which editors complete and check them while a person types. The fields of
//! each kind come from the contract's data; the keys stand here with what they mean.

use serde_json::{Map, Value, json};

use crate::records::{Field, JsonType, RecordKind};

/// The keys of a field's table: name, schema and meaning.
fn keys() -> Vec<(&'static str, Value, &'static str)> {
    let text = || json!({"type": "string"});
    let column =
        || json!({"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer", "minimum": 1, "maximum": 16384}]});
    let columns = || json!({"anyOf": [column(), {"type": "array", "items": column(), "minItems": 1}]});
    let choice = |words: &[&str]| json!({"enum": words});
    let number = || json!({"type": ["number", "string"]});
    let texts = || json!({"anyOf": [text(), {"type": "array", "items": text()}]});
    let replace = || {
        json!({"type": "object", "additionalProperties": false, "required": ["pattern", "with"],
               "properties": {"pattern": text(), "with": text()}})
    };
    let object = |required: &[&str], properties: Value| json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties});
    vec![
        ("column", columns(), "the column, by its header, letters or number; of a list the first that the sheet has"),
        ("columns", columns(), "several columns, which join puts together"),
        ("join", text(), "what stands between the columns; a space where it is left out"),
        ("text", text(), "an expression such as {{ Name }} {{ Size }}"),
        ("value", json!({"type": ["string", "number", "boolean"]}), "a constant"),
        ("optional", json!({"type": "boolean"}), "the sheet may lack the column"),
        ("trim", json!({"type": "boolean"}), "drops spaces before and after"),
        ("clear", text(), "a cell that holds this clears the field"),
        ("on_blank", choice(&["omit", "null", "error", "default"]), "what a blank cell means"),
        ("default", json!({"type": ["string", "number", "boolean"]}), "what a blank cell is sent as"),
        (
            "replace",
            json!({"anyOf": [replace(), {"type": "array", "items": replace()}]}),
            "regular expressions replaced",
        ),
        ("split", object(&["at", "take"], json!({"at": text(), "take": {"type": "integer"}})), "one part of the text"),
        (
            "map",
            json!({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}),
            "value in the sheet = value that is sent",
        ),
        (
            "lookup",
            object(&["file", "from", "to"], json!({"file": text(), "from": text(), "to": text()})),
            "a table beside the template",
        ),
        ("locale", text(), "how numbers and dates are written, such as de or en-US"),
        ("percent", choice(&["whole", "fraction"]), "19% is 19, or 0.19"),
        ("scale", number(), "a factor"),
        ("round", json!({"type": "integer", "minimum": 0, "maximum": 28}), "decimals"),
        ("format", texts(), "how dates are written, such as DD.MM.YYYY"),
        ("time_zone", text(), "whose clock times are of, such as Europe/Berlin"),
        ("allowed", json!({"type": "array", "items": text()}), "the only values that may be sent"),
        ("pattern", text(), "a regular expression that the value must match"),
        ("minimum", number(), "the least that may be sent"),
        ("maximum", number(), "the most that may be sent"),
        ("damaged", choice(&["error", "accept"]), "identifiers that look damaged by a spreadsheet program"),
    ]
}

/// The schema of a template's TOML.
pub fn schema() -> Value {
    let described = |(name, schema, meaning): (&str, Value, &str)| (name.to_owned(), with_description(schema, meaning));
    let field = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": keys().into_iter().map(described).collect::<Map<_, _>>(),
    });
    let kinds: Vec<&str> = RecordKind::ALL.iter().map(|kind| kind.name()).collect();
    let text = json!({"type": "string"});
    let column = json!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]});
    let columns = json!({"anyOf": [column, {"type": "array", "items": column, "minItems": 1}]});
    let row = json!({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Sheetport mapping template",
        "type": "object",
        "additionalProperties": false,
        "required": ["record"],
        "properties": {
            "record": {"enum": kinds, "description": "what a row, or a group of rows, becomes"},
            "description": text,
            "duplicates": {"enum": ["error", "first", "last"], "description": "what to do with a key that is there twice"},
            "sheet": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "name": {"type": "string", "description": "the sheet's name, or * for all that have the columns"},
                    "index": {"type": "integer", "minimum": 1},
                    "header": {"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": 1}]},
                    "locale": {"type": "string", "description": "how numbers and dates are written"},
                    "time_zone": {"type": "string", "description": "whose clock times are of"},
                    "fill_down": {
                        "description": "columns in which a blank cell means as above",
                        "anyOf": [columns, {
                            "type": "object", "additionalProperties": false, "required": ["columns"],
                            "properties": {"columns": columns, "within": columns},
                        }],
                    },
                    "skip_where": {
                        "type": "object", "additionalProperties": false, "required": ["column", "matches"],
                        "properties": {"column": columns, "matches": text},
                    },
                    "delimiter": text, "encoding": text, "quote": text, "escape": text,
                    "defused": {"type": "boolean"},
                },
            },
            "group": {
                "type": "object", "additionalProperties": false, "required": ["by"],
                "properties": {
                    "by": {"anyOf": [column, {"type": "array", "items": columns, "minItems": 1}]},
                    "rows": {"enum": ["anywhere", "together"]},
                    "on_blank": {"enum": ["error", "above"]},
                },
            },
            "fields": {"type": "object", "additionalProperties": field},
            "lines": {"type": "object", "additionalProperties": field},
            "examples": {
                "type": "array",
                "items": {
                    "type": "object", "additionalProperties": false, "required": ["sends"],
                    "properties": {
                        "row": row, "rows": {"type": "array", "items": row}, "sends": {"type": "object"},
                        "clears": {"type": "array", "items": text},
                    },
                },
            },
        },
        "allOf": RecordKind::ALL.iter().map(|kind| of_kind(*kind)).collect::<Vec<_>>(),
    })
}

/// Which fields a kind has, and which of them a template must say.
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

/// What a field is, in a line.
pub fn description(field: &Field) -> String {
    let json = match field.json {
        JsonType::DateTime => "date".to_owned(),
        other => other.to_string(),
    };
    let required = if field.required { ", required" } else { "" };
    format!("{} ({json}{required})", field.doc)
}

fn with_description(mut schema: Value, meaning: &str) -> Value {
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), Value::from(meaning));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::super::load::{load, no_tables};
    use super::*;

    /// The keys that the loader knows, in its own words about one that it does not.
    fn keys_of_the_loader() -> Vec<String> {
        let source = "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\n[fields.name]\nxyzzy = 1\n";
        let mistake = toml::from_str::<toml::Value>(source).err().map(|error| error.to_string());
        assert_eq!(mistake, None);
        let raw = load("t", source, &no_tables).expect_err("an unknown key");
        assert!(raw.message.contains("xyzzy"), "{}", raw.message);
        let hint = raw.hint.unwrap_or_default();
        hint.trim_start_matches("it is one of: ").split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn the_schema_has_every_key_of_a_field_that_the_loader_knows() {
        let mut ours: Vec<String> = keys().into_iter().map(|(name, ..)| name.to_owned()).collect();
        let mut theirs = keys_of_the_loader();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs);
    }

    #[test]
    fn every_kind_has_its_fields() {
        let schema = schema().to_string();
        for kind in RecordKind::ALL {
            assert!(kind.input().mappable().all(|field| schema.contains(&format!("\"{}\"", field.name))), "{kind}");
        }
    }
}
