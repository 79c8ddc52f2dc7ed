//! A job that is killed, interrupted, or short of space: the next run does what is left, and nothing twice.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::super::process::{Place, Sheetport, until};
use super::super::service::Served;
use super::super::{count, items};
use super::{INBOX, arrived, files, with_job};
use crate::faults::server::{Reply, Server};

const RECORDS: usize = 60;
const MOVEMENTS: &str = "record = \"inventory-transaction\"\n[fields.transactionType]\nvalue = \"in\"\n\
                         [fields.inventoryExternalId]\ncolumn = \"Stock\"\n[fields.transactionAmount]\ncolumn = \"Qty\"\n";

fn job(place: &Place, server: &Server) -> Sheetport {
    let command = place.sheetport(["job", "run", "nightly.toml", "--json"]).env("SHEETPORT_BASE_URL", &server.address);
    command.secret("SHEETPORT_ACCESS_TOKEN", "access-1")
}

async fn slow() -> Server {
    Server::start(|_| Reply::Late(Duration::from_millis(40), Box::new(Reply::Accept))).await
}

/// Kills the job at different numbers of requests, and runs it until it has nothing left to do.
async fn kill_repeatedly(template: &str, rows: String) -> (Place, Server, Value) {
    let place = with_job(&INBOX.replace("\"items\"", &format!("\"{template}\"")));
    place.write("moves.toml", MOVEMENTS);
    place.write("inbox/a.csv", rows);
    let server = slow().await;
    for more in [1, 9, 20] {
        let begun = server.log().len();
        let running = job(&place, &server).start();
        until("requests", || (server.log().len() >= begun + more).then_some(()));
        running.kill();
        // What was taken is neither lost nor open to others.
        let found = files(&place, &["inbox", "done", "failed"]);
        assert!(
            found.iter().any(|file| file.starts_with("inbox/.sheetport/") && file.ends_with("/a.csv")),
            "{found:?}"
        );
    }
    // A second file of the same name has come in the meantime.
    place.write("inbox/a.csv", "SKU,Name,Stock,Qty\nlast,Last,LAST,1\n");
    let command = job(&place, &server);
    let ended = tokio::task::spawn_blocking(move || command.run()).await.unwrap();
    assert!(ended.json()["warnings"][0].as_str().unwrap().contains("did not come to its end"), "{ended:?}");
    (place, server, ended.json())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_job_goes_on_where_it_was() {
    let (place, server, ran) = kill_repeatedly("items", items(RECORDS)).await;
    assert_eq!(ran["exit"], 0, "{ran}");
    let keys: BTreeSet<String> = server.log().iter().map(|seen| seen.key()).collect();
    assert_eq!(keys.len(), RECORDS + 1);
    // Items whose outcome was not stored before a kill are sent again, and no others.
    let requests = server.log().len();
    assert!(requests < 2 * RECORDS, "{requests} requests");
    assert_eq!(files(&place, &["inbox", "done", "failed"]), ["done/a-2.csv", "done/a.csv"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_job_creates_nothing_twice() {
    let rows = (1..=RECORDS).map(|number| format!("S{number},{number}\n"));
    let rows: String = std::iter::once("Stock,Qty\n".to_owned()).chain(rows).collect();
    let (place, server, ran) = kill_repeatedly("moves.toml", rows).await;
    let bodies = server.bodies();
    assert_eq!(bodies.values().max(), Some(&1), "{bodies:?}");
    // Those in flight at a kill are unknown, and a person decides.
    assert_eq!(ran["exit"], 4, "{ran}");
    let first = &ran["steps"][0]["files"][0];
    let unknown = count(&first["summary"], "unknown");
    assert!((1..=24).contains(&unknown), "{ran}");
    assert_eq!(count(&first["summary"], "sent") + unknown, RECORDS as u64);
    assert_eq!(files(&place, &["inbox", "done", "failed"]), ["done/a.csv", "failed/a.csv", "failed/a.report.xlsx"]);
    assert!(first["summary"]["next"].as_str().unwrap().starts_with("sheetport continue "), "{ran}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_job_stops_all_steps_and_goes_on() {
    let place = with_job(&format!("{INBOX}[[step]]\nexport = \"items\"\noutput = \"items.csv\"\n"));
    place.write("inbox/a.csv", items(RECORDS));
    place.write("inbox/b.csv", items(3));
    let server = slow().await;
    let running = job(&place, &server).start();
    until("requests", || (server.log().len() >= 5).then_some(()));
    // A second run at the same time does nothing.
    let second = job(&place, &server);
    let second = tokio::task::spawn_blocking(move || second.exits(6)).await.unwrap();
    second.says(&["the job nightly is already running, since 20", "in the process"]);
    running.signal("TERM");
    let ended = tokio::task::spawn_blocking(move || running.wait()).await.unwrap().exits(143);
    let ran = ended.json();
    assert_eq!(ran["steps"][1]["state"], "not-run", "{ran}");
    assert_eq!(ran["next"], "sheetport job run nightly.toml");
    let places: Vec<&Value> = ran["steps"][0]["files"].as_array().unwrap().iter().map(|file| &file["place"]).collect();
    assert_eq!(places, ["kept", "kept"], "{ran}");
    assert!(place.path("inbox/b.csv").is_file(), "nothing of it was read");

    place.write("nightly.toml", INBOX);
    let command = job(&place, &server);
    tokio::task::spawn_blocking(move || command.exits(0)).await.unwrap();
    assert_eq!(files(&place, &["inbox", "done", "failed"]), ["done/a.csv", "done/b.csv"]);
}

#[test]
fn a_full_disk_loses_nothing() {
    let place = with_job(INBOX);
    let served = Served::start(&place);
    place.write("inbox/a.csv", items(6_000));
    let exe = env!("CARGO_BIN_EXE_sheetport");
    let line = format!("ulimit -f 3000; '{exe}' job run nightly.toml --json");
    let full = served.shell(&place, &line).exits(1).json();
    assert_eq!(full["steps"][0]["files"][0]["place"], "kept", "{full}");
    assert_eq!(files(&place, &["done", "failed"]), [""; 0]);
    served.sheetport(&place, ["job", "run", "nightly.toml"]).exits(0);
    assert_eq!((served.total(), files(&place, &["inbox", "done"])), (6_000, vec!["done/a.csv".to_owned()]));
    assert_eq!(arrived(&served).len(), 1_000, "the first page");
}
