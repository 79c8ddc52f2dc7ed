//! Records of several rows, in common layouts: grouped, scattered, with blanks for the value above. Also `check` and
//! `explain` for such records.

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{accounting, summary};

const TEMPLATE: &str = r#"
record = "order"
[sheet]
locale = "de"
[group]
by = ["Order no"]
[fields.externalId]
column = "Order no"
[fields.companyExternalId]
text = "{{ Customer | lower }}"
[fields.orderAt]
column = "Date"
[lines.itemExternalId]
column = "SKU"
[lines.quantity]
column = "Qty"
[lines.price]
column = "Price"
"#;

const SHEET: &str = "\
Order no;Customer;Date;SKU;Qty;Price
SO-1;C-1;14.04.2026;A-1;2;1.234,50
SO-2;C-2;15.04.2026;A-1;3;1,00
SO-1;;;A-2;1;5,00
SO-3;C-9;16.04.2026;B;0,5;
";

fn bodies(place: &Place, template: &str) -> Vec<Value> {
    let explained = |row: &str| {
        let args = ["explain", "orders.csv", "-t", template, "--row", row, "--json"];
        place.sheetport(args).exits(0).json()["request"].clone()
    };
    ["2", "3", "5"].map(explained).to_vec()
}

#[test]
fn rows_of_an_order_are_merged_wherever_they_are() {
    let place = Place::new();
    place.write("orders.csv", SHEET);
    place.write("t.toml", TEMPLATE);
    let check = place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&check)), "3: pending 3");
    let bodies = bodies(&place, "t.toml");
    assert_eq!(bodies[0]["path"], "/v1/public/orders/SO-1");
    assert_eq!(bodies[0]["rows"], json!([2, 4]));
    let expected = r#"{"order":{"externalId":"SO-1","companyExternalId":"c-1","orderAt":"2026-04-14","items":[{"itemExternalId":"A-1","quantity":2,"price":1234.50},{"itemExternalId":"A-2","quantity":1,"price":5.00}]}}"#;
    assert_eq!(bodies[0]["body"].to_string(), expected);
    assert_eq!(bodies[2]["body"]["order"]["items"], json!([{"itemExternalId": "B", "quantity": 0.5}]));
}

#[test]
fn each_order_is_sent_once_with_all_lines() {
    let place = Place::new();
    let served = Served::demo(&place);
    let listed = served.get("/v1/public/orders?page=1&limit=2");
    let ids: Vec<String> =
        listed["data"].as_array().unwrap().iter().map(|o| o["id"].as_str().unwrap().to_owned()).collect();
    let rows = format!("Id;SKU;Qty\n{0};NEW-1;2\n{1};NEW-2;3\n{0};NEW-3;1\n", ids[0], ids[1]);
    place.write("orders.csv", rows);
    place.write("t.toml", "record = \"order\"\n[group]\nby = \"Id\"\n[fields.order_id]\ncolumn = \"Id\"\n[lines.itemExternalId]\ncolumn = \"SKU\"\n[lines.quantity]\ncolumn = \"Qty\"\n");
    let upload = ["upload", "orders.csv", "-t", "t.toml", "--json", "--create-missing-items"];
    let upload = served.sheetport(&place, upload).exits(0);
    assert_eq!(accounting(&summary(&upload)), "2: sent 2");
    assert_eq!(served.get(&format!("/v1/public/orders/{}", ids[0]))["number_item"], 2);
    assert_eq!(served.get(&format!("/v1/public/orders/{}", ids[1]))["number_item"], 1);
}

/// Returns the orders of the service, by a field of theirs.
fn order(served: &Served, field: &str, value: &Value) -> Value {
    let listed = served.get("/v1/public/orders?page=1&limit=100");
    let orders = listed["data"].as_array().unwrap();
    orders.iter().find(|order| &order[field] == value).unwrap_or_else(|| panic!("{field} {value}")).clone()
}

