//! Exported workbooks: their XML parts, and whether LibreOffice reads them.

use serde_json::Value;

use super::export_formats::company;
use super::office;
use super::process::Place;
use super::report_workbook::{attributes, part};

/// The style, type and value of a cell.
#[derive(Debug, PartialEq)]
struct CellXml {
    style: usize,
    kind: String,
    value: String,
}

fn cell_xml(sheet: &str, cell: &str) -> CellXml {
    let (_, rest) = sheet.split_once(&format!("<c r=\"{cell}\"")).unwrap_or_else(|| panic!("no {cell} in {sheet}"));
    let (head, rest) = rest.split_once('>').unwrap();
    let body = rest.split_once("</c>").unwrap().0;
    let within = |name: &str, text: &str| {
        let (_, rest) = text.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"').unwrap().0.to_owned())
    };
    let text = |open: &str, close: &str| Some(body.split_once(open)?.1.split_once(close)?.0.to_owned());
    CellXml {
        style: within(" s", head).unwrap().parse().unwrap(),
        kind: within(" t", head).unwrap_or_default(),
        value: text("<v>", "</v>").or_else(|| text("<t>", "</t>")).unwrap(),
    }
}

/// Returns the element `name` at this position in a list of the styles.
fn style<'x>(styles: &'x str, list: &str, name: &str, place: usize) -> &'x str {
    let list = styles.split_once(&format!("<{list} ")).unwrap().1.split_once(&format!("</{list}>")).unwrap().0;
    list.split(&format!("<{name}")).skip(1).filter(|element| element.starts_with([' ', '>', '/'])).nth(place).unwrap()
}

/// Returns the number format of a cell style.
fn number_format(styles: &str, cell: usize) -> String {
    let id = style(styles, "cellXfs", "xf", cell).split_once("numFmtId=\"").unwrap().1.split_once('"').unwrap().0;
    let (_, rest) = styles.split_once(&format!("numFmtId=\"{id}\" formatCode=\"")).unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

#[test]
fn cells_have_types_and_formats_below_a_frozen_header() {
    let place = Place::new();
    let served = company(&place);
    served.sheetport(&place, ["export", "orders", "-o", "o.xlsx", "-q"]).exits(0);
    let book = place.path("o.xlsx");
    let (sheet, styles) = (part(&book, "xl/worksheets/sheet1.xml"), part(&book, "xl/styles.xml"));
    let last = attributes(&sheet, "dimension", "ref")[0].split_once(':').unwrap().1.to_owned();
    assert_eq!(attributes(&sheet, "autoFilter", "ref"), [format!("A1:{last}")]);
    assert!(last.ends_with('3'), "two orders below the header: {last}");
    let pane = ["ySplit", "topLeftCell", "state"].map(|name| attributes(&sheet, "pane", name)[0]);
    assert_eq!(pane, ["1", "A2", "frozen"]);

    let columns = last.trim_end_matches('3').as_bytes()[0] - b'A' + 1;
    let names: Vec<String> = (0..columns).map(|column| char::from(b'A' + column).to_string()).collect();
    for column in &names {
        let title = cell_xml(&sheet, &format!("{column}1"));
        let look = style(&styles, "cellXfs", "xf", title.style);
        let index = |name: &str| look.split_once(name).unwrap().1.split_once('"').unwrap().0.parse().unwrap();
        assert!(style(&styles, "fonts", "font", index("fontId=\"")).contains("<b/>"), "{title:?} is bold");
        assert!(style(&styles, "fills", "fill", index("fillId=\"")).contains("solid"), "{title:?} has a background");
    }
    let column =
        |name: &str| names.iter().find(|column| cell_xml(&sheet, &format!("{column}1")).value == name).unwrap();
    for (name, row, kind, value, format) in [
        ("id", 2, "inlineStr", "o1", "@"),
        ("order_id", 2, "", "1001.0", "0"),
        ("total_price", 2, "", "19.9", "0.00"),
        ("total_price", 3, "", "5.0", "0"),
        // 2 January 2026 in days since the end of 1899, with the time as a fraction.
        ("order_at", 2, "", "46024.12783564815", "yyyy-mm-dd hh:mm:ss"),
        ("order_at", 3, "", "46025.0", "yyyy-mm-dd hh:mm:ss"),
    ] {
        let cell = cell_xml(&sheet, &format!("{}{row}", column(name)));
        assert_eq!((cell.kind.as_str(), cell.value.as_str()), (kind, value), "{name} in row {row}");
        assert_eq!(number_format(&styles, cell.style), format, "{name} in row {row}");
    }
}

#[test]
fn libreoffice_reads_the_exported_values() {
    if !office::is_there() {
        return;
    }
    let place = Place::new();
    let served = company(&place);
    for records in ["orders", "items", "companies", "inventories"] {
        let file = format!("{records}.xlsx");
        served.sheetport(&place, ["export", records, "-o", &file, "-q"]).exits(0);
        office::save_again(&place, &place.path(&file), office::XLSX);
        let rows = |file: &str| {
            let seen = place.sheetport(["view", file, "--json", "--all-sheets"]).exits(0).json();
            let row = |row: &Value| {
                let mut cells = row.as_array().unwrap().clone();
                cells.truncate(cells.iter().rposition(|cell| !cell.is_null()).map_or(0, |last| last + 1));
                cells
            };
            seen["sheets"][0]["rows"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
        };
        let (before, after) = (rows(&file), rows(&format!("saved/{file}")));
        assert!(before.len() > 2);
        assert_eq!(before, after, "{records}");
        let sheet = part(&place.path(&format!("saved/{file}")), "xl/worksheets/sheet1.xml");
        assert_eq!(attributes(&sheet, "autoFilter", "ref").len(), 1);
    }
}
