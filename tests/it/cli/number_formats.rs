//! Number formats with other text beside or instead of the number, in every kind of workbook.

use std::fs;

use rust_xlsxwriter::{Format, Workbook};

use super::process::{Place, name};
use super::service::Served;
use super::{accounting, column, office, summary, table};
use crate::sheet::parts::{XlsbCell, xlsb};

const HEADER: [&str; 3] = ["SKU", "Name", "Price"];

/// Numbers in three columns, with a number format for each.
struct Numbers {
    formats: [&'static str; 3],
    cells: [[f64; 3]; 3],
}

/// Identifiers, telephone numbers as names, and amounts.
const WITH_TEXT: Numbers = Numbers {
    formats: ["\"R-\"0", "[<=9999999]###\\-####;\\(###\\)\\ ###\\-####", "#,##0.00\" €\""],
    cells: [[5001.0, 5_551_234.0, 1234.5], [7.0, 2_065_551_234.0, 5.0], [42.0, 1_234_567.0, 0.25]],
};
/// Numbers of versions as identifiers, sizes as names, and amounts.
const WITH_DECIMALS: Numbers = Numbers {
    formats: ["0.00", "0.0##", "#,##0.00"],
    cells: [[1.1, 5.0, 1234.5], [2.25, 0.125, 5.0], [3.05, 1.5, 0.25]],
};

/// Writes a workbook with a format for each column or, if there are more formats than columns, for each row of the last one.
fn as_xlsx(place: &Place, file: &str, rows: &[(&str, &str, f64, &str)]) {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, name) in (0..).zip(HEADER) {
        sheet.write_string(0, column, name).unwrap();
    }
    for (row, (sku, name, price, format)) in (1..).zip(rows) {
        sheet.write_string(row, 0, *sku).unwrap();
        sheet.write_string(row, 1, *name).unwrap();
        sheet.write_number_with_format(row, 2, *price, &Format::new().set_num_format(*format)).unwrap();
    }
    workbook.save(place.path(file)).unwrap();
}

fn numbers_as_xlsx(place: &Place, numbers: &Numbers) {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, name) in (0..).zip(HEADER) {
        sheet.write_string(0, column, name).unwrap();
    }
    let formats = numbers.formats.map(|format| Format::new().set_num_format(format));
    for (row, numbers) in (1..).zip(numbers.cells) {
        for ((column, number), format) in (0..).zip(numbers).zip(&formats) {
            sheet.write_number_with_format(row, column, number, format).unwrap();
        }
    }
    workbook.save(place.path("sheet.xlsx")).unwrap();
}

