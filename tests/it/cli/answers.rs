//! The service's own words: a report shows all of them, at the line that they are about, and nothing counts as sent that the service
//! does not say.

use std::collections::BTreeMap;

use super::process::Place;
use super::service::Served;
use super::{accounting, summary};

const ORDERS: &str = "record = \"order\"\n[group]\nby = \"No\"\n[fields.externalId]\ncolumn = \"No\"\n\
                      [lines.itemExternalId]\ncolumn = \"SKU\"\n[lines.quantity]\ncolumn = \"Qty\"\n";

/// Returns the columns of the newest report by their titles, for each row.
fn report(place: &Place) -> Vec<BTreeMap<String, String>> {
    let _ = std::fs::remove_file(place.path("report.csv"));
    place.sheetport(["report", "-o", "report.csv", "-q"]).run();
    let report = std::fs::read(place.path("report.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(report.as_slice());
    let titles: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let row = |row: csv::StringRecord| titles.iter().cloned().zip(row.iter().map(str::to_owned)).collect();
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// Uploads a file to a service with one answer for each write, and returns the summary and the rows of the report.
fn answered(
    kind: &str,
    template: &str,
    file: &str,
    status: u16,
    answer: &str,
) -> (String, Vec<BTreeMap<String, String>>) {
    let place = Place::new();
    let body = answer.replace('\\', "\\\\").replace('"', "\\\"");
    place.write(
        "plan.toml",
        format!(
            "[[fault]]\nmethod = [\"POST\", \"PUT\"]\npath = \"/v1/*\"\nwhen = \"before\"\n\
             answer = {{ status = {status}, content_type = \"application/json\", body = \"{body}\" }}\n"
        ),
    );
    let served = Served::demo_with(&place, 0, &["--plan", "plan.toml"]);
    place.write("sheet.csv", file);
    place.write("t.toml", template);
    let upload = served.sheetport(&place, ["upload", "sheet.csv", "-t", "t.toml", "--json", "-y"]).run();
    let rows = report(&place);
    assert!(!rows.is_empty(), "{kind}");
    (accounting(&summary(&upload)), rows)
}

#[test]
fn a_status_of_failure_is_never_sent() {
    const ITEMS: &str = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n";
    const INVOICES: &str = "record = \"invoice\"\n[fields.cid]\ncolumn = \"Customer\"\n[lines.id]\ncolumn = \"Item\"\n\
                            [lines.amount]\ncolumn = \"Pieces\"\n";
    let order = "No,SKU,Qty\nSO-2026-0001,A-1,1\n";
    for (kind, template, file, answer, state) in [
        ("item", ITEMS, "SKU,Name\nA-1,Bolt\n", r#"{"ok":true,"status":"error","external_id":"A-1"}"#, "failed"),
        (
            "item",
            ITEMS,
            "SKU,Name\nA-1,Bolt\n",
            r#"{"ok":true,"status":"error","external_id":"A-1","item_id":"i"}"#,
            "unknown",
        ),
        ("order", ORDERS, order, r#"{"ok":true,"results":[{"status":"NOT_FOUND","errors":null}]}"#, "failed"),
        (
            "order",
            ORDERS,
            order,
            r#"{"ok":true,"results":[{"status":"failed","order_id":"o-1","errors":[]}]}"#,
            "unknown",
        ),
        (
            "order",
            ORDERS,
            order,
            r#"{"ok":true,"results":[{"external_id":"SO-2026-0002","status":"updated","order_id":"o-2"}]}"#,
            "unknown",
        ),
        ("invoice", INVOICES, "Customer,Item,Pieces\nc-1,i-1,2\n", r#"{"status":"rejected"}"#, "failed"),
    ] {
        let (counts, rows) = answered(kind, template, file, 200, answer);
        assert_eq!(counts, format!("1: {state} 1"), "{answer}");
        assert_eq!(rows[0]["sheetport_status"], state, "{answer}");
        assert!(!rows[0]["sheetport_errors"].is_empty(), "{answer}");
    }
}

#[test]
fn every_text_reaches_the_report_whatever_ids_stand_beside_it() {
    let order = "No,SKU,Qty\nSO-2026-0001,A-1,1\n";
    for (status, answer, texts) in [
        (
            200,
            r#"{"ok":false,"results":[{"external_id":"SO-9","errors":["belongs to another order"]}]}"#,
            &["belongs to another order"][..],
        ),
        (
            200,
            r#"{"ok":true,"results":[{"external_id":"SO-9","order_id":"o-9","errors":[]}]}"#,
            &["SO-9", "SO-2026-0001"],
        ),
        (
            200,
            r#"{"ok":false,"message":"the customer is blocked","results":[{"errors":["credit limit"]}]}"#,
            &["the customer is blocked", "credit limit"],
        ),
        (422, r#"{"detail":[{"loc":["body","order","companyId"],"msg":"is locked"}]}"#, &["is locked"]),
        (
            422,
            r#"{"message":"blocked by finance","errors":{"status":["is closed"]}}"#,
            &["blocked by finance", "is closed"],
        ),
    ] {
        let (_, rows) = answered("order", ORDERS, order, status, answer);
        for text in texts {
            assert!(rows[0]["sheetport_errors"].contains(text), "{answer}: {rows:?}");
        }
    }
}

/// The embedded service names the line, as many others do.
#[test]
fn a_problem_of_a_line_marks_its_row_and_cell() {
    let order = "No,SKU,Qty\nSO-2026-0001,A-1,1\nSO-2026-0002,A-1,1\nSO-2026-0001,A-2,5\nSO-2026-0001,Z-9,7\n";
    let of_first = |rows: &[BTreeMap<String, String>]| -> Vec<(String, String)> {
        let of_order = rows.iter().filter(|row| row["No"] == "SO-2026-0001");
        of_order.map(|row| (row["sheetport_field"].clone(), row["sheetport_errors"].clone())).collect()
    };
    for (status, answer, field) in [
        (
            200,
            r#"{"ok":false,"results":[{"errors":["line 3: no item has the itemExternalId \"Z-9\""]}]}"#,
            "itemExternalId",
        ),
        (422, r#"{"errors":{"order.items.2.quantity":["is too much"]}}"#, "quantity"),
        (422, r#"{"errors":[{"source":{"pointer":"/order/items/2"},"detail":"is no item"}]}"#, "/order/items/2"),
    ] {
        let (_, rows) = answered("order", ORDERS, order, status, answer);
        let marked = of_first(&rows);
        assert_eq!(marked[2].0, field, "{answer}");
        // The first row has the warning that the order of the demo has other lines.
        for (other, reason) in &marked[..2] {
            assert!(["", "externalId"].contains(&other.as_str()), "{answer}: {other}");
            assert_eq!(reason, "row 5 of the same record has a problem", "{answer}");
        }
    }
}
