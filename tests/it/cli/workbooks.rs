//! Values of workbook cells as they arrive at the service, digit by digit.

use std::fs;

use super::process::Place;
use super::service::Served;
use super::{accounting, column, office, summary, table};
use crate::sheet::parts::{XlsbCell, Xlsx, archive, ods, xls, xls_cell, xlsb};

/// Returns the prices of the service's items by name.
#[track_caller]
fn prices(served: &Served, place: &Place) -> Vec<(String, String)> {
    served.sheetport(place, ["export", "items", "-o", "items.csv"]).exits(0);
    let items = table(&place.path("items.csv"));
    let pairs = column(&items, "name").into_iter().zip(column(&items, "price"));
    let mut pairs: Vec<_> = pairs.map(|(name, price)| (name.to_owned(), price.to_owned())).collect();
    pairs.sort();
    fs::remove_file(place.path("items.csv")).unwrap();
    pairs
}

/// Stored or calculated numbers, and the digits to be sent.
const DIGITS: [(f64, &str); 5] = [
    (0.1, "0.1"),
    (1234.5600000000001, "1234.56"),
    (0.1 + 0.2, "0.3"),
    (123_456_789.012_345, "123456789.012345"),
    (19.0, "19"),
];

fn as_xlsx() -> Vec<u8> {
    let text = |text: &str| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let mut rows = format!("<row>{}{}{}</row>", text("SKU"), text("Name"), text("Price"));
    for (index, (number, _)) in DIGITS.iter().enumerate() {
        let name = text(&format!("n{index}"));
        // As spreadsheet programs write it: with 17 digits.
        rows.push_str(&format!("<row>{name}{name}<c><v>{number:.16e}</v></c></row>"));
    }
    Xlsx { sheet: &format!("<sheetData>{rows}</sheetData>"), ..Xlsx::default() }.bytes()
}

