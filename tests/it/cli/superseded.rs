//! An old run does not overwrite what a newer run has sent, unless this is wanted.

use serde_json::Value;

use super::process::Place;
use super::service::Served;
use super::{accounting, column, count, summary, table};

/// A token of the workspace that the service refuses, so that a run stops with all of its records pending.
pub(super) const REFUSED: &str = "eyJhbGciOiJIUzI1NiJ9.eyJ3b3Jrc3BhY2UiOiJzaG9wIn0.AAAA";
const HEADER: &str = "SKU,Name,Price,Currency\n";

struct Shop {
    place: Place,
    served: Served,
}

impl Shop {
    fn open() -> Shop {
        let place = Place::new();
        let served = Served::start(&place);
        Shop { place, served }
    }

    /// Plans an upload of items, and stops it before anything is accepted.
    fn stopped(&self, file: &str, rows: &str) {
        self.place.write(file, format!("{HEADER}{rows}"));
        let upload = self.served.sheetport(&self.place, ["upload", file, "-t", "items"]);
        upload.without("SHEETPORT_REFRESH_TOKEN").secret("SHEETPORT_ACCESS_TOKEN", REFUSED).exits(5);
    }

    fn upload(&self, file: &str, rows: &str, code: i32) -> Value {
        self.place.write(file, format!("{HEADER}{rows}"));
        self.run(&["upload", file, "-t", "items", "--json"], code)
    }

    fn run(&self, args: &[&str], code: i32) -> Value {
        summary(&self.served.sheetport(&self.place, args.iter().copied()).exits(code))
    }

    /// The price of each item in the service, by identifier.
    fn prices(&self) -> String {
        let items = self.served.get("/v1/public/items?page=1&limit=100");
        let of = |item: &Value| format!("{}={}", item["external_id"].as_str().unwrap(), item["price"]);
        let mut prices: Vec<String> = items["data"].as_array().unwrap().iter().map(of).collect();
        prices.sort();
        prices.join(" ")
    }
}

#[test]
fn resume_leaves_out_what_a_newer_run_has_sent() {
    let shop = Shop::open();
    shop.stopped("a.csv", "A,Bolt,10,EUR\nB,Nut,20,EUR\n");
    shop.upload("b.csv", "A,Bolt,12,EUR\n", 0);
    let resumed = shop.served.sheetport(&shop.place, ["resume", "1"]).exits(0);
    resumed.says(&["1 item superseded: sent by the newer run 2 on ", "sheetport retry 1 --overwrite-newer"]);
    assert_eq!(shop.prices(), "A=12 B=20");
    shop.served.sheetport(&shop.place, ["report", "1", "-o", "report-1.csv"]).exits(0);
    let report = table(&shop.place.path("report-1.csv"));
    assert_eq!(column(&report, "sheetport_status"), ["skipped", "sent"]);
    assert!(column(&report, "sheetport_errors")[0].contains("'A' was sent by the newer run 2 on "), "{report:?}");
    // Wanted all the same.
    let retried = shop.run(&["retry", "1", "--overwrite-newer", "--json"], 0);
    assert_eq!(accounting(&retried), "1: sent 1");
    assert_eq!(shop.prices(), "A=10 B=20");
}

#[test]
fn resume_with_overwrite_newer_sends_everything() {
    let shop = Shop::open();
    shop.stopped("a.csv", "A,Bolt,10,EUR\n");
    shop.upload("b.csv", "A,Bolt,12,EUR\n", 0);
    let resumed = shop.run(&["resume", "1", "--overwrite-newer", "--json"], 0);
    assert_eq!((accounting(&resumed), shop.prices()), ("1: sent 1".to_owned(), "A=10".to_owned()));
    assert!(resumed.get("superseded").is_none());
}