fn numbers_as_xlsb(numbers: &Numbers) -> Vec<u8> {
    let wide = |text: &str| {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        [&(units.len() as u32 / 2).to_le_bytes(), units.as_slice()].concat()
    };
    let header = HEADER.map(wide);
    let cells = numbers.cells.map(|row| row.map(f64::to_le_bytes));
    let mut rows: Vec<Vec<XlsbCell<'_>>> = vec![header.iter().map(|text| (6, 0, text.as_slice())).collect()];
    rows.extend(cells.iter().map(|row| (1..).zip(row).map(|(style, number)| (5, style, number.as_slice())).collect()));
    xlsb(&numbers.formats, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn numbers_as_spreadsheet_xml(numbers: &Numbers) -> String {
    let escaped = |text: &str| text.replace('"', "&quot;").replace('<', "&lt;");
    let style = |(index, format)| {
        format!("<Style ss:ID=\"s{index}\"><NumberFormat ss:Format=\"{}\"/></Style>", escaped(format))
    };
    let styles: String = numbers.formats.into_iter().enumerate().map(style).collect();
    let header = HEADER.map(|text| format!("<Cell><Data ss:Type=\"String\">{text}</Data></Cell>")).concat();
    let cell = |(style, number): (usize, f64)| {
        format!("<Cell ss:StyleID=\"s{style}\"><Data ss:Type=\"Number\">{number}</Data></Cell>")
    };
    let rows: String = numbers
        .cells
        .map(|row| format!("<Row>{}</Row>", row.into_iter().enumerate().map(cell).collect::<String>()))
        .concat();
    format!(
        "<?xml version=\"1.0\"?><Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\" \
         xmlns:ss=\"urn:schemas-microsoft-com:office:spreadsheet\"><Styles>{styles}</Styles><Worksheet ss:Name=\"S\">\
         <Table><Row>{header}</Row>{rows}</Table></Worksheet></Workbook>"
    )
}

/// Returns the items that the service receives from a file, by a template for the three columns.
fn sent(place: &Place, file: &str, price: fn(&str) -> String) -> Vec<String> {
    let served = Served::start(place);
    let upload = served.sheetport(place, ["upload", file, "-t", "items", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&upload)), "3: sent 3", "{file}");
    served.sheetport(place, ["export", "items", "-o", "items.csv"]).exits(0);
    let items = table(&place.path("items.csv"));
    let row = |row: usize| {
        let [sku, name, amount, currency] =
            ["external_id", "name", "price", "currency"].map(|field| column(&items, field)[row]);
        format!("{sku}|{name}|{}|{currency}", price(amount))
    };
    let mut rows: Vec<String> = (0..3).map(row).collect();
    rows.sort();
    rows
}

/// Asserts that the service receives the same from the numbers in every kind of file.
#[track_caller]
fn check_sent_from_every_kind(numbers: &Numbers, expected: [&str; 3], price: fn(&str) -> String) {
    let place = Place::new();
    numbers_as_xlsx(&place, numbers);
    place.write("sheet.xlsb", numbers_as_xlsb(numbers));
    place.write("sheet.xml", numbers_as_spreadsheet_xml(numbers));
    let mut files = ["sheet.xlsx", "sheet.xlsb", "sheet.xml"].map(|file| place.path(file)).to_vec();
    if office::is_there() {
        for (format, file) in [
            ("xls", "sheet.xls"),
            ("ods", "sheet.ods"),
            ("fods", "sheet.fods"),
            ("html:HTML (StarCalc)", "sheet.html"),
            (office::CSV, "sheet.csv"),
        ] {
            files.push(office::save_again(&place, &place.path("sheet.xlsx"), format).join(file));
        }
    }
    for file in files {
        let other = Place::new();
        let name = file.file_name().unwrap().to_str().unwrap();
        fs::copy(&file, other.path(name)).unwrap();
        assert_eq!(sent(&other, name, price), expected, "{name}");
    }
}

#[test]
fn texts_take_what_a_number_format_shows_in_every_kind_of_workbook() {
    let expected = ["R-42|123-4567|0.25|EUR", "R-5001|555-1234|1234.5|EUR", "R-7|(206) 555-1234|5|EUR"];
    check_sent_from_every_kind(&WITH_TEXT, expected, |price| price.parse::<f64>().unwrap().to_string());
}

#[test]
fn numbers_have_the_decimals_that_a_number_format_shows_in_every_kind_of_file() {
    let expected = ["1.10|5.0|1234.50|", "2.25|0.125|5.00|", "3.05|1.5|0.25|"];
    check_sent_from_every_kind(&WITH_DECIMALS, expected, str::to_owned);
}

/// Cells of names with their formats, and the text that a program in English shows; without one, what the computer decides.
const SHOWN: [(f64, &str, &str); 14] = [
    (46_082.0, "dd.mm.yyyy", "01.03.2026"),
    (46_082.395_833_333_336, "yyyy-mm-dd hh:mm", "2026-03-01 09:30"),
    (46_082.0, "d-mmm-yy", "1-Mar-26"),
    (46_082.0, "[$-409]d mmmm yyyy", "1 March 2026"),
    (0.395_833_333_333_333_3, "hh:mm:ss AM/PM", "09:30:00 AM"),
    (0.395_833_333_333_333_3, "hh:mm", "09:30"),
    (1.520_833_333_333_333_3, "[h]:mm", "36:30"),
    (1234.5, "#,##0.00", "1,234.50"),
    (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
    (1234.5, "[$$-409]#,##0.00", "$1,234.50"),
    (0.19, "0.00%", "19.00%"),
    (1.005, "0.00", "1.01"),
    (5001.0, "\"R-\"#,##0", "R-5,001"),
    (0.0, "0.00;-0.00;\"nought\"", "nought"),
];
/// The rows of [`SHOWN`] that programs in other languages show differently.
const BY_COMPUTER: [u64; 5] = [4, 9, 10, 11, 14];

#[test]
fn texts_are_those_of_a_csv_in_every_kind_of_workbook() {
    let place = Place::new();
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write_row(0, 0, HEADER).unwrap();
    for (row, (number, format, _)) in (1..).zip(SHOWN) {
        sheet.write_string(row, 0, format!("A{row:02}")).unwrap();
        sheet.write_number_with_format(row, 1, number, &Format::new().set_num_format(format)).unwrap();
        sheet.write_number(row, 2, 1.0).unwrap();
    }
    workbook.save(place.path("sheet.xlsx")).unwrap();
    let mut files = vec![place.path("sheet.xlsx")];
    if office::is_there() {
        for (format, file) in [
            (office::XLSX, "sheet.xlsx"),
            ("xls", "sheet.xls"),
            ("ods", "sheet.ods"),
            ("fods", "sheet.fods"),
            ("html:HTML (StarCalc)", "sheet.html"),
            (office::CSV, "sheet.csv"),
        ] {
            files.push(office::save_again(&place, &place.path("sheet.xlsx"), format).join(file));
        }
    }
    let template = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\ndamaged = \"accept\"\n\
                    [fields.description]\ntext = \"{{ Name }} ({{ SKU }})\"\n[fields.price]\ncolumn = \"Price\"\n";
    for file in files {
        let other = Place::new();
        let name = file.file_name().unwrap().to_str().unwrap();
        fs::copy(&file, other.path(name)).unwrap();
        other.write("t.toml", template);
        let seen = other.sheetport(["check", name, "-t", "t.toml", "--json"]).exits(0).json();
        let warnings = seen["warnings"].as_array().unwrap();
        let of_name = |code: &str| {
            let is_it = |warning: &&serde_json::Value| warning["code"] == code && warning["field"] == "name";
            let rows = warnings.iter().filter(is_it).flat_map(|warning| warning["rows"].as_array().unwrap());
            let mut rows: Vec<u64> = rows.map(|row| row.as_u64().unwrap()).collect();
            rows.sort_unstable();
            rows
        };
        let is_workbook = !name.ends_with("csv");
        // A web page has the texts.
        let by_computer = if is_workbook && !name.ends_with("html") { &BY_COMPUTER[..] } else { &[] };
        assert_eq!(of_name("shown-by-computer"), by_computer, "{name} {seen}");
        assert_eq!(of_name("other-decimals"), if is_workbook { &[13][..] } else { &[] }, "{name} {seen}");
        let served = Served::start(&other);
        served.sheetport(&other, ["upload", name, "-t", "t.toml", "--yes"]).exits(0);
        served.sheetport(&other, ["export", "items", "-o", "items.csv"]).exits(0);
        let items = table(&other.path("items.csv"));
        let mut found: Vec<_> = column(&items, "external_id").into_iter().zip(column(&items, "name")).collect();
        found.sort_unstable();
        let found: Vec<_> = found.into_iter().map(|(_, name)| name).collect();
        assert_eq!(found, SHOWN.map(|(_, _, shown)| shown), "{name}");
        let explained = other.sheetport(["explain", name, "-t", "t.toml", "--row", "2", "--json"]).exits(0).json();
        assert_eq!(explained["request"]["body"]["description"], "01.03.2026 (A01)", "{name}");
    }
}

#[test]
fn texts_are_shown_by_the_formats_of_xlsb_and_xml_workbooks() {
    let numbers = Numbers {
        formats: ["0", "d/m/yy", "#,##0.00"],
        cells: [[1.0, 46_082.0, 1.0], [2.0, 46_083.0, 1.0], [3.0, 46_084.0, 1.0]],
    };
    let place = Place::new();
    place.write("sheet.xlsb", numbers_as_xlsb(&numbers));
    place.write("sheet.xml", numbers_as_spreadsheet_xml(&numbers));
    for file in ["sheet.xlsb", "sheet.xml"] {
        let other = Place::new();
        fs::copy(place.path(file), other.path(file)).unwrap();
        let expected = ["1|1/3/26|1.00|", "2|2/3/26|1.00|", "3|3/3/26|1.00|"];
        assert_eq!(sent(&other, file, str::to_owned), expected, "{file}");
    }
}

#[test]
fn texts_are_certain_whatever_the_format_of_their_cells() {
    let place = Place::new();
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write_row(0, 0, HEADER).unwrap();
    for (row, format) in (1..).zip(["General", "mm-dd-yy", "[$-F800]dddd, mmmm dd, yyyy", "# ?/?", "#,##0.00"]) {
        sheet.write_string(row, 0, format!("A{row}")).unwrap();
        sheet.write_string_with_format(row, 1, "Bolt", &Format::new().set_num_format(format)).unwrap();
        sheet.write_number(row, 2, 12.5).unwrap();
    }
    workbook.save(place.path("sheet.xlsx")).unwrap();
    let mut files = vec![place.path("sheet.xlsx")];
    if office::is_there() {
        for (format, file) in [(office::XLSX, "sheet.xlsx"), ("xls", "sheet.xls"), ("ods", "sheet.ods")] {
            files.push(office::save_again(&place, &place.path("sheet.xlsx"), format).join(file));
        }
    }
    for file in files {
        let seen = summary(&place.sheetport(["check", name(&file), "-t", "items", "--json"]).exits(0));
        assert_eq!(seen["warnings"].as_array().map(Vec::len), Some(0), "{} {seen}", file.display());
    }
}

#[test]
fn numbers_as_identifiers_are_sent_without_group_separators_or_refused() {
    let numbers = Numbers {
        formats: ["#,##0", "#,##0;-#,##0;", "#,##0.00"],
        cells: [[1001.0, 1.0, 1.0], [1_002_345.0, 0.0, 1.0], [999.0, 1234.0, 1.0]],
    };
    let place = Place::new();
    numbers_as_xlsx(&place, &numbers);
    place.write("sheet.xlsb", numbers_as_xlsb(&numbers));
    place.write("sheet.xml", numbers_as_spreadsheet_xml(&numbers));
    let mut files = ["sheet.xlsx", "sheet.xlsb", "sheet.xml"].map(|file| place.path(file)).to_vec();
    if office::is_there() {
        for (format, file) in
            [("xls", "sheet.xls"), ("ods", "sheet.ods"), ("fods", "sheet.fods"), ("html:HTML (StarCalc)", "sheet.html")]
        {
            files.push(office::save_again(&place, &place.path("sheet.xlsx"), format).join(file));
        }
    }
    for file in files {
        let other = Place::new();
        let name = file.file_name().unwrap().to_str().unwrap();
        fs::copy(&file, other.path(name)).unwrap();
        assert_eq!(sent(&other, name, str::to_owned), ["1001|1|1.00|", "1002345||1.00|", "999|1,234|1.00|"], "{name}");
    }
    place.write("sheet.csv", "SKU,Name,Price\n\"1,001\",1,1.00\n\"1,002,345\",,1.00\n999,\"1,234\",1.00\n");
    let check = place.sheetport(["check", "sheet.csv", "-t", "items", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&check)), "3: rejected 2, pending 1");
    check.shows(&["looks like a number shown with group separators", "format the column in the spreadsheet program"]);
    place.write("texts.csv", "SKU,Name\n\"R-1,008\",Bolt\n\"1,009 Stk\",Nut\nR-999,Screw\n\"M8x1,250\",Rod\n");
    let check = place.sheetport(["check", "texts.csv", "-t", "items", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&check)), "4: rejected 2, pending 2");
    // People write points and spaces in identifiers, too.
    place.write("points.csv", "SKU;Name\n1.001;Bolt\n12 345 678;Nut\n1.1.2;Screw\n");
    let seen = summary(&place.sheetport(["check", "points.csv", "-t", "items", "--json"]).exits(0));
    let warnings = seen["warnings"].as_array().unwrap();
    let rows: Vec<_> = warnings.iter().map(|warning| (&warning["code"], &warning["rows"])).collect();
    assert!(rows.iter().all(|(code, _)| *code == "may-be-grouped"), "{seen}");
    assert_eq!(rows.iter().map(|(_, rows)| rows.as_array().unwrap().len()).sum::<usize>(), 2, "{seen}");
}

