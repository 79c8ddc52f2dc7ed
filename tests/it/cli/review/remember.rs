//! Fixes of many rows that the template remembers: the next file with the same damage needs none.

use serde_json::{Value, json};

use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::page::ReviewPage;
use super::{click, count, has_no_errors, start, stored, wait};

/// Opens a file with the number, the name and the price of articles.
#[track_caller]
pub(super) fn open(place: &Place, served: &Served, file: &str) -> ReviewPage {
    let page = ReviewPage::open(place, served, file);
    // With so many wrong cells, nothing is certain before a person has said so.
    page.post("/template/change", &json!({"kind": "column", "field": "price", "column": 2}));
    page.post("/template/change", &json!({"kind": "confirm-all"}));
    page
}

/// Applies a fix to all rows of the first cause with a code.
#[track_caller]
pub(super) fn apply(page: &ReviewPage, code: &str, fix: &Value) {
    let review = page.post("/check", &json!({"full": true}));
    let causes = review["check"]["causes"].as_array().unwrap();
    let cause = causes.iter().find(|cause| cause["code"] == code).unwrap_or_else(|| panic!("{causes:?}"));
    let revision = &review["check"]["revision"];
    let fixed = page.post(&format!("/causes/{}/fix", cause["number"]), &json!({"fix": fix, "revision": revision}));
    assert_ne!(fixed["edits"]["last_fix"], Value::Null, "{fix} has changed nothing: {}", fixed["check"]);
}

/// Returns the records that have arrived, each as its number and another field.
pub(super) fn arrived(served: &Served, field: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut all: Vec<String> =
        stored(served).iter().map(|item| format!("{} {}", text(&item["external_id"]), text(&item[field]))).collect();
    all.sort();
    all
}

/// Fixes a file on the page and lets the template remember how. Then uploads the next file by the command line, and compares what arrives.
#[track_caller]
pub(super) fn check(code: &str, fix: &Value, (file, next): (&str, &str), field: &str, expected: &[&str]) {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", file);
    place.write("next.csv", next);
    let page = open(&place, &served, "items.csv");
    apply(&page, code, fix);
    assert_eq!(page.get("/remember"), json!({"why_not": null}), "{fix}: {}", page.review()["template"]["text"]);
    let review = page.post("/remember", &json!({}));
    assert_eq!(review["check"]["rejected"], 0, "{fix}: {review}");
    let template = review["template"]["name"].as_str().unwrap();
    served.sheetport(&place, ["upload", "next.csv", "-t", template, "--json"]).exits(0);
    assert_eq!(arrived(&served, field), expected, "{fix}");
    // The file that was fixed still is.
    served.sheetport(&place, ["check", "items.csv", "-t", template, "--reviewed", "--json"]).exits(0);
}

#[test]
fn the_next_file_with_the_same_damage_needs_no_fix() {
    let prices = |cells: [&str; 3]| {
        format!("SKU,Name,Price\nA-1,Bolt,{}\nA-2,Nut,{}\nA-3,Pin,{}\n", cells[0], cells[1], cells[2])
    };
    let of = |fix: Value, file: [&str; 3], next: [&str; 3], expected: &[&str]| {
        check("not-a-number", &fix, (&prices(file), &prices(next)), "price", expected);
    };
    of(
        json!({"kind": "number-only"}),
        ["1.50", "2.50 per piece", "net 3.50"],
        ["7.25 per piece", "8.50", "9.75 each"],
        &["A-1 7.25", "A-2 8.50", "A-3 9.75"],
    );
    of(
        json!({"kind": "replace-part", "find": "O", "with": "0"}),
        ["1.50", "2.5O", "3.5O"],
        ["7.2O", "8.50", "9.7O"],
        &["A-1 7.20", "A-2 8.50", "A-3 9.70"],
    );
    of(
        json!({"kind": "replace-part", "find": "net ", "with": ""}),
        ["1.50", "net 2.50", "net 3.50"],
        ["7.25", "net 8.50", "9.75"],
        &["A-1 7.25", "A-2 8.50", "A-3 9.75"],
    );
    of(
        json!({"kind": "set", "to": "0"}),
        ["1.50", "on request", "3.50"],
        ["7.25", "8.50", "on request"],
        &["A-1 7.25", "A-2 8.50", "A-3 0"],
    );
    of(
        json!({"kind": "leave-out"}),
        ["1.50", "on request", "on request"],
        ["7.25", "on request", "9.75"],
        &["A-1 7.25", "A-3 9.75"],
    );
    of(
        json!({"kind": "tidy"}),
        ["1.50", "2.\u{200b}50", "3.\u{200b}50"],
        ["7.\u{200b}25", "8.50", "9.75"],
        &["A-1 7.25", "A-2 8.50", "A-3 9.75"],
    );
}

