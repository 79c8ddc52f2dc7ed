//! A report that is uploaded instead of retried: the corrected rows are sent, and only these.

use super::super::process::Place;
use super::super::service::Served;
use super::super::{accounting, summary};
use super::workbooks::{open, save};
use super::{INVOICES, Sheet, run};
use crate::faults::server::{Reply, Server};

const MOVEMENTS: &str = "record = \"inventory-transaction\"\n[fields.transactionType]\nvalue = \"in\"\n\
                         [fields.inventoryExternalId]\ncolumn = \"Stock\"\n[fields.transactionAmount]\ncolumn = \"Qty\"\n";
const REPORTS: [&str; 2] = ["r.csv", "r.xlsx"];

fn open_report(place: &Place, name: &str) -> Sheet {
    if name.ends_with(".csv") { Sheet::open(place, name) } else { open(place, name) }
}

fn save_report(place: &Place, name: &str, sheet: &Sheet) {
    if name.ends_with(".csv") { sheet.save(place, name) } else { save(place, name, &[("Rows", sheet)]) }
}

fn desk(template: &str, rows: &str) -> Place {
    let place = Place::new();
    place.write("t.toml", template);
    place.write("sheet.csv", rows);
    place
}

async fn upload(place: &Place, server: &Server, args: &[&str], code: i32) -> String {
    let args = [&["upload", "-t", "t.toml", "--json"], args].concat();
    accounting(&summary(&run(place, server, &args, code).await))
}

/// Values alone can't tell a corrected row from one that was sent, if they are equal.
#[tokio::test(flavor = "multi_thread")]
async fn a_corrected_row_that_equals_a_sent_one_is_sent() {
    for report in REPORTS {
        let place = desk(MOVEMENTS, "Stock,Qty\nL-1,5\nL-1,five\nL-2,many\nL-2,7\n");
        let server = Server::start(|_| Reply::Accept).await;
        assert_eq!(upload(&place, &server, &["sheet.csv", "--report", report], 3).await, "4: sent 2, rejected 2");
        let mut sheet = open_report(&place, report);
        sheet.replace("five", "5").sort_by("sheetport_status").add(&["L-3", "1"]);
        save_report(&place, report, &sheet);
        assert_eq!(
            upload(&place, &server, &[report, "--report", "second.csv"], 3).await,
            "5: sent 2, unchanged 2, rejected 1"
        );
        let bodies = server.bodies();
        let times =
            |stock: &str| bodies.iter().filter(|(body, _)| body.contains(stock)).map(|(_, times)| times).sum::<usize>();
        assert_eq!([times("L-1"), times("L-2"), times("L-3")], [2, 1, 1], "{report}");
        let dry = summary(&run(&place, &server, &["upload", report, "-t", "t.toml", "--dry-run", "--json"], 3).await);
        assert_eq!(
            accounting(&dry),
            "5: unchanged 3, rejected 2",
            "the added row was sent, and has no number in this report"
        );
        for (extra, knows_service) in [(&[][..], true), (&[][..], false), (&["--report", "checked.csv"][..], true)] {
            let args = [&["check", report, "-t", "t.toml", "--json"], extra].concat();
            let checked = match knows_service {
                true => run(&place, &server, &args, 3).await,
                false => place.sheetport(args).exits(3),
            };
            assert_eq!(accounting(&summary(&checked)), accounting(&dry), "{extra:?}");
        }
        // The added row is in the second report, with its number.
        let mut sheet = Sheet::open(&place, "second.csv");
        sheet.replace("many", "8").save(&place, "second.csv");
        assert_eq!(upload(&place, &server, &["second.csv"], 0).await, "5: sent 1, unchanged 4");
        assert_eq!(server.log().len(), 5);
    }
}

