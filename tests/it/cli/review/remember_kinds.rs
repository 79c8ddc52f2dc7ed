//! Remembered fixes of every kind, in workbooks and in rows that make a record together: what the next file sends, and undoing.

use serde_json::{Value, json};

use super::super::process::Place;
use super::super::service::Served;
use super::page::ReviewPage;
use super::remember::{apply, arrived, check, open};
use crate::faults::server::{Reply, Server};

#[test]
fn lost_zeros_are_offered_and_remembered() {
    let file = "SKU,Name,Price\n004210,Bolt,1\n4211,Nut,2\n004212,Pin,3\n012213,Hook,4\n99,Rivet,5\n";
    let next = "SKU,Name,Price\n4300,Bolt,7\n007,Nut,8\n123456,Pin,9\n";
    check(
        "lacks-zeros",
        &json!({"kind": "pad-zeros", "to": 6}),
        (file, next),
        "price",
        &["000007 8", "004300 7", "123456 9"],
    );

    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", file);
    let page = open(&place, &served, "items.csv");
    let review = page.post("/check", &json!({"full": true}));
    let causes = review["check"]["causes"].as_array().unwrap();
    let cause = causes.iter().find(|cause| cause["code"] == "lacks-zeros").unwrap();
    assert_eq!((&cause["count"], &cause["warning"]), (&2.into(), &true.into()), "{cause}");
    let offered = page.get(&format!("/causes/{}/fixes", cause["number"]));
    let zeros = offered["choices"].as_array().unwrap().iter().find(|choice| choice["kind"] == "pad-zeros").unwrap();
    assert_eq!(zeros["samples"], json!([[3, "4211", "004211"], [6, "99", "000099"]]), "{offered}");
    // The command line sees the same.
    let check = served.sheetport(&place, ["check", "items.csv", "-t", "items", "--json"]).exits(0).json();
    assert_eq!(check["warned"], 2, "{check}");
    let strict = served.sheetport(&place, ["check", "items.csv", "-t", "items", "--strict"]).exits(3);
    assert!(format!("{}{}", strict.stdout, strict.stderr).contains("lacks-zeros"), "{strict:?}");
}

#[test]
fn numbers_of_different_lengths_lack_nothing() {
    let place = Place::new();
    for keys in [["7", "42", "142"], ["0042", "0043", "AB-7"], ["0042", "007", "42"], ["0042", "12345", "12346"]] {
        let rows: String = keys.iter().map(|key| format!("{key},Bolt {key},1\n")).collect();
        place.write("items.csv", format!("SKU,Name,Price\n{rows}"));
        let check = place.sheetport(["check", "items.csv", "-t", "items"]).exits(0);
        assert!(!format!("{}{}", check.stdout, check.stderr).contains("lacks-zeros"), "{keys:?}: {check:?}");
    }
}

#[test]
fn blank_cells_are_filled_in_the_next_file_too() {
    let file = "SKU,Name,Price\nA-1,Bolt,1\nA-2,,2\nA-3,,3\nA-4,Nut,4\nA-5,Pin,5\nA-6,Hook,6\nA-7,Rivet,7\n";
    let next = "SKU,Name,Price\nB-1,Hook,1\nB-2,,2\n";
    check("no-name", &json!({"kind": "fill-from-above"}), (file, next), "name", &["B-1 Hook", "B-2 Hook"]);
    check("no-name", &json!({"kind": "set", "to": "unnamed"}), (file, next), "name", &["B-1 Hook", "B-2 unnamed"]);
}

/// Writes a workbook of texts, in which cells of digits are numbers.
fn workbook(place: &Place, name: &str, rows: &[[&str; 3]]) {
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet();
    for (row, cells) in (0..).zip(rows) {
        for (column, text) in (0..).zip(cells) {
            match text.parse::<f64>() {
                Ok(number) if !text.starts_with('0') => sheet.write_number(row, column, number).unwrap(),
                _ => sheet.write_string(row, column, *text).unwrap(),
            };
        }
    }
    book.save(place.path(name)).unwrap();
}