#[test]
fn duplicates_are_remembered() {
    let twice = "SKU,Name,Price\nA-1,Bolt,1\nA-2,Nut,2\nA-2,Nut M8,3\n";
    let next = "SKU,Name,Price\nB-1,Bolt,1\nB-1,Bolt M6,2\nB-2,Nut,3\n";
    check("duplicate", &json!({"kind": "keep-last"}), (twice, next), "price", &["B-1 2", "B-2 3"]);
    check("duplicate", &json!({"kind": "keep-first"}), (twice, next), "price", &["B-1 1", "B-2 3"]);
}

#[test]
fn what_a_template_cannot_say_is_not_offered() {
    let place = Place::new();
    let served = Served::start(&place);
    let mut many = "SKU,Name,Price\n".to_owned();
    (0..30).for_each(|row| many.push_str(&format!("A-{row},Bolt,word {}\n", "x".repeat(row + 1))));
    place.write("many.csv", many);
    let page = open(&place, &served, "many.csv");
    apply(&page, "not-a-number", &json!({"kind": "set", "to": "1"}));
    assert_eq!(page.get("/remember"), json!({"why_not": "no-such-rule"}));
    drop(page);

    // The first fix is not enough for the row. The template would take the currency from the good prices, too, to do the second.
    place.write("prices.csv", "SKU,Name,Price\nA-1,Bolt,10 EUR\nA-2,Nut,20 EUREUR\nA-3,Pin,30 EUR\nA-4,Hook,45 EUR\n");
    let page = open(&place, &served, "prices.csv");
    apply(&page, "not-a-number", &json!({"kind": "replace-part", "find": "EUREUR", "with": "EURx"}));
    assert_eq!(page.get("/remember"), json!({"why_not": "no-effect"}));
    page.post("/undo", &json!({}));
    apply(&page, "not-a-number", &json!({"kind": "replace-part", "find": "EUR", "with": ""}));
    assert_eq!(page.get("/remember"), json!({"why_not": "other-rows"}));
    let before = page.review()["template"]["text"].clone();
    let refused = page.ask("POST", "/api/reviews/1/remember", "{}");
    assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
    assert_eq!(page.review()["template"]["text"], before);
    // Nothing is offered for a fix that was taken back.
    page.post("/undo", &json!({}));
    assert_eq!(page.review()["edits"]["last_fix"], Value::Null);
}

#[test]
fn a_fix_is_remembered_on_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    let file = place.write("prices.csv", "SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,2.50 net\nA-3,Pin,3.50\n");
    place.write("next.csv", "SKU,Name,Price\nA-1,Bolt,7.25 net\nA-2,Nut,8.50\n");
    let (_process, address) = start(&place, &served, &[]);
    browser.visit(&address);
    wait(&mut browser, "document.querySelector('.drop button')");
    browser.choose("document.getElementById('file')", &file);
    click(&mut browser, ".bar .primary", "Fix 1 row");
    click(&mut browser, ".fixes button", "Keep only the number in 1 cell");
    click(&mut browser, ".memory button", "Also next time");
    wait(&mut browser, "/Remembered in prices.toml/.test(document.body.innerText)");
    wait(&mut browser, "!document.querySelector('.memory button')");
    wait(&mut browser, &format!("{} === 3 && {} === 0", count("ready"), count("to_fix")));
    has_no_errors(&browser);
    let template = place.path("home/templates/prices.toml");
    let template = template.to_str().unwrap();
    served.sheetport(&place, ["upload", "next.csv", "-t", template, "--json"]).exits(0);
    assert_eq!(arrived(&served, "price"), ["A-1 7.25", "A-2 8.50"]);
}

#[test]
fn a_question_is_answered_with_a_click_for_all_files_of_the_template() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("rates.csv", "SKU,Name,Price,VAT\nV-1,a,1.00,19%\nV-2,b,1.00,19\nV-3,c,1.00,0.19\nV-4,d,1.00,7%\n");
    let (_process, address) = start(&place, &served, &["rates.csv"]);
    browser.visit(&address);
    click(&mut browser, ".bar .primary", "1");
    wait(&mut browser, "/is a hundredth of 19/.test(document.querySelector('.about')?.innerText)");
    click(&mut browser, ".about button", "Such rows are right");
    wait(&mut browser, &format!("{} === 4", count("ready")));
    wait(&mut browser, "!document.querySelector('.causes li:not(.warning)')");
    assert!(
        browser.text("document.querySelector('.causes').innerText").contains("A percent sign"),
        "it stays a warning"
    );
    has_no_errors(&browser);
}
