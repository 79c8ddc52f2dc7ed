//! Reports of every layout and language are read back, wherever people have moved their columns.

use super::super::process::Place;
use super::super::service::Served;
use super::super::{accounting, items, summary, table};
use super::workbooks::save;
use super::{Sheet, retry_report, run, uploaded_prices};
use crate::faults::server::{Reply, Server};

/// A report of `PRICES` by the first version, with all of its columns behind those of the sheet.
const FIRST_LAYOUT: &str = include_str!("first_layout.csv");
const OLD_RUN: &str = "1-hhcktb";
const GERMAN: &str = "Artikelnummer;Bezeichnung;Preis;Währung\n0042;Schraube;frei;EUR\n43;Mutter;1,10;EUR\n";

impl Sheet {
    /// Puts the columns into another order.
    fn reorder(&mut self, order: &[usize]) {
        self.0.iter_mut().for_each(|row| *row = order.iter().map(|column| row[*column].clone()).collect());
    }
}

#[test]
fn reports_of_the_first_layout_are_read() {
    for workbook in [false, true] {
        let (place, served) = uploaded_prices();
        let token = Sheet::open(&place, "prices.report.csv").column("sheetport_run")[0].to_owned();
        place.write("old.csv", FIRST_LAYOUT.replace(OLD_RUN, &token));
        let mut old = Sheet::open(&place, "old.csv");
        old.replace("free", "9.00").replace("in stock from the beginning of the third quarter of 2027", "active");
        old.sort_by("sheetport_status");
        if workbook {
            save(&place, "old.xlsx", &[("prices", &old)]);
        } else {
            old.save(&place, "old.csv");
        }
        let file = if workbook { "old.xlsx" } else { "old.csv" };
        assert_eq!(retry_report(&place, &served, file, 0), "4: sent 2, unchanged 2");
        assert_eq!(served.total(), 4);
    }
}

#[test]
fn columns_are_found_by_their_titles_wherever_they_are() {
    let (place, served) = uploaded_prices();
    let report = Sheet::open(&place, "prices.report.csv");
    let width = report.0[0].len();
    assert_eq!(report.0[0][width - 1], "sheetport_run");
    let mut random = fastrand::Rng::with_seed(20_271_124);
    for round in 0..12 {
        // The technical columns stay behind those of the sheet, or all of them are in front.
        let (mut front, mut behind): (Vec<usize>, Vec<usize>) = ((0..7).collect(), (7..width).collect());
        random.shuffle(&mut front);
        random.shuffle(&mut behind);
        let order = if round % 2 == 0 { [front, behind].concat() } else { [behind, front].concat() };
        let mut moved = report.clone();
        moved.replace("free", "9.00").replace("in stock from the beginning of the third quarter of 2027", "active");
        moved.reorder(&order);
        random.shuffle(&mut moved.0[1..]);
        moved.save(&place, "moved.csv");
        let planned = served.sheetport(&place, ["retry", "moved.csv", "--dry-run", "--json"]).exits(0);
        assert_eq!(accounting(&summary(&planned)), "4: unchanged 2, pending 2", "{:?}", moved.0[0]);
    }
}

#[test]
fn added_columns_of_a_report_are_not_sent() {
    let (place, served) = uploaded_prices();
    let mut report = Sheet::open(&place, "prices.report.csv");
    report.replace("free", "9.00").replace("in stock from the beginning of the third quarter of 2027", "active");
    // To the right of the report nothing is read, not even a second price; before it, a column without a field is not sent.
    for (row, cells) in report.0.iter_mut().enumerate() {
        cells.push(if row == 0 { "Price".to_owned() } else { "call them".to_owned() });
        cells.insert(0, if row == 0 { "To do".to_owned() } else { format!("see {row}") });
    }
    report.save(&place, "mended.csv");
    assert_eq!(retry_report(&place, &served, "mended.csv", 0), "4: sent 2, unchanged 2");
    let again = table(&place.path("mended.report.csv"));
    assert_eq!(super::super::own_titles(&again), ["To do", "SKU", "Name", "Price", "Status"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_of_status_and_reason_have_no_effect() {
    let place = Place::new();
    let server = Server::start(|_| Reply::Accept).await;
    place.write("items.csv", items(3).replace(",2.50,", ",two,"));
    run(&place, &server, &["upload", "items.csv", "-t", "items", "--report", "r.csv", "-q"], 3).await;
    let mut report = Sheet::open(&place, "r.csv");
    for (row, state) in (2..).zip(["pending", "sent", ""]) {
        report.set(row, "sheetport_status", state).set(row, "sheetport_errors", "fixed, please send");
    }
    // A remark below the table is no row.
    report.add(&[]);
    report.set(5, "sheetport_status", "done").set(5, "sheetport_errors", "Anna, 24 November");
    report.save(&place, "typed.csv");
    let before = server.log().len();
    let ended = run(&place, &server, &["retry", "typed.csv", "--json"], 3).await;
    assert_eq!(accounting(&summary(&ended)), "3: unchanged 2, rejected 1");
    assert_eq!(server.log().len(), before, "nothing was sent");
}

#[test]
fn a_german_sheet_gets_german_words_which_are_read_in_every_language() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("preise.csv", GERMAN);
    let args = ["upload", "preise.csv", "-t", "items", "--report", "bericht.csv", "--titles", "de"];
    let upload = served.sheetport(&place, args).run();
    assert_eq!(upload.code, Some(3), "{upload:?}");
    let report = Sheet::open(&place, "bericht.csv");
    let front = ["sheetport_status", "sheetport_fehler", "sheetport_warnungen"];
    assert_eq!(report.0[0][..3], front);
    assert_eq!(report.column("sheetport_status"), ["fehlerhaft", "gesendet"]);
    for titles in [
        front,
        ["sheetport_status", "sheetport_errors", "sheetport_warnings"],
        ["sheetport_statut", "sheetport_erreurs", "sheetport_avertissements"],
        ["sheetport_状態", "sheetport_エラー", "sheetport_警告"],
    ] {
        let mut translated = report.clone();
        translated.0[0][..3].clone_from_slice(&titles.map(str::to_owned));
        translated.replace("frei", "2,50").save(&place, "mended.csv");
        let planned = served.sheetport(&place, ["retry", "mended.csv", "--dry-run", "--json"]).exits(0);
        assert_eq!(accounting(&summary(&planned)), "2: unchanged 1, pending 1", "{titles:?}");
    }
}

#[test]
fn the_status_of_a_report_from_elsewhere_is_read_in_every_language() {
    let place = Place::new();
    place.write("t.toml", super::INVOICES);
    for (sent, title) in [("sent", "sheetport_status"), ("gesendet", "sheetport_status"), ("已发送", "sheetport_状态")]
    {
        place.write("r.csv", format!("{title},No,Cid,Item,Amount\n{sent},1,c-1,a,1\nfailed,2,c-2,b,2\n"));
        let checked = place.sheetport(["check", "r.csv", "-t", "t.toml", "--json"]).run();
        let said = summary(&checked);
        assert_eq!(said["skipped"], 1, "{sent}: {checked:?}");
    }
}