#[test]
fn a_retry_sends_the_texts_that_the_original_sheet_shows() {
    let place = Place::new();
    let served = Served::start(&place);
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write_row(0, 0, HEADER).unwrap();
    for (row, (sku, name)) in (1..).zip([("A1", 46_082.0), ("A2", 46_083.0)]) {
        sheet.write_string(row, 0, sku).unwrap();
        sheet.write_number_with_format(row, 1, name, &Format::new().set_num_format("dd.mm.yy")).unwrap();
        sheet.write_number(row, 2, f64::from(row) - 1.0).unwrap();
    }
    workbook.save(place.path("sheet.xlsx")).unwrap();
    let template = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n\
                    [fields.price]\ncolumn = \"Price\"\nminimum = 1\n";
    place.write("t.toml", template);
    served.sheetport(&place, ["upload", "sheet.xlsx", "-t", "t.toml", "--report", "report.csv"]).exits(3);
    let report = fs::read_to_string(place.path("report.csv")).unwrap();
    assert!(report.contains("A1,2026-03-01,0"), "{report}");
    place.write("report.csv", report.replacen("2026-03-01,0", "2026-03-01,1", 1));
    served.sheetport(&place, ["retry", "report.csv"]).exits(0);
    served.sheetport(&place, ["export", "items", "-o", "items.csv"]).exits(0);
    let items = table(&place.path("items.csv"));
    let mut names = column(&items, "name");
    names.sort_unstable();
    assert_eq!(names, ["01.03.26", "02.03.26"]);
}

