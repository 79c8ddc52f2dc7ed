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
    check_refused("record = \"item\"", "record = \"item", &["mine.toml:7:"]);
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
