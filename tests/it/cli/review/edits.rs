//! Edits on the page of `review`: what it says at once is what a check of the whole file says.

use serde_json::{Value, json};

use super::super::process::Place;
use super::super::service::Served;
use super::page::ReviewPage;

/// Rows with equal numbers, prices that are none, and a missing name.
const SHEET: &str = "SKU,Name,Price,Status\nA-1,Bolt,1.50,active\nA-2,Nut,on request,active\nA-2,Washer,3.50,active\n\
    ,Pin,4.50,active\nA-5,Rivet,five,active\nA-6,Screw,6.50,active\nA-6,Anchor,7.50,active\nA-6,Hook,8.50,active\n";

/// Returns the counts of a check, and its causes with the column and number of rows of each.
fn outcome(check: &Value) -> (Value, Vec<String>) {
    let counts = json!([check["to_send"], check["rejected"], check["skipped"], check["warned"]]);
    let text = |cause: &Value| {
        let Value::Array(parts) = json!([cause["code"], cause["column"], cause["count"], cause["warning"]]) else {
            unreachable!("an array")
        };
        parts.iter().map(Value::to_string).collect::<Vec<_>>().join(" ")
    };
    let mut causes: Vec<String> = check["causes"].as_array().unwrap().iter().map(text).collect();
    causes.sort();
    (counts, causes)
}

#[test]
fn the_verdict_on_an_edit_is_that_of_a_check_of_the_whole_file() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", SHEET);
    let page = ReviewPage::open(&place, &served, "items.csv");
    page.post("/check", &json!({"full": true}));
    // The row, the column and the new text; without a column, the row is left out or taken again.
    for (row, column, text) in [
        (3, Some(2), Some("2.50")),
        (3, Some(0), Some("A-3")),
        (5, Some(0), Some("A-2")),
        (4, None, Some("left-out")),
        (6, Some(2), Some("5.50")),
        (7, Some(0), Some("A-7")),
        (4, None, None),
        (9, Some(0), Some("A-1")),
        (2, Some(2), Some("one")),
        (9, Some(0), Some("A-6")),
        (5, Some(0), None),
        (8, Some(0), Some("")),
        (7, Some(0), Some("A-6")),
        (2, Some(2), None),
    ] {
        let edit = json!({"row": row, "column": column, "text": text});
        let answer = page.post("/edits", &json!({"edits": [edit]}));
        let at_once = outcome(&answer["check"]);
        let of = format!("row {row}, column {column:?}, {text:?}");
        assert_eq!(outcome(&page.post("/check", &json!({"full": true}))["check"]), at_once, "{of}");
        let check = place.sheetport(["check", "items.csv", "-t", "items", "--reviewed", "--json"]).run().json();
        let (pending, rejected, skipped) = (&check["pending"], &check["rejected"], &check["skipped"]);
        assert_eq!(json!([pending, rejected, skipped]), json!([at_once.0[0], at_once.0[1], at_once.0[2]]), "{of}");
    }
    // Undo is an edit, too.
    let undone = page.post("/undo", &json!({}));
    assert_eq!(outcome(&undone["check"]), outcome(&page.post("/check", &json!({"full": true}))["check"]));
}

#[test]
fn rows_that_concern_others_are_checked_with_the_whole_file() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("orders.csv", "Order no,Order date,Item no.,Quantity\nO-1,2026-01-01,A,many\nO-1,2026-01-02,B,1\n");
    let page = ReviewPage::open(&place, &served, "orders.csv");
    page.post("/check", &json!({"full": true}));
    let answer = page.post("/edits", &json!({"edits": [{"row": 2, "column": 3, "text": "2"}]}));
    assert_eq!(answer["check"], Value::Null, "the rows of an order are one record");
    let check = page.post("/check", &json!({}))["check"].clone();
    let codes: Vec<&str> = check["causes"].as_array().unwrap().iter().filter_map(|it| it["code"].as_str()).collect();
    assert_eq!((codes, check["rejected"].as_u64()), (vec!["disagrees"], Some(1)), "{check}");
}

#[test]
fn unique_names_can_identify_the_items_of_a_list_without_codes() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("list.csv", "Name,Price\nBolt,1.50\nNut,0.50\nScrew,0.10\n");
    let page = ReviewPage::open(&place, &served, "list.csv");
    let template = page.review()["template"].clone();
    assert_eq!(template["names_as_key"], json!({"field": "externalId", "column": 0}), "{template}");
    assert_eq!(template["kind_guess"], true);
    let column = json!({"kind": "column", "field": "externalId", "column": 0, "is_shared": true});
    let template = page.post("/template/change", &column)["template"].clone();
    let text = template["text"].as_str().unwrap();
    for field in ["externalId", "name"] {
        assert!(text.contains(&format!("[fields.{field}]\ncolumn = \"Name\"")), "{text}");
    }
    let template = page.post("/template/change", &json!({"kind": "confirm-all"}))["template"].clone();
    assert_eq!(template["kind_guess"], false);
    assert!(!template["text"].as_str().unwrap().contains("record_guess"), "{template}");
}
