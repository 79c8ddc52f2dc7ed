//! A ledger with lost and altered rows: what of it is listed, checked, repaired and sent.

use serde_json::{Value, json};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

use super::process::Place;
use super::service::Served;
use super::unsent::{ledger_of, with_three_invoices};

const HEADER: &str = "SKU,Name,Price,Currency\n";
const REFUSED: &str = "eyJhbGciOiJIUzI1NiJ9.eyJ3b3Jrc3BhY2UiOiJzaG9wIn0.AAAA";

/// Changes the ledger behind the back of the program.
fn alter(place: &Place, sql: &'static str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(ledger_of(place));
        let mut connection = options.connect().await.unwrap();
        assert!(sqlx::query(sql).execute(&mut connection).await.unwrap().rows_affected() > 0, "{sql}");
    });
}

/// Uploads items, and stops run 1 before anything is accepted; run 2 is done.
fn two_runs() -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("a.csv", format!("{HEADER}A,Bolt,10,EUR\nB,Nut,20,EUR\n"));
    let upload = served.sheetport(&place, ["upload", "a.csv", "-t", "items"]);
    upload.without("SHEETPORT_REFRESH_TOKEN").secret("SHEETPORT_ACCESS_TOKEN", REFUSED).exits(5);
    place.write("b.csv", format!("{HEADER}C,Cog,12,EUR\n"));
    served.sheetport(&place, ["upload", "b.csv", "-t", "items"]).exits(0);
    (place, served)
}

fn json_of(served: &Served, place: &Place, args: &[&str], code: i32) -> Value {
    let args = args.iter().copied().chain(["--json"]);
    served.sheetport(place, args).exits(code).json()
}

#[test]
fn a_run_with_an_altered_address_is_listed_as_damaged_and_never_sent() {
    let (place, served) = two_runs();
    served.sheetport(&place, ["runs", "check"]).exits(0).shows(&["2 runs checked, no damage"]);
    alter(&place, "UPDATE run SET base_url = 'http://127.0.0.1:9' WHERE id = 1");
    let runs = json_of(&served, &place, &["runs"], 0);
    assert_eq!(runs["runs"][0]["state"], "done");
    assert_eq!((&runs["runs"][1]["run"], &runs["runs"][1]["state"]), (&json!(1), &json!("damaged")));
    served.sheetport(&place, ["runs"]).exits(0).shows(&["    1  damaged: its row was altered", "b.csv"]);
    let resumed = served.sheetport(&place, ["resume", "1"]).exits(1);
    resumed.says(&["run 1 is damaged in the ledger: its row was altered", "sheetport runs repair 1"]);
    let checked = json_of(&served, &place, &["runs", "check"], 1);
    assert_eq!((&checked["checked"], &checked["damaged"][0]["run"]), (&json!(2), &json!(1)), "{checked}");
    assert_eq!(checked["next"], "sheetport runs repair");
    let repaired = served.sheetport(&place, ["runs", "repair"]).exits(1);
    repaired.shows(&["run 1 stays damaged and is not sent any more", "the ledger as it was is in "]);
    let resumed = served.sheetport(&place, ["resume", "1"]).exits(1);
    resumed.says(&["run 1 is damaged in the ledger: its row was altered"]);
    assert_eq!(served.total(), 1);
    // The other run is as it was, and the file can be uploaded again.
    served.sheetport(&place, ["runs", "check", "2"]).exits(0);
    served.sheetport(&place, ["upload", "a.csv", "-t", "items"]).exits(0);
    assert_eq!(served.total(), 3);
}

#[test]
fn lost_totals_are_rebuilt_and_the_run_goes_on() {
    let (place, served) = two_runs();
    alter(&place, "UPDATE total SET outcomes = 7 WHERE run = 1");
    served.sheetport(&place, ["resume", "1"]).exits(1).says(&["its totals were altered"]);
    assert_eq!(served.total(), 1);
    let repaired = json_of(&served, &place, &["runs", "repair"], 0);
    assert_eq!((&repaired["runs"][0]["run"], &repaired["runs"][0]["damage"]), (&json!(1), &Value::Null), "{repaired}");
    assert!(std::path::Path::new(repaired["copy"].as_str().unwrap()).is_file());
    served.sheetport(&place, ["runs", "check"]).exits(0);
    served.sheetport(&place, ["resume", "1"]).exits(0);
    assert_eq!(served.total(), 3);
    let again = json_of(&served, &place, &["runs", "repair"], 0);
    assert_eq!((&again["copy"], &again["runs"]), (&Value::Null, &json!([])));
}

#[test]
fn altered_request_bodies_are_noticed_before_the_first_request() {
    let (place, served) = two_runs();
    alter(&place, "UPDATE record_block SET bodies = CAST(bodies || x'00' AS BLOB) WHERE run = 1");
    let resumed = served.sheetport(&place, ["resume", "1"]).exits(1);
    resumed.says(&["the request bodies of the records from 0 on were altered"]);
    served.sheetport(&place, ["runs", "repair"]).exits(1).shows(&["run 1 stays damaged", "upload its file again"]);
    assert_eq!(served.total(), 1);
}

#[test]
fn a_lost_outcome_of_an_invoice_becomes_unknown() {
    let requests = with_three_invoices(|place, upload, run| {
        run(upload, 0);
        alter(place, "DELETE FROM outcome WHERE run = 1 AND seq = 0");
        let resumed = run(&["resume", "1"], 1).json();
        assert!(resumed["error"]["message"].as_str().unwrap().contains("2 of its 3 outcomes are there"), "{resumed}");
        let repaired = run(&["runs", "repair"], 4).json();
        assert_eq!(repaired["runs"][0]["unknown"], 1, "{repaired}");
        let resumed = run(&["resume", "1"], 4).json();
        assert_eq!((&resumed["sent"], &resumed["unknown"]), (&json!(2), &json!(1)), "{resumed}");
        // The same file again: nothing is created twice.
        let again = run(upload, 3).json();
        assert_eq!((&again["sent"], &again["unchanged"], &again["rejected"]), (&json!(0), &json!(2), &json!(1)));
    });
    assert_eq!(requests, 3);
}

#[test]
fn sent_requests_are_recognized_beside_an_altered_outcome() {
    let requests = with_three_invoices(|place, upload, run| {
        run(upload, 0);
        alter(place, "DELETE FROM claim");
        alter(place, "UPDATE outcome SET http_status = 201 WHERE seq = 1");
        run(&["runs", "repair"], 4);
        place.write("copy.csv", std::fs::read(place.path("i.csv")).unwrap());
        let again = run(&["upload", "copy.csv", "-t", "t.toml"], 3).json();
        assert_eq!(again["sent"], 0, "{again}");
    });
    assert_eq!(requests, 3);
}

#[test]
fn the_report_of_a_damaged_run_is_not_uploaded_as_a_new_file() {
    let (place, served) = two_runs();
    served.sheetport(&place, ["report", "1", "-o", "r.csv"]).exits(0);
    alter(&place, "UPDATE run SET base_url = 'http://127.0.0.1:9' WHERE id = 1");
    let uploaded = served.sheetport(&place, ["upload", "r.csv", "-t", "items"]).exits(1);
    uploaded.says(&["run 1 is damaged in the ledger"]);
    assert_eq!(served.total(), 1);
}
