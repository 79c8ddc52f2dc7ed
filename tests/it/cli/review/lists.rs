//! Lists of three kinds from the drop to the last record, with the clicks and the typed cells counted: an export of an ERP system with forty
//! columns, a German CSV file, and orders of several lines.

use serde_json::Value;

use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::{click, confirm_guesses, count, has_no_errors, start, stored, wait, write_into_cell};

/// What a person does.
enum Step {
    /// A click on the first element of a selector with a text.
    Click(&'static str, &'static str),
    /// A value for the first cell of the rows, in place of this text.
    Type(&'static str, &'static str),
}

use Step::{Click, Type};

/// Takes the steps after the questions about the columns. Returns the numbers of clicks and of typed cells until all records are there.
fn bring(browser: &mut Browser, address: &str, steps: &[Step], there: &str) -> (u32, u32) {
    browser.visit(address);
    wait(
        browser,
        "document.querySelector('.bar .primary') && !/Checking/.test(document.querySelector('.bar').innerText)",
    );
    let (mut clicks, mut typed) = (confirm_guesses(browser), 0);
    for step in steps {
        match step {
            Click(selector, text) => {
                click(browser, selector, text);
                clicks += 1;
            }
            Type(text, value) => {
                // A cell whose editor was closed just now shows nothing for a moment, and is not marked as blank.
                let shows = format!(
                    "[document.querySelector('.grid .cell.wrong')].some((cell) => cell?.textContent === {text:?} && \
                     ({text:?} || cell.classList.contains('blank')))"
                );
                wait(browser, &shows);
                write_into_cell(browser, value);
                typed += 1;
            }
        }
    }
    wait(browser, &format!("/{there}/.test(document.querySelector('[data-there]')?.textContent)"));
    has_no_errors(browser);
    (clicks, typed)
}

/// Returns an item that has arrived.
fn item<'a>(items: &'a [Value], key: &str) -> &'a Value {
    items.iter().find(|item| item["external_id"] == key).unwrap_or_else(|| panic!("{key} is missing"))
}

/// The columns of an export of Business Central.
const ERP: [&str; 40] = [
    "No.",
    "Description",
    "Description 2",
    "Base Unit of Measure",
    "Unit Price",
    "Unit Cost",
    "Last Direct Cost",
    "Profit %",
    "VAT %",
    "Blocked",
    "Inventory",
    "Qty. on Purch. Order",
    "Qty. on Sales Order",
    "Shelf No.",
    "Vendor No.",
    "Vendor Item No.",
    "Lead Time Calculation",
    "Reorder Point",
    "Maximum Inventory",
    "Reorder Quantity",
    "Gross Weight",
    "Net Weight",
    "Units per Parcel",
    "Unit Volume",
    "Tariff No.",
    "Country/Region of Origin Code",
    "GTIN",
    "Item Category Code",
    "Product Group",
    "Costing Method",
    "Standard Cost",
    "Search Description",
    "Inventory Posting Group",
    "Gen. Prod. Posting Group",
    "Item Disc. Group",
    "Allow Invoice Disc.",
    "Statistics Group",
    "Commission Group",
    "Last Date Modified",
    "Created From Template",
];

/// Returns sixty items: two prices that are not known and one with a letter, and a number twice.
fn erp_list() -> String {
    let mut text = ERP.join(",");
    for row in 0..60 {
        let number = if row == 31 { 70_030 } else { 70_000 + row };
        let price = match row {
            7 | 21 => "n/a".to_owned(),
            44 => "45.5O".to_owned(),
            _ => format!("{}.{:02}", row + 1, row * 7 % 100),
        };
        let name = ["Bicycle", "Front wheel", "Back hub", "Chain", "Brake lever"][row % 5];
        let cost = format!("{}.{:02}", row / 2 + 1, row * 3 % 100);
        let (stock, gtin) = (row * 7 % 300, 8_710_000_000_000 + row as u64 * 137);
        text.push_str(&format!(
            "\n{number},{name} {row},,PCS,{price},{cost},{cost},35.5,25,No,{stock},0,{},A{}-{},V{},VX-{},5D,10,500,50,\
             {}.5,{},1,0,87149990,DK,{gtin},PARTS,BIKE,FIFO,0,PART {row},RESALE,RETAIL,A,Yes,0,0,2026-01-05,",
            row % 4,
            row % 9,
            row % 5,
            1000 + row % 7,
            row * 13,
            row % 9,
            row % 9
        ));
    }
    text
}