#[test]
fn the_summary_names_the_newer_run() {
    let shop = Shop::open();
    shop.stopped("a.csv", "A,Bolt,10,EUR\nB,Nut,20,EUR\nC,Washer,30,EUR\n");
    shop.upload("b.csv", "C,Washer,32,EUR\n", 0);
    shop.upload("c.csv", "A,Bolt,12,EUR\n", 0);
    shop.upload("d.csv", "A,Bolt,13,EUR\n", 0);
    let resumed = shop.run(&["resume", "1", "--json"], 0);
    assert_eq!(accounting(&resumed), "3: sent 1, skipped 2");
    let by = resumed["superseded"].as_array().unwrap();
    let by: Vec<_> = by.iter().map(|by| (count(by, "run"), count(by, "records"), by["rows"].to_string())).collect();
    assert_eq!(by, [(2, 1, "[4]".to_owned()), (4, 1, "[2]".to_owned())]);
    assert_eq!(shop.prices(), "A=13 B=20 C=32");
    let shown = shop.served.sheetport(&shop.place, ["runs", "show", "1", "--json"]).exits(0).json();
    assert_eq!((count(&shown, "skipped"), count(&shown, "sent"), count(&shown, "pending")), (2, 1, 0));
}

/// What counts is which upload is newer, not which was sent last.
#[test]
fn the_newer_upload_is_sent_after_the_older_one() {
    let shop = Shop::open();
    shop.stopped("a.csv", "A,Bolt,10,EUR\n");
    shop.stopped("b.csv", "A,Bolt,12,EUR\n");
    // The service has refused everything of the newer run.
    assert_eq!(accounting(&shop.run(&["resume", "1", "--json"], 0)), "1: sent 1");
    assert_eq!(accounting(&shop.run(&["resume", "2", "--json"], 0)), "1: sent 1");
    assert_eq!(shop.prices(), "A=12");
}

#[test]
fn a_newer_run_that_changed_nothing_counts_as_sent() {
    let shop = Shop::open();
    shop.upload("a.csv", "A,Bolt,12,EUR\n", 0);
    shop.stopped("b.csv", "A,Bolt,10,EUR\n");
    shop.place.write("c.csv", format!("{HEADER}A,Bolt,12,EUR\n"));
    let unchanged = shop.run(&["upload", "c.csv", "-t", "items", "--changed-only", "--json"], 0);
    assert_eq!(accounting(&unchanged), "1: unchanged 1");
    assert_eq!(accounting(&shop.run(&["resume", "2", "--json"], 0)), "1: skipped 1");
    assert_eq!(shop.prices(), "A=12");
}

#[test]
fn a_pruned_newer_run_is_remembered() {
    let shop = Shop::open();
    shop.stopped("a.csv", "A,Bolt,10,EUR\nB,Nut,20,EUR\n");
    shop.upload("b.csv", "A,Bolt,12,EUR\n", 0);
    shop.upload("c.csv", "Z,Zip,1,EUR\n", 0);
    let pruned = shop.served.sheetport(&shop.place, ["runs", "prune", "--older-than", "0h", "--json"]).exits(0).json();
    assert_eq!(pruned["removed"], serde_json::json!([3, 2]), "{pruned}");
    let resumed = shop.run(&["resume", "1", "--json"], 0);
    assert_eq!(accounting(&resumed), "2: sent 1, skipped 1");
    assert_eq!(shop.prices(), "A=12 B=20 Z=1");
}

#[test]
fn a_corrected_report_does_not_overwrite_newer_values() {
    let shop = Shop::open();
    shop.place.write("a.csv", format!("{HEADER}A,Bolt,ten,EUR\nB,Nut,twenty,EUR\n"));
    let upload = ["upload", "a.csv", "-t", "items", "--json", "--report", "r.csv"];
    assert_eq!(accounting(&shop.run(&upload, 3)), "2: rejected 2");
    shop.upload("b.csv", "A,Bolt,12,EUR\n", 0);
    let report = std::fs::read_to_string(shop.place.path("r.csv")).unwrap();
    shop.place.write("r.csv", report.replacen(",ten,", ",10,", 1).replacen(",twenty,", ",20,", 1));
    for (flag, sent, prices) in [
        ("-q", "2: sent 1, skipped 1", "A=12 B=20"),
        // The row was not sent, and stays open.
        ("-q", "2: unchanged 1, skipped 1", "A=12 B=20"),
        ("--overwrite-newer", "2: sent 1, unchanged 1", "A=10 B=20"),
        ("-q", "2: unchanged 2", "A=10 B=20"),
    ] {
        assert_eq!(accounting(&shop.run(&["retry", "r.csv", "--json", flag], 0)), sent);
        assert_eq!(shop.prices(), prices);
    }
}