#[test]
fn a_retry_sends_the_decimals_of_the_original_sheet() {
    let place = Place::new();
    let served = Served::start(&place);
    as_xlsx(&place, "sheet.xlsx", &[("A1", "Bolt", 1.1, "0.00"), ("A2", "Nut", 5.0, "0.00")]);
    let template = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Price\"\n\
                    [fields.description]\ncolumn = \"Name\"\nallowed = [\"Bolt\"]\n";
    place.write("t.toml", template);
    served.sheetport(&place, ["upload", "sheet.xlsx", "-t", "t.toml", "--report", "report.csv"]).exits(3);
    place.sheetport(["report", "-o", "report.xlsx"]).exits(0);
    let mut reports = vec![place.path("report.xlsx")];
    if office::is_there() {
        reports.push(office::save_again(&place, &place.path("report.xlsx"), office::XLSX).join("report.xlsx"));
    }
    place.write("any.toml", template.replace("[\"Bolt\"]", "[\"Bolt\", \"Nut\"]"));
    for report in reports {
        let report = name(&report);
        let explained = place.sheetport(["explain", report, "-t", "any.toml", "--row", "3", "--json"]).exits(0).json();
        assert_eq!(explained["request"]["body"]["name"], "5.00", "{report}");
    }
    place.write("report.csv", fs::read_to_string(place.path("report.csv")).unwrap().replace(",Nut,", ",Bolt,"));
    served.sheetport(&place, ["retry", "report.csv"]).exits(0);
    served.sheetport(&place, ["export", "items", "-o", "items.csv"]).exits(0);
    let items = table(&place.path("items.csv"));
    let mut names = column(&items, "name");
    names.sort_unstable();
    assert_eq!(names, ["1.10", "5.00"]);
}

