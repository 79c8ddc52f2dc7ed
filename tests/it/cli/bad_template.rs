//! Templates that can't be used: the place of the mistake, what was meant, and that nothing was sent.

use std::fs;

use super::process::{Place, name};
use super::sample;
use super::service::Served;

/// The price list's template with one mistake in it: refused with the mistake's place and `words`.
#[track_caller]
fn check_mistake(right: &str, wrong: &str, words: &[&str]) {
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
    assert!(!place.path("home").exists(), "not even a ledger is made");
}

#[test]
fn a_typo_in_a_key_gets_the_right_key() {
    check_mistake("header = \"auto\"", "haeder = \"auto\"", &["'haeder'", "did you mean header?"]);
}

#[test]
fn a_field_that_no_item_has_gets_the_nearest() {
    check_mistake("[fields.price]", "[fields.prise]", &["'prise' is no field of item", "did you mean price?"]);
}

#[test]
fn a_record_that_no_service_has_gets_the_nearest() {
    check_mistake("record = \"item\"", "record = \"itme\"", &["'itme' is no kind of record", "did you mean item?"]);
}

#[test]
fn a_pattern_that_is_none_is_shown_in_its_place() {
    check_mistake("pattern = \"^[0-9A-Z]+", "pattern = \"^[0-9A-Z+", &["not a regular expression"]);
}

#[test]
fn what_is_not_toml_is_shown_in_its_place() {
    check_mistake("record = \"item\"", "record = \"item", &["mine.toml:7:"]);
}

#[test]
fn a_column_that_the_file_does_not_have_gets_the_nearest_header() {
    let place = Place::new();
    let template = fs::read_to_string(sample("price-list.toml")).unwrap();
    place.write("mine.toml", template.replacen("column = \"EK netto\"", "column = \"EK neto\"", 1));
    let file = sample("price-list.csv");
    let words = ["purchasePrice wants the column 'EK neto'", "nearest is 'EK netto'", "header in row 4"];
    place.sheetport(["check", name(&file), "-t", "mine.toml"]).exits(2).says(&words);
}

#[test]
fn a_template_that_is_not_there_gets_the_nearest_name_or_all() {
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
fn the_built_in_template_saved_is_the_same_template() {
    let place = Place::new();
    let shown = place.sheetport(["template", "show", "items"]).exits(0);
    place.write("mine.toml", &shown.stdout);
    place.sheetport(["template", "check", "mine.toml"]).exits(0).shows(&["mine.toml: valid", "passed"]);
    let file = sample("items.csv");
    place.sheetport(["check", name(&file), "-t", "mine.toml"]).exits(0);
    place.sheetport(["template", "list"]).exits(0).shows(&["items"]);
}