#[test]
fn a_running_number_is_no_external_id() {
    let place = Place::new();
    let served = Served::demo(&place);
    let before = served.get("/v1/public/orders?page=1&limit=100")["data"][2].clone();
    let (number, external_id) = (before["order_id"].to_string(), before["external_id"].as_str().unwrap());
    place.write("o.csv", format!("Order no,Item no,Qty,Unit price\n{number},NEW,1,2.00\n"));
    for words in [&["check", "--online"][..], &["upload", "--create-missing-items"]] {
        let args = [&words[..1], &["o.csv", "-t", "orders", "--json"], &words[1..]].concat();
        let ended = served.sheetport(&place, args).exits(3);
        assert_eq!(accounting(&summary(&ended)), "1: rejected 1", "{words:?}");
    }
    place.sheetport(["report", "-o", "r.csv"]).exits(0);
    let report = std::fs::read_to_string(place.path("r.csv")).unwrap();
    let said = format!("is the external id of no order; it is the number of the order {external_id}");
    assert!(report.contains(&said), "{report}");
    assert_eq!(order(&served, "id", &before["id"]), before, "the order with this number is as it was");
}

#[test]
fn an_external_id_that_is_another_order_s_number_finds_its_own_order() {
    let place = Place::new();
    let served = Served::demo(&place);
    let listed = served.get("/v1/public/orders?page=1&limit=100");
    let (meant, other) = (listed["data"][0].clone(), listed["data"][1].clone());
    let number = other["order_id"].to_string();
    served.put(
        &format!("/v1/public/orders/{}", meant["id"].as_str().unwrap()),
        &json!({"order": {"externalId": number}}).to_string(),
    );
    place.write("o.csv", format!("Order no,Item no,Qty,Unit price\n{number},NEW,7,2.00\n"));
    let upload = ["upload", "o.csv", "-t", "orders", "--json", "--create-missing-items"];
    assert_eq!(accounting(&summary(&served.sheetport(&place, upload).exits(0))), "1: sent 1");
    let changed = order(&served, "id", &meant["id"]);
    assert_eq!(changed["number_item"], 1, "{changed}");
    assert_eq!(changed["total_price_without_tax"].to_string(), "14.00", "{changed}");
    assert_eq!(order(&served, "id", &other["id"]), other);
}

#[test]
fn conflicting_rows_reject_the_record_with_a_problem_at_the_cell() {
    let place = Place::new();
    place.write("orders.csv", SHEET.replace("SO-1;;;", "SO-1;C-7;;"));
    place.write("t.toml", TEMPLATE);
    let args = ["check", "orders.csv", "-t", "t.toml", "--json", "--report", "to-mend.csv"];
    let checked = place.sheetport(args).exits(3).json();
    assert_eq!(accounting(&checked), "3: rejected 1, pending 2");
    let problem = &checked["problems"][0];
    assert_eq!((&problem["code"], &problem["rows"]), (&json!("disagrees"), &json!([4])));
    assert_eq!((&problem["column"], &problem["value"]), (&json!("B"), &json!("c-7")));
    let report = std::fs::read_to_string(place.path("to-mend.csv")).unwrap();
    let lines: Vec<&str> = report.lines().collect();
    assert!(lines[1].contains("rejected;row 4 of the same record has a problem"), "{report}");
    assert!(lines[3].contains("differs from another row of the same record (row 2 has 'c-1'"), "{report}");
    assert!(lines[2].contains("pending;;"), "{report}");
    assert_eq!(place.names(), ["orders.csv", "t.toml", "to-mend.csv"], "a check keeps no ledger");
}

#[test]
fn a_template_can_require_the_rows_of_a_record_together() {
    let place = Place::new();
    place.write("orders.csv", SHEET);
    place.write("t.toml", TEMPLATE.replace("by = [\"Order no\"]", "by = [\"Order no\"]\nrows = \"together\""));
    let checked = place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).exits(3).json();
    assert_eq!(accounting(&checked), "4: rejected 2, pending 2", "{checked}");
    let codes: Vec<&Value> = checked["problems"].as_array().unwrap().iter().map(|p| &p["code"]).collect();
    assert!(codes.contains(&&json!("scattered")), "{codes:?}");
}

