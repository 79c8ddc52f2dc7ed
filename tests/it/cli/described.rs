//! The output of `--json` of each command that a test runs, compared with docs/json.md.

use std::collections::BTreeMap;
use std::ffi::OsString;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};
use sheetport_operations::{schema, schema_names};

/// Commands whose output has another description than one of their name.
const NAMES: [(&str, &str); 11] = [
    ("plan", "summary"),
    ("apply", "summary"),
    ("undo", "summary"),
    ("upload", "summary"),
    ("retry", "summary"),
    ("resume", "summary"),
    ("check", "summary"),
    ("runs-wait", "summary"),
    ("runs-watch", "summary"),
    ("whoami", "login"),
    ("job-run", "job"),
];

/// Compares what a command has printed with its description, if it has printed JSON.
///
/// # Panics
///
/// Panics if a field is missing, has another type, or is not described.
#[track_caller]
pub fn assert_described(args: &[OsString], stdout: &str) {
    let args: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    if !args.contains(&"--json") && !args.contains(&"--json-rows") {
        return;
    }
    let Some(name) = described_as(&args) else { return };
    // Output by row has thousands of lines.
    let mut known: BTreeMap<String, Described> = BTreeMap::new();
    for line in stdout.lines() {
        // A command that was killed may have printed a part of a line, and some tests look at what is not JSON.
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let name = if value.get("error").is_some_and(Value::is_object) { "error" } else { name.as_str() };
        // What `continue` has become says so.
        let name = match value["command"].as_str() {
            Some(other) if name == "continue" && other != name => described_as(&[other]).unwrap_or_default(),
            _ => name.to_owned(),
        };
        let name = name.as_str();
        let name = if value.get("exports").is_some() && name == "export" { "exports" } else { name };
        let described = known.entry(name.to_owned()).or_insert_with(|| {
            let schema = schema(name).unwrap_or_else(|| panic!("docs/json.md does not describe {name}, of {args:?}"));
            Described::by(closed(schema))
        });
        if let Err(error) = described.fits(&value) {
            panic!("docs/json.md describes another output of {args:?} as {name}: {error}\n{value:#}");
        }
    }
}

/// Returns the name of the schema for a command.
fn described_as(args: &[&str]) -> Option<String> {
    let named = |name: &str| match NAMES.iter().find(|(own, _)| *own == name) {
        Some((_, described)) => Some((*described).to_owned()),
        None => schema_names().find(|described| *described == name).map(str::to_owned),
    };
    // Of two words first, such as `template check`.
    let command = |at: usize| {
        let pair = args.get(at..at + 2).and_then(|words| named(&words.join("-")));
        pair.or_else(|| named(args[at]))
    };
    let (name, rest) = (0..args.len()).find_map(|at| Some((command(at)?, &args[at..])))?;
    let flag = |flag: &str| args.contains(&flag);
    Some(match rest {
        ["check", ..] if flag("--json-rows") => "check-rows".to_owned(),
        ["explain", ..] if flag("--column") => "explain-column".to_owned(),
        ["view", ..] if flag("--all-sheets") => "view-all-sheets".to_owned(),
        _ => name,
    })
}

/// Returns a schema that allows no other fields than those that are described.
fn closed(mut schema: Value) -> Value {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(|property| *property = closed(property.take()));
        schema["additionalProperties"] = json!(false);
    }
    if let Some(items) = schema.get_mut("items") {
        *items = closed(items.take());
    }
    if let Some(Value::Array(forms)) = schema.get_mut("anyOf") {
        forms.iter_mut().for_each(|form| *form = closed(form.take()));
    }
    schema
}

/// A schema that is ready to be compared with values.
pub struct Described {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Described {
    pub fn by(schema: Value) -> Described {
        let mut compiler = Compiler::new();
        compiler.add_resource("schema.json", schema).unwrap();
        let mut schemas = Schemas::new();
        let index = compiler.compile("schema.json", &mut schemas).unwrap();
        Described { schemas, index }
    }

    pub fn fits(&self, value: &Value) -> Result<(), String> {
        self.schemas.validate(value, self.index).map_err(|error| format!("{error:#}"))
    }
}
