//! `plan` shows what an upload would change, keeps the plan, and sends nothing before `resume`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::process::Place;
use super::sent_before::{Desk, HEADER, INVOICES};
use super::service::Served;
use super::{accounting, table};
use crate::faults::server::Reply;

const BEFORE: &str = "SKU,Name,Price,Currency\nA-1,Bolt,1.50,EUR\nA-2,Nut,0.10,EUR\nA-3,Washer,0.05,EUR\nA-4,Pin,12.99,EUR\n\
                      A-5,Screw,2.00,EUR\nA-6,Rivet,3.00,EUR\n";
const AFTER: &str = "SKU,Name,Price,Currency\nA-1,Bolt,1.50,EUR\nA-2,Nut,0.12,EUR\nA-3,Washer,,EUR\nA-4,Pin,1299,EUR\n\
                     A-5,Screw M5,2.38,EUR\nA-6,Rivet,3.00,EUR\nA-7,Clip,9.00,EUR\nA-8,Cap,x,EUR\n";

/// A service with the items of [`BEFORE`], and the file `new.csv` with those of [`AFTER`].
fn desk() -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("old.csv", BEFORE);
    place.write("new.csv", AFTER);
    served.sheetport(&place, ["upload", "old.csv", "-t", "items", "-q"]).exits(0);
    (place, served)
}

/// Returns the items of the service by external id, each with name and price.
fn items(served: &Served) -> Vec<String> {
    let list = served.get("/v1/public/items?limit=100");
    let mut items: Vec<String> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| format!("{} {} {}", item["external_id"].as_str().unwrap(), item["name"], item["price"]))
        .collect();
    items.sort();
    items
}

#[test]
fn a_plan_names_each_change_and_resume_sends_it() {
    let (place, served) = desk();
    let (before, requests) = (items(&served), served.total());
    let shown = served.sheetport(&place, ["plan", "new.csv", "-t", "items", "-o", "changes.csv"]).exits(3);
    shown.shows(&[
        "1  new",
        "3  changed",
        "3  same",
        "price  3 changed",
        "1 record ten times as large or more",
        "A-4  12.99 → 1299",
        "name  1 changed",
        "A-5  Screw → Screw M5",
        "Next    sheetport apply changes.csv",
    ]);
    assert_eq!((items(&served), served.total()), (before, requests), "nothing was sent");
    let changes = table(&place.path("changes.csv"));
    let plan: BTreeSet<&str> = changes[1..].iter().filter_map(|row| row.last()?.rsplitn(3, '-').last()).collect();
    assert_eq!(plan.len(), 1, "every row names the plan");
    let rows: Vec<String> = changes.iter().map(|row| row[1..row.len() - 1].join("|")).collect();
    assert!(changes.iter().all(|row| matches!(&*row[0], "approve" | "")));
    assert_eq!(
        rows,
        [
            "row|record|change|field|now|planned|remark",
            "2|A-1|unchanged||||",
            "3|A-2|changed|price|0.10|0.12|",
            "4|A-3|unchanged||||",
            "5|A-4|changed|price|12.99|1299|ten times as large or more",
            "6|A-5|changed|name|Screw|Screw M5|",
            "6|A-5|changed|price|2.00|2.38|",
            "7|A-6|unchanged||||",
            "8|A-7|new||||",
            "9|A-8|refused||||is not a number",
        ]
    );
    served.sheetport(&place, ["runs"]).exits(0).shows(&["planned"]);
    served.sheetport(&place, ["runs", "--state", "planned", "--json"]).exits(0).shows(&["\"state\":\"planned\""]);
    served.sheetport(&place, ["resume", "2"]).exits(3).shows(&["7  sent"]);
    let after = items(&served);
    assert_eq!(
        after,
        [
            "A-1 \"Bolt\" 1.50",
            "A-2 \"Nut\" 0.12",
            "A-3 \"Washer\" 0.05",
            "A-4 \"Pin\" 1299",
            "A-5 \"Screw M5\" 2.38",
            "A-6 \"Rivet\" 3.00",
            "A-7 \"Clip\" 9.00",
        ]
    );
}

