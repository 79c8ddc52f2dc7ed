//! Selecting sheets of a workbook: one by name or number, or all with the columns of the template.

use std::path::PathBuf;

use rust_xlsxwriter::Workbook;

use super::process::Place;
use super::service::Served;
use super::{accounting, column, own_titles, summary, table};

/// Saves a workbook with these sheets. Empty cells are omitted.
pub(super) fn workbook(place: &Place, name: &str, sheets: &[(&str, &[&str])]) -> PathBuf {
    let path = place.path(name);
    let mut workbook = Workbook::new();
    for (name, rows) in sheets {
        let sheet = workbook.add_worksheet();
        sheet.set_name(*name).unwrap();
        for (row, line) in (0..).zip(*rows) {
            for (column, text) in (0..).zip(line.split('|')).filter(|(_, text)| !text.is_empty()) {
                sheet.write_string(row, column, text).unwrap();
            }
        }
    }
    workbook.save(&path).unwrap();
    path
}

const NORTH: &[&str] = &["SKU|Name|Price", "1|Bolt|1.50", "2|Nut|free", "5|Cog|2.00"];
const NOTES: &[&str] = &["Written by|Ida", "on|Monday"];
/// A sheet with a title, another column order, another name for a field, and an additional column.
const SOUTH: &[&str] = &[
    "Prices of the south",
    "",
    "Shelf|Price|Artikelnummer|Name",
    "S1|3.50|3|Screw",
    "S2|dear|4|Pin",
    "S3|1.00|1|Bolt",
];

#[test]
fn a_sheet_is_selected_by_name_before_number() {
    let place = Place::new();
    let first: &[&str] = &["SKU|Name", "11|a"];
    let second: &[&str] = &["SKU|Name", "21|a", "22|b"];
    let third: &[&str] = &["SKU|Name", "31|a", "32|b", "33|c"];
    workbook(&place, "a.xlsx", &[("2", first), ("Preise", second), ("Ende", third)]);
    for (sheet, rows) in [("2", 1), ("1", 1), ("Preise", 2), ("3", 3), ("Ende", 3)] {
        let check = place.sheetport(["check", "a.xlsx", "-t", "items", "--json", "--sheet", sheet]).exits(0);
        assert_eq!(accounting(&summary(&check)), format!("{rows}: pending {rows}"), "{sheet}");
        let view = place.sheetport(["view", "a.xlsx", "--csv", "--sheet", sheet]).exits(0);
        assert_eq!(view.stdout.lines().count(), rows + 1, "{sheet}");
    }
    for sheet in ["0", "4", "preise", "-1"] {
        let arg = format!("--sheet={sheet}");
        for command in [&["check", "a.xlsx", "-t", "items"][..], &["view", "a.xlsx"]] {
            let ended = place.sheetport(command).arg(&arg).exits(2);
            ended.says(&[&format!("a.xlsx has no sheet '{sheet}'"), "it has: 2, Preise, Ende"]);
        }
    }
}

