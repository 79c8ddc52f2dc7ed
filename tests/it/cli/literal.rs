//! Uploads with our own service as it is and with a literal one: what arrives is the same, so the client depends on nothing that
//! the contract does not show.

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{accounting, sample, summary};

/// Runs a test with both services. It returns what arrived, which must be the same.
#[track_caller]
fn on_both(test: impl Fn(&Place, &Served) -> Value) {
    let arrived = [&[][..], &["--literal"]].map(|words: &[&str]| {
        let place = Place::new();
        let served = Served::demo_with(&place, 0, words);
        test(&place, &served)
    });
    assert_eq!(arrived[0], arrived[1]);
}

/// Returns these fields of all records of a kind.
#[track_caller]
fn stored(place: &Place, kind: &str, fields: &[&str]) -> Value {
    let show = ["serve", "show", kind, "--data", "service", "--limit", "all", "--json"];
    let shown = place.sheetport(show).exits(0).json();
    let records = shown["records"].as_array().unwrap().iter().map(|shown| {
        let fields = fields.iter().map(|field| ((*field).to_owned(), shown["record"][field].clone()));
        fields.chain([("lines".to_owned(), shown["lines"].clone())]).collect::<Value>()
    });
    // Records of one moment have no order.
    let mut records: Vec<Value> = records.collect();
    records.sort_by_key(Value::to_string);
    Value::Array(records)
}

#[track_caller]
fn upload(place: &Place, served: &Served, args: &[&str], code: i32) -> String {
    let words = ["upload"].iter().chain(args).chain(&["--json"]).copied();
    accounting(&summary(&served.sheetport(place, words).exits(code)))
}

#[test]
fn samples_arrive_the_same() {
    on_both(|place, served| {
        for template in ["items", "transactions", "subscriptions", "invoices"] {
            let file = format!("{template}.csv");
            let path = sample(&file);
            let path = path.to_str().unwrap();
            served.sheetport(place, ["check", path, "-t", template, "--online", "-q"]).exits(0);
            let counts = upload(place, served, &[path, "-t", template], 0);
            let total = counts.split(':').next().unwrap();
            assert_eq!(counts, format!("{total}: sent {total}"), "{file}");
        }
        json!([
            stored(place, "items", &["external_id", "name", "price", "currency", "tax", "status"]),
            stored(place, "transactions", &["inventory_id", "transaction_type", "amount", "status", "price"]),
            stored(place, "inventories", &["inventory_id", "available", "committed", "total_inventory"]),
            stored(place, "subscriptions", &["cid", "subscription_status", "items", "currency"]),
            stored(place, "invoices", &["cid", "status", "items", "currency"]),
        ])
    });
}

#[test]
fn refused_rows_are_retried_and_accepted_ones_not_repeated() {
    on_both(|place, served| {
        let rows = "SKU,Name,Price,Currency\nA-1,Bolt,1.50,EUR\nA-2,Nut,on request,EUR\nA-3,Washer,0.05,EU1\n";
        place.write("items.csv", rows);
        let report = ["items.csv", "-t", "items", "--report", "report.csv"];
        let first = upload(place, served, &report, 3);
        let report = std::fs::read_to_string(place.path("report.csv")).unwrap();
        place.write("report.csv", report.replace("on request", "2.50").replace("EU1", "EUR"));
        let retried = served.sheetport(place, ["retry", "report.csv", "--json"]).exits(0);
        let again = upload(place, served, &["items.csv", "-t", "items", "--report", "again.csv"], 3);
        json!([first, accounting(&summary(&retried)), again, stored(place, "items", &["external_id", "name", "price"])])
    });
}

#[test]
fn orders_by_their_record_ids_get_their_lines() {
    on_both(|place, served| {
        let listed = served.get("/v1/public/orders?page=1&limit=2");
        let id = |index: usize| listed["data"][index]["id"].as_str().unwrap().to_owned();
        let (first, second) = (id(0), id(1));
        place.write("orders.csv", format!("Id;SKU;Qty\n{first};0042;2\n{second};0043;3\n{first};none-such;1\n"));
        place.write("t.toml", "record = \"order\"\n[group]\nby = \"Id\"\n[fields.order_id]\ncolumn = \"Id\"\n[lines.itemExternalId]\ncolumn = \"SKU\"\n[lines.quantity]\ncolumn = \"Qty\"\n");
        let refused = upload(place, served, &["orders.csv", "-t", "t.toml", "--report", "r.csv"], 3);
        place.write("orders.csv", format!("Id;SKU;Qty\n{first};0042;2\n{second};0043;3\n{first};0044;1\n"));
        let sent = upload(place, served, &["orders.csv", "-t", "t.toml"], 0);
        json!([refused, sent, stored(place, "orders", &["external_id", "number_item", "total_price"])])
    });
}