#[test]
fn a_plan_that_was_corrected_since_overwrites_nothing() {
    let (place, served) = desk();
    served.sheetport(&place, ["plan", "new.csv", "-t", "items", "-q"]).exits(3);
    place.write("new.csv", AFTER.replace("1299", "12.49").replace(",x,", ",1.00,"));
    served.sheetport(&place, ["upload", "new.csv", "-t", "items", "-q"]).exits(0);
    let sent = items(&served);
    assert!(sent.contains(&"A-4 \"Pin\" 12.49".to_owned()), "{sent:?}");
    // Somebody sends the forgotten plan, by habit.
    let resumed = served.sheetport(&place, ["resume", "--json"]).exits(3).json();
    assert_eq!(accounting(&resumed), "8: skipped 7, rejected 1", "{resumed}");
    assert_eq!(items(&served), sent);
}

#[test]
fn a_plan_is_told_to_programs() {
    let (place, served) = desk();
    let told = served.sheetport(&place, ["plan", "new.csv", "-t", "items", "--json"]).exits(3).json();
    assert_eq!(
        (&told["command"], &told["run"], &told["next"]),
        (&json!("plan"), &json!(2), &json!("sheetport apply 2"))
    );
    let changes = &told["changes"];
    assert_eq!([&changes["new"], &changes["changed"], &changes["not_compared"]], [1, 3, 0], "{told}");
    let price = changes["fields"].as_array().unwrap().iter().find(|field| field["field"] == "price").unwrap();
    assert_eq!((&price["ten_times"], &price["zero"]), (&json!(1), &json!(0)), "{told}");
    assert_eq!(price["examples"][0], json!({"record": "A-4", "now": "12.99", "planned": "1299"}), "{told}");
    assert_eq!(told["problems"][0]["code"], "not-a-number");
    // What is unchanged need not be sent at all.
    let fewer =
        served.sheetport(&place, ["plan", "new.csv", "-t", "items", "--changed-only", "--json"]).exits(3).json();
    assert_eq!(accounting(&fewer), "8: unchanged 3, rejected 1, pending 4", "{fewer}");
}

#[test]
fn what_the_service_does_not_show_is_taken_from_what_was_sent() {
    let place = Place::new();
    // Its list shows neither external ids nor purchase prices.
    let served = Served::start_with(&place, 0, &["--literal"]);
    place.write("old.csv", "SKU,Name,Price,Cost\nA-1,Bolt,1.50,1.00\nA-2,Nut,0.10,0.05\nA-3,Washer,0.05,0.02\n");
    place.write(
        "new.csv",
        "SKU,Name,Price,Cost\nA-1,Bolt,1.75,1.00\nA-2,Nut,0.10,0.06\nA-3,Washer,0.05,0.02\nA-4,Pin,2,1\n",
    );
    place.write(
        "t.toml",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n[fields.price]\n\
         column = \"Price\"\n[fields.purchasePrice]\ncolumn = \"Cost\"\n",
    );
    served.sheetport(&place, ["upload", "old.csv", "-t", "t.toml", "-q"]).exits(0);
    let told = served.sheetport(&place, ["plan", "new.csv", "-t", "t.toml", "-o", "c.csv", "--json"]).exits(0).json();
    let counts = ["new", "changed", "not_shown", "not_compared"].map(|count| told["changes"][count].as_u64().unwrap());
    assert_eq!(counts, [0, 2, 1, 1], "{told}");
    let cost = &told["changes"]["fields"][1];
    assert_eq!((&cost["field"], &cost["as_sent"]), (&json!("purchasePrice"), &json!(1)), "{told}");
    let why = told["changes"]["why_not"].as_str().unwrap();
    assert!(why.contains("does not show by which number a record was uploaded"), "{why}");
    let rows: Vec<String> = table(&place.path("c.csv")).iter().map(|row| row[1..row.len() - 1].join("|")).collect();
    assert_eq!(
        rows[1..],
        [
            "2|A-1|changed|price|1.50|1.75|",
            "3|A-2|changed|purchasePrice|0.05|0.06|now as last sent from here",
            "4|A-3|not shown||||",
            "5|A-4|not compared||||",
        ]
    );
}

