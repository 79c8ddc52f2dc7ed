//! Retrying workbook reports: with a summary sheet, with rows on several sheets, and saved by LibreOffice.

use rust_xlsxwriter::Workbook;
use serde_json::Value;

use super::super::office;
use super::super::process::Place;
use super::super::service::Served;
use super::super::{accounting, summary};
use super::{ORDERS, Sheet, exists, run};
use crate::faults::server::{Reply, Server};

/// Saves sheets as a workbook: texts as texts, and numbers in our columns as numbers.
pub(super) fn save(place: &Place, name: &str, sheets: &[(&str, &Sheet)]) {
    let mut workbook = Workbook::new();
    for (name, rows) in sheets {
        let sheet = workbook.add_worksheet();
        sheet.set_name(*name).unwrap();
        for (row, cells) in (0..).zip(&rows.0) {
            for (column, (header, text)) in
                (0..).zip(rows.0[0].iter().zip(cells)).filter(|(_, (_, text))| !text.is_empty())
            {
                let number = text.parse::<f64>().ok().filter(|_| header == "sheetport_row");
                match number {
                    Some(number) => sheet.write_number(row, column, number).unwrap(),
                    None => sheet.write_string(row, column, text).unwrap(),
                };
            }
        }
    }
    workbook.save(place.path(name)).unwrap();
}

/// The sheet of a workbook that has our columns.
#[track_caller]
pub(super) fn open(place: &Place, name: &str) -> Sheet {
    let shown = place.sheetport(["view", name, "--json", "--all-sheets"]).exits(0).json();
    let text = |cell: &Value| match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let row = |row: &Value| row.as_array().unwrap().iter().map(text).collect::<Vec<_>>();
    let sheets = shown["sheets"].as_array().unwrap().iter();
    let sheets = sheets.map(|sheet| sheet["rows"].as_array().unwrap().iter().map(row).collect::<Vec<_>>());
    let ours = |rows: &Vec<Vec<String>>| rows.iter().position(|row| row.iter().any(|cell| cell == "sheetport_run"));
    let (mut rows, header) = sheets.filter_map(|rows| ours(&rows).map(|header| (rows, header))).next().unwrap();
    rows.drain(..header);
    let width = rows[0].len();
    rows.iter_mut().for_each(|row| row.resize(width, String::new()));
    Sheet(rows)
}

fn of(rows: &[&str]) -> Sheet {
    Sheet(rows.iter().map(|row| row.split('|').map(str::to_owned).collect()).collect())
}

#[track_caller]
pub(super) fn retry(place: &Place, served: &Served, name: &str, code: i32) -> String {
    accounting(&summary(&served.sheetport(place, ["retry", name, "--json"]).exits(code)))
}

/// A workbook of prices, uploaded, with one row of each fate.
fn uploaded() -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    let prices = [
        "SKU|Name|Price|Status",
        "0042|Bolt|free|active",
        "43|Nut|1.10|in stock from the beginning of the third quarter of 2027",
        "44|Screw|2.50|active",
    ];
    save(&place, "prices.xlsx", &[("Prices", &of(&prices))]);
    served.sheetport(&place, ["upload", "prices.xlsx", "-t", "items", "-q"]).exits(3);
    (place, served)
}

#[test]
fn workbook_is_fixed_in_place_and_retried() {
    let (place, served) = uploaded();
    assert_eq!(retry(&place, &served, "prices.report.xlsx", 3), "3: unchanged 1, rejected 1, failed 1");
    assert!(exists(&place, "prices.report-2.xlsx"));
    let mut sheet = open(&place, "prices.report-2.xlsx");
    sheet
        .replace("free", "9")
        .replace("in stock from the beginning of the third quarter of 2027", "active")
        .sort_by("sheetport_status");
    save(&place, "mended.xlsx", &[("Prices", &sheet)]);
    assert_eq!(retry(&place, &served, "mended.xlsx", 0), "3: sent 2, unchanged 1");
    assert_eq!(served.total(), 3);
}

