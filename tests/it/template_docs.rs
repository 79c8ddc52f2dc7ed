//! Compares docs/keys.md and docs/built-in-templates.md with the code: the keys of templates, the fields of each kind of record, and
//! the built-in templates.

use std::fs;
use std::path::Path;

use sheetport_mapping::builtin::BUILT_IN;
use sheetport_records::{Call, Field, Input, JsonType, RecordKind, transaction};

const BEGIN: &str = "<!-- Generated from crates/records; a test compares it. -->\n";
const END: &str = "<!-- End of the generated part. -->\n";

/// The structures of crates/mapping/src/load/raw.rs, each with the headings of its keys. The page is generated from the schema.
const KEYS: [(&str, &str); 14] = [
    ("RawTemplate", "At the top"),
    ("RawParameter", "`[parameters.NAME]`"),
    ("RawSheet", "`[sheet]`"),
    ("RawFill", "`[sheet.fill_down]`"),
    ("RawSkip", "`[sheet.skip_where]`"),
    ("RawMissing", "`[missing]`"),
    ("RawRule", "`[[rules]]`"),
    ("RawUnpivot", "`[unpivot]`"),
    ("RawGroup", "`[group]`"),
    ("RawField", "`[fields.NAME]`"),
    ("RawReplace", "`[fields.NAME.replace]`"),
    ("RawSplit", "`[fields.NAME.split]`"),
    ("RawLookup", "`[fields.NAME.lookup]`"),
    ("RawExample", "`[[examples]]`"),
];

#[test]
fn every_key_is_documented() {
    let (docs, source) = (read("docs/keys.md"), read("crates/mapping/src/load/raw.rs"));
    let structures: Vec<&str> = source.split("pub(super) struct ").skip(1).filter(|rest| has_body(rest)).collect();
    let names: Vec<&str> = structures.iter().map(|rest| rest.split(' ').next().unwrap()).collect();
    for name in &names {
        assert!(KEYS.iter().any(|(known, _)| known == name), "{name} is not documented");
    }
    for (structure, heading) in KEYS {
        let body = structures.iter().find(|rest| rest.starts_with(&format!("{structure} {{"))).unwrap();
        let body = &body[..body.find("\n}").unwrap()];
        let keys = body.lines().filter_map(|line| line.trim().strip_prefix("pub ")?.split(':').next());
        // A word of Rust is written as r#where.
        let mut keys: Vec<&str> = keys.map(|key| key.trim_start_matches("r#")).collect();
        let mut described = first_cells(section(&docs, &format!("### {heading}\n")));
        assert!(!keys.is_empty());
        keys.sort_unstable();
        described.sort();
        assert_eq!(described, keys, "{structure} in {heading}");
    }
}

#[test]
fn fields_of_all_kinds_are_documented() {
    let docs = read("docs/keys.md");
    let (_, rest) = docs.split_once(BEGIN).unwrap();
    let (described, _) = rest.split_once(END).unwrap();
    let inputs = RecordKind::ALL.iter().map(|kind| kind.input()).chain([&transaction::COUNT]);
    let kinds: Vec<String> = inputs.map(describe).collect();
    let kinds = kinds.join("\n");
    assert!(described == kinds, "the generated part must be:\n{kinds}");
}

#[test]
fn every_built_in_template_and_sample_is_documented() {
    let docs = read("docs/built-in-templates.md");
    let listed = first_cells(section(&docs, "## The templates"));
    assert_eq!(listed, BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
    let samples = read("samples/README.md");
    for (name, _) in BUILT_IN {
        let named = format!("`{name}`");
        assert!(samples.contains(&named), "samples/README.md does not have {named}");
    }
    for folder in ["samples", "samples/service"] {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let named = samples.contains(&format!("`{name}`")) || samples.contains(&format!("/{name}`"));
            assert!(named || matches!(&*name, "README.md" | "service"), "samples/README.md does not have {name}");
        }
    }
}

/// Whether a structure has named fields.
fn has_body(rest: &str) -> bool {
    rest.lines().next().unwrap().ends_with('{')
}

/// Returns the text between a heading and the next.
fn section<'a>(docs: &'a str, heading: &str) -> &'a str {
    let start = docs.find(heading).unwrap_or_else(|| panic!("no heading {heading}"));
    let rest = &docs[start + heading.len()..];
    rest.split("\n#").next().unwrap()
}

/// Returns the code in the first cell of each row of a section's tables.
fn first_cells(section: &str) -> Vec<String> {
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    cells.map(str::to_owned).collect()
}

fn describe(input: &'static Input) -> String {
    let mut text = format!("### `{}`: {}\n\n", input.name, input.plural);
    let call = |call: &Call| format!("`{} {}`", call.method, call.path);
    text += &match (&input.create, &input.update, &input.id) {
        (Some(create), Some(update), Some(id)) => {
            let (create, update) = (call(create), call(update));
            format!("{create}, or {update} for a record that has `{}`.", id.name)
        }
        (Some(create), _, _) => format!("{}.", call(create)),
        (None, Some(update), _) => {
            let names: Vec<String> = input.key.iter().map(|name| format!("`{name}`")).collect();
            format!("{} for existing records, identified by {}.", call(update), names.join(" or by "))
        }
        (None, None, _) => String::new(),
    };
    if input.name == transaction::COUNT.name {
        text += " It has the difference between `counted` and the stock in the service as its `transactionAmount`.";
    }
    if input.create.as_ref().is_some_and(|create| !create.repeatable) {
        text += " Each call creates a record, so Sheetport never repeats one on its own.";
    }
    text += "\n\n| field | type | |\n|---|---|---|\n";
    text += &rows(input.mappable());
    if let Some((list, fields)) = input.lines() {
        text += &format!("\nEach line, under `[lines.…]`; in the request and in examples, `{}`:\n", list.name);
        text += &format!("\n| field | type | |\n|---|---|---|\n{}", rows(fields.iter()));
    }
    text
}

fn rows(fields: impl Iterator<Item = &'static Field>) -> String {
    let row = |field: &Field| {
        let mut kind = match field.json {
            JsonType::String => "text",
            JsonType::DateTime => "date",
            JsonType::Number => "number",
            JsonType::Integer => "whole number",
            JsonType::Boolean => "yes or no",
            JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => "structure",
        }
        .to_owned();
        if field.required {
            kind += ", required";
        }
        if field.nullable {
            kind += ", null";
        }
        format!("| `{}` | {kind} | {} |\n", field.name, field.doc)
    };
    fields.map(row).collect()
}

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.replace("\r\n", "\n")
}
