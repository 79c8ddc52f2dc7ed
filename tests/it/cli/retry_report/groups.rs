//! Retrying reports of records with several rows: records are sent whole, and no duplicates are created.

use super::super::process::Place;
use super::super::service::Served;
use super::super::{accounting, summary};
use super::{INVOICES, ORDERS, Sheet, asking, run, said};
use crate::faults::server::{Reply, Seen, Server, answer};

/// Orders A and B of two rows each, of which the second row of B is wrong.
const SHEET: &str = "No,SKU,Qty\nA,a-1,1\nA,a-2,2\nB,b-1,3\nB,b-2,many\n";

const UPLOAD: [&str; 7] = ["upload", "sheet.csv", "-t", "t.toml", "-q", "--report", "sheet.report.csv"];

/// The lines of each order as it was sent last.
fn orders(server: &Server) -> Vec<String> {
    let line = |line: &serde_json::Value| format!("{} {}", line["itemExternalId"].as_str().unwrap(), line["quantity"]);
    let order = |seen: &Seen| {
        let body: serde_json::Value = serde_json::from_str(&seen.body).unwrap();
        let lines = body["order"]["items"].as_array().unwrap().iter().map(line).collect::<Vec<_>>();
        format!("{}: {}", body["order"]["externalId"].as_str().unwrap(), lines.join(", "))
    };
    server.log().iter().map(order).collect()
}

async fn uploaded(sheet: &str, template: &str) -> (Place, Server) {
    let place = Place::new();
    place.write("t.toml", template);
    place.write("sheet.csv", sheet);
    let server = Server::start(|_| Reply::Accept).await;
    run(&place, &server, &UPLOAD, 3).await;
    (place, server)
}

/// Hands `sheet` back and answers the accounting.
async fn retry(place: &Place, server: &Server, sheet: &Sheet, code: i32) -> String {
    sheet.save(place, "mended.csv");
    let command = asking(place, server, &["retry", "mended.csv", "--json"]).csv_report("mended.report.csv");
    accounting(&summary(&tokio::task::spawn_blocking(move || command.exits(code)).await.unwrap()))
}

#[tokio::test]
async fn record_is_sent_whole_in_any_row_order() {
    let (place, server) = uploaded(SHEET, ORDERS).await;
    let mut sheet = Sheet::open(&place, "sheet.report.csv");
    sheet.replace("many", "4").sort_by("sheetport_errors").0[1..].reverse();
    sheet.sort_by("SKU").0[1..].reverse();
    assert_eq!(sheet.column("SKU"), ["b-2", "b-1", "a-2", "a-1"]);
    assert_eq!(retry(&place, &server, &sheet, 0).await, "2: sent 1, unchanged 1");
    assert_eq!(orders(&server), ["A: a-1 1, a-2 2", "B: b-2 4, b-1 3"]);
}

#[tokio::test]
async fn rows_of_a_group_may_be_separated_in_a_report() {
    let together = ORDERS.replace("by = \"No\"", "by = \"No\"\nrows = \"together\"");
    let (place, server) = uploaded(SHEET, &together).await;
    let mut sheet = Sheet::open(&place, "sheet.report.csv");
    sheet.replace("many", "4").0.swap(2, 4);
    assert_eq!(sheet.column("No"), ["A", "B", "B", "A"]);
    assert_eq!(retry(&place, &server, &sheet, 0).await, "2: sent 1, unchanged 1");
    assert_eq!(orders(&server)[1], "B: b-2 4, b-1 3");
}

