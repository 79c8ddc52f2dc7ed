//! Texts that a spreadsheet program would run as formulas: none of them becomes one in a report or an export, whatever
//! separator the program uses, and a retry or an upload sends what was written.

use std::fs;
use std::path::Path;

use serde_json::json;
use sheetport_sheet::write::{defuse, restore};

use super::super::browser::Browser;
use super::super::process::{Place, name};
use super::super::service::Served;
use super::super::{accounting, office, summary};
use crate::hostile::texts;

const TEMPLATE: &str = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n\
    [fields.description]\ncolumn = \"Text\"\n[fields.price]\ncolumn = \"Price\"\n";
/// The separators of the import dialog, as import filters.
const SEPARATORS: [(&str, &str); 4] =
    [("comma", "CSV:44,34,76"), ("semicolon", "CSV:59,34,76"), ("tab", "CSV:9,34,76"), ("pipe", "CSV:124,34,76")];
const FLAT: &str = "fods";

/// Returns the texts in a form that the service accepts.
fn sent_texts() -> Vec<String> {
    texts().iter().map(|text| text.replace('\0', "")).collect()
}

/// Writes a file with each text in the first, a middle and the last column, so that rows begin and end with it.
fn write_sheet(place: &Place, file: &str, delimiter: u8) {
    let mut rows = csv::WriterBuilder::new().delimiter(delimiter).from_path(place.path(file)).unwrap();
    rows.write_record(["Note", "SKU", "Text", "Price", "Remark"]).unwrap();
    for (number, (text, sent)) in texts().iter().zip(sent_texts()).enumerate() {
        rows.write_record([text, &format!("A-{number:03}"), &sent, "free", text]).unwrap();
    }
    rows.flush().unwrap();
}

/// Returns the formulas that the program finds in a file, opened with an import filter.
fn formulas(place: &Place, file: &str, filter: Option<&str>, folder: &str) -> Vec<String> {
    let folder = place.path(folder);
    office::import_and_save(place, &[name(&place.path(file))], filter, FLAT, &folder);
    let flat = folder.join(Path::new(file).file_name().unwrap()).with_extension(FLAT);
    let flat = fs::read_to_string(flat).unwrap();
    assert!(flat.contains("<table:table-cell"), "{file} was not read");
    flat.split("table:formula=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[track_caller]
fn check_safe(place: &Place, file: &str) {
    for (separator, filter) in SEPARATORS {
        let found = formulas(place, file, Some(filter), &format!("{file}.{separator}"));
        assert_eq!(found, Vec::<String>::new(), "{file} opened with {separator}");
    }
}

/// Returns the descriptions that the service has, in the order of the identifiers.
fn descriptions(served: &Served) -> Vec<String> {
    let mut items = Vec::new();
    for page in 1.. {
        let list = served.get(&format!("/v1/public/items?page={page}&limit=100"));
        match list["data"].as_array().unwrap().as_slice() {
            [] => break,
            page => items.extend_from_slice(page),
        }
    }
    items.sort_by_key(|item| item["external_id"].to_string());
    items.iter().map(|item| item["description"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_text_of_a_report_becomes_a_formula_and_a_retry_sends_the_original() {
    let has_office = office::is_there();
    for (delimiter, file) in [(b',', "comma.csv"), (b';', "semicolon.csv"), (b'\t', "tab.csv")] {
        let place = Place::new();
        let served = Served::start(&place);
        place.write("t.toml", TEMPLATE);
        write_sheet(&place, file, delimiter);
        let options = ["-t", "t.toml", "--delimiter", &char::from(delimiter).to_string()].map(str::to_owned);
        served.sheetport(&place, ["upload", file]).args(&options).csv_report("report.csv").exits(3);
        let report = fs::read_to_string(place.path("report.csv")).unwrap();
        let titles = ["sheetport_warnings", "Note", "SKU", "Text"].join(&char::from(delimiter).to_string());
        assert!(report.lines().next().unwrap().contains(&titles), "{report}");
        place.sheetport(["report", "-o", "report.xlsx", "-q"]).exits(0);
        if has_office {
            check_safe(&place, "report.csv");
            assert_eq!(formulas(&place, "report.xlsx", None, "workbook"), Vec::<String>::new());
        }
        place.write("mended.csv", report.replace("free", "1.50"));
        let retried = summary(&served.sheetport(&place, ["retry", "mended.csv", "--json"]).exits(0));
        assert_eq!(accounting(&retried), format!("{0}: sent {0}", texts().len()));
        assert_eq!(descriptions(&served), sent_texts(), "{file}");
    }
}

#[test]
fn no_text_of_an_export_becomes_a_formula_and_an_upload_sends_the_original() {
    let place = Place::new();
    let served = Served::start(&place);
    for (number, text) in sent_texts().iter().enumerate() {
        let item = json!({"externalId": format!("A-{number:03}"), "name": text, "description": text, "price": 1.50});
        served.post("/v1/public/items", &item.to_string());
    }
    let has_office = office::is_there();
    for (file, flags) in
        [("comma.csv", &[][..]), ("semicolon.csv", &["--delimiter", ";"]), ("tab.tsv", &[]), ("items.xlsx", &[])]
    {
        let words = ["export", "items", "-o", file, "-q"].into_iter().chain(flags.iter().copied());
        served.sheetport(&place, words).exits(0);
        match file {
            "items.xlsx" if has_office => {
                assert_eq!(formulas(&place, file, None, "workbook"), Vec::<String>::new());
            }
            _ if has_office => check_safe(&place, file),
            _ => {}
        }
        let upload = ["upload", file, "-t", "exported-items", "--changed-only", "--json"];
        let upload = summary(&served.sheetport(&place, upload).exits(0));
        assert_eq!(accounting(&upload), format!("{0}: unchanged {0}", texts().len()), "{file}");
    }
    // The program does run them if they are exported unchanged.
    if has_office {
        served.sheetport(&place, ["export", "items", "-o", "exact.csv", "--exact", "-q"]).exits(0);
        assert_ne!(formulas(&place, "exact.csv", Some(office::FROM_CSV), "exact"), Vec::<String>::new());
    }
}

#[test]
fn texts_copied_from_a_page_are_as_safe_as_in_a_csv() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("t.toml", TEMPLATE);
    write_sheet(&place, "texts.csv", b',');
    let upload = ["upload", "texts.csv", "-t", "t.toml", "--delimiter", ",", "--report", "page.html"];
    served.sheetport(&place, upload).exits(3);
    browser.open(&place.path("page.html"), "");
    for text in texts() {
        let copied = browser.text(&format!("defused({})", json!(text)));
        // The page does not know which calculations are harmless, so it may have more apostrophes than a report.
        assert!(copied.len() >= defuse(&text).len(), "{text:?} became {copied:?}");
        assert_eq!(restore(&copied), text);
    }
}
