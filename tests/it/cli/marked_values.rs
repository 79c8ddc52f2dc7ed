//! Values that look right in a spreadsheet program and are others when read: texts with raised or struck parts, booleans, times and
//! what programs write in place of a value. Nothing wrong arrives.

use rust_xlsxwriter::{Format, FormatScript, Workbook};
use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;

/// Uploads a file, and returns the items that arrived as external id, name and price.
fn arrived(served: &Served, place: &Place, args: &[&str], code: i32) -> Vec<Value> {
    served.sheetport(place, args.iter().copied()).exits(code);
    let items = served.get("/v1/public/items?page=1&limit=100");
    let mut found: Vec<Value> = items["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| json!([item["external_id"], item["name"], item["price"]]))
        .collect();
    found.sort_by_key(Value::to_string);
    found
}

#[test]
fn footnotes_and_old_prices_never_become_part_of_a_number_or_an_identifier() {
    let place = Place::new();
    let (plain, raised, struck) = (
        Format::new(),
        Format::new().set_font_script(FormatScript::Superscript),
        Format::new().set_font_strikethrough(),
    );
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, name) in (0..).zip(["SKU", "Name", "Price", "Currency"]) {
        sheet.write_string(0, column, name).unwrap();
        (1..5).for_each(|row| {
            sheet.write_string(row, column, if column == 3 { "EUR" } else { "5" }).unwrap();
        });
    }
    for (row, sku) in (1..).zip(["A-1", "A-2", "", "A-4"]) {
        sheet.write_string(row, 0, sku).unwrap();
        sheet.write_string(row, 1, "Bolt").unwrap();
    }
    sheet.write_rich_string(1, 2, &[(&plain, "12.50"), (&raised, "1")]).unwrap();
    sheet.write_rich_string(2, 2, &[(&struck, "15"), (&plain, "12")]).unwrap();
    sheet.write_rich_string(3, 0, &[(&plain, "B-10"), (&raised, "1")]).unwrap();
    sheet.write_rich_string(4, 1, &[(&plain, "Bolt"), (&raised, "2")]).unwrap();
    // A whole cell may be struck, too.
    for (column, text) in (0..).zip(["A-5", "Bolt", "", "EUR"]) {
        sheet.write_string(5, column, text).unwrap();
    }
    sheet.write_number_with_format(5, 2, 9.5, &struck).unwrap();
    workbook.save(place.path("prices.xlsx")).unwrap();
    let served = Served::start(&place);
    assert_eq!(arrived(&served, &place, &["upload", "prices.xlsx", "-t", "items", "-y"], 3).len(), 1);
    let problems = place.sheetport(["check", "prices.xlsx", "-t", "items"]).exits(3);
    problems.shows(&[
        "has a part that is raised, lowered or struck through  rows 2, 3, 6",
        "'1' is a superscript beside '12.50'",
        "'1' is a superscript beside 'B-10'",
    ]);
    let german = place.sheetport(["--lang", "de", "check", "prices.xlsx", "-t", "items"]).exits(3);
    german.shows(&["hochgestellten", "„1“ ist hochgestellt neben „B-10“"]);
}

