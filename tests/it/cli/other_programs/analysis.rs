//! The SQL and Python of docs/analysis.md run over real exports, and DuckDB, SQLite, pandas and polars read the same values in them.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::lists::Lists;
use super::super::process::Place;
use super::programs::{FOLDER, SCRIPTS, succeed};
use crate::environment;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/analysis.md");
const RECORDS: u32 = 2_000;

#[derive(Debug, Deserialize)]
struct Analysed {
    /// The sections whose code has run.
    ran: Vec<String>,
    /// Number of rows, sum of the prices, first id and latest time, by program.
    read: BTreeMap<String, Value>,
    types: BTreeMap<String, String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_of_analysts_read_the_same_values() {
    let python = format!("{FOLDER}/python/bin/python");
    if !fs::exists(&python).unwrap() {
        return environment::report_missing("target/programs/python");
    }
    let place = Place::new();
    let lists = Lists::start().await;
    let record = |number: u32| {
        // Cents up to 10,000, and every seventh without one.
        let price = match number % 7 {
            0 => Value::Null,
            _ => json!(f64::from(number * 37 % 1_000_000) / 100.0),
        };
        let (hour, minute) = (number / 60 % 24, number % 60);
        let at = format!("2026-11-{:02}T{hour:02}:{minute:02}:00Z", 1 + number / 1_440);
        json!({"id": format!("{number:06}"), "name": format!("Item {number}"), "price": price, "stock": number, "status": "active", "updated_at": at, "is_new": number.is_multiple_of(2)})
            .to_string()
    };
    lists.set("items", (1..=RECORDS).map(record));
    lists.set("orders", [r#"{"id":"o1","status":"open"}"#]);
    for words in
        ["items orders -o records.db", "items -o items.parquet", "items -o out/items/date={date}/items.parquet"]
    {
        lists.sheetport(&place, ["export"].into_iter().chain(words.split(' ')).chain(["-q"])).exits(0);
    }
    let output =
        succeed(Command::new(python).arg(format!("{SCRIPTS}/analysis.py")).arg(PAGE).current_dir(place.path("")));
    let analysed: Analysed = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(analysed.ran, ["DuckDB", "DuckDB", "SQLite", "pandas"]);
    let cents: u64 =
        (1..=RECORDS).filter(|number| number % 7 != 0).map(|number| u64::from(number * 37 % 1_000_000)).sum();
    let latest = format!("2026-11-{:02} {:02}:{:02}:00", 1 + RECORDS / 1_440, RECORDS / 60 % 24, RECORDS % 60);
    for (program, read) in &analysed.read {
        let sum = read[1].as_f64().unwrap();
        assert!((sum - cents as f64 / 100.0).abs() < 0.001, "{program}: {sum}");
        assert_eq!((&read[0], &read[2], &read[3]), (&json!(RECORDS), &json!("000001"), &json!(latest)), "{program}");
    }
    assert_eq!(analysed.read.len(), 5);
    let types = [
        ("id", "VARCHAR"),
        ("price", "DECIMAL(18,2)"),
        ("stock", "BIGINT"),
        ("updated_at", "TIMESTAMP WITH TIME ZONE"),
        ("is_new", "BOOLEAN"),
    ];
    for (column, kind) in types {
        assert_eq!(analysed.types[column], kind, "{column}");
    }
}
