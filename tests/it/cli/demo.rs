//! `demo`.

use std::fs;

use super::process::Place;
use super::{accounting, office, own_titles, table};

const FILES: [&str; 15] = [
    "home",
    "items.csv",
    "items.csv.manifest.json",
    "items.xlsx",
    "items.xlsx.manifest.json",
    "orders.csv",
    "price-list.csv",
    "price-list.errors.csv",
    "price-list.errors.html",
    "price-list.errors.xlsx",
    "price-list.report.xlsx",
    "price-list.toml",
    "service",
    "stock-count.xlsx",
    "tool-prices.csv",
];

#[test]
fn demo_runs_in_an_empty_folder_and_again() {
    let place = Place::new();
    for _ in 0..2 {
        let demo = place.sheetport(["demo"]).exits(0);
        demo.shows(&["628  sent", "11  rejected", "1  failed", "668 items in sheetport-demo/items.csv", "Open these"]);
        let mut names: Vec<String> = fs::read_dir(place.path("sheetport-demo"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, FILES);
        assert_eq!(table(&place.path("sheetport-demo/items.csv")).len(), 1 + 668);
        // With the delimiter of the price list.
        let errors = place.path("sheetport-demo/price-list.errors.csv");
        let mut errors = csv::ReaderBuilder::new().delimiter(b';').from_path(errors).unwrap();
        assert_eq!(errors.records().map(Result::unwrap).count(), 11 + 1);
    }
    assert!(!place.path("home").exists(), "the person's own ledger is left alone");
}

#[test]
fn demo_with_json_prints_one_object() {
    let place = Place::new();
    let demo = place.sheetport(["demo", "--json"]).exits(0).json();
    assert_eq!(accounting(&demo["upload"]), "642: sent 628, skipped 2, rejected 11, failed 1");
    for export in demo["exports"].as_array().unwrap() {
        assert_eq!((&export["count"], &export["complete"]), (&668.into(), &true.into()));
    }
    assert_eq!(demo["folder"], "sheetport-demo");
}

#[test]
fn report_opens_in_libreoffice_with_what_is_wrong_before_the_original_columns() {
    if !office::is_there() {
        return;
    }
    let place = Place::new();
    place.sheetport(["demo"]).exits(0);
    let report = place.path("sheetport-demo/price-list.report.xlsx");
    // The last figure is the sheet's number; the first sheet sums up.
    let utf8 = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,2";
    let saved = office::save_again(&place, &report, utf8);
    let rows = table(&saved.join("price-list.report-price-list.csv"));
    let original = ["Artikelnummer", "Bezeichnung", "Größe", "Warengruppe", "EK netto", "VK brutto", "MwSt"];
    let own = own_titles(&rows);
    assert_eq!((own.len(), &own[..7]), (10, &original[..]));
    assert_eq!(rows[0][..3], ["sheetport_status", "sheetport_errors", "sheetport_warnings"]);
    assert!(rows[0][13..].iter().all(|header| header.starts_with("sheetport_")), "{:?}", rows[0]);
    let status = super::column(&rows, "sheetport_status");
    let with = |wanted| status.iter().filter(|status| **status == wanted).count();
    assert_eq!((status.len(), with("sent"), with("rejected"), with("failed")), (642, 628, 11, 1));
    assert_eq!(super::column(&rows, original[0])[0], "004654", "zeros at the front stay");
}