fn as_xlsb() -> Vec<u8> {
    let wide = |text: &str| {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        [&(text.len() as u32).to_le_bytes(), units.as_slice()].concat()
    };
    let header = ["SKU", "Name", "Price"].map(wide);
    let names: Vec<_> = (0..DIGITS.len()).map(|index| wide(&format!("n{index}"))).collect();
    let numbers = DIGITS.map(|(number, _)| number.to_le_bytes());
    let mut rows: Vec<Vec<XlsbCell<'_>>> = vec![header.iter().map(|text| (6, 0, text.as_slice())).collect()];
    rows.extend(
        names
            .iter()
            .zip(&numbers)
            .map(|(name, number)| -> Vec<XlsbCell<'_>> { vec![(6, 0, name), (6, 0, name), (5, 0, number)] }),
    );
    xlsb(&["0.00"], &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn as_xls() -> Vec<u8> {
    let text = |at, text: &str| xls_cell(0x0204, at, 0, &[&[text.len() as u8, 0, 0], text.as_bytes()].concat());
    let mut cells = vec![text((0, 0), "SKU"), text((0, 1), "Name"), text((0, 2), "Price")];
    for (row, (index, (number, _))) in (1..).zip(DIGITS.iter().enumerate()) {
        let name = format!("n{index}");
        cells.extend([
            text((row, 0), &name),
            text((row, 1), &name),
            xls_cell(0x0203, (row, 2), 0, &number.to_le_bytes()),
        ]);
    }
    xls(&[(0x00E0, vec![0; 20])], &cells)
}

fn as_ods() -> Vec<u8> {
    let text = |text: &str| {
        format!("<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>")
    };
    let row = |cells: &[String]| format!("<table:table-row>{}</table:table-row>", cells.concat());
    let mut rows = row(&[text("SKU"), text("Name"), text("Price")]);
    for (index, (number, _)) in DIGITS.iter().enumerate() {
        let name = text(&format!("n{index}"));
        // Zeros at the end are nothing that a number has.
        let value = format!("<table:table-cell office:value-type=\"float\" office:value=\"{number}0\"/>");
        let value = value.replace("\"190\"", "\"19.0\"");
        rows.push_str(&row(&[name.clone(), name, value]));
    }
    ods(&rows)
}

#[test]
fn fifteen_digits_survive_every_kind_of_workbook() {
    let place = Place::new();
    let served = Served::start(&place);
    for (file, bytes) in [("a.xlsx", as_xlsx()), ("a.xlsb", as_xlsb()), ("a.xls", as_xls()), ("a.ods", as_ods())] {
        place.write(file, bytes);
        let upload = served.sheetport(&place, ["upload", file, "-t", "items", "--json"]).exits(0);
        assert_eq!(accounting(&summary(&upload)), "5: sent 5", "{file}");
        let expected: Vec<_> =
            DIGITS.iter().enumerate().map(|(index, (_, digits))| (format!("n{index}"), (*digits).to_owned())).collect();
        assert_eq!(prices(&served, &place), expected, "{file}");
    }
}

/// Cells shown as 19 %, 19.5 %, 7 % and 1.234,50 €; the last one is text.
fn percentages() -> Vec<u8> {
    let text = |text: &str| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let header = format!("<row>{}{}{}</row>", text("SKU"), text("Name"), text("Price"));
    let cells = [
        "<c s=\"1\"><v>0.19</v></c>",
        "<c s=\"1\"><v>0.195</v></c>",
        "<c s=\"1\"><v>7.0000000000000007E-2</v></c>",
        "<c s=\"2\"><v>1234.5</v></c>",
        &text("19 %"),
    ];
    let rows = cells.iter().zip(["a", "b", "c", "d", "e"]);
    let rows: String = rows.map(|(cell, name)| format!("<row>{0}{0}{cell}</row>", text(name))).collect();
    let sheet = format!("<sheetData>{header}{rows}</sheetData>");
    Xlsx { sheet: &sheet, formats: &["0%", "#,##0.00\\ [$€-407]"], ..Xlsx::default() }.bytes()
}

/// A template with a rule for percentages.
fn with_percent(percent: &str) -> String {
    format!(
        "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n\
         [fields.price]\ncolumn = \"Price\"\n{percent}\n"
    )
}

#[test]
fn percentages_are_sent_as_the_template_says() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("a.xlsx", percentages());
    place.write("a.csv", "SKU,Name,Price\na,a,19%\nb,b,19.5%\nc,c,7%\nd,d,1234.5\ne,e,19 %\n");
    place.write("whole.toml", with_percent("percent = \"whole\""));
    place.write("fraction.toml", with_percent("percent = \"fraction\""));
    for (template, sent) in [
        ("whole.toml", ["19", "19.5", "7", "1234.5", "19"]),
        ("fraction.toml", ["0.19", "0.195", "0.07", "1234.5", "0.19"]),
    ] {
        for file in ["a.xlsx", "a.csv"] {
            let upload = served.sheetport(&place, ["upload", file, "-t", template, "--json"]).exits(0);
            assert_eq!(accounting(&summary(&upload)), "5: sent 5", "{file}");
            let expected = ["a", "b", "c", "d", "e"].into_iter().zip(sent);
            let expected: Vec<_> = expected.map(|(name, price)| (name.to_owned(), price.to_owned())).collect();
            assert_eq!(prices(&served, &place), expected, "{file} {template}");
        }
    }
}

#[test]
fn an_ambiguous_percentage_is_a_problem_and_the_report_can_be_retried() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("a.xlsx", percentages());
    place.write("none.toml", with_percent(""));
    place.write("whole.toml", with_percent("percent = \"whole\""));
    let upload = served.sheetport(&place, ["upload", "a.xlsx", "-t", "none.toml"]).exits(3);
    upload.shows(&["Price such as '19%' has a percent sign  rows 2, 3, 4, 6", "percent = \"whole\" sends 19"]);
    assert_eq!(prices(&served, &place), [("d".to_owned(), "1234.5".to_owned())]);

    place.sheetport(["report", "-o", "report.csv"]).exits(0);
    let report = table(&place.path("report.csv"));
    assert_eq!(column(&report, "Price"), ["19%", "19.5%", "7%", "1234.5 €", "19 %"]);
    place.sheetport(["report", "-o", "report.xlsx"]).exits(0);
    let cells = place.sheetport(["view", "report.xlsx", "--csv", "--sheet", "2"]).exits(0);
    let shown: Vec<_> = cells.stdout.lines().map(|line| line.split(',').nth(2).unwrap_or_default()).collect();
    assert_eq!(shown, ["Price", "0.19", "0.195", "0.07", "1234.5", "19 %"]);
    for report in ["report.csv", "report.xlsx"] {
        served.sheetport(&place, ["upload", report, "-t", "whole.toml"]).exits(0);
        let sent = [("a", "19"), ("b", "19.5"), ("c", "7"), ("d", "1234.5"), ("e", "19")];
        assert_eq!(prices(&served, &place), sent.map(|(name, price)| (name.to_owned(), price.to_owned())), "{report}");
    }
}

#[test]
fn view_shows_percentages_to_people_and_numbers_to_programs() {
    let place = Place::new();
    place.write("a.xlsx", percentages());
    let all = place.sheetport(["view", "a.xlsx", "--json", "--all-sheets"]).exits(0);
    assert!(all.stdout.contains("[\"b\",\"b\",0.195]"), "{}", all.stdout);
    let facts = place.sheetport(["view", "a.xlsx", "--json"]).exits(0);
    let facts: serde_json::Value = serde_json::from_str(&facts.stdout).unwrap();
    assert_eq!(facts["rows"][2], serde_json::json!(["c", "c", 0.07]));
    place.sheetport(["view", "a.xlsx"]).exits(0).shows(&["19.5%", "1234.5"]);
}

#[test]
fn tax_rates_above_a_hundred_percent_are_problems() {
    let place = Place::new();
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    let percent = rust_xlsxwriter::Format::new().set_num_format("0%");
    for (column, title) in (0..).zip(["SKU", "Name", "Tax"]) {
        sheet.write_string(0, column, title).unwrap();
    }
    for (row, rate) in (1..).zip([0.19, 19.0, 1.0]) {
        sheet.write_string(row, 0, format!("A-{row}")).unwrap();
        sheet.write_string(row, 1, "Bolt").unwrap();
        sheet.write_number_with_format(row, 2, rate, &percent).unwrap();
    }
    workbook.save(place.path("a.xlsx")).unwrap();
    let checked = place.sheetport(["check", "a.xlsx", "-t", "items", "--json"]).exits(3).json();
    let problem = &checked["problems"][0];
    assert_eq!((&problem["rows"], &problem["code"]), (&serde_json::json!([3]), &"out-of-range".into()), "{checked}");
    assert_eq!(problem["message"], "is more than 100%");
    place.write("a.csv", "SKU,Name,Tax\nA-1,Bolt,1900%\nA-2,Nut,19%\nA-3,Pin,100%\n");
    let checked = place.sheetport(["check", "a.csv", "-t", "items", "--json"]).exits(3).json();
    assert_eq!(checked["problems"][0]["rows"], serde_json::json!([2]));
}

#[test]
fn infer_writes_a_rule_for_percentages() {
    let place = Place::new();
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    let percent = rust_xlsxwriter::Format::new().set_num_format("0%");
    for (column, title) in (0..).zip(["SKU", "Name", "VAT"]) {
        sheet.write_string(0, column, title).unwrap();
    }
    for (row, (name, rate)) in (1..).zip([("Bolt", 0.19), ("Nut", 0.07), ("Screw", 0.19)]) {
        sheet.write_string(row, 0, format!("A{row}")).unwrap();
        sheet.write_string(row, 1, name).unwrap();
        sheet.write_number_with_format(row, 2, rate, &percent).unwrap();
    }
    workbook.save(place.path("a.xlsx")).unwrap();
    place.sheetport(["template", "infer", "a.xlsx", "--record", "item", "-o", "a.toml"]).exits(0);
    let template = fs::read_to_string(place.path("a.toml")).unwrap();
    assert!(template.contains("percent = \"whole\""), "{template}");
    place.sheetport(["check", "a.xlsx", "-t", "a.toml"]).exits(0);
}

#[test]
fn identifiers_are_sent_exactly_or_reported_if_digits_are_lost() {
    let place = Place::new();
    let served = Served::start(&place);
    let text = |text: &str| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let rows = [
        text("SKU") + &text("Name"),
        // A narrow column shows 4.01E+12, and so does this format; the digits are in the file.
        "<c><v>4006381333931</v></c>".to_owned() + &text("narrow"),
        "<c s=\"1\"><v>4.006381333932E+12</v></c>".to_owned() + &text("scientific"),
        "<c><v>999999999999999</v></c>".to_owned() + &text("fifteen"),
        "<c><v>12345678901234567</v></c>".to_owned() + &text("seventeen"),
        "<c><v>1.2345678901234568E+18</v></c>".to_owned() + &text("nineteen"),
        text("1.23E+12") + &text("pasted"),
    ];
    let sheet: String = rows.iter().map(|row| format!("<row>{row}</row>")).collect();
    let sheet = format!("<sheetData>{sheet}</sheetData>");
    place.write("a.xlsx", Xlsx { sheet: &sheet, formats: &["0.00E+00"], ..Xlsx::default() }.bytes());
    let check = place.sheetport(["check", "a.xlsx", "-t", "items"]).exits(3);
    check.shows(&[
        "has more digits than a workbook can store  rows 5, 6",
        "'1.23E+12' looks like an identifier that a spreadsheet program changed to scientific notation  row 7",
    ]);
    served.sheetport(&place, ["upload", "a.xlsx", "-t", "items"]).exits(3);
    place.sheetport(["report", "-o", "report.csv"]).exits(0);
    let report = table(&place.path("report.csv"));
    assert_eq!(column(&report, "SKU")[..3], ["4006381333931", "4006381333932", "999999999999999"]);
    assert_eq!(column(&report, "sheetport_status"), ["sent", "sent", "sent", "rejected", "rejected", "rejected"]);
}

/// Identifiers by a format of zeros, prices by a format of money, and taxes by one of percentages.
const FORMATS: [&str; 4] = ["00000", "#,##0.00 [$€-407]", "0.0%", "0.000"];
const CELLS: [(f64, &str, f64, f64, f64); 4] = [
    (42.0, "Bolt", 1234.5, 0.19, 0.125),
    (4711.0, "Größe", 0.05, 0.055, 1000.0),
    (123_456.0, "Nut, \"M8\"", 10.0, 0.0, 1.299),
    (7.0, "=1+1", 999.99, 1.0, 0.5),
];

fn every_format_as_xlsx(place: &Place) {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, name) in (0..).zip(["SKU", "Name", "Price", "VAT", "Cost"]) {
        sheet.write_string(0, column, name).unwrap();
    }
    let formats = FORMATS.map(|format| rust_xlsxwriter::Format::new().set_num_format(format));
    for (row, (sku, name, price, tax, cost)) in (1..).zip(CELLS) {
        sheet.write_string(row, 1, name).unwrap();
        for ((column, number), format) in [(0, sku), (2, price), (3, tax), (4, cost)].into_iter().zip(&formats) {
            sheet.write_number_with_format(row, column, number, format).unwrap();
        }
    }
    workbook.save(place.path("sheet.xlsx")).unwrap();
}

