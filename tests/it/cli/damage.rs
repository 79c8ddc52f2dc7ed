//! A ledger with lost and altered rows and pages: what of it is listed, checked, reported and sent.

use std::fs;

use serde_json::{Value, json};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

use super::process::Place;
use super::service::Served;
use super::unsent::{ledger_of, with_three_invoices};

const HEADER: &str = "SKU,Name,Price,Currency\n";
const REFUSED: &str = "eyJhbGciOiJIUzI1NiJ9.eyJ3b3Jrc3BhY2UiOiJzaG9wIn0.AAAA";

/// Changes rows of the ledger behind the back of the program.
fn alter(place: &Place, sql: &'static str) {
    assert!(execute(place, sql) > 0, "{sql}");
}

/// Executes a statement, and returns the number of changed rows.
fn execute(place: &Place, sql: &'static str) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(ledger_of(place));
        let mut connection = options.connect().await.unwrap();
        sqlx::query(sql).execute(&mut connection).await.unwrap().rows_affected()
    })
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
    resumed.says(&["run 1 is damaged in the ledger: its row was altered", "sheetport runs check 1", "SHEETPORT_HOME"]);
    let checked = json_of(&served, &place, &["runs", "check"], 1);
    assert_eq!((&checked["checked"], &checked["damaged"][0]["run"]), (&json!(2), &json!(1)), "{checked}");
    assert!(checked["remedy"].as_str().unwrap().contains("sheetport runs backup"), "{checked}");
    assert_eq!(served.total(), 1);
    // The other run is as it was, and the file can be uploaded again.
    served.sheetport(&place, ["runs", "check", "2"]).exits(0);
    served.sheetport(&place, ["report", "2", "-o", "b-report.csv"]).exits(0);
    served.sheetport(&place, ["upload", "a.csv", "-t", "items"]).exits(0);
    assert_eq!(served.total(), 3);
}

#[test]
fn altered_totals_and_request_bodies_are_noticed_before_the_first_request() {
    for (sql, damage) in [
        ("UPDATE total SET outcomes = 7 WHERE run = 1", "its totals were altered"),
        (
            "UPDATE record_block SET bodies = CAST(bodies || x'00' AS BLOB) WHERE run = 1",
            "the request bodies of the records from 0 on were altered",
        ),
    ] {
        let (place, served) = two_runs();
        alter(&place, sql);
        served.sheetport(&place, ["resume", "1"]).exits(1).says(&[damage]);
        served.sheetport(&place, ["runs", "check", "1"]).exits(1).shows(&["run 1 is damaged", damage, "to go on"]);
        assert_eq!(served.total(), 1);
    }
}

#[test]
fn a_run_with_a_lost_outcome_of_an_invoice_is_not_resumed() {
    let requests = with_three_invoices(|place, upload, run| {
        run(upload, 0);
        alter(place, "DELETE FROM outcome WHERE run = 1 AND seq = 0");
        let resumed = run(&["resume", "1"], 1).json();
        assert!(resumed["error"]["message"].as_str().unwrap().contains("2 of its 3 outcomes are there"), "{resumed}");
        let checked = run(&["runs", "check"], 1).json();
        assert_eq!(checked["damaged"][0]["damage"], json!(["2 of its 3 outcomes are there"]), "{checked}");
        // Nor is the invoice sent by another upload, of which the lost outcome would say that it is the same.
        let again = run(upload, 1).json();
        assert!(again["error"]["message"].as_str().unwrap().contains("2 of its 3 outcomes are there"), "{again}");
    });
    assert_eq!(requests, 3);
}

/// Overwrites the tail of each page of a table with other bytes, as a failing disk does.
fn overwrite(place: &Place, table: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (page, size) = runtime.block_on(async {
        let mut connection = SqliteConnectOptions::new().filename(ledger_of(place)).connect().await.unwrap();
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(&mut connection).await.unwrap();
        let page: i64 = sqlx::query_scalar("SELECT rootpage FROM sqlite_master WHERE name = $1")
            .bind(table)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        let size: i64 = sqlx::query_scalar("PRAGMA page_size").fetch_one(&mut connection).await.unwrap();
        (usize::try_from(page).unwrap(), usize::try_from(size).unwrap())
    });
    let mut bytes = fs::read(ledger_of(place)).unwrap();
    bytes[(page - 1) * size..page * size].fill(0xAB);
    fs::write(ledger_of(place), bytes).unwrap();
}

#[test]
fn of_a_ledger_with_an_overwritten_page_runs_are_listed_and_reported_and_nothing_is_sent() {
    let (place, served) = two_runs();
    overwrite(&place, "claim");
    served.sheetport(&place, ["runs"]).exits(0).shows(&["a.csv", "b.csv"]);
    served.sheetport(&place, ["report", "2", "-o", "b-report.csv"]).exits(0);
    let checked = served.sheetport(&place, ["runs", "check"]).exits(1);
    checked.shows(&["the file is damaged", "to go on: restore a backup"]);
    place.write("c.csv", format!("{HEADER}D,Cap,14,EUR\n"));
    for args in [&["upload", "c.csv", "-t", "items"][..], &["resume", "1"]] {
        let refused = served.sheetport(&place, args.iter().copied()).exits(1);
        refused.says(&[
            "damaged",
            "sheetport runs check",
            "sheetport report",
            "sheetport runs backup",
            "SHEETPORT_HOME",
        ]);
    }
    served.sheetport(&place, ["runs", "backup", "copy.db"]).exits(1).says(&["damaged"]);
    assert_eq!(served.total(), 1);
    // A new folder goes on.
    let home = place.path("other-home");
    let upload = served.sheetport(&place, ["upload", "c.csv", "-t", "items"]);
    upload.env("SHEETPORT_HOME", home.to_str().unwrap()).exits(0);
    assert_eq!(served.total(), 2);
}

#[test]
fn a_ledger_with_an_altered_table_is_only_read() {
    let (place, served) = two_runs();
    alter(&place, "INSERT INTO total SELECT 99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0");
    execute(&place, "CREATE INDEX other ON outcome (at)");
    served.sheetport(&place, ["runs"]).exits(0).shows(&["a.csv", "b.csv"]);
    served.sheetport(&place, ["runs", "show", "2"]).exits(0).shows(&["b.csv"]);
    served.sheetport(&place, ["report", "2", "-o", "b-report.csv"]).exits(0);
    let checked = served.sheetport(&place, ["runs", "check"]).exits(1);
    checked.shows(&["the definition of a table was altered", "run 99 has rows in total", "2 runs checked", "to go on"]);
    served.sheetport(&place, ["upload", "a.csv", "-t", "items"]).exits(1).says(&["sheetport report", "SHEETPORT_HOME"]);
    assert_eq!(served.total(), 1);
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