#[test]
fn refused_records_are_not_retried_over_newer_ones() {
    let shop = Shop::open();
    // The service refuses long texts in this field.
    let rows = |rows: &str| format!("SKU,Name,Price,Status\n{rows}").replace("long", &"long ".repeat(20));
    shop.place.write("a.csv", rows("A,Bolt,10,long\nB,Nut,20,long\n"));
    assert_eq!(accounting(&shop.run(&["upload", "a.csv", "-t", "items", "--json"], 3)), "2: failed 2");
    shop.place.write("b.csv", rows("A,Bolt,12,active\n"));
    assert_eq!(accounting(&shop.run(&["upload", "b.csv", "-t", "items", "--json"], 0)), "1: sent 1");
    let retried = shop.run(&["retry", "1", "--json"], 3);
    assert_eq!(accounting(&retried), "2: skipped 1, failed 1");
    assert_eq!(retried["superseded"][0]["run"], 2);
    let retried = shop.run(&["retry", "3", "--overwrite-newer", "--json"], 3);
    assert_eq!((accounting(&retried), shop.prices()), ("2: failed 2".to_owned(), "A=12".to_owned()));
}

/// The service takes five seconds for some requests of the older upload, and would apply them after those of the newer one.
#[test]
fn a_slow_request_of_an_older_upload_does_not_overtake_a_newer_one() {
    let place = Place::new();
    let served = Served::start_with(&place, 0, &["--fail", "slow:0.3", "--seed", "7"]);
    let shop = Shop { place, served };
    let rows = |price: usize| (0..24).map(|number| format!("I-{number},Item,{price},EUR\n")).collect::<String>();
    shop.place.write("old.csv", format!("{HEADER}{}", rows(10)));
    shop.place.write("new.csv", format!("{HEADER}{}", rows(12)));
    let start = |file| {
        let args = ["upload", file, "-t", "items", "--json", "--concurrency", "8", "--rate", "1000/s"];
        shop.served.sheetport(&shop.place, args).start()
    };
    let old = start("old.csv");
    super::process::until("the first items", || (shop.served.total() > 2).then_some(()));
    let newer = start("new.csv").wait().exits(0);
    assert_eq!(accounting(&summary(&newer)), "24: sent 24");
    let old = summary(&old.wait().exits(0));
    assert_eq!(count(&old, "sent") + count(&old, "skipped"), 24);
    assert!(shop.prices().split(' ').all(|price| price.ends_with("=12")), "{}", shop.prices());
}

/// A newer upload begins while an older one is being sent, slowly.
#[test]
fn an_upload_stops_sending_what_a_newer_one_sends_at_the_same_time() {
    let shop = Shop::open();
    let rows = |price: usize| (0..60).map(|number| format!("I-{number},Item,{price},EUR\n")).collect::<String>();
    shop.place.write("old.csv", format!("{HEADER}{}", rows(10)));
    let args = ["upload", "old.csv", "-t", "items", "--json", "--rate", "20/s"];
    let old = shop.served.sheetport(&shop.place, args).start();
    super::process::until("the first items", || (shop.served.total() > 2).then_some(()));
    let newer = shop.upload("new.csv", &rows(12), 0);
    assert_eq!(accounting(&newer), "60: sent 60");
    let old = summary(&old.wait().exits(0));
    assert!(count(&old, "skipped") > 10, "{old}");
    assert_eq!(count(&old, "sent") + count(&old, "skipped"), 60);
    assert_eq!(count(&old["superseded"][0], "records"), count(&old, "skipped"));
    assert!(shop.prices().split(' ').all(|price| price.ends_with("=12")), "{}", shop.prices());
}

