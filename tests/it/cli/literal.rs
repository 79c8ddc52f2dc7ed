//! Uploads with our own service as it is and with a literal one: what is stored is the same, field by field. That the client gets by with
//! a literal service at all is proved by the tests of uploads, which `tests/run` runs once more with such services.

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
fn upload(place: &Place, served: &Served, args: &[&str]) -> String {
    let words = ["upload"].iter().chain(args).chain(&["--json"]).copied();
    accounting(&summary(&served.sheetport(place, words).exits(0)))
}

#[test]
fn samples_arrive_the_same() {
    on_both(|place, served| {
        for template in ["items", "transactions", "subscriptions", "invoices"] {
            let file = format!("{template}.csv");
            let path = sample(&file);
            let path = path.to_str().unwrap();
            served.sheetport(place, ["check", path, "-t", template, "--online", "-q"]).exits(0);
            let counts = upload(place, served, &[path, "-t", template]);
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