#[test]
fn a_common_factor_of_the_prices_is_told() {
    let place = Place::new();
    let served = Served::start(&place);
    let list = |factor: f64| {
        let rows = (1..=9).map(|nth| format!("B-{nth},Thing {nth},{:.2},EUR\n", f64::from(nth * nth * 13) * factor));
        format!("SKU,Name,Price,Currency\n{}", rows.collect::<String>())
    };
    place.write("net.csv", list(1.0));
    place.write("gross.csv", list(1.19));
    served.sheetport(&place, ["upload", "net.csv", "-t", "items", "-q"]).exits(0);
    let told = served.sheetport(&place, ["plan", "gross.csv", "-t", "items"]).exits(0);
    told.shows(&["price  9 changed, 9 of them by the factor 1.1900"]);
}

#[test]
fn orders_are_compared_by_either_id() {
    let place = Place::new();
    place.write(
        "orders.csv",
        "id,order_id,external_id,delivery_status\no1,5001,SO-1,shipped\no2,5002,SO-2,shipped\no3,5003,SO-3,pending\n",
    );
    place.sheetport(["serve", "load", "--data", "service", "--workspace", "shop", "orders.csv"]).exits(0);
    let served = Served::start(&place);
    let fields = "[fields.deliveryStatus]\ncolumn = \"State\"\n";
    place.write("by-number.toml", format!("record = \"order\"\n[fields.externalId]\ncolumn = \"Order\"\n{fields}"));
    place.write("by-id.toml", format!("record = \"order\"\n[fields.order_id]\ncolumn = \"Order\"\n{fields}"));
    place.write("by-number.csv", "Order,State\nSO-1,shipped\nSO-2,delivered\n");
    place.write("by-id.csv", "Order,State\no1,shipped\no2,delivered\n");
    for name in ["by-number", "by-id"] {
        let (file, template) = (format!("{name}.csv"), format!("{name}.toml"));
        let told = served.sheetport(&place, ["plan", &file, "-t", &template, "--json"]).exits(0).json();
        let counts = ["changed", "unchanged", "not_there"].map(|count| told["changes"][count].as_u64().unwrap());
        assert_eq!(counts, [1, 1, 0], "{told}");
        let example = &told["changes"]["fields"][0]["examples"][0];
        assert_eq!((&example["now"], &example["planned"]), (&json!("shipped"), &json!("delivered")), "{told}");
    }
}

#[test]
fn a_file_of_changes_replaces_nothing() {
    let (place, served) = desk();
    place.write("mine.csv", "do not touch\n");
    for (name, words) in [("mine.csv", "mine.csv exists already"), ("changes", "no extension that says what to write")]
    {
        let refused = served.sheetport(&place, ["plan", "new.csv", "-t", "items", "-o", name]).exits(2);
        refused.says(&[words]);
    }
    assert_eq!(std::fs::read_to_string(place.path("mine.csv")).unwrap(), "do not touch\n");
    served.sheetport(&place, ["plan", "new.csv", "-t", "items", "-o", "changes.xlsx"]).exits(3);
    assert!(place.path("changes.xlsx").exists());
}

#[tokio::test]
async fn invoices_that_were_sent_are_not_planned_again() {
    let desk = Desk::new(INVOICES, |_| Reply::Accept).await;
    desk.upload("a.csv", &format!("{HEADER}7,c-1,i,2.50\n8,c-2,i,1\n"), 0).await;
    desk.place.write("b.csv", format!("{HEADER}8,c-2,i,1\n9,c-3,i,3\n"));
    let told: Value = desk.run(&["plan", "b.csv", "-t", "t.toml", "--json"], 0).await.json();
    assert_eq!(accounting(&told), "2: unchanged 1, pending 1", "{told}");
    assert_eq!((&told["changes"]["new"], &told["sent_before"][0]["run"]), (&json!(1), &json!(1)), "{told}");
    assert_eq!(desk.server.log().len(), 2);
    desk.run(&["resume", "2"], 0).await;
    assert_eq!(desk.server.bodies().len(), 3);
}

#[test]
fn a_service_that_can_not_be_asked_leaves_records_uncompared() {
    let place = Place::new();
    place.write("new.csv", AFTER);
    let command = place.sheetport(["plan", "new.csv", "-t", "items", "--json"]);
    let command = command.env("SHEETPORT_BASE_URL", "http://127.0.0.1:9").secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    let told: Value = command.exits(3).json();
    assert_eq!(told["changes"]["not_compared"], 7, "{told}");
    assert!(told["changes"]["why_not"].as_str().unwrap().contains("can't be reached"), "{told}");
}
