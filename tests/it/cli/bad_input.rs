//! Files that can't be uploaded: the message for each, and that nothing is sent.

use super::process::{Place, name};
use super::service::Served;
use super::{items, sample};

/// Asserts that `upload` and `check` refuse a file named `file` with the same words and `code`, and send nothing.
#[track_caller]
fn check_refused(file: &str, content: &[u8], code: i32, words: &[&str]) {
    let place = Place::new();
    place.write(file, content);
    check_refused_in(&place, file, code, words);
}

#[track_caller]
fn check_refused_in(place: &Place, file: &str, code: i32, words: &[&str]) {
    let served = Served::start(place);
    let before = place.names();
    place.sheetport(["check", file, "-t", "items"]).exits(code).says(words);
    served.sheetport(place, ["upload", file, "-t", "items"]).exits(code).says(words);
    let json = served.sheetport(place, ["upload", file, "-t", "items", "--json"]).exits(code).says(words).json();
    assert_eq!(json["error"]["exit"], code);
    assert!(words.iter().any(|words| json["error"]["message"].as_str().unwrap().contains(words)), "{json}");
    assert!(json["error"]["hint"].is_string(), "{json}");
    assert_eq!(served.total(), 0);
    let mut after = place.names();
    after.retain(|name| name != "home");
    assert_eq!(after, before, "a refused file leaves no files behind");
}

#[test]
fn a_missing_file_is_named() {
    let place = Place::new();
    check_refused_in(&place, "prices.csv", 7, &["prices.csv can't be opened", "check the name"]);
}

#[test]
fn a_folder_is_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path("prices")).unwrap();
    check_refused_in(&place, "prices", 7, &["prices can't be opened", "it is a folder"]);
}

#[test]
fn other_file_types_are_refused_by_type() {
    let remedy = "save it as .csv or .xlsx";
    check_refused("prices.csv", b"%PDF-1.7\n%\xE2\xE3\n1 0 obj", 7, &["prices.csv", "a PDF document", remedy]);
    check_refused("prices.xlsx", b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 7, &["prices.xlsx", "an image", remedy]);
    let mut ole = vec![0; 4096];
    ole[..8].copy_from_slice(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
    check_refused("prices.xls", &ole, 7, &["prices.xls", "is not a spreadsheet", remedy]);
}

#[test]
fn an_empty_file_and_a_header_without_rows_have_different_messages() {
    check_refused("prices.csv", b"", 7, &["prices.csv is empty", "save the spreadsheet again"]);
    check_refused("prices.csv", b"SKU,Name,Price\n", 7, &["header in row 1", "no rows below it", "nothing to upload"]);
}

#[test]
fn a_missing_column_is_named_with_the_nearest_column() {
    let words = ["externalId", "'SKU'", "nearest is 'SKUs'", "row 1", "Use the column names of the header"];
    check_refused("prices.csv", b"SKUs,Name\n1,Bolt\n", 2, &words);
}

#[test]
fn a_missing_sheet_is_named_with_the_existing_sheets() {
    let place = Place::new();
    let served = Served::start(&place);
    let file = sample("items.xlsx");
    let upload = served.sheetport(&place, ["upload", name(&file), "-t", "items", "--sheet", "Preise"]);
    upload.exits(2).says(&["no sheet 'Preise'", "it has: Items"]);
    assert_eq!(served.total(), 0);
}

#[test]
fn a_file_that_is_unreadable_at_its_end_sends_nothing() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(900).replace("00700,Item 700,", "00700,\"Item 700,"));
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items"]);
    upload.exits(7).says(&[
        "items.csv can't be read at row 701",
        "a quote is opened here and never closed",
        "save it again",
    ]);
    served.sheetport(&place, ["resume"]).exits(2).says(&["there are no runs yet"]);
    place.sheetport(["runs"]).exits(0).shows(&["no runs yet"]);
    assert_eq!(served.total(), 0);
}

#[test]
fn an_unquoted_decimal_comma_does_not_shift_cells() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "SKU,Name,Price\n1,Bolt,2,50\n2,Nut,1.50\n3,Screw,1.50,\n");
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items"]);
    upload.exits(3).shows(&[
        "column D '50' is to the right of the last column of the header",
        "row 2",
        "put quotes around",
    ]);
    assert_eq!(served.total(), 2);
}

#[test]
fn invalid_rows_are_reported_with_column_row_value_and_fix() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", "SKU,Name,Price\n1,Bolt,free\n,Nut,1.00\n3,Screw,2.00\n");
    let check = place.sheetport(["check", "prices.csv", "-t", "items"]).exits(3);
    check.shows(&[
        "Price 'free' is not a number",
        "row 2",
        "write a number",
        "SKU is blank",
        "row 3",
        "fill in the cell",
    ]);
    let report = place.path("prices.report.xlsx");
    served
        .sheetport(&place, ["upload", "prices.csv", "-t", "items", "--all-or-nothing"])
        .exits(3)
        .says(&["nothing was sent"]);
    assert_eq!(served.total(), 0);
    assert!(report.exists(), "what to mend");
}

#[test]
fn check_suggests_the_upload_command() {
    let place = Place::new();
    place.write("my prices.csv", "SKU;Name\n1;Bolt\n");
    let check =
        place.sheetport(["check", "my prices.csv", "-t", "items", "--delimiter", ";", "--encoding", "utf-8", "--json"]);
    let next = super::summary(&check.exits(0))["next"].as_str().unwrap().to_owned();
    assert_eq!(next, "sheetport upload 'my prices.csv' -t items --delimiter ';' --encoding utf-8");
}

#[test]
fn a_dry_run_needs_no_service_and_sends_nothing() {
    let place = Place::new();
    place.write("items.csv", items(3));
    let ended = place.sheetport(["upload", "items.csv", "-t", "items", "--dry-run", "--json"]).exits(0);
    let summary = super::summary(&ended);
    assert_eq!(super::accounting(&summary), "3: pending 3");
    assert!(summary["run"].is_null());
    assert_eq!(place.names(), ["items.csv"], "not even a ledger is made");
}

#[test]
fn the_last_row_of_a_file_cut_within_quotes_is_not_sent() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "SKU,Name\n1,\"Bolt\"\n2,\"Nu");
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items"]);
    upload.exits(3).shows(&["has a quote where none is allowed", "row 3", "check that the file is complete"]);
    assert_eq!(served.total(), 1);
}