#[test]
fn fixes_of_a_workbook_are_remembered() {
    let of = |code: &str, fix: &Value, rows: &[[&str; 3]], next: &[[&str; 3]], field: &str, expected: &[&str]| {
        let place = Place::new();
        let served = Served::start(&place);
        let header = [["SKU", "Name", "Price"]];
        workbook(&place, "items.xlsx", &[&header, rows].concat());
        workbook(&place, "next.xlsx", &[&header, next].concat());
        let page = open(&place, &served, "items.xlsx");
        apply(&page, code, fix);
        assert_eq!(page.get("/remember"), json!({"why_not": null}), "{fix}: {}", page.review()["template"]["text"]);
        let review = page.post("/remember", &json!({}));
        let template = review["template"]["name"].as_str().unwrap();
        served.sheetport(&place, ["upload", "next.xlsx", "-t", template, "--json"]).exits(0);
        assert_eq!(arrived(&served, field), expected, "{fix}");
    };
    of(
        "lacks-zeros",
        &json!({"kind": "pad-zeros", "to": 6}),
        &[["004210", "Bolt", "1"], ["4211", "Nut", "2"], ["004212", "Pin", "3"]],
        &[["4300", "Bolt", "7"], ["004301", "Nut", "8"]],
        "price",
        &["004300 7", "004301 8"],
    );
    of(
        "not-a-number",
        &json!({"kind": "number-only"}),
        &[["A-1", "Bolt", "1.5"], ["A-2", "Nut", "2.50 net"], ["A-3", "Pin", "3"]],
        &[["B-1", "Bolt", "7.25 net"], ["B-2", "Nut", "8"]],
        "price",
        &["B-1 7.25", "B-2 8"],
    );
    of(
        "duplicate",
        &json!({"kind": "keep-last"}),
        &[["A-1", "Bolt", "1.5"], ["A-2", "Nut", "2"], ["A-2", "Nut M8", "3"]],
        &[["B-1", "Bolt", "7.25"], ["B-1", "Bolt M6", "8"]],
        "name",
        &["B-1 Bolt M6"],
    );
    of(
        "no-name",
        &json!({"kind": "fill-from-above"}),
        &[["A-1", "Bolt", "1.5"], ["A-2", "", "2"], ["A-3", "Pin", "3"], ["A-4", "Nut", "4"], ["A-5", "Rivet", "5"]],
        &[["B-1", "Hook", "7.25"], ["B-2", "", "8"]],
        "name",
        &["B-1 Hook", "B-2 Hook"],
    );
}

/// The template of orders in rows, several for each.
const ORDERS: &str = "sheetport = 1\nrecord = \"order\"\n[sheet]\nheader = 1\n[fields.externalId]\ncolumn = \"Order\"\n\
    [lines.itemExternalId]\ncolumn = \"Item\"\n[lines.quantity]\ncolumn = \"Quantity\"\n[group]\nby = \"Order\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn fixes_of_orders_in_rows_are_remembered() {
    let server = Server::start(|_| Reply::Accept).await;
    let of = |code: &str, fix: &Value, file: &str, next: &str, expected: &[&str]| {
        let place = Place::new();
        place.write("items.csv", format!("Order,Item,Quantity\n{file}"));
        place.write("next.csv", format!("Order,Item,Quantity\n{next}"));
        let sheetport = |args: &[&str]| {
            let command = place.sheetport(args).env("SHEETPORT_BASE_URL", &server.address);
            command.secret("SHEETPORT_ACCESS_TOKEN", "access-1")
        };
        let page = ReviewPage::start(sheetport(&["review", "--no-open", "--json", "items.csv"]));
        page.post("/template", &json!({"text": ORDERS}));
        apply(&page, code, fix);
        assert_eq!(page.get("/remember"), json!({"why_not": null}), "{fix}: {}", page.review()["template"]["text"]);
        let review = page.post("/remember", &json!({}));
        assert_eq!(review["check"]["rejected"], 0, "{fix}: {review}");
        let template = review["template"]["name"].as_str().unwrap();
        let before = server.log().len();
        sheetport(&["upload", "next.csv", "-t", template, "--json"]).exits(0);
        let order = |body: &str| {
            let order = serde_json::from_str::<Value>(body).unwrap()["order"].clone();
            let line = |line: &Value| format!("{} {}", line["itemExternalId"].as_str().unwrap(), line["quantity"]);
            let lines: Vec<String> = order["items"].as_array().unwrap().iter().map(line).collect();
            format!("{}: {}", order["externalId"].as_str().unwrap(), lines.join(", "))
        };
        let sent: Vec<String> = server.log()[before..].iter().map(|seen| order(&seen.body)).collect();
        assert_eq!(sent, expected, "{fix}");
    };
    tokio::task::block_in_place(|| {
        of(
            "not-a-number",
            &json!({"kind": "number-only"}),
            "O-1,A,2 pcs\nO-1,B,1\nO-2,A,3 pcs\n",
            "P-1,A,5\nP-1,B,4 pcs\n",
            &["P-1: A 5, B 4"],
        );
        of(
            "no-group",
            &json!({"kind": "fill-from-above"}),
            "O-1,A,2\n,B,1\nO-2,A,3\n,C,4\n",
            "P-1,A,5\n,B,4\n,C,3\n",
            &["P-1: A 5, B 4, C 3"],
        );
    });
}