fn every_format_as_xlsb() -> Vec<u8> {
    let wide = |text: &str| {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        [&(units.len() as u32 / 2).to_le_bytes(), units.as_slice()].concat()
    };
    let header = ["SKU", "Name", "Price", "VAT", "Cost"].map(wide);
    let names = CELLS.map(|(_, name, ..)| wide(name));
    let numbers = CELLS.map(|(sku, _, price, tax, cost)| [sku, price, tax, cost].map(f64::to_le_bytes));
    let mut rows: Vec<Vec<XlsbCell<'_>>> = vec![header.iter().map(|text| (6, 0, text.as_slice())).collect()];
    rows.extend(names.iter().zip(&numbers).map(|(name, [sku, price, tax, cost])| -> Vec<XlsbCell<'_>> {
        vec![(5, 1, sku), (6, 0, name), (5, 2, price), (5, 3, tax), (5, 4, cost)]
    }));
    xlsb(&FORMATS, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Returns the sheet as Excel's XML of 2003, which current versions of LibreOffice cannot write.
fn every_format_as_spreadsheet_xml() -> String {
    let text = |text: &str| format!("<Cell><Data ss:Type=\"String\">{text}</Data></Cell>");
    let number = |style: usize, number: f64| {
        format!("<Cell ss:StyleID=\"s{style}\"><Data ss:Type=\"Number\">{number}</Data></Cell>")
    };
    let styles = FORMATS
        .iter()
        .enumerate()
        .map(|(index, format)| format!("<Style ss:ID=\"s{index}\"><NumberFormat ss:Format=\"{format}\"/></Style>"));
    let header: String = ["SKU", "Name", "Price", "VAT", "Cost"].map(text).concat();
    let rows = CELLS.map(|(sku, name, price, tax, cost)| {
        let name = text(&name.replace('"', "&quot;"));
        format!("<Row>{}{name}{}{}{}</Row>", number(0, sku), number(1, price), number(2, tax), number(3, cost))
    });
    format!(
        "<?xml version=\"1.0\"?><Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\" \
         xmlns:ss=\"urn:schemas-microsoft-com:office:spreadsheet\"><Styles>{}</Styles><Worksheet ss:Name=\"Sheet1\">\
         <Table><Row>{header}</Row>{}</Table></Worksheet></Workbook>",
        styles.collect::<String>(),
        rows.concat()
    )
}

/// Returns a number without zeros at the end of its decimals, which a CSV has as its cells show them.
fn without_zeros(text: &str) -> String {
    match text.split_once('.') {
        Some((_, decimals)) if decimals.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => text.to_owned(),
    }
}

#[test]
fn one_sheet_saved_in_every_format_sends_the_same() {
    if !office::is_there() {
        return;
    }
    let place = Place::new();
    every_format_as_xlsx(&place);
    let saved = place.path("saved");
    for format in ["xls", "ods", "fods", "html:HTML (StarCalc)", office::CSV] {
        office::save_again(&place, &place.path("sheet.xlsx"), format);
    }
    place.write("saved/sheet.xlsb", every_format_as_xlsb());
    place.write("saved/sheet.xml", every_format_as_spreadsheet_xml());
    let packed = archive(&[("sheet.ods", &fs::read(saved.join("sheet.ods")).unwrap())]);
    place.write("saved/sheet.zip", packed);
    fs::rename(place.path("sheet.xlsx"), saved.join("sheet.xlsx")).unwrap();
    let template = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n\
                    [fields.price]\ncolumn = \"Price\"\n[fields.tax]\ncolumn = \"VAT\"\npercent = \"whole\"\n\
                    [fields.purchasePrice]\ncolumn = \"Cost\"\n";
    let mut all: Vec<(String, String)> = Vec::new();
    for format in ["xlsx", "xlsb", "xls", "ods", "fods", "xml", "html", "zip", "csv"] {
        let place = Place::new();
        let served = Served::start(&place);
        fs::copy(saved.join(format!("sheet.{format}")), place.path(&format!("sheet.{format}"))).unwrap();
        place.write("t.toml", template);
        let upload = served.sheetport(&place, ["upload", &format!("sheet.{format}"), "-t", "t.toml", "--json"]);
        assert_eq!(accounting(&summary(&upload.exits(0))), "4: sent 4", "{format}");
        served.sheetport(&place, ["export", "items", "-o", "items.csv"]).exits(0);
        let items = table(&place.path("items.csv"));
        let mut rows: Vec<String> = (0..CELLS.len())
            .map(|row| {
                let fields = ["external_id", "name", "price", "currency", "tax", "purchase_price"];
                fields.map(|field| without_zeros(column(&items, field)[row])).join("|")
            })
            .collect();
        rows.sort();
        all.push((format.to_owned(), rows.join("\n")));
    }
    let first = all[0].1.clone();
    assert!(first.contains("Bolt|1234.5|EUR|19|0.125"), "{first}");
    for (format, rows) in all {
        assert_eq!(rows, first, "{format}");
    }
}

#[test]
fn an_encrypted_workbook_is_uploaded_with_the_password_in_a_file() {
    let place = Place::new();
    let served = Served::start(&place);
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/sheet/encrypted/agile.xlsx");
    fs::copy(fixture, place.path("prices.xlsx")).unwrap();
    let check = place.sheetport(["check", "prices.xlsx", "-t", "items"]).exits(7);
    check.says(&["prices.xlsx is protected with a password", "add --password-file FILE"]);
    place.write("wrong", "secret");
    let wrong = place.sheetport(["check", "prices.xlsx", "-t", "items", "--password-file", "wrong"]).exits(7);
    wrong.says(&["prices.xlsx can't be opened with this password"]);
    place.write("right", "geheim ä€\n");
    let check = place.sheetport(["check", "prices.xlsx", "-t", "items", "--password-file", "right", "--json"]).exits(0);
    let next = summary(&check)["next"].clone();
    assert_eq!(next, "sheetport upload prices.xlsx -t items --password-file right");
    let upload = ["upload", "prices.xlsx", "-t", "items", "--password-file", "right", "--json"];
    let upload = served.sheetport(&place, upload).exits(0);
    assert_eq!(accounting(&summary(&upload)), "1: sent 1");
    assert_eq!(prices(&served, &place), [("Bolt".to_owned(), "1234.5".to_owned())]);
}

#[test]
fn a_web_page_of_a_shop_is_uploaded_and_its_report_retried() {
    let place = Place::new();
    let served = Served::start(&place);
    let page = "<html><meta charset=utf-8><table><tr><th>SKU<th>Name<th>Price\
                <tr><td>0042<td>Bolt &amp; nut<td>1.50<tr><td>0043<td>Nut<td>free</table></html>";
    place.write("prices.xls", page);
    place.write("orders.zip", archive(&[("export/prices.xls", page.as_bytes())]));
    let upload = served.sheetport(&place, ["upload", "prices.xls", "-t", "items", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&upload)), "2: sent 1, rejected 1");
    assert_eq!(prices(&served, &place), [("Bolt & nut".to_owned(), "1.50".to_owned())]);
    let check = place.sheetport(["check", "orders.zip", "-t", "items", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&check)), "2: rejected 1, pending 1");
    let report = summary(&upload)["report"].as_str().unwrap().to_owned();
    served.sheetport(&place, ["retry", &report, "--json"]).exits(3);
    assert_eq!(prices(&served, &place).len(), 1);
}
