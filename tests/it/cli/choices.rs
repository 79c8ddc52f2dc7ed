//! Flags of `upload`: --dry-run, --rehearse, --changed-only, --rows and others.

use serde_json::Value;

use super::process::Place;
use super::service::Served;
use super::{accounting, items, summary};

const INVOICE: &str = "\
record = \"invoice\"
[fields.cid]
column = \"SKU\"
[lines.id]
column = \"Name\"
[lines.amount]
column = \"Price\"
";

const UPLOAD: [&str; 5] = ["upload", "items.csv", "-t", "items", "--json"];

#[test]
fn dry_run_shows_the_first_requests_and_sends_nothing() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(9));
    let shown = served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--dry-run", "--rows", "3-9"]).exits(0);
    shown.shows(&["POST /v1/public/items", r#"{"externalId":"00002","name":"Item 2","#, "7  pending", "2  skipped"]);
    assert_eq!(served.total(), 0);
    place.sheetport(["runs"]).exits(0).shows(&["no runs yet"]);
}

#[test]
fn rehearsal_reports_like_an_upload_and_keeps_nothing() {
    let place = Place::new();
    place.write("items.csv", format!("{}00001,again,1,EUR\n", items(50)));
    // Neither an address nor tokens are needed.
    let rehearsed = place.sheetport(UPLOAD).arg("--rehearse").exits(3);
    let rehearsed = summary(&rehearsed);
    assert_eq!(accounting(&rehearsed), "51: sent 49, rejected 2");
    assert!(rehearsed["run"].is_null() && rehearsed["report"].is_null(), "{rehearsed}");
    assert_eq!(rehearsed["next"], "sheetport upload items.csv -t items");
    assert_eq!(place.names(), ["items.csv"]);
    let rehearsed = place.sheetport(UPLOAD).args(["--rehearse", "--report", "r.csv"]).exits(3);
    assert!(summary(&rehearsed)["report"].is_string());
    assert_eq!(place.names(), ["items.csv", "r.csv"]);
}

#[test]
fn unchanged_records_are_skipped_and_counted() {
    let place = Place::new();
    let served = Served::start(&place);
    let upload = |content: String, more: &[&str], code| {
        place.write("items.csv", content);
        accounting(&summary(&served.sheetport(&place, UPLOAD).args(more).exits(code)))
    };
    let only = &["--changed-only"][..];
    assert_eq!(upload(items(20), &[], 0), "20: sent 20");
    assert_eq!(upload(items(22), only, 0), "22: sent 2, unchanged 20");
    let other = items(22).replace("Item 7,", "Item seven,");
    assert_eq!(upload(other.clone(), only, 0), "22: sent 1, unchanged 21");
    assert_eq!(upload(other.clone(), only, 0), "22: unchanged 22");
    // An upload that does not ask changes what the service has, too.
    assert_eq!(upload(items(22), &[], 0), "22: sent 22");
    assert_eq!(upload(other, only, 0), "22: sent 1, unchanged 21");
    // What two rows say of one item is wrong, whether or not one of them is as before.
    assert_eq!(upload(format!("{}00001,again,1,EUR\n", items(3)), only, 3), "4: unchanged 2, rejected 2");
    // The memory outlives the runs that it came from.
    place.sheetport(["runs", "prune", "--older-than", "0h"]).exits(0).shows(&["7 runs"]);
    let other = items(22).replace("Item 7,", "Item seven,");
    assert_eq!(upload(other, only, 0), "22: unchanged 22");
}

#[test]
fn flags_for_other_records_are_refused() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(2));
    let upload = |flag: &str| served.sheetport(&place, UPLOAD).arg(flag).exits(2);
    upload("--create-missing-items").says(&["--create-missing-items is for orders", "items"]);
    upload("--trigger-workflows").says(&["is for orders"]);
    place.write("invoice.toml", INVOICE);
    let args = ["upload", "items.csv", "-t", "invoice.toml", "--changed-only"];
    served.sheetport(&place, args).exits(2).says(&["--changed-only is not possible for invoices"]);
    assert_eq!(served.total(), 0);
}

#[test]
fn json_log_has_no_secrets() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(3));
    let log = served.sheetport(&place, UPLOAD).args(["-vv", "--log-format", "json", "--no-progress"]).exits(0).stderr;
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests: Vec<_> = lines.iter().filter(|line| line["message"] == "request").collect();
    assert_eq!(requests.len(), 3, "{log}");
    assert!(requests.iter().all(|line| line["path"] == "/v1/public/items" && line["outcome"] == "200"), "{log}");
    assert!(!log.contains("Item 1") && !log.contains("Bearer"), "{log}");
}

#[test]
fn duration_is_estimated_before_sending() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(5));
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--rate", "3000/min"]);
    upload.exits(0).says(&["5 records at 3000/min: about 1 s"]);
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--rate", "auto"]);
    upload.exits(0).says(&["measured while sending"]);
}
