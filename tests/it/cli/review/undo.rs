//! Taking an upload back on the page.

use serde_json::{Value, json};

use super::super::axe::Axe;
use super::super::browser::Browser;
use super::super::process::{Place, until};
use super::super::service::Served;
use super::page::ReviewPage;
use super::{click, has_no_errors, start, wait};

/// Returns the items of the service: external id and price.
fn items(served: &Served) -> Vec<String> {
    let list = served.get("/v1/public/items?limit=100");
    let item = |item: &Value| format!("{} {}", item["external_id"].as_str().unwrap(), item["price"]);
    let mut items: Vec<String> = list["data"].as_array().unwrap().iter().map(item).collect();
    items.sort();
    items
}

/// A service with three items, of which a run that can be taken back has changed two, and created one. Somebody has edited A-2 since.
fn shop() -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("old.csv", "SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,2.50\nA-3,Pin,3.50\n");
    place.write("items.csv", "SKU,Name,Price\nA-1,Bolt,1.75\nA-2,Nut,2.75\nA-4,Clip,4.50\n");
    served.sheetport(&place, ["upload", "old.csv", "-t", "items", "-q"]).exits(0);
    served.sheetport(&place, ["upload", "items.csv", "-t", "items", "-q", "--undoable"]).exits(0);
    served.post("/v1/public/items", &json!({"externalId": "A-2", "price": 9}).to_string());
    (place, served)
}

/// Waits until the page of a run has another phase.
#[track_caller]
fn status(page: &ReviewPage, run: u64, phases: &[&str]) -> Value {
    until("the end", || {
        let status = page.json("GET", &format!("/api/runs/{run}"), "")["status"].clone();
        phases.contains(&status["phase"].as_str().unwrap()).then_some(status)
    })
}

#[test]
fn an_undo_shows_what_it_does_and_restores_the_values() {
    let (place, served) = shop();
    let page = ReviewPage::open(&place, &served, "old.csv");
    let sent = items(&served);
    page.json("POST", "/api/runs/2/undo/plan", "{}");
    let planned = status(&page, 2, &["undo", "failed"]);
    let counts = &planned["counts"];
    assert_eq!([&counts["returned"], &counts["kept"], &counts["cannot"]], [1, 1, 1], "{planned}");
    assert_eq!(planned["fields"][0]["samples"], json!([["A-1", "1.75", "1.50"]]), "{planned}");
    let causes: Vec<&str> =
        planned["causes"].as_array().unwrap().iter().map(|cause| cause["message"].as_str().unwrap()).collect();
    let kept = "was '2.50' before run 2, which sent '2.75', and is '9' now, so it is kept";
    assert!(causes.contains(&kept), "{causes:?}");
    assert_eq!(items(&served), sent, "nothing is sent before somebody agrees");
    let undo = &planned["run"];
    let other = page.ask("POST", "/api/runs/2/undo", &json!({"undo": 1}).to_string());
    assert!(other.starts_with("HTTP/1.1 400"), "{other}");
    page.json("POST", "/api/runs/2/undo", &json!({"undo": undo}).to_string());
    let ended = status(&page, 2, &["ended", "failed"]);
    assert_eq!((&ended["run"], &ended["counts"]["sent"]), (undo, &json!(1)), "{ended}");
    assert_eq!(items(&served), ["A-1 1.50", "A-2 9", "A-3 3.50", "A-4 4.50"]);
    let run = page.json("GET", "/api/runs/2", "");
    assert_eq!((&run["undone_by"], &run["result"]["can_undo"]), (undo, &json!(true)), "{run}");
}

#[test]
fn an_upload_without_a_way_back_says_so() {
    let (place, served) = shop();
    let page = ReviewPage::open(&place, &served, "old.csv");
    assert_eq!(page.json("GET", "/api/runs/1", "")["result"]["can_undo"], false);
    page.json("POST", "/api/runs/1/undo/plan", "{}");
    let failed = status(&page, 1, &["undo", "failed"]);
    assert!(failed["message"].as_str().unwrap().contains("what the service had before it was not read"), "{failed}");
    // A plan to which nobody agrees is given up.
    page.json("POST", "/api/runs/2/undo/plan", "{}");
    let undo = status(&page, 2, &["undo"])["run"].clone();
    let idle = page.json("POST", "/api/runs/2/undo/forget", &json!({"undo": undo}).to_string());
    assert_eq!(idle["phase"], "idle");
    served.sheetport(&place, ["runs", "--state", "planned", "--json"]).exits(0).json();
    assert_eq!(page.json("GET", &format!("/api/runs/{undo}"), "")["state"], "withheld");
}

#[test]
fn an_upload_of_the_page_is_taken_back_on_its_result() {
    let (Some(axe), Some(mut browser)) = (Axe::find(), Browser::start()) else { return };
    let (place, served) = shop();
    place.write("new.csv", "SKU,Name,Price\nA-1,Bolt,1.99\nA-2,Nut,2.99\n");
    let before = items(&served);
    let (_process, address) = start(&place, &served, &["new.csv"]);
    browser.visit(&address);
    click(&mut browser, ".bar .primary", "Continue");
    click(&mut browser, "label.check", "So that it can be undone");
    wait(&mut browser, "document.querySelector('[data-undoable]')?.checked");
    click(&mut browser, ".bar .primary", "Send 2 now");
    click(&mut browser, "button", "Undo this upload");
    wait(&mut browser, "document.querySelector('[data-undo]')");
    axe.finds_nothing_at_any_width(&mut browser, "what is taken back");
    // Leaving it as it is sends nothing.
    click(&mut browser, ".bar button", "Leave it as it is");
    wait(&mut browser, "document.querySelector('[data-begin-undo]')");
    assert_ne!(items(&served), before);
    click(&mut browser, "button", "Undo this upload");
    click(&mut browser, ".bar .primary", "Take 2 records back");
    wait(&mut browser, "/undo of run 3/.test(document.querySelector('main').innerText)");
    wait(&mut browser, "/Taken back/.test(document.querySelector('main').innerText)");
    assert_eq!(items(&served), before);
    axe.finds_nothing_at_any_width(&mut browser, "an undo");
    click(&mut browser, ".card button", "undo of run 3");
    wait(&mut browser, "/taken back by run/.test(document.querySelector('main').innerText)");
    has_no_errors(&browser);
}