#[tokio::test]
async fn order_with_an_added_row_is_sent_whole_with_all_its_rows() {
    let (place, server) = uploaded(SHEET, ORDERS).await;
    let mut sheet = Sheet::open(&place, "sheet.report.csv");
    sheet.replace("many", "4").add(&["A", "a-3", "9"]);
    // Somebody filtered the rows before.
    let mut torn = sheet.clone();
    torn.0.remove(2);
    assert_eq!(retry(&place, &server, &torn, 3).await, "2: sent 1, rejected 1");
    let report = Sheet::open(&place, "mended.report.csv");
    assert!(report.column("sheetport_errors")[0].contains("would remove them"), "{report:?}");
    assert_eq!(retry(&place, &server, &sheet, 0).await, "2: sent 1, unchanged 1");
    assert_eq!(orders(&server), ["A: a-1 1, a-2 2", "B: b-1 3, b-2 4", "A: a-1 1, a-2 2, a-3 9"]);
    // What was accepted with the row stays accepted without it.
    let first = Sheet::open(&place, "sheet.report.csv");
    assert_eq!(retry(&place, &server, &first, 0).await, "2: unchanged 2");
}

#[tokio::test]
async fn created_invoice_is_not_sent_again_with_an_added_row() {
    let rows = "No,Cid,Item,Amount\n1,c-1,i,1\n2,c-2,i,many\n2,c-2,j,2\n";
    let (place, server) = uploaded(rows, INVOICES).await;
    let mut sheet = Sheet::open(&place, "sheet.report.csv");
    sheet.replace("many", "4").add(&["1", "c-1", "k", "9"]);
    // What the file says of itself counts for nothing.
    sheet.set(2, "sheetport_status", "failed").replace("rejected", "sent");
    assert_eq!(retry(&place, &server, &sheet, 3).await, "2: sent 1, rejected 1");
    let report = Sheet::open(&place, "mended.report.csv");
    let errors = report.column("sheetport_errors");
    assert!(errors[3].contains("row 2 was sent in run 1") && errors[3].contains("creates duplicates"), "{errors:?}");
    assert_eq!(server.log().len(), 2);
    // With a number of its own it is another invoice.
    sheet.set(5, "No", "3");
    assert_eq!(retry(&place, &server, &sheet, 0).await, "3: sent 1, unchanged 2");
    assert_eq!(server.log().iter().map(|seen| said(seen, "cid")).collect::<Vec<_>>(), ["c-1", "c-2", "c-1"]);
}