#[test]
fn numbers_in_texts_with_other_decimals_than_shown_are_warned_of() {
    let place = Place::new();
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, name) in (0..).zip(HEADER) {
        sheet.write_string(0, column, name).unwrap();
    }
    let format = Format::new().set_num_format("0.00");
    for (row, [sku, name, price]) in (1..).zip([[7.0, 1.5, 1.105], [1.105, 2.5, 1.0], [1.1, 1.105, 1.0]]) {
        for (column, number) in (0..).zip([sku, name, price]) {
            sheet.write_number_with_format(row, column, number, &format).unwrap();
        }
    }
    workbook.save(place.path("sheet.xlsx")).unwrap();
    let seen = place.sheetport(["check", "sheet.xlsx", "-t", "items", "--json"]).exits(0).json();
    let warnings = seen["warnings"].as_array().unwrap();
    let found: Vec<_> =
        warnings.iter().map(|warning| (&warning["code"], &warning["header"], &warning["rows"])).collect();
    let other = serde_json::json!(["other-decimals", "SKU", [2, 3], "other-decimals", "Name", [4]]);
    let found: Vec<_> = found.into_iter().flat_map(|(code, header, rows)| [code, header, rows]).collect();
    assert_eq!(serde_json::json!(found), other, "{seen}");
    let explained = place.sheetport(["explain", "sheet.xlsx", "-t", "items", "--row", "3", "--json"]).exits(0).json();
    assert_eq!(explained["request"]["body"]["externalId"], "1.105");
}

