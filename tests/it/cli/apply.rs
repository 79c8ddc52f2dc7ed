//! `apply` sends what is approved of a plan, and nothing that somebody has changed in the service since.

use std::path::Path;

use serde_json::{Value, json};
use sheetport_ledger::Ledger;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use super::office::{self, CSV, XLSX};
use super::process::{Place, Sheetport, until};
use super::service::Served;
use super::{accounting, column, summary, table};

const BEFORE: &str = "SKU,Name,Price,Currency\nA-1,Bolt,1.50,EUR\nA-2,Nut,0.10,EUR\nA-3,Washer,0.05,EUR\nA-4,Pin,12.99,EUR\n\
                      A-5,Screw,2.00,EUR\n";
/// A-1 is unchanged, A-2 to A-5 are changed, A-5 in two fields, A-6 is new, and A-7 is wrong.
const AFTER: &str = "SKU,Name,Price,Currency\nA-1,Bolt,1.50,EUR\nA-2,Nut,0.12,EUR\nA-3,Washer,0.06,EUR\nA-4,Pin,1299,EUR\n\
                     A-5,Screw M5,2.38,EUR\nA-6,Clip,9.00,EUR\nA-7,Cap,x,EUR\n";

struct Shop {
    place: Place,
    served: Served,
}

impl Shop {
    /// A service with the items of [`BEFORE`], and the file `new.csv` with those of [`AFTER`].
    fn open() -> Shop {
        Shop::with(&[])
    }

    fn with(words: &[&str]) -> Shop {
        let place = Place::new();
        let served = Served::start_with(&place, 0, words);
        place.write("old.csv", BEFORE);
        place.write("new.csv", AFTER);
        served.sheetport(&place, ["upload", "old.csv", "-t", "items", "-q"]).exits(0);
        Shop { place, served }
    }

    /// A shop with a plan of `new.csv`, run 2, and its changes in a file.
    fn planned(changes: &str) -> Shop {
        let shop = Shop::open();
        shop.plan(changes);
        shop
    }

    fn plan(&self, changes: &str) {
        self.served.sheetport(&self.place, ["plan", "new.csv", "-t", "items", "-o", changes, "-q"]).exits(3);
    }

    fn sheetport(&self, args: &[&str]) -> Sheetport {
        self.served.sheetport(&self.place, args.iter().copied())
    }

    fn apply(&self, args: &[&str], code: i32) -> Value {
        summary(&self.sheetport(&["apply"]).args(args).arg("--json").exits(code))
    }

    /// Applies a plan, which must be refused with these words before anything is sent.
    #[track_caller]
    fn refuses(&self, args: &[&str], words: &[&str]) {
        let before = self.items();
        let ended = self.sheetport(&["apply"]).args(args).run();
        assert!(matches!(ended.code, Some(2 | 7)), "{ended:?}");
        ended.says(words);
        assert_eq!(self.items(), before);
    }

    /// Somebody else writes an item.
    fn other_writes(&self, body: &Value) {
        self.served.post("/v1/public/items", &body.to_string());
    }

    /// Returns the items of the service: external id, name and price.
    fn items(&self) -> Vec<String> {
        let list = self.served.get("/v1/public/items?limit=1000");
        let item = |item: &Value| {
            format!("{} {} {}", item["external_id"].as_str().unwrap(), item["name"].as_str().unwrap(), item["price"])
        };
        let mut items: Vec<String> = list["data"].as_array().unwrap().iter().map(item).collect();
        items.sort();
        items
    }

    /// Edits the rows of a file of changes; the first is the header.
    fn edit(&self, name: &str, edit: impl FnOnce(&mut Vec<Vec<String>>)) {
        let mut rows = table(&self.place.path(name));
        edit(&mut rows);
        let mut writer = csv::Writer::from_path(self.place.path(name)).unwrap();
        rows.iter().for_each(|row| writer.write_record(row).unwrap());
        writer.flush().unwrap();
    }

    /// Writes into a cell of the rows of a record, or of one of its fields.
    fn put(&self, name: &str, record: &str, field: &str, title: &str, text: &str) {
        self.edit(name, |rows| {
            let place = |title: &str| rows[0].iter().position(|known| known == title).unwrap();
            let (record_at, field_at, at) = (place("record"), place("field"), place(title));
            let mut found = 0;
            for row in
                rows.iter_mut().filter(|row| row[record_at] == record && (field.is_empty() || row[field_at] == field))
            {
                text.clone_into(&mut row[at]);
                found += 1;
            }
            assert!(found > 0, "{record} {field}");
        });
    }
}

