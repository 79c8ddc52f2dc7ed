//! The first hour with lists that nobody has prepared: from a clean home to the corrected rows, sent again, in three commands, without
//! editing a file but the report.

use rust_xlsxwriter::{Format, Workbook};

use super::process::Place;
use super::tmux::Terminal;
use super::{accounting, column, summary, table};
use crate::docs::edit_workbook;

const HOME: [&str; 2] = ["--home", "sheetport-demo/home"];

/// Uploads a list on a terminal, where the questions are answered in their order, corrects cells of its report, and sends it back. Returns
/// the accounting of both and the items of the service.
fn sent(place: &Place, list: &str, answers: &[(&str, &str)], fixes: &[(&str, &str)]) -> Option<[String; 2]> {
    place.sheetport(["demo", "-q"]).exits(0);
    let terminal = Terminal::open(place, 80, &[], &format!("upload {list} {}", HOME.join(" ")))?;
    for (question, answer) in answers {
        terminal.wait_for(question, 1);
        terminal.enter(answer);
    }
    let lines = terminal.lines_at_end();
    // Nothing wraps.
    assert!(lines.iter().all(|line| line.chars().count() <= 80 || line.contains("sheetport continue")), "{lines:#?}");
    let report = list.rsplit_once('.').unwrap().0.to_owned() + ".report.xlsx";
    for (wrong, right) in fixes {
        assert!(edit_workbook(&place.path(&report), wrong, right), "{wrong}");
    }
    let again = place.sheetport(["continue", &report, "--json"].iter().chain(&HOME).copied());
    let sums = lines.iter().filter(|line| line.contains("  sent ") || line.contains("  rejected "));
    Some([sums.cloned().collect::<Vec<_>>().join("\n"), accounting(&summary(&again.run()))])
}

/// Returns the prices of items in the service.
fn prices(place: &Place, ids: &[&str]) -> Vec<String> {
    let words = ["export", "items", "-o", "items.csv", "-q"];
    place.sheetport(words.iter().chain(&HOME).copied()).exits(0);
    let items = table(&place.path("items.csv"));
    let (keys, prices) = (column(&items, "external_id"), column(&items, "price"));
    ids.iter().map(|id| prices[keys.iter().position(|key| key == id).unwrap()].to_owned()).collect()
}

/// A Dutch price list with a title, sections, sums and formats of currencies.
#[test]
fn a_dutch_workbook_with_sections_and_sums() {
    let place = Place::new();
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    let (euro, percent) = (Format::new().set_num_format("\"€\" #,##0.00"), Format::new().set_num_format("0%"));
    sheet.write(0, 0, "Groothandel De Vries B.V., prijslijst najaar 2026").unwrap();
    for (column, title) in (0..).zip(["Artikelnummer", "Omschrijving", "Inkoopprijs", "Verkoopprijs", "BTW %"]) {
        sheet.write(2, column, title).unwrap();
    }
    let mut row = 3;
    for (section, first) in [("Schroeven", 100), ("Pluggen", 200), ("Gereedschap", 300)] {
        sheet.write(row, 0, section).unwrap();
        row += 1;
        let mut sum = 0.0;
        for number in 0..8 {
            let price = f64::from(first + number * 13) / 10.0;
            sum += price;
            sheet.write(row, 0, format!("DV-{:05}", first + number)).unwrap();
            sheet.write(row, 1, format!("{section} maat {number}")).unwrap();
            sheet.write_with_format(row, 2, price / 2.0, &euro).unwrap();
            match (first, number) {
                (200, 3) => sheet.write(row, 3, "op aanvraag").unwrap(),
                _ => sheet.write_with_format(row, 3, price, &euro).unwrap(),
            };
            sheet.write_with_format(row, 4, 0.21, &percent).unwrap();
            row += 1;
        }
        sheet.write(row, 1, format!("Subtotaal {section}")).unwrap();
        sheet.write_with_format(row, 3, sum, &euro).unwrap();
        row += 1;
    }
    book.save(place.path("prijslijst.xlsx")).unwrap();
    let answers = [("Are the rows items?", ""), ("Send 23 records", "y")];
    let Some([first, second]) = sent(&place, "prijslijst.xlsx", &answers, &[("op aanvraag", "23,90")]) else { return };
    assert!(first.contains("23  sent"), "{first}");
    assert!(second.contains("sent 1, unchanged 23"), "{second}");
    assert_eq!(prices(&place, &["DV-00203", "DV-00100"]), ["23.90", "10"]);
}

