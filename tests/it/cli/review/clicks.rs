//! What a person needs from a supplier's workbook to the last record, counted.

use rust_xlsxwriter::{Format, Formula, Workbook};

use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::{click, confirm_guesses, count, has_no_errors, start, stored, wait, write_into_cell};

/// Rows of the list with an item.
const ITEMS: u32 = 33;

/// Writes a Dutch price list with a title, sections, a total, a footnote, currency formats, and eight problems of four causes: three prices on
/// request and one with a letter, two missing numbers, and a number twice.
fn write_list(place: &Place) {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    let (money, percent) = (Format::new().set_num_format("€ #,##0.00"), Format::new().set_num_format("0%"));
    sheet.write_string(0, 0, "Bakker Bevestigingsmaterialen B.V.").unwrap();
    sheet.write_string(1, 0, "Prijslijst geldig vanaf 1-1-2026").unwrap();
    let titles =
        ["Artikelnr.", "Omschrijving", "Eenheid", "Voorraad", "Verkoop excl. btw", "Btw", "EAN", "Leverancier"];
    for (title, column) in titles.into_iter().zip(0..) {
        sheet.write_string(3, column, title).unwrap();
    }
    let mut row = 4;
    for item in 0..ITEMS {
        if item % 11 == 0 {
            let section = ["Bouten", "Moeren", "Ringen"][(item / 11) as usize];
            sheet.write_string(row, 0, section).unwrap();
            row += 1;
        }
        let number = if item == 12 { 1011 } else { 1000 + item };
        if !matches!(item, 5 | 15) {
            sheet.write_string(row, 0, format!("BK-{number}")).unwrap();
        }
        let name = ["Zeskantbout", "Moer", "Ring", "Inslaganker", "Plug"][(item % 5) as usize];
        sheet.write_string(row, 1, format!("{name} M{} verzinkt {item}", 4 + item % 4 * 2)).unwrap();
        sheet.write_string(row, 2, "stuk").unwrap();
        sheet.write_number(row, 3, f64::from(item * 37 % 500)).unwrap();
        match item {
            3 | 9 | 20 => sheet.write_string(row, 4, "op aanvraag").unwrap(),
            27 => sheet.write_string(row, 4, "12,5O").unwrap(),
            _ => sheet.write_number_with_format(row, 4, f64::from(item * 793 % 4000 + 99) / 100.0, &money).unwrap(),
        };
        sheet.write_number_with_format(row, 5, 0.21, &percent).unwrap();
        sheet.write_number(row, 6, 8_710_000_000_000.0 + f64::from(item * 137)).unwrap();
        sheet.write_string(row, 7, "Bakker").unwrap();
        row += 1;
    }
    sheet.write_string(row, 0, "Totaal").unwrap();
    sheet.write_formula(row, 3, Formula::new("SUM(D5:D40)").set_result("8000")).unwrap();
    sheet.write_string(row + 2, 0, "* prijzen onder voorbehoud").unwrap();
    book.save(place.path("prijslijst.xlsx")).unwrap();
}

#[test]
fn a_dutch_workbook_takes_nine_clicks_and_three_typed_cells() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    write_list(&place);
    let (_process, address) = start(&place, &served, &["prijslijst.xlsx"]);
    browser.visit(&address);
    wait(&mut browser, "document.querySelector('[data-question]')");
    let mut clicks = confirm_guesses(&mut browser);
    let mut press = |browser: &mut Browser, selector: &str, text: &str| {
        click(browser, selector, text);
        clicks += 1;
    };
    press(&mut browser, ".bar .primary", "Fix");
    press(&mut browser, ".tools .filters button", "op aanvraag");
    press(&mut browser, ".fixes button", "Leave rows");
    // The next cause comes by itself when the one before is done, and its first cell waits for the answer.
    let shows = |cause: &str| {
        format!(
            "/{cause}/.test(document.querySelector('.detail h2')?.textContent) && document.querySelector('.grid .cell.wrong')"
        )
    };
    wait(
        &mut browser,
        "document.querySelectorAll('.grid .row').length === 1 && /12,5O/.test(document.querySelector('.grid').innerText)",
    );
    write_into_cell(&mut browser, "12.50");
    wait(&mut browser, &shows("no record"));
    press(&mut browser, ".fixes button", "Leave rows");
    wait(&mut browser, &shows("missing"));
    write_into_cell(&mut browser, "BK-1005");
    wait(&mut browser, "document.querySelectorAll('.grid .row').length === 1");
    write_into_cell(&mut browser, "BK-1015");
    wait(&mut browser, &shows("twice"));
    press(&mut browser, ".fixes button", "Keep the last");
    wait(&mut browser, &format!("{} <= 1", count("to_fix")));
    if browser.eval(&format!("{} === 1", count("to_fix"))) == true {
        wait(&mut browser, &shows("no record"));
        press(&mut browser, ".fixes button", "Leave row");
    }
    wait(&mut browser, &format!("{} === 0", count("to_fix")));
    press(&mut browser, ".bar .primary", "Continue");
    press(&mut browser, ".bar .primary", "Send 29 now");
    wait(&mut browser, "/29 of 29 items are in/.test(document.querySelector('[data-there]')?.textContent)");
    assert!(clicks <= 9, "{clicks} clicks");
    assert_eq!(stored(&served).len(), 29);
    has_no_errors(&browser);
}