const APPLIED: [&str; 6] =
    ["A-1 Bolt 1.50", "A-2 Nut 0.12", "A-3 Washer 0.06", "A-4 Pin 1299", "A-5 Screw M5 2.38", "A-6 Clip 9.00"];

#[test]
fn a_plan_is_applied_by_its_file_or_its_number() {
    for target in ["changes.csv", "changes.xlsx", "changes.ndjson", "2"] {
        let shop = Shop::planned(if target == "2" { "changes.csv" } else { target });
        let applied = shop.apply(&[target], 3);
        assert_eq!(accounting(&applied), "7: sent 6, rejected 1", "{target} {applied}");
        assert_eq!(shop.items(), APPLIED, "{target}");
        shop.refuses(&[target], &["run 2 can't be applied: the plan was applied before", "new.csv -t items"]);
        shop.sheetport(&["runs", "show", "2"]).exits(0).shows(&["approved 6 records of the plan"]);
    }
}

#[test]
fn a_file_takes_records_and_fields_away() {
    let shop = Shop::planned("changes.csv");
    shop.put("changes.csv", "A-2", "", "approve", "nein");
    shop.put("changes.csv", "A-4", "price", "planned", "12.99");
    shop.put("changes.csv", "A-5", "name", "approve", "no");
    shop.edit("changes.csv", |rows| rows.retain(|row| row[2] != "A-3"));
    let shown = shop.sheetport(&["apply", "changes.csv", "--report", "report.csv"]).exits(3);
    shown.shows(&["3 records not approved"]).says(&[
        "3 of 6 records approved",
        "1 record sent without 1 field not approved",
        "2 records not approved (rows 3, 5)",
        "1 record not approved, because the file has no row of it any more (row 4)",
    ]);
    let items =
        ["A-1 Bolt 1.50", "A-2 Nut 0.10", "A-3 Washer 0.05", "A-4 Pin 12.99", "A-5 Screw 2.38", "A-6 Clip 9.00"];
    assert_eq!(shop.items(), items);
    let report = table(&shop.place.path("report.csv"));
    let states = ["sent", "skipped", "skipped", "skipped", "sent", "sent", "rejected"];
    assert_eq!(column(&report, "sheetport_status"), states);
    let reasons = column(&report, "sheetport_errors");
    assert!(reasons[1].contains("was not approved"), "{reasons:?}");
    assert!(reasons[2].contains("was taken out of the file of changes"), "{reasons:?}");
    assert!(reasons[3].contains("was set back in the file of changes"), "{reasons:?}");
    let told = shop.sheetport(&["resume", "2", "--json"]).exits(3).json();
    assert_eq!(told["not_approved"], json!({"records": 3, "rows": [3, 4, 5]}), "{told}");
    assert_eq!(accounting(&told), "7: sent 3, skipped 3, rejected 1");
}

#[test]
fn blank_cells_are_decided_by_the_others_or_a_flag() {
    let counts = |marks: &[(&str, &str)], flags: &[&str]| {
        let shop = Shop::planned("changes.csv");
        marks.iter().for_each(|(record, mark)| shop.put("changes.csv", record, "", "approve", mark));
        accounting(&shop.apply(&[&["changes.csv"], flags].concat(), 3))
    };
    assert_eq!(counts(&[("A-2", "yes"), ("A-6", "JA")], &[]), "7: sent 2, skipped 4, rejected 1");
    assert_eq!(counts(&[("A-2", "yes")], &["--approve", "all"]), "7: sent 6, rejected 1");
    assert_eq!(counts(&[], &["--approve", "none"]), "7: skipped 6, rejected 1");
    let shop = Shop::planned("changes.csv");
    shop.put("changes.csv", "A-2", "", "approve", "yes");
    shop.put("changes.csv", "A-4", "", "approve", "no");
    shop.refuses(&["changes.csv"], &["what counts for the blank ones is not clear", "--approve all or --approve none"]);
    assert_eq!(accounting(&shop.apply(&["changes.csv", "--approve", "none"], 3)), "7: sent 1, skipped 5, rejected 1");
}