#[test]
fn a_newer_request_that_the_service_failed_to_answer_counts() {
    let place = Place::new();
    let fault = "[[fault]]\nmethod = \"POST\"\npath = \"/v1/public/items\"\nkey = \"A\"\ncall = \"1..5\"\n";
    let lost = "[[fault]]\nmethod = \"POST\"\npath = \"/v1/public/items\"\nkey = \"B\"\ncall = \"1..5\"\nending = \"reset\"\nwhen = \"before\"\n";
    let failed = "when = \"after\"\nanswer = { status = 500, message = \"oops\" }\n";
    place.write("faults.toml", format!("{fault}{failed}{lost}"));
    let served = Served::start_with(&place, 0, &["--plan", "faults.toml"]);
    let shop = Shop { place, served };
    shop.place.write("old.csv", format!("{HEADER}A,Bolt,10,EUR\nB,Nut,10,EUR\n"));
    shop.served.sheetport(&shop.place, ["plan", "old.csv", "-t", "items", "-q"]).exits(0);
    shop.place.write("new.csv", format!("{HEADER}A,Bolt,12,EUR\nB,Nut,12,EUR\n"));
    shop.served.sheetport(&shop.place, ["upload", "new.csv", "-t", "items", "-q"]).run();
    assert_eq!(shop.prices(), "A=12");
    shop.run(&["resume", "1", "--json"], 0);
    assert!(shop.prices().contains("A=12"), "{}", shop.prices());
}

/// A range of the plan is declared before it is sent, and has the records that were not approved, too.
#[test]
fn what_a_newer_run_has_left_out_does_not_count_as_sent() {
    let shop = Shop::open();
    shop.upload("old.csv", "A,Bolt,9,EUR\nB,Nut,9,EUR\nC,Pin,9,EUR\n", 0);
    shop.stopped("a.csv", "A,Bolt,10,EUR\nB,Nut,10,EUR\nC,Pin,10,EUR\n");
    shop.place.write("b.csv", format!("{HEADER}A,Bolt,12,EUR\nB,Nut,12,EUR\nC,Pin,12,EUR\n"));
    shop.served.sheetport(&shop.place, ["plan", "b.csv", "-t", "items", "-o", "b.changes.csv", "-q"]).exits(0);
    let changes = std::fs::read_to_string(shop.place.path("b.changes.csv")).unwrap();
    let kept: Vec<&str> = changes.lines().filter(|line| !line.contains("Nut") && !line.contains(",B,")).collect();
    assert_eq!(kept.len() + 1, changes.lines().count(), "{changes}");
    shop.place.write("b.changes.csv", kept.join("\n") + "\n");
    assert_eq!(accounting(&shop.run(&["apply", "b.changes.csv", "--json"], 0)), "3: sent 2, skipped 1");
    let resumed = shop.run(&["resume", "2", "--json"], 0);
    assert_eq!((count(&resumed["superseded"][0], "records"), shop.prices()), (2, "A=12 B=10 C=12".to_owned()));
}

/// Nor do the rows of an undo that stay as they are.
#[test]
fn what_an_undo_has_left_does_not_count_as_sent() {
    let shop = Shop::open();
    shop.upload("old.csv", "A,Bolt,9,EUR\nB,Nut,9,EUR\nC,Pin,9,EUR\n", 0);
    shop.place.write("a.csv", format!("{HEADER}A,Bolt,10,EUR\nB,Nut,10,EUR\nC,Pin,10,EUR\n"));
    shop.run(&["upload", "a.csv", "-t", "items", "--undoable", "--json"], 0);
    shop.stopped("b.csv", "A,Bolt,11,EUR\nB,Nut,11,EUR\nC,Pin,11,EUR\n");
    shop.served.post("/v1/public/items", r#"{"externalId":"B","price":10.5}"#);
    let undone = shop.served.sheetport(&shop.place, ["undo", "2", "--yes", "--json"]).exits(3).json();
    assert_eq!((count(&undone, "sent"), shop.prices()), (2, "A=9 B=10.5 C=9".to_owned()), "{undone}");
    let resumed = shop.run(&["resume", "3", "--json"], 0);
    assert_eq!((count(&resumed["superseded"][0], "records"), shop.prices()), (2, "A=9 B=11 C=9".to_owned()));
}
