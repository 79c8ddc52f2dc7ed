//! Uploads that send nothing: the ledger does not grow, and the run is still accounted for.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::process::{Ended, Place};
use super::service::Served;
use super::{accounting, items, summary};
use crate::faults::server::{Reply, Server};

const HEADER: &str = "SKU,Name,Price,Currency\n";
/// What a run may add to the ledger, in bytes: its row, and pages that are not full.
const PER_RUN: u64 = 16 * 1024;

pub(super) fn ledger_of(place: &Place) -> PathBuf {
    place.path("home").join("ledger.db")
}

fn ledger_size(place: &Place) -> u64 {
    ledger_of(place).metadata().unwrap().len()
}

fn run(served: &Served, place: &Place, args: &[&str], code: i32) -> Value {
    let args = args.iter().copied().chain(["--json"]);
    summary(&served.sheetport(place, args).exits(code))
}

#[test]
fn uploads_of_an_unchanged_file_do_not_let_the_ledger_grow() {
    const ITEMS: usize = 3_000;
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(ITEMS));
    let upload = ["upload", "items.csv", "-t", "items", "--changed-only"];
    run(&served, &place, &upload, 0);
    // The hashes of what was accepted are added once.
    run(&served, &place, &upload, 0);
    let before = ledger_size(&place);
    for _ in 0..4 {
        let unchanged = run(&served, &place, &upload, 0);
        assert_eq!(accounting(&unchanged), format!("{ITEMS}: unchanged {ITEMS}"));
        assert_eq!(unchanged["rows"], json!(ITEMS));
    }
    let grown = ledger_size(&place).saturating_sub(before);
    assert!(grown <= 4 * PER_RUN, "{grown} bytes by 4 runs");
    let shown = served.sheetport(&place, ["runs", "show", "6", "--json"]).exits(0).json();
    assert_eq!((&shown["state"], &shown["unchanged"]), (&json!("done"), &json!(ITEMS)));
    served.sheetport(&place, ["runs", "check"]).exits(0);
    let report = served.sheetport(&place, ["report", "6", "-o", "report.csv"]).exits(2);
    report.says(&["run 6 can't be reported: it sent nothing", "--report"]);
    served.sheetport(&place, ["retry", "6"]).exits(2).says(&["run 6 can't be retried: it sent nothing"]);
    assert_eq!(accounting(&run(&served, &place, &["resume", "6"], 0)), format!("{ITEMS}: unchanged {ITEMS}"));
    // One changed record is sent, and its run is kept.
    place.write("items.csv", items(ITEMS).replace("Item 7,", "Item 7 b,"));
    let changed = run(&served, &place, &upload, 0);
    assert_eq!(accounting(&changed), format!("{ITEMS}: sent 1, unchanged {}", ITEMS - 1));
    served.sheetport(&place, ["report", "7", "-o", "report.csv"]).exits(0);
}

#[test]
fn a_report_that_was_asked_for_keeps_the_rows() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(5));
    let upload = ["upload", "items.csv", "-t", "items", "--changed-only"];
    run(&served, &place, &upload, 0);
    run(&served, &place, &["upload", "items.csv", "-t", "items", "--changed-only", "--report", "r.csv"], 0);
    served.sheetport(&place, ["report", "2", "-o", "again.csv"]).exits(0);
}

#[test]
fn invoices_that_were_sent_before_do_not_let_the_ledger_grow() {
    let requests = with_three_invoices(|place, upload, run| {
        assert_eq!(accounting(&summary(&run(upload, 0))), "3: sent 3");
        let before = ledger_size(place);
        for _ in 0..4 {
            assert_eq!(accounting(&summary(&run(upload, 0))), "3: unchanged 3");
        }
        let grown = ledger_size(place).saturating_sub(before);
        assert!(grown <= 4 * PER_RUN, "{grown} bytes by 4 runs");
    });
    assert_eq!(requests, 3);
}

/// Calls a test with a folder that has a file of three invoices, the command that uploads it, and a function that runs a command with
/// `--json` and expects an exit code. Returns how many requests arrived at the service, which accepts all.
pub(super) fn with_three_invoices(test: impl FnOnce(&Place, &[&str], &dyn Fn(&[&str], i32) -> Ended)) -> usize {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(Server::start(|_| Reply::Accept));
    let place = Place::new();
    let template = "record = \"invoice\"\n[fields.cid]\ncolumn = \"Customer\"\n[lines.id]\ncolumn = \"Item\"\n\
                    [lines.amount]\ncolumn = \"Amount\"\n[group]\nby = [\"Invoice\"]\n";
    place.write("t.toml", template);
    place.write("i.csv", "Invoice,Customer,Item,Amount\nI-7,c-1,i,2.50\nI-8,c-2,i,1\nI-9,c-3,i,3\n");
    let run = |args: &[&str], code| {
        let command = place.sheetport(args.iter().chain(&["--json"])).env("SHEETPORT_BASE_URL", &server.address);
        command.secret("SHEETPORT_ACCESS_TOKEN", "access-1").exits(code)
    };
    test(&place, &["upload", "i.csv", "-t", "t.toml"], &run);
    server.log().len()
}

#[test]
fn an_old_run_does_not_undo_what_an_unchanged_newer_file_says() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("new.csv", format!("{HEADER}A,Bolt,12,EUR\nB,Nut,20,EUR\n"));
    run(&served, &place, &["upload", "new.csv", "-t", "items"], 0);
    place.write("old.csv", format!("{HEADER}A,Bolt,10,EUR\nC,Cog,30,EUR\n"));
    let stopped = served.sheetport(&place, ["upload", "old.csv", "-t", "items"]);
    const REFUSED: &str = "eyJhbGciOiJIUzI1NiJ9.eyJ3b3Jrc3BhY2UiOiJzaG9wIn0.AAAA";
    stopped.without("SHEETPORT_REFRESH_TOKEN").secret("SHEETPORT_ACCESS_TOKEN", REFUSED).exits(5);
    let unchanged = run(&served, &place, &["upload", "new.csv", "-t", "items", "--changed-only"], 0);
    assert_eq!(accounting(&unchanged), "2: unchanged 2");
    served.sheetport(&place, ["report", "3", "-o", "report.csv"]).exits(2);
    let resumed = run(&served, &place, &["resume", "2"], 0);
    assert_eq!(accounting(&resumed), "2: sent 1, skipped 1");
    let list = served.get("/v1/public/items?page=1&limit=100");
    let price =
        list["data"].as_array().unwrap().iter().find(|item| item["external_id"] == "A").unwrap()["price"].clone();
    assert_eq!(price, json!(12));
}