#[test]
fn an_export_of_forty_columns_takes_six_clicks_and_a_typed_cell() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("erp.csv", erp_list());
    let (_process, address) = start(&place, &served, &["erp.csv"]);
    let steps = [
        Click(".bar .primary", "Fix"),
        Click(".tools .filters button", "n/a"),
        Click(".fixes button", "Leave rows 9, 23 out"),
        Type("45.5O", "45.50"),
        Click(".fixes button", "Keep the last"),
        Click(".bar .primary", "Continue with 57"),
        Click(".bar .primary", "Send 57 now"),
    ];
    let (clicks, typed) = bring(&mut browser, &address, &steps, "57 of 57 items are in");
    assert!(clicks <= 6 && typed <= 1, "{clicks} clicks, {typed} typed cells");
    let items = stored(&served);
    assert_eq!((items.len(), item(&items, "70044")["price"].to_string()), (57, "45.50".to_owned()));
    assert_eq!(item(&items, "70030")["name"], "Front wheel 31", "the last of both");
}

/// Returns forty items below a title, with a footnote: three prices on request, one with a letter, and a missing number.
fn german_list() -> Vec<u8> {
    let mut text = "Müller Werkzeuge GmbH;;;;;\r\nPreisliste 2026;;;;;\r\n;;;;;\r\n\
        Art.-Nr.;Bezeichnung;ME;VK netto;MwSt. %;Lieferant\r\n"
        .to_owned();
    for row in 0..40 {
        let number = if row == 18 { String::new() } else { format!("{:06}", 4100 + row) };
        let price = match row {
            5 | 11 | 25 => "auf Anfrage".to_owned(),
            30 => "1.2O4,00".to_owned(),
            _ => format!("{},{:02}", row * 7 + 1, row * 13 % 100),
        };
        let name = ["Schraubenschlüssel", "Bügelsäge", "Maßband", "Zange"][row % 4];
        text.push_str(&format!("{number};{name} {row};Stk;{price};19;Müller\r\n"));
    }
    text.push_str(";;;;;\r\n* Alle Preise zzgl. MwSt.;;;;;\r\n");
    // In the encoding of Windows; none of these letters needs more than Latin-1.
    text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
}

#[test]
fn a_german_list_takes_five_clicks_and_two_typed_cells() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("artikel.csv", german_list());
    let (_process, address) = start(&place, &served, &["artikel.csv"]);
    let steps = [
        Click(".bar .primary", "Fix"),
        Click(".tools .filters button", "auf Anfrage"),
        Click(".fixes button", "Leave rows"),
        Type("1.2O4,00", "1.204,00"),
        Type("", "004118"),
        Click(".bar .primary", "Continue with 37"),
        Click(".bar .primary", "Send 37 now"),
    ];
    let (clicks, typed) = bring(&mut browser, &address, &steps, "37 of 37 items are in");
    assert!(clicks <= 5 && typed <= 2, "{clicks} clicks, {typed} typed cells");
    let items = stored(&served);
    assert_eq!((items.len(), item(&items, "004130")["price"].to_string()), (37, "1204.00".to_owned()));
    assert_eq!(item(&items, "004118")["name"], "Maßband 18");
}

/// The quantity of the second line of the first order, and the price of the only line of the third, as letters instead of digits.
fn orders() -> String {
    let text = std::fs::read_to_string("samples/orders.csv").unwrap();
    let lines = text.lines().take(21).enumerate().map(|(nth, line)| match nth {
        2 => line.replacen(",1,14.50,", ",one,14.50,", 1),
        3 => line.replacen(",6.49,", ",6.4g,", 1),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn orders_of_several_lines_take_three_clicks_and_two_typed_cells() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::demo(&place);
    let text = orders();
    assert!(text.contains(",one,") && text.contains("6.4g"), "{text}");
    place.write("orders.csv", text);
    let (_process, address) = start(&place, &served, &["orders.csv"]);
    let steps = [
        Click(".bar .primary", "Fix"),
        Type("one", "7"),
        Type("6.4g", "6.40"),
        // At once: what was typed last is sent all the same.
        Click(".bar .primary", "Continue with"),
        Click(".bar .primary", "Send 9 now"),
    ];
    let (clicks, typed) = bring(&mut browser, &address, &steps, "9 of 9 orders are in");
    assert!(clicks <= 3 && typed <= 2, "{clicks} clicks, {typed} typed cells");
    assert_eq!(browser.eval(&count("to_fix")), Value::Null, "the result shows no rows to fix");
    let order = |number: &str| {
        let list = served.get("/v1/public/orders?page=1&limit=100");
        let found = list["data"].as_array().unwrap().iter().find(|order| order["external_id"] == number).unwrap();
        served.get(&format!("/v1/public/orders/{}", found["id"].as_str().unwrap()))
    };
    assert_eq!(order("SO-2026-0001")["items"][1]["quantity"].to_string(), "7");
    assert_eq!(order("SO-2026-0002")["items"][0]["price"].to_string(), "6.40");
}
