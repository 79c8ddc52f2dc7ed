//! Invalid templates are refused with the place of the error and a hint, and nothing is sent.

use std::fs;

use super::process::{Place, name};
use super::sample;
use super::service::Served;

/// Replaces `right` by `wrong` in the price list's template, and checks that it is refused with `words` and the line.
#[track_caller]
fn check_refused(right: &str, wrong: &str, words: &[&str]) {
    let place = Place::new();
    let template = fs::read_to_string(sample("price-list.toml")).unwrap();
    let at = template.find(right).unwrap_or_else(|| panic!("{right} is not in the template"));
    place.write("mine.toml", template.replacen(right, wrong, 1));
    let served = Served::start(&place);
    let line = template[..at].matches('\n').count() + 1;
    let file = sample("price-list.csv");
    let upload = served.sheetport(&place, ["upload", name(&file), "-t", "mine.toml"]);
    upload.exits(2).says(&[&format!("mine.toml:{line}:")]).says(words);
    place.sheetport(["check", name(&file), "-t", "mine.toml"]).exits(2).says(words);
    place.sheetport(["template", "check", "mine.toml"]).exits(2).says(words);
    assert_eq!(served.total(), 0);
    assert!(!place.path("home").exists(), "no ledger is created");
}

#[test]
fn misspelt_key_gets_a_suggestion() {
    check_refused("header = \"auto\"", "haeder = \"auto\"", &["unknown key 'haeder'", "did you mean header?"]);
}

#[test]
fn unknown_field_gets_a_suggestion() {
    check_refused("[fields.price]", "[fields.prise]", &["'prise' is not a field of item", "did you mean price?"]);
}

#[test]
fn unknown_kind_of_record_gets_a_suggestion() {
    check_refused("record = \"item\"", "record = \"itme\"", &["'itme' is not a kind of record", "did you mean item?"]);
}

#[test]
fn invalid_regular_expression_is_shown() {
    check_refused("pattern = \"^[0-9A-Z]+", "pattern = \"^[0-9A-Z+", &["not a regular expression"]);
}

#[test]
fn toml_syntax_error_is_shown() {
    check_refused("record = \"item\"", "record = \"item", &["invalid basic string"]);
}

const MANY: &str = r#"recrod = "item"
record = "item"
[sheet]
haeder = 1
locale = "german"
[fields.externalId]
column = "SKU"
pattern = "^["
[fields.name]
colum = "Name"
[fields.price]
column = "Price"
percent = true
minimum = 10
maximum = 5
round = "two"
[fields.status]
column = "Active"
map = { yes = "active", Yes = "archived", "" = "draft", no = 3 }
on_blank = "skip"
[fields.weight]
value = 3
[fields]
currency = "EUR"
"#;

/// The line of each mistake in `MANY`, and what is said about it.
const MISTAKES: [(usize, &str, &str); 14] = [
    (1, "unknown key 'recrod'", "did you mean record?"),
    (4, "unknown key 'haeder'", "did you mean header?"),
    (5, "'german' is not a locale", "did you mean de?"),
    (8, "this is not a regular expression", "'single quotes' keep backslashes"),
    (10, "unknown key 'colum'", "did you mean column?"),
    (13, "percent must be text in quotes, but this is true", "write percent = \"whole\" or percent = \"fraction\""),
    (15, "the maximum 5 is less than the minimum 10", "swap them"),
    (16, "round must be a whole number, but this is the text \"two\"", ""),
    (19, "'yes' and 'Yes' are the same word", "keep one of them"),
    (19, "blank cells of status are not translated by its map", "on_blank"),
    (19, "the service expects a text for status, but this is a number", "write it in quotes"),
    (20, "'skip' is not a value of on_blank", "it is one of: omit, null, error, default"),
    (21, "'weight' is not a field of item", "it is one of"),
    (24, "currency must be a table", "write [fields.currency], and below it: column = \"EUR\""),
];