#[test]
fn an_uploaded_report_moves_stock_once() {
    for report in REPORTS {
        let place = desk(MOVEMENTS, "Stock,Qty\nL-07,5\nL-07,five\n");
        let served = Served::demo(&place);
        let available = || {
            let listed = served.get("/v1/public/inventories?page=1&limit=100").to_string();
            let of: serde_json::Value = serde_json::from_str(&listed).unwrap();
            of.as_array().unwrap().iter().filter_map(|inventory| inventory["available"].as_f64()).sum::<f64>()
        };
        let before = available();
        served.sheetport(&place, ["upload", "sheet.csv", "-t", "t.toml", "-q", "--report", report]).exits(3);
        assert!((available() - before - 5.0).abs() < 1e-9);
        let mut sheet = open_report(&place, report);
        save_report(&place, report, sheet.replace("five", "5"));
        for (sent, moved) in [("2: sent 1, unchanged 1", 10.0), ("2: unchanged 2", 10.0)] {
            let ended = served.sheetport(&place, ["upload", report, "-t", "t.toml", "--json"]).exits(0);
            assert_eq!(accounting(&summary(&ended)), sent, "{report}");
            assert!((available() - before - moved).abs() < 1e-9, "{report}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_change_to_a_report_is_lost_silently() {
    for report in REPORTS {
        let place = desk(INVOICES, "No,Cid,Item,Amount\n1,c,i,2\n2,c,i,many\n3,c,i,4\n");
        let server = Server::start(|_| Reply::Accept).await;
        assert_eq!(upload(&place, &server, &["sheet.csv", "--report", report], 3).await, "3: sent 2, rejected 1");
        // The first row was sent; the status of the second was filled down by mistake.
        let mut sheet = open_report(&place, report);
        sheet.set(2, "Amount", "9").set(3, "Amount", "2").set(3, "sheetport_status", "sent");
        save_report(&place, report, &sheet);
        let ended = run(&place, &server, &["upload", report, "-t", "t.toml"], 0).await;
        ended.says(&["is a report of run 1", "1 row of accepted records was edited; the changes are not sent: row 2"]);
        assert_eq!(server.log().len(), 3);
        for (flags, named) in [(vec!["--rows", "2"], "--rows"), (vec!["--allow-repeat"], "--allow-repeat")] {
            let ended = run(&place, &server, &[vec!["upload", report, "-t", "t.toml"], flags].concat(), 2).await;
            ended.says(&["is a report of run 1", &format!("leave out {named}"), "begin with sheetport_"]);
        }
        // Without the number of the run, nothing says which rows were sent.
        sheet.drop_column("sheetport_run");
        save_report(&place, report, &sheet);
        let ended = run(&place, &server, &["upload", report, "-t", "t.toml"], 2).await;
        ended.says(&["has no column sheetport_run", "delete all of them"]);
        assert_eq!(server.log().len(), 3);
    }
}

/// The report of a test service, uploaded to the other one.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_of_another_service_is_a_new_file() {
    let place = desk(INVOICES, "No,Cid,Item,Amount\n1,c,i,2\n2,c,i,many\n");
    let test = Server::start(|_| Reply::Accept).await;
    let server = Server::start(|_| Reply::Accept).await;
    assert_eq!(upload(&place, &test, &["sheet.csv", "--report", "r.csv"], 3).await, "2: sent 1, rejected 1");
    let mut sheet = Sheet::open(&place, "r.csv");
    sheet.replace("many", "3").save(&place, "r.csv");
    let ended = run(&place, &server, &["upload", "r.csv", "-t", "t.toml"], 0).await;
    ended.says(&["is a report of run 1, which sent invoices to http", "here all of its rows are new"]);
    assert_eq!((server.log().len(), test.log().len()), (2, 1));
    assert_eq!(upload(&place, &server, &["r.csv"], 0).await, "2: unchanged 2");
}

/// Items can be sent again, with the identifiers of the original file.
#[test]
fn an_uploaded_report_of_items_updates_them_with_their_own_identifiers() {
    for report in REPORTS {
        let place = desk("", "");
        let served = Served::start(&place);
        place.write("items.csv", "SKU,Name,Price\n000042,Bolt,1\n000043,Nut,free\n");
        served.sheetport(&place, ["upload", "items.csv", "-t", "items", "-q", "--report", report]).exits(3);
        // As a spreadsheet program saves it, with the price of an accepted item changed, too.
        let mut sheet = open_report(&place, report);
        sheet.replace("000042", "42").replace("000043", "43").replace("free", "2").set(2, "Price", "3");
        save_report(&place, report, &sheet);
        let ended = served.sheetport(&place, ["upload", report, "-t", "items", "--json"]).exits(0);
        let ended = ended.says(&["2 cells changed by another program"]);
        assert_eq!(accounting(&summary(&ended)), "2: sent 2", "{report}");
        let items = served.get("/v1/public/items?page=1&limit=10");
        let of = |item: &serde_json::Value| format!("{}={}", item["external_id"].as_str().unwrap(), item["price"]);
        let mut items: Vec<String> = items["data"].as_array().unwrap().iter().map(of).collect();
        items.sort();
        assert_eq!(items, ["000042=3", "000043=2"], "{report}");
    }
}
