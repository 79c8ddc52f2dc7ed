//! Reports with odd names of sheets and columns, with lists of odd values, without rows, and with many notes.

use std::path::PathBuf;

use rust_xlsxwriter::Workbook;

use super::super::process::{Place, name};
use super::super::service::Served;
use super::super::{accounting, summary};
use super::hostile_texts::hostile_texts;
use super::programs::Programs;
use super::{assert_same_cells, cells, check_and_save_again};

const TEMPLATE: &str = r#"
record = "item"
[sheet]
name = "*"
[fields.externalId]
column = "SKU"
[fields.name]
column = "Name"
allowed = ["=1+1", "Bolt, large", "say \"x\"", "'quoted", "two\nlines", "שלום", "<b>&"]
[fields.price]
column = "Price"
[fields.status]
column = "Active"
map = { "yes & no" = "active", "-" = "archived" }
[[rules]]
rule = "price < 100"
severity = "warning"
message = "is it \"<dear>\" & 'rare'?"
"#;

/// Writes a workbook with two sheets and a column for every title that is hard to store.
fn write_odd(place: &Place, file: &str) {
    let mut titles =
        ["SKU", "Name", "Price", "Active", "Note", "Note", "note", "=1+1", "'quoted", "two\nlines", "שלום"].to_vec();
    let long = "title ".repeat(100);
    titles.extend(["<b>&\"'", "Column1", "a\tb", "1", "2026-01-02", &long, "sheetport", "#REF!"]);
    let mut workbook = Workbook::new();
    for (number, sheet_name) in ["Summary", "It's & <odd> Größe"].into_iter().enumerate() {
        let sheet = workbook.add_worksheet();
        sheet.set_name(sheet_name).unwrap();
        for (column, title) in (0..).zip(&titles) {
            sheet.write_string(0, column, *title).unwrap();
        }
        for (row, text) in (1..).zip(hostile_texts()) {
            let price = ["1.50", "500", "free"][row as usize % 3];
            let name = ["=1+1", "Bolt, large", "odd", "שלום"][row as usize % 4];
            for (column, text) in (0..).zip([&format!("{number}-{row}"), name, price, "yes & no", &text]) {
                sheet.write_string(row, column, text).unwrap();
            }
        }
    }
    workbook.save(place.path(file)).unwrap();
}

#[test]
fn odd_reports_survive_other_programs() {
    let Some(programs) = Programs::find() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("t.toml", TEMPLATE);
    write_odd(&place, "odd.xlsx");
    let rows: String = (0..300).map(|number| format!("{number},Bolt,free\n")).collect();
    place.write("many.csv", format!("SKU,Name,Price\n{rows}"));
    let mut files: Vec<PathBuf> = Vec::new();
    for (args, file, code) in [
        (&["check", "many.csv", "-t", "items", "--report"][..], "many.xlsx", 3),
        (&["check", "odd.xlsx", "-t", "t.toml", "--report"], "check.xlsx", 3),
        (&["upload", "odd.xlsx", "-t", "t.toml", "--yes", "-q", "--report"], "upload.xlsx", 3),
        (&["report", "--only", "problems", "-o"], "problems.xlsx", 0),
        (&["report", "--only", "unknown", "-o"], "none.xlsx", 0),
    ] {
        served.sheetport(&place, args.iter().copied()).arg(file).exits(code);
        files.push(place.path(file));
    }
    let retry = |file: &str| {
        let retry = served.sheetport(&place, ["retry", file, "--json"]).csv_report("retried.csv");
        accounting(&summary(&retry.exits(3)))
    };
    let untouched = retry("upload.xlsx");
    assert!(untouched.contains("unchanged") && untouched.contains("rejected"), "{untouched}");
    let before: Vec<Vec<String>> = files.iter().map(|file| cells(&place, file)).collect();
    for (program, folder) in check_and_save_again(&programs, &place, &files) {
        for (file, then) in files.iter().zip(&before) {
            assert_same_cells(&place, program, then, &folder.join(file.file_name().unwrap()));
        }
        assert_eq!(retry(name(&folder.join("upload.xlsx"))), untouched, "{program:?}");
    }
}