#[test]
fn all_mistakes_are_shown_with_their_lines_and_hints() {
    let place = Place::new();
    place.write("mine.toml", MANY);
    let said = place.sheetport(["template", "check", "mine.toml"]).exits(2).stderr;
    let mut at = 0;
    for (line, message, hint) in MISTAKES {
        let found = said[at..].find(message).unwrap_or_else(|| panic!("{message} is not in order in {said}"));
        let rest = &said[at + found..];
        let (shown, _) = rest.split_once("\n\n").unwrap_or((rest, ""));
        assert!(shown.contains(&format!("mine.toml:{line}:")), "line {line}: {shown}");
        assert!(shown.contains(hint), "{hint}: {shown}");
        at += found;
    }
    assert!(said.contains(&format!("{} errors in the template", MISTAKES.len())), "{said}");
}

#[test]
fn every_line_with_a_syntax_error_is_shown_and_typographic_quotes_are_named() {
    let place = Place::new();
    let text =
        "record = \"item\"\n[fields.externalId]\ncolumn = “SKU”\n[fields.name]\ncolumn =\u{a0}\"Name\"\ntrim = yes\n";
    place.write("mine.toml", text);
    let said = place.sheetport(["template", "check", "mine.toml"]).exits(2);
    said.says(&["mine.toml:3:10", "“ is a typographic quote", "write a straight quote"]).says(&[
        "mine.toml:5:9",
        "this is a no-break space",
        "mine.toml:6:",
        "3 errors in the template",
    ]);
}

#[test]
fn a_template_of_a_newer_version_is_refused() {
    let place = Place::new();
    for (version, words) in [
        ("2", "this template has version 2, and this program reads version 1"),
        ("\"1\"", "write sheetport = 1"),
        ("0", "write sheetport = 1"),
    ] {
        place.write("mine.toml", format!("sheetport = {version}\nrecord = \"item\"\nnew_key = 1\n"));
        let said = place.sheetport(["template", "check", "mine.toml"]).exits(2).says(&[words, "mine.toml:1:13"]);
        assert!(!said.stderr.contains("new_key"), "{}", said.stderr);
    }
    place.write("mine.toml", "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n");
    place.sheetport(["template", "check", "mine.toml"]).exits(0);
}

#[test]
fn a_template_without_a_kind_of_record_is_refused() {
    let place = Place::new();
    place.write("mine.toml", "[sheet]\nindex = 0\n");
    let said = place.sheetport(["template", "check", "mine.toml"]).exits(2);
    said.says(&[
        "the key record is missing",
        "add record = ",
        "this must be a number from 1",
        "2 errors in the template",
    ]);
}

#[test]
fn missing_column_gets_the_most_similar_header() {
    let place = Place::new();
    let template = fs::read_to_string(sample("price-list.toml")).unwrap();
    place.write("mine.toml", template.replacen("column = \"EK netto\"", "column = \"EK neto\"", 1));
    let file = sample("price-list.csv");
    let words = ["purchasePrice needs the column 'EK neto'", "nearest is 'EK netto'", "header in row 4"];
    place.sheetport(["check", name(&file), "-t", "mine.toml"]).exits(2).says(&words);
}

#[test]
fn unknown_template_gets_a_suggestion_or_the_list() {
    let place = Place::new();
    let served = Served::start(&place);
    let file = sample("items.csv");
    let upload = |template| served.sheetport(&place, ["upload", name(&file), "-t", template]);
    upload("itms").exits(2).says(&["no template 'itms'", "did you mean items?"]);
    upload("price-comparison")
        .exits(2)
        .says(&["no template 'price-comparison'", "built-in templates: items, orders, "]);
    upload("mine.toml").exits(2).says(&["mine.toml can't be read", "sheetport template list"]);
    assert_eq!(served.total(), 0);
}

#[test]
fn a_saved_built_in_template_is_valid() {
    let place = Place::new();
    let shown = place.sheetport(["template", "show", "items"]).exits(0);
    place.write("mine.toml", &shown.stdout);
    place.sheetport(["template", "check", "mine.toml"]).exits(0).shows(&["mine.toml: valid", "passed"]);
    let file = sample("items.csv");
    place.sheetport(["check", name(&file), "-t", "mine.toml"]).exits(0);
    place.sheetport(["template", "list"]).exits(0).shows(&["items"]);
}