#[test]
fn all_sheets_with_the_columns_are_read_as_one_input() {
    let place = Place::new();
    let served = Served::start(&place);
    workbook(&place, "prices.xlsx", &[("North", NORTH), ("Notes", NOTES), ("South", SOUTH)]);
    let arguments = ["prices.xlsx", "-t", "items", "--sheet", "*"];
    let check = place.sheetport(["check"].iter().chain(&arguments)).exits(3);
    check.says(&["skipping the sheet 'Notes': it has none of the template's columns"]).shows(&[
        "sheet 'North', header in row 1; sheet 'South', header in row 3",
        "row 3 of 'North'",
        "row 5 of 'South'",
    ]);
    let upload = served.sheetport(&place, ["upload"].into_iter().chain(arguments)).arg("--json").exits(3);
    let summary = summary(&upload);
    assert_eq!(accounting(&summary), "6: sent 2, rejected 4");
    assert_eq!(served.total(), 2);

    place.sheetport(["report", "-o", "report.csv"]).exits(0);
    let report = table(&place.path("report.csv"));
    assert_eq!(
        own_titles(&report),
        ["SKU", "Name", "Price", "Shelf"],
        "one field is one column, whatever a sheet calls it"
    );
    assert_eq!(column(&report, "SKU"), ["1", "2", "5", "3", "4", "1"]);
    assert_eq!(column(&report, "Price"), ["1.50", "free", "2.00", "3.50", "dear", "1.00"]);
    assert_eq!(column(&report, "Shelf"), ["", "", "", "S1", "S2", "S3"]);
    assert_eq!(column(&report, "sheetport_sheet"), ["North", "North", "North", "South", "South", "South"]);
    assert_eq!(column(&report, "sheetport_row"), ["2", "3", "4", "4", "5", "6"]);
    let errors = column(&report, "sheetport_errors");
    assert!(errors[0].contains("the other is in row 6 of the sheet 'South'"), "{errors:?}");
    assert!(errors[5].contains("the other is in row 2 of the sheet 'North'"), "{errors:?}");
    assert!(errors[1].starts_with("Price 'free' is not a number"), "{errors:?}");
    assert!(errors[4].starts_with("Price 'dear' is not a number"), "{errors:?}");

    // The report is a single sheet for the same template.
    let mended = std::fs::read_to_string(place.path("report.csv")).unwrap();
    let mended = mended.replace(",free,", ",9.00,").replace(",dear,", ",8.00,").replace("1,Bolt,1.00", "6,Bolt,1.00");
    place.write("mended.csv", mended);
    let again = served.sheetport(&place, ["upload", "mended.csv", "-t", "items", "--json"]).exits(0);
    assert_eq!(accounting(&super::summary(&again)), "6: sent 6");
    // As a workbook, too.
    place.sheetport(["report", "1", "-o", "report.xlsx"]).exits(0);
    let read = place.sheetport(["check", "report.xlsx", "-t", "items", "--json"]).exits(3);
    assert_eq!(accounting(&super::summary(&read)), "6: rejected 4, pending 2");
}

#[test]
fn refused_rows_are_reported_with_their_sheet() {
    let place = Place::new();
    let served = Served::start(&place);
    let north: &[&str] = &["SKU|Status", "1|active"];
    let south: &[&str] = &["Status|SKU", "in stock from the beginning of the third quarter of 2027|2"];
    workbook(&place, "prices.xlsx", &[("North", north), ("South", south)]);
    let upload = served.sheetport(&place, ["upload", "prices.xlsx", "-t", "items", "--sheet", "*"]);
    upload.exits(3).shows(&["Status", "row 2 of 'South'"]);
}

#[test]
fn a_template_can_select_all_sheets_and_near_misses_are_reported() {
    let place = Place::new();
    let near: &[&str] = &["SKUs|Title", "9|Lost"];
    workbook(&place, "prices.xlsx", &[("North", NORTH), ("Near", near)]);
    place.write(
        "all.toml",
        "record = \"item\"\n[sheet]\nname = \"*\"\nlocale = \"en\"\n[fields.externalId]\ncolumn = [\"SKU\", \"Artikelnummer\"]\n\
         [fields.name]\ncolumn = [\"Name\", \"Title\"]\n[fields.price]\ncolumn = \"Price\"\noptional = true\n",
    );
    let check = place.sheetport(["check", "prices.xlsx", "-t", "all.toml", "-q", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&check)), "3: rejected 1, pending 2");
    check.says(&[
        "skipping the sheet 'Near': externalId needs the column 'SKU' or 'Artikelnummer' (the nearest is 'SKUs')",
    ]);
    // The flag overrides the template.
    place.sheetport(["check", "prices.xlsx", "-t", "all.toml", "--sheet", "Near"]).exits(2).says(&["externalId needs"]);
    // A name in a template is never a number: the index has its own key.
    let numbered = std::fs::read_to_string(place.path("all.toml")).unwrap().replace("\"*\"", "\"2\"");
    place.write("two.toml", numbered);
    place.sheetport(["check", "prices.xlsx", "-t", "two.toml"]).exits(2).says(&["prices.xlsx has no sheet '2'"]);
    // A CSV has a single sheet.
    place.write("prices.csv", "SKU,Name\n1,Bolt\n");
    place.sheetport(["check", "prices.csv", "-t", "all.toml"]).exits(0);
}

#[test]
fn a_workbook_without_a_matching_sheet_is_refused() {
    let place = Place::new();
    workbook(&place, "notes.xlsx", &[("Notes", NOTES), ("More", &["Title", "x"])]);
    let words = ["notes.xlsx does not have the columns that the template items maps", "externalId needs"];
    place.sheetport(["check", "notes.xlsx", "-t", "items", "--sheet", "*"]).exits(2).says(&words);
}
