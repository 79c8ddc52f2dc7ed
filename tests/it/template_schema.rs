//! The JSON Schema of templates: accepts what the loader accepts, and rejects what it rejects.

use std::fs;
use std::path::Path;

use boon::{Compiler, Schemas};
use serde_json::Value;
use sheetport_mapping::builtin::BUILT_IN;
use sheetport_mapping::load::{load, no_tables};
use sheetport_mapping::schema::schema;
use sheetport_mapping::skeleton::skeleton;
use sheetport_records::RecordKind;

/// Templates that both refuse, each with what is wrong.
const BAD: &[(&str, &str)] = &[
    ("no kind of record", "[fields.externalId]\ncolumn = \"A\"\n"),
    ("an unknown kind", "record = \"itme\"\n[fields.externalId]\ncolumn = \"A\"\n"),
    ("an unknown key", "record = \"item\"\nrecrod = 1\n[fields.externalId]\ncolumn = \"A\"\n"),
    ("a newer version", "sheetport = 2\nrecord = \"item\"\n[fields.externalId]\ncolumn = \"A\"\n"),
    ("no required field", "record = \"item\"\n[fields.name]\ncolumn = \"A\"\n"),
    ("an unknown field", "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\n[fields.nmae]\ncolumn = \"B\"\n"),
    (
        "lines of a record without lines",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\n[lines.quantity]\ncolumn = \"B\"\n",
    ),
    ("no source", "record = \"item\"\n[fields.externalId]\ntrim = true\n"),
    ("two sources", "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\nvalue = \"x\"\n"),
    ("a text in place of a field", "record = \"item\"\n[fields]\nexternalId = \"A\"\n"),
    ("a blank name of a column", "record = \"item\"\n[fields.externalId]\ncolumn = \" \"\n"),
    ("an empty list of columns", "record = \"item\"\n[fields.externalId]\ncolumn = []\n"),
    ("join without columns", "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\njoin = \"-\"\n"),
    (
        "a map and a lookup",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\nmap = { a = \"b\" }\nlookup = { sheet = \"S\", from = \"a\", to = \"b\" }\n",
    ),
    (
        "a lookup without a table",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\nlookup = { from = \"a\", to = \"b\" }\n",
    ),
    (
        "a boolean in place of a choice",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\n[fields.price]\ncolumn = \"B\"\npercent = true\n",
    ),
    ("an unknown choice", "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\non_blank = \"skip\"\n"),
    ("an unknown locale", "record = \"item\"\n[sheet]\nlocale = \"german\"\n[fields.externalId]\ncolumn = \"A\"\n"),
    ("an unknown check digit", "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\ncheck = \"ean12\"\n"),
    (
        "a part number of zero",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\nsplit = { at = \"/\", take = 0 }\n",
    ),
    ("a header row of zero", "record = \"item\"\n[sheet]\nheader = 0\n[fields.externalId]\ncolumn = \"A\"\n"),
    (
        "unpivot with columns and a pattern",
        "record = \"item\"\n[unpivot]\ncolumns = [\"S\"]\nmatches = \"M\"\nheader_as = \"H\"\nvalue_as = \"V\"\n[fields.externalId]\ncolumn = \"V\"\n",
    ),
    (
        "unpivot without columns",
        "record = \"item\"\n[unpivot]\nheader_as = \"H\"\nvalue_as = \"V\"\n[fields.externalId]\ncolumn = \"V\"\n",
    ),
    (
        "an example without a record",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\n[[examples]]\nrow = { A = \"1\" }\n",
    ),
    (
        "an example with a row and rows",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\n[[examples]]\nrow = { A = \"1\" }\nrows = [{ A = \"1\" }]\nsends = { externalId = \"1\" }\n",
    ),
];

/// Templates that both accept, besides those in files.
const GOOD: &[&str] = &[
    "record = \"item\"\n[unpivot]\ncolumns = [\"S\", [\"M\", \"Medium\"]]\nheader_as = \"Size\"\nvalue_as = \"Price\"\nzero = \"skip\"\n\
     [fields.externalId]\ncolumns = [\"SKU\", \"Size\"]\n[fields.price]\ncolumn = \"Price\"\n\
     [[examples]]\nrow = { SKU = \"A\", S = \"1\", Medium = \"2\" }\n\
     sends = [{ externalId = \"A S\", price = 1 }, { externalId = \"A Medium\", price = 2 }]\n",
    "record = \"item\"\n[sheet]\nlocale = \"de-DE\"\nheader = [1, 2]\n[fields.externalId]\ncolumn = 1\ncheck = \"gtin\"\nunique = true\n",
    "record = \"item\"\n[parameters]\nshop = { default = \"W1\" }\nrows = { default = 2 }\n[sheet]\nname = { parameter = \"shop\" }\n\
     [fields.externalId]\ncolumns = [[\"A\", 1], \"B\"]\n[fields.name]\nvalue = { parameter = \"shop\" }\n[fields.price]\ncolumn = \"P\"\nround = { parameter = \"rows\" }\n",
    "extends = \"items\"\n[fields]\nprice = false\n[fields.name]\ntrim = true\n",
    "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\nmap = { a = \"b\" }\notherwise = \"keep\"\n\
     [fields.currency]\ncolumn = \"C\"\nlookup = { sheet = \"S\", from = [\"a\"], to = \"b\" }\notherwise = \"EUR\"\n",
];

/// Checks a template by the schema.
fn check(text: &str) -> Result<(), String> {
    let mut compiler = Compiler::new();
    let mut schemas = Schemas::new();
    compiler.add_resource("schema.json", schema()).expect("a schema");
    let index = compiler.compile("schema.json", &mut schemas).expect("a valid schema");
    let template: toml::Value = toml::from_str(text).expect("TOML");
    let template: Value = serde_json::to_value(template).expect("JSON");
    schemas.validate(&template, index).map_err(|error| format!("{error:#}"))
}

#[test]
fn examples_of_keys_fit_the_keys() {
    let schema = schema();
    let mut tried = 0;
    for table in
        ["/properties", "/properties/sheet/properties", "/properties/unpivot/properties", "/$defs/field/properties"]
    {
        for (key, value) in schema.pointer(table).and_then(Value::as_object).unwrap() {
            let Some(example) = value["examples"].get(0) else { continue };
            let mut compiler = Compiler::new();
            let mut schemas = Schemas::new();
            compiler.add_resource("schema.json", schema.clone()).unwrap();
            let index = compiler.compile(&format!("schema.json#{table}/{key}"), &mut schemas).unwrap();
            assert!(schemas.validate(example, index).is_ok(), "{table}/{key}: {example}");
            tried += 1;
        }
    }
    assert!(tried > 40, "{tried} examples");
}

#[test]
fn built_in_templates_samples_and_skeletons_are_accepted() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/price-list.toml");
    let sample = fs::read_to_string(samples).unwrap();
    let skeletons: Vec<String> = RecordKind::ALL.iter().map(|kind| skeleton(kind.input())).collect();
    let all = BUILT_IN.iter().map(|(_, text)| *text).chain([sample.as_str()]);
    for text in all.chain(skeletons.iter().map(String::as_str)).chain(GOOD.iter().copied()) {
        check(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        load("t", text, &no_tables).unwrap_or_else(|error| panic!("{text}\n{error}"));
    }
}

#[test]
fn wrong_templates_are_rejected_by_the_schema_and_the_loader() {
    for (what, text) in BAD {
        assert!(check(text).is_err(), "the schema accepts {what}");
        assert!(load("t", text, &no_tables).is_err(), "the loader accepts {what}");
    }
}
