//! Basic exports: reproducible, empty, refused and failed ones.

use std::fs;

use super::process::Place;
use super::service::Served;
use super::{count, items, table};

#[test]
fn exports_of_the_same_items_are_identical() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("in.csv", items(250));
    served.sheetport(&place, ["upload", "in.csv", "-t", "items", "-q"]).exits(0);
    let mut files = Vec::new();
    for file in ["one.csv", "two.csv", "one.csv"] {
        let exported = served.sheetport(&place, ["export", "items", "-o", file, "--json"]).exits(0).json();
        assert_eq!((count(&exported, "count"), &exported["complete"]), (250, &true.into()), "{exported}");
        files.push(fs::read(place.path(file)).unwrap());
    }
    assert!(files.iter().all(|file| *file == files[0]));
    assert_eq!(table(&place.path("one.csv")).len(), 251);
}

#[test]
fn an_export_without_records_has_a_header() {
    let place = Place::new();
    let served = Served::start(&place);
    for file in ["items.csv", "items.xlsx"] {
        served.sheetport(&place, ["export", "items", "-o", file]).exits(0).shows(&["0 items", "complete"]);
    }
    assert_eq!(table(&place.path("items.csv")), [["id", "name", "price", "currency", "status", "updated_at"]]);
}

#[test]
fn an_exported_workbook_can_be_read_back() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("in.csv", items(5));
    served.sheetport(&place, ["upload", "in.csv", "-t", "items", "-q"]).exits(0);
    served.sheetport(&place, ["export", "items", "-o", "items.xlsx"]).exits(0);
    let template = "record = \"item\"\n[fields.externalId]\ncolumn = \"id\"\n[fields.name]\ncolumn = \"name\"\n";
    place.write("by-id.toml", template);
    let check = place.sheetport(["check", "items.xlsx", "-t", "by-id.toml", "--json"]).exits(0);
    assert_eq!(super::accounting(&super::summary(&check)), "5: pending 5");
}

#[test]
fn invalid_outputs_are_refused_before_any_request() {
    let place = Place::new();
    for file in ["items.txt", "items"] {
        place.sheetport(["export", "items", "-o", file]).exits(2).says(&[file, ".ndjson", ".xlsx"]);
    }
    place.sheetport(["export", "invoices", "-o", "a.csv"]).exits(2).says(&["'invoices'", "items"]);
    place
        .sheetport(["export", "items", "-o", "a.csv"])
        .exits(2)
        .says(&["no service address is set", "SHEETPORT_BASE_URL"]);
}

#[test]
fn a_failed_export_leaves_the_existing_file() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "yesterday's");
    let export = served.sheetport(&place, ["export", "items", "-o", "items.csv", "--replace"]);
    let export = export.secret("SHEETPORT_ACCESS_TOKEN", "no-token").without("SHEETPORT_REFRESH_TOKEN");
    export.exits(5).says(&["refused the credentials", "SHEETPORT_ACCESS_TOKEN"]);
    assert_eq!(fs::read_to_string(place.path("items.csv")).unwrap(), "yesterday's");
    assert_eq!(place.names(), ["home", "items.csv", "service"]);
}
