//! What the page of `review` tells before it sends, and the rows of a run that were not accepted.

use serde_json::{Value, json};

use super::super::browser::Browser;
use super::super::process::{Place, until};
use super::super::service::Served;
use super::page::ReviewPage;
use super::{click, has_no_errors, start, wait};

/// Compares the file with the service, and returns the result.
#[track_caller]
fn compared(page: &ReviewPage) -> Value {
    page.post("/check", &json!({"full": true}));
    page.post("/compare", &json!({}));
    until("the comparison", || {
        let found = page.review()["comparison"].clone();
        (found["phase"] == "done" || found["phase"] == "failed").then_some(found)
    })
}

/// Sends the file, and returns how that ended.
#[track_caller]
fn sent(page: &ReviewPage, request: &Value) -> Value {
    page.post("/send", request);
    until("the end", || {
        let status = page.review()["status"].clone();
        (status["phase"] == "ended" || status["phase"] == "failed").then_some(status)
    })
}

#[test]
fn what_changes_is_told_before_it_is_sent() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("old.csv", "SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,2.50\n");
    served.sheetport(&place, ["upload", "old.csv", "-t", "items"]).exits(0);
    place.write("items.csv", "SKU,Name,Price\nA-1,Bolt,1.5\nA-2,Nut,275\nA-3,Pin,3\n");
    let page = ReviewPage::open(&place, &served, "items.csv");
    let found = compared(&page);
    let counts = ["new", "changed", "unchanged", "unclear", "missing", "not_compared"].map(|name| found[name].as_u64());
    assert_eq!(counts, [1, 1, 1, 0, 0, 0].map(Some), "{found}");
    let (samples, odd) = (json!([["A-2", "2.50", "275"]]), json!([["ten_times", 1]]));
    let price = json!({"field": "price", "count": 1, "samples": samples, "odd": odd, "factor": null, "median": 110.0, "as_sent": 0});
    assert_eq!(found["fields"], json!([price]));
    assert_eq!(page.post("/compare", &json!({"rate": "50/s"}))["per_second"], 50.0);
    let ended = sent(&page, &json!({"rate": "50/s", "changed_only": true}));
    assert_eq!((&ended["counts"]["sent"], &ended["counts"]["unchanged"]), (&2.into(), &1.into()), "{ended}");
    let command = ended["command"].as_str().unwrap();
    assert!(command.ends_with(" --changed-only --rate 50/s"), "{command}");
    let mut stored: Vec<String> = served.get("/v1/public/items?page=1&limit=100")["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| format!("{} {}", item["external_id"], item["price"]))
        .collect();
    stored.sort();
    assert_eq!(stored, ["\"A-1\" 1.50", "\"A-2\" 275", "\"A-3\" 3"]);
}