#[test]
fn all_sheets_with_report_columns_are_read() {
    let (place, served) = uploaded();
    let mut sheet = open(&place, "prices.report.xlsx");
    sheet.replace("free", "9").replace("in stock from the beginning of the third quarter of 2027", "active");
    let summary = of(&["What is wrong|Rows", "Price is not a number|1", "SKU|Name", "99|not to be sent"]);
    let mut second = sheet.clone();
    second.0.drain(1..3);
    sheet.0.truncate(3);
    // A copy is a problem of its own sheet.
    let mut copied = second.clone();
    copied.0.push(copied.0[1].clone());
    save(&place, "copied.xlsx", &[("Prices", &sheet), ("Prices 2", &copied)]);
    let args = ["retry", "copied.xlsx", "--report", "copied.csv", "--rate", "100/s", "--json"];
    assert_eq!(
        accounting(&super::super::summary(&served.sheetport(&place, args).exits(3))),
        "4: sent 2, unchanged 1, rejected 1"
    );
    let errors = Sheet::open(&place, "copied.csv");
    let errors = errors.column("sheetport_errors");
    assert!(errors[..3].iter().all(|error| error.is_empty()) && errors[3].contains("is a copy"), "{errors:?}");
    save(&place, "mended.xlsx", &[("Summary", &summary), ("Prices", &sheet), ("Prices 2", &second)]);
    assert_eq!(retry(&place, &served, "mended.xlsx", 0), "3: unchanged 3");
    // The report of that names the sheets, and goes back as well.
    place.sheetport(["report", "-o", "all.csv"]).exits(0);
    let all = Sheet::open(&place, "all.csv");
    assert_eq!(all.column("sheetport_sheet"), ["Prices", "Prices", "Prices 2"]);
    assert_eq!(retry(&place, &served, "all.csv", 0), "3: unchanged 3");
    assert_eq!(retry(&place, &served, "prices.report.xlsx", 0), "3: unchanged 3");
    assert_eq!(served.total(), 3);
}

#[test]
fn report_of_several_sheets_is_retried_as_one() {
    let place = Place::new();
    let served = Served::start(&place);
    let north = of(&["SKU|Name|Price", "1|Bolt|free", "2|Nut|1.00"]);
    let south = of(&[
        "Shelf|Artikelnummer|Status|Name",
        "S1|3|active|Screw",
        "S2|4|in stock from the beginning of the third quarter of 2027|Pin",
    ]);
    save(&place, "prices.xlsx", &[("North", &north), ("South", &south)]);
    served.sheetport(&place, ["upload", "prices.xlsx", "-t", "items", "--sheet", "*", "-q"]).exits(3);
    let mut sheet = open(&place, "prices.report.xlsx");
    sheet
        .replace("free", "9")
        .replace("in stock from the beginning of the third quarter of 2027", "active")
        .sort_by("sheetport_status");
    sheet.save(&place, "mended.csv");
    let mut nameless = sheet.clone();
    nameless.drop_column("sheetport_sheet").save(&place, "nameless.csv");
    served.sheetport(&place, ["retry", "nameless.csv"]).exits(2).says(&["no column sheetport_sheet"]);
    let mut wrong = sheet.clone();
    wrong.set(2, "sheetport_sheet", "West").save(&place, "wrong.csv");
    served.sheetport(&place, ["retry", "wrong.csv", "--dry-run"]).exits(3).shows(&["is no row of the sheet 'West'"]);
    assert_eq!(retry(&place, &served, "mended.csv", 0), "4: sent 2, unchanged 2");
    assert_eq!(retry(&place, &served, "prices.report.xlsx", 0), "4: unchanged 4");
    // A field whose column one sheet does not have is left out for its rows, as in the first file.
    let items = served.get("/v1/public/items")["data"].as_array().unwrap().clone();
    let pin = items.iter().find(|item| item["name"] == "Pin").unwrap();
    assert!(pin["price"].is_null(), "{pin}");
}