#[test]
fn other_edits_of_a_file_are_refused() {
    let shop = Shop::planned("changes.csv");
    let original = std::fs::read(shop.place.path("changes.csv")).unwrap();
    let refused = |edit: &dyn Fn(), words: &[&str]| {
        edit();
        shop.refuses(&["changes.csv"], words);
        shop.place.write("changes.csv", &original);
    };
    refused(
        &|| shop.put("changes.csv", "A-4", "price", "planned", "13.99"),
        &["row 5: price was changed from '1299' to '13.99'", "a new value is a new plan"],
    );
    refused(
        &|| shop.put("changes.csv", "A-4", "price", "plan", "2-bcdfgh-3-xxxx"),
        &["row 5 names no change of a plan"],
    );
    refused(&|| shop.put("changes.csv", "A-4", "price", "field", "name"), &["row 5 names no change of a plan"]);
    refused(
        &|| shop.put("changes.csv", "A-4", "", "approve", "perhaps"),
        &["'perhaps' in row 5 is neither yes nor no"],
    );
    refused(&|| shop.edit("changes.csv", |rows| rows.truncate(1)), &["has no row below its titles"]);
    refused(
        &|| shop.edit("changes.csv", |rows| rows.iter_mut().for_each(|row| drop(row.remove(0)))),
        &["has no column 'approve'"],
    );
    refused(
        &|| {
            shop.edit("changes.csv", |rows| {
                let mut copy = rows[2].clone();
                "no".clone_into(&mut copy[0]);
                "yes".clone_into(&mut rows[2][0]);
                // Every cell has a mark, so that no blank one is in doubt.
                rows[1..].iter_mut().filter(|row| row[0].is_empty()).for_each(|row| "yes".clone_into(&mut row[0]));
                rows.push(copy);
            });
        },
        &["says no to what another row says yes to"],
    );
    refused(&|| drop(shop.place.write("changes.csv", BEFORE)), &["has no column"]);
    // Nothing of this has used the plan up.
    assert_eq!(accounting(&shop.apply(&["changes.csv"], 3)), "7: sent 6, rejected 1");
}

