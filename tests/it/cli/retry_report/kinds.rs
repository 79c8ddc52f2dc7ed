//! Retrying CSV and XLSX reports of every kind of record: accepted records are not sent again, fixed ones are, and
//! non-idempotent requests are never repeated.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::super::kills::{ORDER, SUBSCRIPTION, TRANSACTION};
use super::super::process::Place;
use super::super::service::Served;
use super::super::{accounting, count, sample, summary};
use super::workbooks::{open, save};
use super::{Sheet, run};
use crate::faults::server::{Reply, Server, answer};

/// The record r1 is wrong in the sheet, r2 is refused at first, the connection breaks under the first request for r3, and
/// the one for r4 gets an answer that says nothing of whether it was applied.
const SHEET: &str = "Id,Update,Amount\nr0,,1\nr1,,many\nr2,,3\nr3,,4\nr4,,5\nr5,,6\n";

/// A report in either format.
#[derive(Clone, Copy)]
enum File {
    Text,
    Workbook,
}

impl File {
    fn name(self, stem: &str) -> String {
        match self {
            File::Text => format!("{stem}.csv"),
            File::Workbook => format!("{stem}.xlsx"),
        }
    }

    fn open(self, place: &Place, stem: &str) -> Sheet {
        match self {
            File::Text => Sheet::open(place, &self.name(stem)),
            File::Workbook => open(place, &self.name(stem)),
        }
    }