#[test]
fn typed_cells_survive_a_csv_report() {
    let place = Place::new();
    let served = Served::start(&place);
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, name) in (0..).zip(["SKU", "Name", "Price", "Status"]) {
        sheet.write_string(0, column, name).unwrap();
    }
    for (row, price) in [(1, 1.234), (2, 1234.5), (3, 7.0)] {
        sheet.write_string(row, 0, row.to_string()).unwrap().write_string(row, 1, format!("Item {row}")).unwrap();
        sheet
            .write_number(row, 2, price)
            .unwrap()
            .write_string(row, 3, "in stock from the beginning of the third quarter of 2027")
            .unwrap();
    }
    workbook.save(place.path("prices.xlsx")).unwrap();
    let template = place.sheetport(["template", "show", "items"]).exits(0).stdout;
    place.write("de.toml", template.replace("locale = \"en\"", "locale = \"de\""));
    served.sheetport(&place, ["upload", "prices.xlsx", "-t", "de.toml", "-q", "--report", "prices.csv"]).exits(3);
    let mut sheet = Sheet::open(&place, "prices.csv");
    assert_eq!(sheet.column("Price"), ["1.234", "1234.5", "7"]);
    // What a person writes is read as the template says.
    sheet
        .replace("in stock from the beginning of the third quarter of 2027", "active")
        .set(4, "Price", "8,5")
        .save(&place, "mended.csv");
    assert_eq!(retry(&place, &served, "mended.csv", 0), "3: sent 3");
    let items = served.get("/v1/public/items")["data"].to_string();
    for price in ["1.234,", "1234.5,", "8.5,"] {
        assert!(items.contains(&format!("\"price\":{price}")), "{items}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn order_with_an_added_row_keeps_the_values_of_its_other_rows() {
    let place = Place::new();
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    let long = format!("{}the end", "long ".repeat(8_000));
    for (column, title) in ["No", "SKU", "Qty", "Note"].into_iter().enumerate() {
        sheet.write_string(0, column as u16, title).unwrap();
    }
    for (row, sku, quantity) in [(1, "a-1", 1.234), (2, "a-2", 2.0)] {
        sheet.write_string(row, 0, "A").unwrap().write_string(row, 1, sku).unwrap();
        sheet.write_number(row, 2, quantity).unwrap();
    }
    sheet.write_string(3, 0, "B").unwrap().write_string(3, 1, "b-1").unwrap().write_string(3, 2, "many").unwrap();
    workbook.save(place.path("orders.xlsx")).unwrap();
    let template = ORDERS.replace("[group]", "[sheet]\nlocale = \"de\"\n[group]");
    place.write("t.toml", &template);
    let server = Server::start(|_| Reply::Accept).await;
    run(&place, &server, &["upload", "orders.xlsx", "-t", "t.toml", "-q", "--report", "r.csv"], 3).await;
    let mut sheet = Sheet::open(&place, "r.csv");
    sheet.replace("many", "4").add(&["A", "a-3", "9"]).save(&place, "mended.csv");
    let ended = run(&place, &server, &["retry", "mended.csv", "--json"], 0).await;
    assert_eq!(accounting(&summary(&ended)), "2: sent 2");
    let lines = |body: &str| serde_json::from_str::<Value>(body).unwrap()["order"]["items"].clone();
    let sent: Vec<Value> =
        server.log().iter().map(|seen| lines(&seen.body)).filter(|lines| lines[0]["itemExternalId"] == "a-1").collect();
    let quantities: Vec<String> = sent[1].as_array().unwrap().iter().map(|line| line["quantity"].to_string()).collect();
    assert_eq!((sent.len(), quantities), (2, vec!["1.234".to_owned(), "2".to_owned(), "9".to_owned()]));

    // The other way round: what a text held whole, a workbook has cut.
    let place = Place::new();
    place.write("t.toml", format!("{ORDERS}[lines.item_id]\ncolumn = \"Note\"\n"));
    place.write("orders.csv", format!("No,SKU,Qty,Note\nA,a-1,1,{long}\nB,b-1,many,x\n"));
    let server = Server::start(|_| Reply::Accept).await;
    run(&place, &server, &["upload", "orders.csv", "-t", "t.toml", "-q", "--report", "r.xlsx"], 3).await;
    let mut sheet = open(&place, "r.xlsx");
    sheet.replace("many", "4").add(&["A", "a-3", "9"]);
    save(&place, "mended.xlsx", &[("orders", &sheet)]);
    let ended = run(&place, &server, &["retry", "mended.xlsx", "--json"], 0).await;
    assert_eq!(accounting(&summary(&ended)), "2: sent 2");
    let sent =
        server.log().iter().map(|seen| lines(&seen.body)).filter(|lines| lines[0]["item_id"] == long.as_str()).count();
    assert_eq!(sent, 2);
}

#[test]
fn report_saved_by_libreoffice_is_the_same_report() {
    if !office::is_there() {
        return;
    }
    let (place, served) = uploaded();
    let mut sheet = open(&place, "prices.report.xlsx");
    sheet.replace("free", "9.00");
    save(&place, "mended.xlsx", &[("Prices", &sheet)]);
    for to in [office::XLSX, "ods", "csv"] {
        office::save_again(&place, &place.path("mended.xlsx"), to);
    }
    // The program also opens what we wrote as a text, with what it makes of such cells by itself.
    place.sheetport(["report", "1", "-o", "again.csv"]).exits(0);
    office::save_again(&place, &place.path("again.csv"), office::XLSX);
    assert_eq!(retry(&place, &served, "saved/again.xlsx", 3), "3: unchanged 1, rejected 1, failed 1");
    assert_eq!(retry(&place, &served, "saved/mended.csv", 3), "3: sent 1, unchanged 1, failed 1");
    assert_eq!(retry(&place, &served, "saved/mended.ods", 3), "3: unchanged 2, failed 1");
    assert_eq!(retry(&place, &served, "saved/mended.xlsx", 3), "3: unchanged 2, failed 1");
    assert_eq!(served.total(), 2);
    // Of an .ods the report is a workbook, too.
    assert!(exists(&place, "saved/mended.report.xlsx"));
}
