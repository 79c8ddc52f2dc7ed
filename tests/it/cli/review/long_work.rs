//! Fixes of many rows, their undo, and checks of many: told of, and cancelled without a trace.

use std::io::Read;

use serde_json::{Value, json};

use super::super::process::Place;
use super::super::service::Served;
use super::page::ReviewPage;

const ROWS: usize = 20_000;

/// Sends a request, cancels it as soon as the page is told of its progress, and returns its answer.
fn cancelled(page: &ReviewPage, path: &str, body: &Value) -> Value {
    let mut events = page.listen();
    let mut answer = page.begin_post(path, body);
    let (mut told, mut some) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&told).contains("\"work\":{") {
        let len = events.read(&mut some).unwrap();
        assert!(len > 0, "the events end");
        told.extend_from_slice(&some[..len]);
    }
    page.post("/cancel", &json!({}));
    let mut text = String::new();
    answer.read_to_string(&mut text).unwrap();
    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Returns what a person sees of the rows.
fn rows_of(review: &Value) -> [&Value; 6] {
    let (check, edits) = (&review["check"], &review["edits"]);
    [&check["to_send"], &check["rejected"], &check["causes"], &edits["cells"], &edits["can_undo"], &edits["can_redo"]]
}

#[test]
fn cancelled_work_leaves_the_rows_as_they_were() {
    let place = Place::new();
    let served = Served::start(&place);
    let row = |row| format!("A-{row},Bolt {row},{}\n", if row % 2 == 0 { "on request" } else { "1.50" });
    let rows: String = (0..ROWS).map(row).collect();
    place.write("items.csv", format!("SKU,Name,Price\n{rows}"));
    let page = ReviewPage::open(&place, &served, "items.csv");
    let full = json!({"full": true});
    let never = cancelled(&page, "/check", &full);
    assert_eq!((&never["cancelled"], &never["check"]["rows"]), (&true.into(), &Value::Null), "{never}");

    let before = page.post("/check", &full);
    assert_eq!((&before["check"]["rejected"], &before["cancelled"]), (&(ROWS / 2).into(), &false.into()));
    let cause = before["check"]["causes"][0]["number"].as_u64().unwrap();
    let fix = |review: &Value| json!({"fix": {"kind": "set", "to": "2.50"}, "revision": review["check"]["revision"]});
    let given_up = cancelled(&page, &format!("/causes/{cause}/fix"), &fix(&before));
    assert_eq!((&given_up["cancelled"], rows_of(&given_up)), (&true.into(), rows_of(&before)));
    assert_eq!(given_up["check"]["revision"], given_up["revision"], "nothing has to be checked again");

    let fixed = page.post(&format!("/causes/{cause}/fix"), &fix(&given_up));
    assert_eq!((&fixed["check"]["rejected"], &fixed["edits"]["cells"]), (&0.into(), &(ROWS / 2).into()));
    let kept = cancelled(&page, "/undo", &json!({}));
    assert_eq!((&kept["cancelled"], rows_of(&kept)), (&true.into(), rows_of(&fixed)));
    let undone = page.post("/undo", &json!({}));
    assert_eq!((&undone["check"]["rejected"], &undone["edits"]["cells"]), (&(ROWS / 2).into(), &0.into()));
    let again = cancelled(&page, "/redo", &json!({}));
    assert_eq!((&again["cancelled"], rows_of(&again)[..3].to_vec()), (&true.into(), rows_of(&undone)[..3].to_vec()));

    // What is stored says the same.
    let check = place.sheetport(["check", "items.csv", "-t", "items", "--reviewed", "--json"]).exits(3).json();
    assert_eq!((&check["rejected"], &check["pending"]), (&(ROWS / 2).into(), &(ROWS / 2).into()), "{check}");
}