#[test]
fn a_blank_number_can_mean_the_order_above() {
    let place = Place::new();
    place
        .write("orders.csv", "Order no;Customer;Date;SKU;Qty;Price\nSO-1;C-1;14.04.2026;A;1;\n;;;B;2;\nSO-2;C;;C;3;\n");
    place.write("t.toml", TEMPLATE);
    let checked = place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).exits(3).json();
    assert_eq!(accounting(&checked), "3: rejected 2, pending 1", "the order above may lack a line");
    let codes: Vec<&Value> = checked["problems"].as_array().unwrap().iter().map(|p| &p["code"]).collect();
    assert_eq!(codes, [&json!("rows-below"), &json!("no-group")], "told once: {checked}");
    place.write("t.toml", TEMPLATE.replace("by = [\"Order no\"]", "by = [\"Order no\"]\non_blank = \"above\""));
    let checked = place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).exits(0).json();
    assert_eq!(accounting(&checked), "2: pending 2");
    let explain = place.sheetport(["explain", "orders.csv", "-t", "t.toml", "--row", "3", "--json"]).exits(0).json();
    assert_eq!(explain["request"]["rows"], json!([2, 3]));
}

#[test]
fn a_column_of_ambiguous_dates_is_rejected_with_both_readings() {
    let place = Place::new();
    place.write("t.toml", TEMPLATE.replace("locale = \"de\"", "locale = \"en\""));
    place.write(
        "orders.csv",
        "Order no,Customer,Date,SKU,Qty,Price\nSO-1,C-1,03/04/2026,A,1,2\nSO-2,C,04/05/2026,B,1,2\n",
    );
    let refused = place.sheetport(["check", "orders.csv", "-t", "t.toml"]).exits(3);
    refused.shows(&[
        "could mean more than one date",
        "2026-04-03 as DD/MM/YYYY",
        "2026-03-04 as MM/DD/YYYY",
        "format =",
    ]);
    // One day after the twelfth decides for the whole column; an invalid date is a problem of its row only.
    place.write(
        "orders.csv",
        "Order no,Customer,Date,SKU,Qty,Price\nSO-1,C-1,03/04/2026,A,1,2\nSO-2,C,13/05/2026,B,1,2\nSO-3,C,soon,B,1,2\n",
    );
    let checked = place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).exits(3).json();
    assert_eq!(accounting(&checked), "3: rejected 1, pending 2");
    assert_eq!(checked["problems"][0]["rows"], json!([4]));
}

#[test]
fn an_explanation_shows_cell_conversion_field_and_request() {
    let place = Place::new();
    place.write("orders.csv", SHEET);
    place.write("t.toml", TEMPLATE);
    let explained = place.sheetport(["explain", "orders.csv", "-t", "t.toml", "--row", "4"]).exits(0);
    explained.shows(&[
        "Row 4, mapped by the template t.toml",
        "line: price  F Price '5,00'  a number with ',' as its decimal separator",
        "→ 5.00",
        "companyExternalId  B Customer ''  {{ Customer | lower }}",
        "omitted",
        "Request (from rows 2, 4)",
        "PUT /v1/public/orders/SO-1",
        "it is looked up before sending",
    ]);
    place
        .sheetport(["upload", "orders.csv", "-t", "t.toml", "--dry-run"])
        .exits(0)
        .shows(&["it is looked up before sending"]);
    let by_id = TEMPLATE.replace("fields.externalId", "fields.order_id");
    place.write("by-id.toml", by_id);
    let by_id = place.sheetport(["upload", "orders.csv", "-t", "by-id.toml", "--dry-run"]).exits(0);
    assert!(!by_id.stdout.contains("looked up"), "{}", by_id.stdout);
    place.sheetport(["explain", "orders.csv", "-t", "t.toml", "--row", "99"]).exits(2).says(&["has no data in row 99"]);
    place.write("orders.csv", SHEET.replace("0,5;", "half;"));
    place
        .sheetport(["explain", "orders.csv", "-t", "t.toml", "--row", "5"])
        .exits(3)
        .shows(&["is not a number", "The record would not be sent"]);
}