#[tokio::test]
async fn added_record_is_not_sent_twice() {
    let rows = "No,Cid,Item,Amount\n1,c-1,i,1\n2,c-2,i,many\n";
    let (place, server) = uploaded(rows, INVOICES).await;
    let first = Sheet::open(&place, "sheet.report.csv");
    let mut sheet = first.clone();
    sheet.replace("many", "4").add(&["3", "c-3", "i", "1"]);
    // Somebody empties the columns of a row that was sent.
    sheet.set(2, "sheetport_row", "").set(2, "sheetport_run", "");
    assert_eq!(retry(&place, &server, &sheet, 3).await, "3: sent 2, rejected 1");
    let report = Sheet::open(&place, "mended.report.csv");
    assert!(report.column("sheetport_errors")[0].contains("is the same as row 2 of run 1"), "{report:?}");
    // And hands the same rows back once more: the added one was made in the first round.
    assert_eq!(retry(&place, &server, &sheet, 3).await, "3: unchanged 1, rejected 2");
    assert_eq!(server.log().len(), 3);
    // Nor does the report of a round in which it was refused make it, when another round did.
    let place = Place::new();
    place.write("t.toml", INVOICES);
    place.write("sheet.csv", "No,Cid,Item,Amount\n2,c-2,i,many\n");
    let server = Server::start(|seen| match seen.repeat {
        0 => answer(422, "", r#"{"message": "not now"}"#),
        _ => Reply::Accept,
    })
    .await;
    run(&place, &server, &UPLOAD, 3).await;
    let mut sheet = Sheet::open(&place, "sheet.report.csv");
    sheet.add(&["3", "c-3", "i", "1"]);
    assert_eq!(retry(&place, &server, &sheet, 3).await, "2: rejected 1, failed 1");
    let second = Sheet::open(&place, "mended.report.csv");
    assert_eq!(retry(&place, &server, &sheet, 3).await, "2: sent 1, rejected 1");
    assert_eq!(retry(&place, &server, &second, 3).await, "2: rejected 2");
    assert_eq!(server.log().len(), 2);
    // Two that are alike in the first file were meant so.
    let twins = "No,Cid,Item,Amount\n1,c-1,i,1\n2,c-1,i,1\n";
    let place = Place::new();
    place.write("t.toml", INVOICES);
    place.write("sheet.csv", twins);
    let server = Server::start(|seen| match seen.repeat {
        0 => Reply::Accept,
        1 => answer(422, "", r#"{"message": "not now"}"#),
        _ => Reply::Accept,
    })
    .await;
    run(&place, &server, &[&UPLOAD[..], &["--concurrency", "1"]].concat(), 3).await;
    let sheet = Sheet::open(&place, "sheet.report.csv");
    assert_eq!(retry(&place, &server, &sheet, 0).await, "2: sent 1, unchanged 1");
}

#[tokio::test]
async fn row_without_key_stays_with_its_original_record() {
    let template = INVOICES.replace("by = \"No\"", "by = \"No\"\non_blank = \"above\"");
    let rows = "No,Cid,Item,Amount\n1,c-1,i,1\n2,c-2,i,many\n,,j,2\n3,c-3,i,many\n";
    let (place, server) = uploaded(rows, &template).await;
    let mut sheet = Sheet::open(&place, "sheet.report.csv");
    sheet.replace("many", "4");
    let mut strayed = sheet.clone();
    strayed.0.swap(3, 4);
    assert_eq!(strayed.column("No"), ["1", "2", "3", ""]);
    strayed.0.remove(2);
    assert_eq!(retry(&place, &server, &strayed, 3).await, "2: unchanged 1, rejected 1");
    let report = Sheet::open(&place, "mended.report.csv");
    assert!(report.column("sheetport_errors")[2].contains("belongs to the record above"), "{report:?}");
    assert_eq!(server.log().len(), 1);
    assert_eq!(retry(&place, &server, &sheet, 0).await, "3: sent 2, unchanged 1");
}

#[tokio::test]
async fn a_part_of_a_record_is_sent_only_if_somebody_says_so() {
    let rows = "No,Cid,Item,Amount\n1,c-1,i,1\n2,c-2,i,many\n2,c-2,j,2\n2,c-2,k,3\n";
    let (place, server) = uploaded(rows, INVOICES).await;
    let mut sheet = Sheet::open(&place, "sheet.report.csv");
    sheet.replace("many", "4");
    sheet.0.remove(4);
    assert_eq!(retry(&place, &server, &sheet, 3).await, "2: unchanged 1, rejected 1");
    let report = Sheet::open(&place, "mended.report.csv");
    let error = report.column("sheetport_errors")[1];
    assert!(error.starts_with("belongs to a record of 3 rows in the first file, of which 2 would be sent"), "{error}");
    let accepted = run(&place, &server, &["retry", "mended.csv", "--accept", "torn", "--json"], 0).await;
    assert_eq!(accounting(&summary(&accepted)), "2: sent 1, unchanged 1");
}

/// The report of a check is in no ledger, so its rows say to which record they belong.
#[test]
fn a_row_without_key_stays_with_its_record_in_the_report_of_a_check() {
    let place = Place::new();
    let served = Served::demo(&place);
    let listed = served.get("/v1/contacts");
    let contact = listed["data"][0]["id"].as_str().unwrap().to_owned();
    let items = served.get("/v1/public/items?page=1&limit=1");
    let item = items["data"][0]["id"].as_str().unwrap().to_owned();
    place.write("t.toml", INVOICES.replace("by = \"No\"", "by = \"No\"\non_blank = \"above\""));
    let line = |no: &str, amount: &str| format!("{no},{contact},{item},{amount}\n");
    let lines = [("A", "1"), ("", "2"), ("B", "many"), ("", "4"), ("C", "6")].map(|(no, amount)| line(no, amount));
    place.write("sheet.csv", format!("No,Cid,Item,Amount\n{}", lines.concat()));
    for (check, report) in [("check", "checked.csv"), ("upload --rehearse", "rehearsed.csv")] {
        let words = format!("{check} sheet.csv -t t.toml --report {report}");
        served.sheetport(&place, words.split(' ')).exits(3);
        let mut sheet = Sheet::open(&place, report);
        assert!(sheet.column("sheetport_run")[1].contains("below:2"), "{sheet:?}");
        sheet.replace("many", "3");
        // The second line of A comes below C, and that of B above it.
        let moved = sheet.0.remove(2);
        sheet.0.insert(5, moved);
        sheet.save(&place, "moved.csv");
        let ended = served.sheetport(&place, ["upload", "moved.csv", "-t", "t.toml", "--dry-run", "--json"]).exits(3);
        assert_eq!(accounting(&summary(&ended)), "3: rejected 2, pending 1");
        let moved = sheet.0.remove(5);
        sheet.0.insert(2, moved);
        sheet.save(&place, "restored.csv");
        let ended =
            served.sheetport(&place, ["upload", "restored.csv", "-t", "t.toml", "--dry-run", "--json"]).exits(0);
        assert_eq!(accounting(&summary(&ended)), "3: pending 3");
    }
}

#[tokio::test]
async fn report_of_problems_contains_whole_records() {
    let (place, server) = uploaded(SHEET, ORDERS).await;
    run(&place, &server, &["report", "-o", "problems.csv", "--only", "problems"], 0).await;
    let mut sheet = Sheet::open(&place, "problems.csv");
    assert_eq!(sheet.column("SKU"), ["b-1", "b-2"]);
    assert_eq!(retry(&place, &server, sheet.replace("many", "4"), 0).await, "1: sent 1");
    assert_eq!(orders(&server)[1], "B: b-1 3, b-2 4");
}

#[tokio::test]
async fn report_that_was_also_uploaded_creates_nothing_twice() {
    let rows = "No,Cid,Item,Amount\n1,c-1,i,1\n2,c-2,i,many\n";
    let (place, server) = uploaded(rows, INVOICES).await;
    let mut sheet = Sheet::open(&place, "sheet.report.csv");
    sheet.replace("many", "4").save(&place, "sheet.report.csv");
    let uploaded = run(&place, &server, &["upload", "sheet.report.csv", "-t", "t.toml", "--json"], 0).await;
    assert_eq!(accounting(&summary(&uploaded)), "2: sent 1, unchanged 1");
    let retried = run(&place, &server, &["retry", "sheet.report.csv", "--json"], 0).await;
    assert_eq!(accounting(&summary(&retried)), "2: unchanged 2");
    let mut sheet = Sheet::open(&place, "sheet.report.csv");
    sheet.set(3, "Amount", "5").save(&place, "other.csv");
    run(&place, &server, &["retry", "other.csv"], 0).await.says(&["1 row of accepted records was edited"]);
    let uploaded = run(&place, &server, &["upload", "other.csv", "-t", "t.toml"], 0).await;
    uploaded.says(&["is a report of run 1", "1 row of accepted records was edited", "row 3"]);
    assert_eq!(server.log().len(), 2);
}

#[test]
fn retry_uses_the_call_options_of_the_run() {
    let place = Place::new();
    let served = Served::demo(&place);
    let listed = served.get("/v1/public/orders?page=1&limit=1");
    let id = listed["data"][0]["id"].as_str().unwrap();
    place.write("orders.csv", format!("Id,SKU,Qty\n{id},NEW-1,many\n"));
    let template = "record = \"order\"\n[group]\nby = \"Id\"\n[fields.order_id]\ncolumn = \"Id\"\n\
                    [lines.itemExternalId]\ncolumn = \"SKU\"\n[lines.quantity]\ncolumn = \"Qty\"\n";
    place.write("t.toml", template);
    let upload = ["upload", "orders.csv", "-t", "t.toml", "--create-missing-items", "-q"];
    served.sheetport(&place, upload).csv_report("orders.report.csv").exits(3);
    let mut sheet = Sheet::open(&place, "orders.report.csv");
    sheet.replace("many", "2").save(&place, "orders.report.csv");
    let ended = served.sheetport(&place, ["retry", "orders.report.csv", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&ended)), "1: sent 1");
    assert_eq!(served.get(&format!("/v1/public/orders/{id}"))["number_item"], 1);
}
