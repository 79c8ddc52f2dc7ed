//! Rows below the table that are no data.

use serde_json::{Value, json};

use super::super::process::Place;
use super::super::service::Served;
use super::page::ReviewPage;

/// A remark between records, which a person has to look at, and below them a footnote and the number of the page.
const LIST: &str = "SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,2.50\n* new,,\nA-3,Pin,3.50\nA-4,Ring,4.50\nA-5,Plug,5.50\n\
    * prices without VAT,,\nPage 1 of 1,,\n";

#[test]
fn footnotes_are_left_out_with_their_reason_and_can_be_taken_again() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", LIST);
    let page = ReviewPage::open(&place, &served, "items.csv");
    let review = page.post("/check", &json!({}));
    let counts = |review: &Value| {
        let check = &review["check"];
        ["to_send", "rejected", "left_out"].map(|name| check[name].as_u64().unwrap())
    };
    assert_eq!(counts(&review), [5, 1, 2], "{}", review["check"]);
    let left_out = page.get("/left-out?from=0&count=10");
    let rows: Vec<(u64, &str)> = left_out["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["n"].as_u64().unwrap(), row["why"].as_str().unwrap()))
        .collect();
    let expected =
        [(8, "is a remark, and its row is no record"), (9, "is the number of a page, and its row is no record")];
    assert_eq!(rows, expected);

    // Who takes one again has decided: it stays a problem, also when all rows are read once more.
    page.post("/edits", &json!({"edits": [{"row": 8, "column": null, "text": null}]}));
    assert_eq!(counts(&page.post("/check", &json!({"full": true}))), [5, 2, 1]);
    let page = ReviewPage::open(&place, &served, "items.csv");
    assert_eq!(counts(&page.post("/check", &json!({}))), [5, 2, 1]);

    page.post("/edits", &json!({"edits": [{"row": 8, "column": null, "text": "left-out"}]}));
    page.post("/edits", &json!({"edits": [{"row": 4, "column": null, "text": "left-out"}]}));
    page.post("/send", &json!({}));
    let ended = page.ended();
    assert_eq!((&ended["status"]["counts"]["sent"], served.total()), (&5.into(), 5), "{ended}");
}