#[test]
fn a_file_of_another_ledger_address_or_workspace_is_refused() {
    let shop = Shop::planned("changes.csv");
    let other = Shop::planned("changes.csv");
    let copy = shop.place.path("other.csv");
    std::fs::copy(other.place.path("changes.csv"), &copy).unwrap();
    shop.refuses(&["other.csv"], &["which is not in this ledger", "apply it where it was planned"]);
    shop.refuses(
        &["changes.csv", "--base-url", &other.served.url()],
        &["it was planned for", "use the address that it was planned for"],
    );
    let token = ["serve", "token", "--data", "service", "--workspace", "other", "--access", "full", "--json"];
    let token = shop.place.sheetport(token).exits(0).json();
    let before = shop.items();
    let refused = shop.sheetport(&["apply", "changes.csv"]).without("SHEETPORT_REFRESH_TOKEN");
    let refused = refused.secret("SHEETPORT_ACCESS_TOKEN", token["access"].as_str().unwrap()).exits(2);
    refused.says(&["it was planned for the workspace 'shop', but the token is for 'other'"]);
    assert_eq!(shop.items(), before);
    shop.refuses(&["7"], &["there is no run 7"]);
    shop.refuses(&["1"], &["it is an upload, and no plan"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_plan_needs_a_yes() {
    let shop = Shop::planned("changes.csv");
    let ledger = Ledger::open(&shop.place.path("home")).await.unwrap();
    let looked_at = ledger.run(2).await.unwrap().looked_at.unwrap();
    ledger.store_seen(2, [], Some(looked_at - 30 * 60 * 60 * 1_000)).await.unwrap();
    ledger.close().await;
    shop.refuses(&["changes.csv"], &["the plan is 30 hours old", "new.csv -t items", "--yes applies it"]);
    assert_eq!(accounting(&shop.apply(&["changes.csv", "-y"], 3)), "7: sent 6, rejected 1");
}

#[test]
fn what_another_writer_has_changed_is_left_out() {
    let shop = Shop::planned("changes.csv");
    shop.other_writes(&json!({"externalId": "A-4", "price": 13.50}));
    // Of a record that the plan leaves as it is.
    shop.other_writes(&json!({"externalId": "A-1", "name": "Bolt M8"}));
    // The planned value, and a field that is not planned: nothing would be lost.
    shop.other_writes(&json!({"externalId": "A-2", "price": 0.12}));
    shop.other_writes(&json!({"externalId": "A-3", "status": "inactive"}));
    // Created by somebody else.
    shop.other_writes(&json!({"externalId": "A-6", "name": "Clip", "price": 8}));
    let shown = shop.sheetport(&["apply", "changes.csv", "--report", "report.csv"]).exits(3);
    shown
        .shows(&["3 records moved on"])
        .says(&["3 records moved on: changed in the service since the plan, and not sent", "new.csv -t items"]);
    let items =
        ["A-1 Bolt M8 1.50", "A-2 Nut 0.12", "A-3 Washer 0.06", "A-4 Pin 13.5", "A-5 Screw M5 2.38", "A-6 Clip 8"];
    assert_eq!(shop.items(), items);
    let report = table(&shop.place.path("report.csv"));
    let reasons = column(&report, "sheetport_errors");
    assert!(
        reasons[3].contains("was '12.99' in the service when it was planned and is '13.5' now, so '1299' is not sent")
    );
    assert!(reasons[0].contains("was 'Bolt' in the service when it was planned and is 'Bolt M8' now"), "{reasons:?}");
    assert!(reasons[5].contains("was not in the service when it was planned and is '8' now"), "{reasons:?}");
    let told = shop.sheetport(&["resume", "2", "--json"]).exits(3).json();
    assert_eq!(told["moved_on"], json!({"records": 3, "rows": [2, 5, 7]}), "{told}");
    // Without a problem in the file, they alone are worth an exit code and a report.
    shop.place.write("new.csv", BEFORE.replace("12.99", "14.00"));
    shop.sheetport(&["plan", "new.csv", "-t", "items", "-q"]).exits(0);
    shop.other_writes(&json!({"externalId": "A-4", "price": 15}));
    let applied = shop.apply(&["3"], 3);
    assert_eq!(accounting(&applied), "5: sent 4, skipped 1");
    assert!(Path::new(applied["report"].as_str().unwrap()).exists(), "{applied}");
    let next = applied["next"].as_str().unwrap();
    assert!(next.starts_with("sheetport plan ") && next.ends_with("new.csv -t items"), "{next}");
}

#[test]
fn newer_values_are_overwritten_if_wanted() {
    let shop = Shop::planned("changes.csv");
    shop.other_writes(&json!({"externalId": "A-4", "price": 13.50}));
    assert_eq!(accounting(&shop.apply(&["changes.csv", "--overwrite-newer"], 3)), "7: sent 6, rejected 1");
    assert_eq!(shop.items(), APPLIED);
}

#[test]
fn records_of_a_literal_service_are_found_again_by_their_id() {
    let shop = Shop::with(&["--literal"]);
    shop.plan("changes.csv");
    shop.other_writes(&json!({"externalId": "A-4", "price": 13.50}));
    // Its list shows neither this field nor external ids.
    shop.other_writes(&json!({"externalId": "A-5", "purchasePrice": 1}));
    let applied = shop.apply(&["changes.csv"], 3);
    assert_eq!(accounting(&applied), "7: sent 5, skipped 1, rejected 1");
    let items =
        ["A-1 Bolt 1.50", "A-2 Nut 0.12", "A-3 Washer 0.06", "A-4 Pin 13.5", "A-5 Screw M5 2.38", "A-6 Clip 9.00"];
    assert_eq!(shop.items(), items);
}

#[test]
fn orders_are_looked_at_again_one_by_one() {
    let place = Place::new();
    place.write(
        "orders.csv",
        "id,order_id,external_id,delivery_status\no1,5001,SO-1,shipped\no2,5002,SO-2,shipped\no3,5003,SO-3,pending\n",
    );
    place.sheetport(["serve", "load", "--data", "service", "--workspace", "shop", "orders.csv"]).exits(0);
    let served = Served::start(&place);
    let template =
        "record = \"order\"\n[fields.externalId]\ncolumn = \"Order\"\n[fields.deliveryStatus]\ncolumn = \"State\"\n";
    place.write("t.toml", template);
    place.write("new.csv", "Order,State\nSO-1,delivered\nSO-2,delivered\nSO-3,shipped\n");
    served.sheetport(&place, ["plan", "new.csv", "-t", "t.toml", "-o", "changes.csv", "-q"]).exits(0);
    served.put("/v1/public/orders/o2", r#"{"order":{"deliveryStatus":"returned"}}"#);
    let applied = summary(&served.sheetport(&place, ["apply", "changes.csv", "--json"]).exits(3));
    assert_eq!(accounting(&applied), "3: sent 2, skipped 1");
    let state = |id: &str| served.get(&format!("/v1/public/orders/{id}"))["delivery_status"].clone();
    assert_eq!([state("o1"), state("o2"), state("o3")], ["delivered", "returned", "shipped"]);
}

#[test]
fn a_killed_apply_is_resumed_and_looks_again() {
    const COUNT: usize = 40;
    let shop = Shop::open();
    let rows = |price: &str| {
        let rows = (0..COUNT).map(|nth| format!("B-{nth:02},Part {nth},{price},EUR\n"));
        format!("SKU,Name,Price,Currency\n{}", rows.collect::<String>())
    };
    shop.place.write("old.csv", rows("1"));
    shop.sheetport(&["upload", "old.csv", "-t", "items", "-q"]).exits(0);
    shop.place.write("new.csv", rows("2"));
    shop.sheetport(&["plan", "new.csv", "-t", "items", "-o", "changes.csv", "-q"]).exits(0);
    shop.put("changes.csv", "B-01", "", "approve", "no");
    let running = shop.sheetport(&["apply", "changes.csv", "--rate", "10/s", "--concurrency", "1"]).start();
    let sent = || shop.items().iter().filter(|item| item.starts_with("B-") && item.ends_with(" 2")).count();
    until("some of them are sent", || (sent() >= 5).then_some(()));
    // Another person does the same.
    let again = shop.sheetport(&["apply", "changes.csv"]).run();
    assert!(matches!(again.code, Some(1 | 2)), "{again:?}");
    running.kill();
    let before = sent();
    assert!(before < COUNT - 5, "{before} of {COUNT} were sent before the kill");
    shop.other_writes(&json!({"externalId": "B-39", "price": 3}));
    shop.refuses(&["changes.csv"], &["sending of the plan was begun before", "sheetport continue 3"]);
    let resumed = summary(&shop.sheetport(&["resume", "3", "--json"]).exits(3));
    assert_eq!(accounting(&resumed), "40: sent 38, skipped 2", "{resumed}");
    assert_eq!((&resumed["not_approved"]["rows"], &resumed["moved_on"]["rows"]), (&json!([3]), &json!([41])));
    let items = shop.items();
    for (record, price) in [("B-00", 2), ("B-01", 1), ("B-38", 2), ("B-39", 3)] {
        let item = items.iter().find(|item| item.starts_with(record)).unwrap();
        assert!(item.ends_with(&format!(" {price}")), "{item}");
    }
}

/// A shop with many items, and a plan for all of them, run 3.
fn shop_with_batches(count: usize) -> Shop {
    let shop = Shop::open();
    let rows = |price: &str| {
        let rows = (0..count).map(|nth| format!("B-{nth:03},Part {nth},{price},EUR\n"));
        format!("SKU,Name,Price,Currency\n{}", rows.collect::<String>())
    };
    shop.place.write("old.csv", rows("1"));
    shop.sheetport(&["upload", "old.csv", "-t", "items", "-q"]).exits(0);
    shop.place.write("new.csv", rows("2"));
    shop.sheetport(&["plan", "new.csv", "-t", "items", "-o", "changes.csv", "-q"]).exits(0);
    shop
}

#[test]
fn each_batch_is_looked_at_right_before_it_is_sent() {
    // Three batches, of which the first is sent within 2.5 seconds.
    let shop = shop_with_batches(120);
    let running =
        shop.sheetport(&["apply", "changes.csv", "--json", "--rate", "20/s", "--concurrency", "1", "-q"]).start();
    let sent = || shop.items().iter().filter(|item| item.starts_with("B-") && item.ends_with(" 2")).count();
    until("sending has begun", || (sent() >= 3).then_some(()));
    shop.other_writes(&json!({"externalId": "B-115", "price": 3}));
    let ended = running.wait();
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let applied = summary(&ended);
    ended.says(&["1 record moved on"]);
    assert_eq!(accounting(&applied), "120: sent 119, skipped 1", "{applied}");
    assert!(shop.items().contains(&"B-115 Part 115 3".to_owned()));
}

#[test]
fn a_service_that_can_not_be_read_again_stops_an_apply() {
    let shop = Shop::planned("changes.csv");
    let url = shop.served.url();
    let Shop { place, served } = shop;
    let (access, refresh) = served.tokens();
    drop(served);
    let refused = place.sheetport(["apply", "changes.csv"]).env("SHEETPORT_BASE_URL", &url);
    let refused = refused.secret("SHEETPORT_ACCESS_TOKEN", &access).secret("SHEETPORT_REFRESH_TOKEN", &refresh).run();
    assert_eq!(refused.code, Some(9), "{refused:?}");
    refused.says(&["nothing was sent, because the service's records can't be compared with the plan again"]);
}

#[test]
fn a_file_saved_by_an_office_program_is_applied() {
    if !office::is_there() {
        return;
    }
    for (from, to) in [("changes.xlsx", XLSX), ("changes.csv", CSV)] {
        let shop = Shop::planned(from);
        let saved = office::save_again(&shop.place, &shop.place.path(from), to).join(from);
        let saved = saved.to_str().unwrap();
        assert_eq!(accounting(&shop.apply(&[saved], 3)), "7: sent 6, rejected 1", "{from}");
        assert_eq!(shop.items(), APPLIED, "{from}");
    }
}

#[test]
fn columns_and_rows_may_be_moved_and_values_retyped() {
    let shop = Shop::planned("changes.csv");
    let mut rows = table(&shop.place.path("changes.csv"));
    rows[1..].reverse();
    let german = |cell: &str| match cell.parse::<f64>() {
        Ok(_) => cell.replace('.', ","),
        Err(_) => cell.to_owned(),
    };
    let lines = rows.iter().enumerate().map(|(nth, row)| {
        let mut row: Vec<String> = row.iter().map(|cell| german(cell)).collect();
        row.rotate_left(3);
        row.insert(0, if nth == 0 { "Note".to_owned() } else { "ok?".to_owned() });
        row.join(";")
    });
    shop.place.write("changes.csv", lines.collect::<Vec<_>>().join("\r\n"));
    assert_eq!(accounting(&shop.apply(&["changes.csv"], 3)), "7: sent 6, rejected 1");
    assert_eq!(shop.items(), APPLIED);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_plan_saw_is_erased_and_pruned() {
    let shop = Shop::planned("changes.csv");
    let home = shop.place.path("home");
    let seen = async || {
        let ledger = Ledger::open(&home).await.unwrap();
        let seen = ledger.seen(2).await.unwrap().into_keys().collect::<Vec<_>>();
        ledger.close().await;
        seen
    };
    assert_eq!(seen().await, [0, 1, 2, 3, 4, 5]);
    shop.sheetport(&["runs", "erase", "--key", "A-4"]).exits(0);
    assert_eq!(seen().await, [0, 1, 2, 4, 5]);
    // What is left of the plan can be applied.
    assert_eq!(accounting(&shop.apply(&["changes.csv"], 3)), "7: sent 5, skipped 1, rejected 1");
    shop.sheetport(&["runs", "prune", "--older-than", "0d", "--force"]).exits(0);
    assert_eq!(seen().await, [0; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn altered_memory_of_a_plan_is_noticed() {
    let shop = Shop::planned("changes.csv");
    let options = SqliteConnectOptions::new().filename(shop.place.path("home/ledger.db"));
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    let altered = "UPDATE seen_block SET body = (SELECT bodies FROM record_block WHERE run = 2)";
    sqlx::query(altered).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    let before = shop.items();
    let ended = shop.sheetport(&["apply", "changes.csv"]).exits(1);
    ended.says(&["what the service had of its records from 0 on was altered"]);
    assert_eq!(shop.items(), before);
    let checked = shop.sheetport(&["runs", "check", "2"]).exits(1);
    assert!(format!("{checked:?}").contains("what the service had"), "{checked:?}");
}