#[test]
fn undo_takes_a_fix_out_of_the_template_again() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,2.50 net\nA-3,Pin,3.50\n");
    let page = open(&place, &served, "items.csv");
    let text = |page: &ReviewPage| page.review()["template"]["text"].as_str().unwrap().to_owned();
    let before = text(&page);
    let saved = place.path("items.toml");
    apply(&page, "not-a-number", &json!({"kind": "number-only"}));
    assert!(!saved.exists());
    let review = page.post("/remember", &json!({}));
    assert_eq!((&review["edits"]["undo_template"], &review["check"]["rejected"]), (&"forgets".into(), &0.into()));
    let after = text(&page);
    assert_eq!(std::fs::read_to_string(&saved).unwrap(), after);

    let undone = page.post("/undo", &json!({}));
    assert_eq!((&undone["edits"]["cells"], &undone["check"]["rejected"]), (&0.into(), &1.into()), "{undone}");
    assert_eq!(text(&page), before);
    assert!(!saved.exists(), "the template was made for the fix");
    let redone = page.post("/redo", &json!({}));
    assert_eq!((&redone["edits"]["cells"], &redone["check"]["rejected"]), (&1.into(), &0.into()), "{redone}");
    assert_eq!((text(&page), std::fs::read_to_string(&saved).unwrap()), (after.clone(), after.clone()));

    // Edits after it are undone first.
    page.post("/edits", &json!({"edits": [{"row": 2, "column": 1, "text": "Bolt M8"}]}));
    assert_eq!(page.review()["edits"]["undo_template"], Value::Null);
    page.post("/undo", &json!({}));
    assert_eq!(text(&page), after);
    // A template that a person has changed since stays as it is.
    let changed = format!("{after}# Checked by Anna.\n");
    let review = page.post("/template", &json!({"text": changed}));
    assert_eq!(review["edits"]["undo_template"], "keeps");
    let undone = page.post("/undo", &json!({}));
    assert_eq!(undone["edits"]["cells"], 0);
    assert_eq!(text(&page), changed);
}

/// A template that knows a single status.
const STATUS: &str = "sheetport = 1\nrecord = \"item\"\n[sheet]\nheader = 1\n[fields.externalId]\ncolumn = \"SKU\"\n\
    [fields.name]\ncolumn = \"Name\"\n[fields.price]\ncolumn = \"Price\"\n\
    [fields.status]\ncolumn = \"Status\"\nmap = { active = \"active\" }\n";

#[test]
fn undo_of_a_fix_that_the_template_would_repeat_takes_back_the_template_alone() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "SKU,Name,Price,Status\nA-1,Bolt,1,active\nA-2,Nut,2,activ\nA-3,Pin,3,active\n");
    let page = ReviewPage::open(&place, &served, "items.csv");
    page.post("/template", &json!({"text": STATUS}));
    let text = |page: &ReviewPage| page.review()["template"]["text"].clone();
    let before = text(&page);
    // Done twice, it would be activee.
    apply(&page, "unknown-value", &json!({"kind": "replace-part", "find": "activ", "with": "active"}));
    let review = page.post("/remember", &json!({}));
    let of = |review: &Value| {
        let edits = &review["edits"];
        json!([edits["cells"], edits["can_undo"], edits["can_redo"], review["check"]["rejected"]])
    };
    assert_eq!(of(&review), json!([0, true, false, 0]));
    let after = text(&page);
    assert_eq!(of(&page.post("/undo", &json!({}))), json!([0, false, true, 1]));
    assert_eq!(text(&page), before);
    assert_eq!(of(&page.post("/redo", &json!({}))), json!([0, true, false, 0]));
    assert_eq!(text(&page), after);
}