    fn save(self, place: &Place, stem: &str, sheet: &Sheet) {
        match self {
            File::Text => sheet.save(place, &self.name(stem)),
            File::Workbook => save(place, &self.name(stem), &[("sheet", sheet)]),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_retried_until_accepted() {
    check(ORDER, SHEET, ["6: sent 4, rejected 1, failed 1", "6: sent 2, unchanged 4"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subscriptions_are_created_once() {
    let ends = ["6: sent 2, rejected 1, failed 1, unknown 2", "6: sent 2, unchanged 2, rejected 2"];
    check(SUBSCRIPTION, SHEET, ends).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invoices_are_created_once() {
    let ends = ["6: sent 2, rejected 1, failed 1, unknown 2", "6: sent 2, unchanged 2, rejected 2"];
    check(&SUBSCRIPTION.replace("subscription", "invoice"), SHEET, ends).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_are_created_once() {
    let ends = ["6: sent 2, rejected 1, failed 1, unknown 2", "6: sent 2, unchanged 2, rejected 2"];
    check(TRANSACTION, SHEET, ends).await;
}

/// What names the transaction may be repeated, and what makes one may not.
#[tokio::test(flavor = "multi_thread")]
async fn transaction_updates_are_retried_until_accepted() {
    let sheet = SHEET.replace("r0,", "r0,t-0").replace("r1,", "r1,t-1").replace("r4,", "r4,t-4");
    let ends = ["6: sent 3, rejected 1, failed 1, unknown 1", "6: sent 2, unchanged 3, rejected 1"];
    check(TRANSACTION, &sheet, ends).await;
}

/// Uploads `sheet`, and hands its report back until all is accepted; `ends` is what became of it at first, and when the
/// report came back mended.
async fn check(template: &str, sheet: &str, ends: [&str; 2]) {
    for file in [File::Text, File::Workbook] {
        check_in(file, template, sheet, ends).await;
    }
}

async fn check_in(file: File, template: &str, sheet: &str, [first, second]: [&str; 2]) {
    let place = Place::new();
    place.write("t.toml", template);
    place.write("sheet.csv", sheet);
    let accepted: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let taken = Arc::clone(&accepted);
    let server = Server::start(move |seen| {
        let name = name_of(&seen.body);
        match (name.as_str(), seen.repeat) {
            ("r2", 0) => return answer(422, "", r#"{"message": "not now"}"#),
            ("r3", 0) => return Reply::Reset,
            ("r4", 0) => return answer(502, "", ""),
            _ => {}
        }
        *taken.lock().unwrap().entry(name).or_default() += 1;
        Reply::Accept
    })
    .await;
    let in_doubt = usize::from(first.contains("unknown 1")) + 2 * usize::from(first.contains("unknown 2"));
    let upload = ["upload", "sheet.csv", "-t", "t.toml", "--json", "--report", &file.name("r")];
    let ended = run(&place, &server, &upload, if in_doubt > 0 { 4 } else { 3 }).await;
    assert_eq!(accounting(&summary(&ended)), first);

    let mut report = file.open(&place, "r");
    report.replace("many", "2").sort_by("sheetport_status");
    file.save(&place, "mended", &report);
    let mended = file.name("mended");
    let requests = server.log().len();
    let again = ["retry", &mended, "--json", "--report", &file.name("second")];
    let ended = run(&place, &server, &again, if in_doubt > 0 { 3 } else { 0 }).await;
    assert_eq!(accounting(&summary(&ended)), second);
    assert_eq!(server.log().len(), requests + 2, "the mended one and the refused one");
    if in_doubt > 0 {
        let report = file.open(&place, "second");
        let errors = report.column("sheetport_errors");
        let doubtful = errors.iter().filter(|error| error.contains("sheetport resolve 1")).count();
        assert_eq!(doubtful, in_doubt, "{errors:?}");
        // Handed back as often as one likes, nothing is sent before somebody has looked.
        run(&place, &server, &["retry", &mended, "-q"], 3).await;
        assert_eq!(server.log().len(), requests + 2);
        run(&place, &server, &["resolve", "1", "--all-failed"], 0).await;
        let ended = run(&place, &server, &["retry", &mended, "--json"], 0).await;
        assert_eq!(accounting(&summary(&ended)), format!("6: sent {in_doubt}, unchanged {}", 6 - in_doubt));
    }
    let requests = server.log().len();
    for handed_back in [&mended, &file.name("r")] {
        let ended = run(&place, &server, &["retry", handed_back, "--json"], 0).await;
        assert_eq!(accounting(&summary(&ended)), "6: unchanged 6");
    }
    assert_eq!(server.log().len(), requests);
    let accepted = accepted.lock().unwrap();
    assert!(accepted.len() == 6 && accepted.values().all(|times| *times == 1), "{accepted:?}");
}

/// The record that a request is for.
fn name_of(body: &str) -> String {
    let (_, name) = body.split_once("\"r").unwrap_or_else(|| panic!("no name in {body}"));
    format!("r{}", &name[..1])
}

/// The stock of each inventory of a service.
fn stock(served: &Served) -> BTreeMap<String, Value> {
    let listed = served.get("/v1/public/inventories?page=1&limit=100");
    let of = |inventory: &Value| (inventory["id"].as_str().unwrap().to_owned(), inventory["available"].clone());
    listed.as_array().unwrap().iter().map(of).collect()
}

#[test]
fn retried_report_moves_stock_once() {
    let rows = std::fs::read_to_string(sample("transactions.csv")).unwrap();
    let clean = Place::new();
    let once = Served::demo(&clean);
    clean.write("moves.csv", &rows);
    once.sheetport(&clean, ["upload", "moves.csv", "-t", "transactions", "-q"]).exits(0);
    let moved = stock(&once);
    for file in [File::Text, File::Workbook] {
        let place = Place::new();
        let served = Served::demo(&place);
        assert_ne!(stock(&served), moved);
        // One quantity is wrong in the sheet, and the service knows nothing of one inventory.
        place
            .write("moves.csv", rows.replacen(",8,", ",eight,", 1).replacen(",L-07,Elektromaterial,", ",L-99,New,", 1));
        let upload = ["upload", "moves.csv", "-t", "transactions", "--json", "--report", &file.name("r")];
        let first = summary(&served.sheetport(&place, upload).exits(3));
        let total = count(&first, "total");
        assert_eq!(accounting(&first), format!("{total}: sent {}, rejected 1, failed 1", total - 2));
        let mut report = file.open(&place, "r");
        file.save(
            &place,
            "mended",
            report.replace("eight", "8").replace("L-99", "L-07").replace("New", "Elektromaterial"),
        );
        for (sent, unchanged) in [(2, total - 2), (0, total)] {
            let again = summary(&served.sheetport(&place, ["retry", &file.name("mended"), "--json"]).exits(0));
            assert_eq!(
                [count(&again, "sent"), count(&again, "unchanged"), count(&again, "requests")],
                [sent, unchanged, sent]
            );
            assert_eq!(stock(&served), moved);
        }
    }
}

#[test]
fn fixed_reports_of_all_samples_are_accepted() {
    for (kind, right, wrong) in
        [("subscriptions", ",4\n", ",four\n"), ("invoices", ",10\n", ",ten\n"), ("orders", ",10,122.55,", ",10,cheap,")]
    {
        for file in [File::Text, File::Workbook] {
            let place = Place::new();
            let served = Served::demo(&place);
            let rows = std::fs::read_to_string(sample(&format!("{kind}.csv"))).unwrap().replace("\r\n", "\n");
            assert!(rows.contains(right), "{kind}");
            place.write("sheet.csv", rows.replacen(right, wrong, 1));
            let upload = ["upload", "sheet.csv", "-t", kind, "--json", "--report", &file.name("r")];
            let first = summary(&served.sheetport(&place, upload).exits(3));
            let total = count(&first, "total");
            assert_eq!(accounting(&first), format!("{total}: sent {}, rejected 1", total - 1), "{kind}");
            let mut report = file.open(&place, "r");
            let cell = |text: &str| text.trim_matches(['\n', ',']).split(',').next_back().unwrap().to_owned();
            let (right, wrong) = match kind {
                "orders" => ("122.55".to_owned(), "cheap".to_owned()),
                _ => (cell(right), cell(wrong)),
            };
            file.save(&place, "mended", report.replace(&wrong, &right));
            for (sent, unchanged) in [(1, total - 1), (0, total)] {
                let again = summary(&served.sheetport(&place, ["retry", &file.name("mended"), "--json"]).exits(0));
                let counts = [count(&again, "sent"), count(&again, "unchanged"), count(&again, "requests")];
                assert_eq!(counts, [sent, unchanged, sent], "{kind}: {again}");
            }
        }
    }
}