/// The item list of an ERP program, with forty columns.
#[test]
fn an_export_of_an_erp_program_with_forty_columns() {
    const COLUMNS: [&str; 40] = [
        "No.",
        "Description",
        "Description 2",
        "Base Unit of Measure",
        "Type",
        "Inventory",
        "Blocked",
        "Unit Price",
        "Unit Cost",
        "Standard Cost",
        "Last Direct Cost",
        "Profit %",
        "Price/Profit Calculation",
        "Costing Method",
        "Vendor No.",
        "Vendor Item No.",
        "Lead Time Calculation",
        "Tariff No.",
        "Gross Weight",
        "Net Weight",
        "Unit Volume",
        "Item Category Code",
        "Shelf No.",
        "Search Description",
        "Gen. Prod. Posting Group",
        "VAT Prod. Posting Group",
        "Inventory Posting Group",
        "Reorder Point",
        "Maximum Inventory",
        "Reorder Quantity",
        "Safety Stock Quantity",
        "Country/Region of Origin Code",
        "Manufacturer Code",
        "Last Date Modified",
        "Created By",
        "Routing No.",
        "Production BOM No.",
        "Overhead Rate",
        "Indirect Cost %",
        "GTIN",
    ];
    let place = Place::new();
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for (column, title) in (0..).zip(COLUMNS) {
        sheet.write(0, column, title).unwrap();
    }
    for row in 1..=30_u32 {
        let cost = f64::from(row * 7 + 3);
        sheet.write(row, 0, format!("1{:03}", row * 7)).unwrap();
        sheet.write(row, 1, format!("Desk part {row}")).unwrap();
        sheet.write(row, 6, false).unwrap();
        match row {
            12 => sheet.write(row, 7, "tbd").unwrap(),
            _ => sheet.write(row, 7, cost * 1.5).unwrap(),
        };
        for column in 8..11 {
            sheet.write(row, column, cost).unwrap();
        }
        sheet.write(row, 13, "FIFO").unwrap();
        sheet.write(row, 14, format!("V{}", row % 5)).unwrap();
        sheet.write(row, 25, "VAT25").unwrap();
    }
    book.save(place.path("erp.xlsx")).unwrap();
    let answers = [("with the template business-central-items? [y/N]", "y"), ("Send 29 records", "y")];
    let Some([first, second]) = sent(&place, "erp.xlsx", &answers, &[("tbd", "130.50")]) else { return };
    assert!(first.contains("29  sent") && first.contains("1  rejected"), "{first}");
    assert_eq!(second, "30: sent 1, unchanged 29");
    assert_eq!(prices(&place, &["1084"]), ["130.50"]);
}

/// A German CSV with eight problems of four causes.
#[test]
fn a_german_csv_with_eight_problems() {
    let place = Place::new();
    let mut text = String::from("Artikel-Nr.;Bezeichnung;Netto VK;Währung;Status\n");
    for number in 0..40 {
        let (mut key, mut price, mut currency) =
            (format!("K0{}", 100 + number * 3), format!("{},50", 3 + number), "EUR");
        match number {
            3 => price = "auf Anfrage".to_owned(),
            9 => price = "a.A.".to_owned(),
            15 => price = "1O,50".to_owned(),
            21 => currency = "Taler",
            22 => currency = "??",
            27 => key = "4,00638E+12".to_owned(),
            33 => key = "K0106".to_owned(),
            _ => {}
        }
        text += &format!("{key};Kabel {number} m;{price};{currency};aktiv\n");
    }
    place.write("kabel.csv", text);
    let answers = [("with the template items? [y/N]", "y")];
    let fixes = [
        ("auf Anfrage", "7,90"),
        ("a.A.", "8,90"),
        ("1O,50", "10,50"),
        ("Taler", "EUR"),
        ("??", "EUR"),
        ("4,00638E+12", "K0181"),
        ("K0106", "K0107"),
    ];
    let Some([first, second]) = sent(&place, "kabel.csv", &answers, &fixes) else { return };
    assert!(first.contains("32  sent") && first.contains("8  rejected"), "{first}");
    assert_eq!(second, "40: sent 8, unchanged 32");
    assert_eq!(prices(&place, &["K0109", "K0181", "K0106", "K0107"]), ["7.90", "30.50", "36.50", "5.50"]);
}