/// An order with a line in the service that the file lacks. Returns its path.
fn other_line(place: &Place, served: &Served) -> String {
    let order = &served.get("/v1/public/orders?page=1&limit=1")["data"][0];
    let text = |name: &str| order[name].as_str().unwrap().to_owned();
    let path = format!("/v1/public/orders/{}", text("id"));
    served.put(&path, r#"{"order": {"items": [{"itemExternalId": "0042", "quantity": 3, "price": 2}]}}"#);
    place.write("orders.csv", format!("Order no,Item no,Qty,Unit price\n{},0043,5,2.00\n", text("external_id")));
    path
}

#[test]
fn other_lines_of_an_order_are_told_and_kept() {
    let place = Place::new();
    let served = Served::demo(&place);
    let path = other_line(&place, &served);
    let page = ReviewPage::open(&place, &served, "orders.csv");
    let found = compared(&page);
    assert_eq!((&found["lines"][0]["code"], &found["keep_lines"]), (&"fewer-lines".into(), &false.into()), "{found}");
    assert!(found["lines"][0]["message"].as_str().unwrap().starts_with("would lose 3 × 0042 "), "{found}");
    page.post("/compare", &json!({"keep_lines": true}));
    let found = until("the second comparison", || {
        let found = page.review()["comparison"].clone();
        (found["phase"] == "done" && found["keep_lines"] == true).then_some(found)
    });
    assert_eq!(found["lines"], json!([]));
    let ended = sent(&page, &json!({"keep_lines": true}));
    assert_eq!(ended["counts"]["sent"], 1, "{ended}");
    assert!(ended["command"].as_str().unwrap().ends_with(" --keep-lines"), "{ended}");
    assert_eq!(served.get(&path)["items"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_page_offers_to_keep_other_lines() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::demo(&place);
    let path = other_line(&place, &served);
    let (_process, address) = start(&place, &served, &["orders.csv"]);
    browser.visit(&address);
    click(&mut browser, ".bar .primary", "Continue");
    wait(&mut browser, "/would lose 3 × 0042/.test(document.body.innerText)");
    click(&mut browser, "label.check", "Keep the service's other lines");
    wait(&mut browser, "document.querySelector('[data-keep]')?.checked");
    wait(&mut browser, "!/would lose/.test(document.body.innerText)");
    click(&mut browser, ".bar .primary", "Send 1 now");
    wait(&mut browser, "document.querySelector('.command')");
    assert_eq!(served.get(&path)["items"].as_array().map(Vec::len), Some(2));
    has_no_errors(&browser);
}

#[test]
fn orders_that_do_not_exist_are_told_before_they_are_sent() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("orders.csv", "Order no,Order date,Delivery status\nO-1,2026-01-01,sent\nO-2,2026-01-02,sent\n");
    let page = ReviewPage::open(&place, &served, "orders.csv");
    let found = compared(&page);
    assert_eq!((&found["missing"], &found["new"]), (&2.into(), &0.into()), "{found}");
    let ended = sent(&page, &json!({}));
    assert_eq!((&ended["counts"]["failed"], &ended["counts"]["pending"]), (&2.into(), &0.into()), "{ended}");
    let remedy = ended["refused"][0]["remedy"].as_str().unwrap();
    assert!(remedy.contains("the service changes orders and creates none"), "{remedy}");
}

#[test]
fn the_rows_of_a_run_that_were_not_accepted_are_fixed_and_sent() {
    for what in ["1", "items.report.csv", "items.report.xlsx"] {
        let place = Place::new();
        let served = Served::start(&place);
        let long = "x".repeat(300);
        place.write("items.csv", format!("SKU,Name,Price\nB-1,Bolt,1.50\n{long},Nut,2.50\nB-3,Pin,free\n"));
        let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--json"]);
        upload.csv_report("items.report.csv").exits(3);
        place.sheetport(["report", "1", "-o", "items.report.xlsx"]).exits(0);
        let page = ReviewPage::open(&place, &served, what);
        let review = page.post("/check", &json!({"full": true}));
        assert_eq!(review["report_of"], 1, "{review}");
        let rows = page.get("/rows?from=0&count=100")["rows"].clone();
        let row_of = |text: &str| {
            let found = rows.as_array().unwrap().iter().find(|row| row["c"].to_string().contains(text));
            found.unwrap_or_else(|| panic!("{rows}"))["n"].clone()
        };
        let column = |name: &str| {
            let columns = review["template"]["columns"].as_array().unwrap();
            columns.iter().position(|column| column["name"] == name).unwrap()
        };
        let edits = [
            json!({"row": row_of(&long), "column": column("SKU"), "text": "B-2"}),
            json!({"row": row_of("free"), "column": column("Price"), "text": "3.50"}),
        ];
        page.post("/edits", &json!({"edits": edits}));
        let check = page.post("/check", &json!({"full": true}))["check"].clone();
        assert_eq!(check["rejected"], 0, "{check}");
        let ended = sent(&page, &json!({}));
        assert_eq!((&ended["counts"]["sent"], &ended["counts"]["failed"]), (&2.into(), &0.into()), "{ended}");
        let stored = served.get("/v1/public/items?page=1&limit=100")["data"].clone();
        let mut keys: Vec<&str> =
            stored.as_array().unwrap().iter().filter_map(|item| item["external_id"].as_str()).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["B-1", "B-2", "B-3"]);
    }
}