#[test]
fn the_template_chooses_between_records_with_the_same_key() {
    let place = Place::new();
    place.write("items.csv", "SKU,Name\n1,old\n2,b\n1,new\n");
    let template = |choice: &str| {
        format!(
            "record = \"item\"\nduplicates = \"{choice}\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n"
        )
    };
    for (choice, expected, exit) in [
        ("error", "3: rejected 2, pending 1", 3),
        ("first", "3: skipped 1, pending 2", 0),
        ("last", "3: skipped 1, pending 2", 0),
    ] {
        place.write("t.toml", template(choice));
        let checked = place.sheetport(["check", "items.csv", "-t", "t.toml", "--json"]).exits(exit).json();
        assert_eq!(accounting(&checked), expected, "{choice}");
    }
    let served = Served::start(&place);
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "t.toml", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&upload)), "3: sent 2, skipped 1");
    assert_eq!(served.get("/v1/public/items")["data"].to_string().matches("\"new\"").count(), 1);
    assert_eq!(served.get("/v1/public/items")["data"].to_string().matches("\"old\"").count(), 0);
}

#[test]
fn orders_that_the_service_does_not_have_are_refused_and_do_not_stop_the_run() {
    let place = Place::new();
    let served = Served::start(&place);
    let rows: String = (1..=40).map(|order| format!("SO-{order},2026-04-14,A-1,2\n")).collect();
    place.write("orders.csv", format!("Order no,Order date,Item no.,Quantity\n{rows}"));
    // All requests so far were answered with 404, but the address is right.
    let upload = served.sheetport(&place, ["upload", "orders.csv", "-t", "orders", "--json"]);
    let upload = upload.csv_report("orders.report.csv").exits(3);
    assert_eq!(accounting(&summary(&upload)), "40: failed 40");
    let report = std::fs::read_to_string(place.path("orders.report.csv")).unwrap();
    assert!(
        report.contains("no such record") && report.contains("the service changes orders and creates none"),
        "{report}"
    );
    // At a wrong address, even the items are unknown, and the orders can be sent later.
    let wrong = format!("{}/shop", served.url());
    let upload = served.sheetport(&place, ["upload", "orders.csv", "-t", "orders", "--json"]);
    let upload = upload.env("SHEETPORT_BASE_URL", &wrong).exits(9).says(&["404 to every request"]);
    assert_eq!(accounting(&summary(&upload)), "40: pending 40");
}

#[test]
fn a_fixed_report_of_non_idempotent_records_sends_only_unsent_records() {
    let place = Place::new();
    let served = Served::demo(&place);
    let contact = served.get("/v1/contacts")["data"][0]["id"].as_str().unwrap().to_owned();
    let item = served.get("/v1/public/items")["data"][0]["id"].as_str().unwrap().to_owned();
    place.write("t.toml", "record = \"invoice\"\n[group]\nby = \"No\"\n[fields.cid]\ncolumn = \"Cid\"\n[lines.id]\ncolumn = \"Item\"\n[lines.amount]\ncolumn = \"Amount\"\n");
    place.write("invoices.csv", format!("No,Cid,Item,Amount\n1,{contact},{item},2\n2,{contact},{item},many\n"));
    let upload = served.sheetport(&place, ["upload", "invoices.csv", "-t", "t.toml", "--json"]);
    let upload = upload.csv_report("invoices.report.csv").exits(3);
    assert_eq!(accounting(&summary(&upload)), "2: sent 1, rejected 1");
    let report = std::fs::read_to_string(place.path("invoices.report.csv")).unwrap();
    place.write("invoices.report.csv", report.replace(",many,", ",3,"));
    let again = served.sheetport(&place, ["upload", "invoices.report.csv", "-t", "t.toml", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&again)), "2: sent 1, unchanged 1", "what was booked is not booked again");
}

#[test]
fn new_templates_have_a_skeleton_and_a_schema() {
    let place = Place::new();
    for kind in ["item", "order", "inventory-transaction", "subscription", "invoice", "stock-count"] {
        let skeleton = place.sheetport(["template", "new", kind]).exits(0).stdout;
        place.write("new.toml", skeleton);
        place.sheetport(["template", "check", "new.toml"]).exits(0);
    }
    place.sheetport(["template", "new", "itme"]).exits(2).says(&["expected one of: item, order"]);
    let schema = place.sheetport(["template", "schema"]).exits(0).json();
    assert_eq!(schema["properties"]["record"]["enum"].as_array().unwrap().len(), 6);
}