/// Prices whose number alone is not what the sheet says, and one that is.
const PRICES: [(&str, &str, f64, &str); 6] = [
    ("A1", "Bolt", 1299.0, "0.00\" cents\""),
    ("A2", "Nut", 12_990.0, "0.00,"),
    ("A3", "Screw", 0.0, "0.00;-0.00;\"on request\""),
    ("A4", "Plant", 12.9, "0.0\" T€\""),
    ("A5", "Rod", 12.5, "0.00\" / 100\""),
    ("A6", "Ring", 12.5, "0.00\" net\""),
];

#[test]
fn numbers_that_mean_something_else_with_their_format_are_problems_or_warned_of() {
    let place = Place::new();
    as_xlsx(&place, "sheet.xlsx", &PRICES);
    let mut files = vec![place.path("sheet.xlsx")];
    if office::is_there() {
        for format in ["xls", "ods"] {
            files.push(office::save_again(&place, &place.path("sheet.xlsx"), format).join(format!("sheet.{format}")));
        }
    }
    for file in files {
        let check = place.sheetport(["check", name(&file), "-t", "items"]).exits(3);
        check.shows(&[
            "Price '1299.00 cents' has 'cents' in its number format, and only the number would be sent  row 2",
            "Price '12.99' contains another number than its number format shows  row 3",
            "Price 'on request' contains a number, for which its number format shows words  row 4",
            "Price '12.9 T€' has 'T€' in its number format",
            "Price '12.50 / 100' has '/ 100' in its number format",
            "Price '12.50 net' has 'net' in its number format, which is not sent",
        ]);
    }
}

#[test]
fn a_scale_in_the_template_converts_the_unit_of_a_number_format() {
    let place = Place::new();
    let served = Served::start(&place);
    as_xlsx(&place, "sheet.xlsx", &[PRICES[0], ("A2", "Nut", 5.0, "0\" cents\"")]);
    let template = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n\
                    [fields.price]\ncolumn = \"Price\"\nscale = 0.01\nminimum = 1\n";
    place.write("t.toml", template);
    let upload = served.sheetport(&place, ["upload", "sheet.xlsx", "-t", "t.toml", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&upload)), "2: sent 1, rejected 1");
    // The report shows the cells, and a retry reads their numbers again.
    let mut workbook = place.path("sheet.report.xlsx");
    if office::is_there() {
        workbook = office::save_again(&place, &workbook, office::XLSX).join("sheet.report.xlsx");
    }
    let retried = served.sheetport(&place, ["retry", name(&workbook), "--json"]).exits(3);
    retried.shows(&["\"rejected\":1"]);
    place.sheetport(["report", "-o", "after.csv"]).exits(0);
    let report = fs::read_to_string(place.path("after.csv")).unwrap();
    assert!(report.contains("is less than 1") && report.contains("5 cents"), "{report}");
    served.sheetport(&place, ["export", "items", "-o", "items.csv"]).exits(0);
    assert_eq!(column(&table(&place.path("items.csv")), "price"), ["12.99"]);
}
