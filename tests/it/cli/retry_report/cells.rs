//! Reports of sheets whose cells are records of their own: only cells that were not accepted are sent again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::super::process::Place;
use super::super::{accounting, summary};
use super::workbooks::{open, save};
use super::{Sheet, run, said};
use crate::faults::server::{Reply, Server, answer};

const STOCK: &str = r#"record = "inventory-transaction"
[unpivot]
matches = "^[A-Z]+$"
header_as = "Size"
value_as = "Stock"
[fields.transactionType]
value = "adjust"
[fields.inventoryExternalId]
columns = ["Sku", "Size"]
join = "-"
[fields.amount]
column = "Stock"
"#;
const SHEET: &str = "Sku,S,M,L\nA,1,2,3\nB,many,5,\nC,7,,8\nD,,,\n";

/// Starts a server that refuses A-M at first and breaks the connection under A-L. Counts what it accepts.
async fn server() -> (Server, Arc<Mutex<BTreeMap<String, usize>>>) {
    let accepted: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let taken = Arc::clone(&accepted);
    let server = Server::start(move |seen| {
        let name = [said(seen, "inventoryExternalId"), said(seen, "externalId")].concat();
        match (name.as_str(), seen.repeat) {
            ("A-M", 0) => return answer(422, "", r#"{"message": "not now"}"#),
            ("A-L", 0) => return Reply::Reset,
            _ => {}
        }
        *taken.lock().unwrap().entry(name).or_default() += 1;
        Reply::Accept
    })
    .await;
    (server, accepted)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cell_is_created_once_however_its_row_comes_back() {
    for file in ["r.csv", "r.xlsx"] {
        let place = Place::new();
        place.write("t.toml", STOCK);
        place.write("stock.csv", SHEET);
        let (server, accepted) = server().await;
        let upload = ["upload", "stock.csv", "-t", "t.toml", "--json", "--report", file];
        let ended = run(&place, &server, &upload, 4).await;
        assert_eq!(accounting(&summary(&ended)), "8: sent 4, skipped 1, rejected 1, failed 1, unknown 1");
        let mut report = if file == "r.csv" { Sheet::open(&place, file) } else { open(&place, file) };
        assert_eq!(report.column("sheetport_status"), ["unknown", "rejected", "sent", "skipped"], "{report:?}");

        // A corrected cell, and two that were blank.
        report.set(3, "S", "4").set(4, "M", "9").set(5, "L", "6").sort_by("sheetport_status");
        let mended = if file == "r.csv" { "mended.csv" } else { "mended.xlsx" };
        match file {
            "r.csv" => report.save(&place, mended),
            _ => save(&place, mended, &[("sheet", &report)]),
        }
        let requests = server.log().len();
        let ended = run(&place, &server, &["retry", mended, "--json", "--report", "second.csv"], 3).await;
        assert_eq!(accounting(&summary(&ended)), "9: sent 4, unchanged 4, rejected 1");
        assert_eq!(server.log().len(), requests + 4);
        let second = Sheet::open(&place, "second.csv");
        let doubtful: Vec<&str> =
            second.column("sheetport_errors").into_iter().filter(|text| !text.is_empty()).collect();
        assert!(matches!(doubtful[..], [text] if text.contains("sheetport resolve 1")), "{second:?}");

        run(&place, &server, &["resolve", "1", "--all-failed"], 0).await;
        let ended = run(&place, &server, &["retry", "second.csv", "--json"], 0).await;
        assert_eq!(accounting(&summary(&ended)), "9: sent 1, unchanged 8");
        let ended = run(&place, &server, &["retry", "second.csv", "--json"], 0).await;
        assert_eq!(accounting(&summary(&ended)), "9: unchanged 9");
        // What was blank in the first report is new in it, and the same as what was sent since.
        let ended = run(&place, &server, &["retry", mended, "--json"], 3).await;
        assert_eq!(accounting(&summary(&ended)), "9: unchanged 7, rejected 2");
        let accepted = accepted.lock().unwrap();
        assert!(accepted.len() == 9 && accepted.values().all(|times| *times == 1), "{accepted:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_of_a_renamed_column_are_not_sent() {
    let place = Place::new();
    place.write("t.toml", STOCK);
    place.write("stock.csv", "Sku,S,M\nA,1,2\n");
    let (server, accepted) = server().await;
    run(&place, &server, &["upload", "stock.csv", "-t", "t.toml", "--report", "r.csv"], 3).await;
    let mut report = Sheet::open(&place, "r.csv");
    report.replace("S", "XS").save(&place, "mended.csv");
    let ended = run(&place, &server, &["retry", "mended.csv", "--json"], 3).await;
    assert_eq!(accounting(&summary(&ended)), "2: sent 1, rejected 1");
    let ended = run(&place, &server, &["retry", "mended.csv"], 3).await;
    ended.shows(&["is no column of run 1"]);
    assert_eq!(accepted.lock().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_of_a_run_sends_its_failed_cells() {
    let place = Place::new();
    let items = STOCK
        .replace("inventory-transaction", "item")
        .replace("[fields.transactionType]\nvalue = \"adjust\"\n", "")
        .replace("inventoryExternalId", "externalId")
        .replace("amount", "price");
    place.write("t.toml", items);
    place.write("prices.csv", SHEET);
    let (server, accepted) = server().await;
    let ended = run(&place, &server, &["upload", "prices.csv", "-t", "t.toml", "--json"], 3).await;
    assert_eq!(accounting(&summary(&ended)), "8: sent 5, skipped 1, rejected 1, failed 1");
    let ended = run(&place, &server, &["retry", "1", "--json", "--report", "second.csv"], 0).await;
    assert_eq!(accounting(&summary(&ended)), "1: sent 1");
    let second = Sheet::open(&place, "second.csv");
    assert_eq!((second.column("Sku"), second.column("sheetport_status")), (vec!["A"], vec!["sent"]));
    assert_eq!(accepted.lock().unwrap().len(), 6);
}