#[test]
fn what_programs_write_in_place_of_a_value_is_no_record() {
    let place = Place::new();
    place.write(
        "a.csv",
        "SKU,Name,Price,Currency\nA-1,Axe,1,EUR\n########,Bolt,2,EUR\nTRUE,Cog,3,EUR\nD-4,FALSE,4,EUR\nE-5,Loading...,5,EUR\n5.90123e+12,Fan,6,EUR\n\
         12:30:00,Gear,7,EUR\n42.0,Hook,8,EUR\n1001.0000000001,Iron,9,EUR\n1E5,Jack, $-   ,EUR\n12E3,Key,11,EUR\n",
    );
    let served = Served::start(&place);
    let found = arrived(&served, &place, &["upload", "a.csv", "-t", "items", "-y"], 3);
    assert_eq!(found.len(), 2, "{found:?}");
    // The sign contradicts the currency of its row.
    place.write("b.csv", "SKU,Name,Price\n1E5,Jack, $-   \n12E3,Key,$11.00\n");
    let found = arrived(&served, &place, &["upload", "b.csv", "-t", "items", "-y"], 0);
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn odoo_s_false_is_blank() {
    let place = Place::new();
    place.write(
        "odoo.csv",
        "Name,Internal Reference,Sales Price,Sales Description,Active\nDesk,OD-1,100.0,False,True\nChair,False,30.0,False,True\n",
    );
    let served = Served::start(&place);
    let found = arrived(&served, &place, &["upload", "odoo.csv", "-t", "odoo-products", "-y"], 3);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn dates_alone_among_times_are_sent_from_texts_too() {
    let place = Place::new();
    place.write("zoned.toml", "sheetport = 1\nextends = \"transactions\"\n[sheet]\ntime_zone = \"Europe/Berlin\"\n");
    place.write(
        "moved.csv",
        "Type,Inventory,Quantity,Date\nadjust,INV-1,2,2026-03-25\nadjust,INV-1,3,2026-03-26 14:05\n",
    );
    let checked = place.sheetport(["check", "moved.csv", "-t", "zoned.toml", "--json"]).run().json();
    let problems = checked["problems"].to_string();
    assert!(!problems.contains("ambiguous-date") && !problems.contains("different formats"), "{problems}");
}

#[test]
fn marks_in_web_pages_and_xml_workbooks_are_no_digits() {
    let place = Place::new();
    let cells = |raised: &str, struck: &str, plain: &str| {
        [("A-1", raised), ("A-2", struck), (raised, "9.90"), ("A-4", plain), ("A-5", "1.25")]
            .map(|(sku, price)| (sku.to_owned(), price.to_owned()))
    };
    let rows = |cell: &dyn Fn(&str) -> String, row: &dyn Fn(String) -> String, cells: [(String, String); 5]| {
        let header = row(["SKU", "Name", "Price"].map(cell).concat());
        let rows = cells.iter().map(|(sku, price)| row([cell(sku), cell("Bolt"), cell(price)].concat()));
        header + &rows.collect::<String>()
    };
    let html = rows(
        &|text| format!("<td>{text}</td>"),
        &|row| format!("<tr>{row}</tr>\n"),
        cells("12.50<sup>1</sup>", "<span style=\"text-decoration: line-through\">1</span>9.90", "<b>8</b>.<i>75</i>"),
    );
    place.write("page.html", format!("<html><body><table>{html}</table></body></html>"));
    let xml = rows(
        &|text| {
            format!(
                "<Cell><ss:Data ss:Type=\"String\" xmlns=\"http://www.w3.org/TR/REC-html40\">{text}</ss:Data></Cell>"
            )
        },
        &|row| format!("<Row>{row}</Row>\n"),
        cells("12.50<Sup>1</Sup>", "<S>1</S><Font>9.90</Font>", "<B>8</B>.75"),
    );
    let book = "xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\" xmlns:ss=\"urn:schemas-microsoft-com:office:spreadsheet\"";
    let xml = format!("<Worksheet ss:Name=\"a\"><Table>{xml}</Table></Worksheet>");
    place.write("book.xml", format!("<?xml version=\"1.0\"?>\n<Workbook {book}>{xml}</Workbook>"));
    for file in ["page.html", "book.xml"] {
        let shop = Place::new();
        std::fs::copy(place.path(file), shop.path(file)).unwrap();
        let served = Served::start(&shop);
        let found = arrived(&served, &shop, &["upload", file, "-t", "items", "-y"], 3);
        assert_eq!(found, [json!(["A-4", "Bolt", 8.75]), json!(["A-5", "Bolt", 1.25])], "{file}");
    }
}
