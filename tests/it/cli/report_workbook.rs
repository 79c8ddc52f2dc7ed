//! Reports as workbooks: the summary sheet, links, drop-downs, and reading a report back.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};

use super::other_programs::worksheet_xml;
use super::process::Place;
use super::service::Served;
use super::{accounting, column, office, summary, table};

const TEMPLATE: &str = r#"
record = "item"
[fields.externalId]
column = "SKU"
[fields.name]
column = "Name"
[fields.price]
column = "Price"
[fields.currency]
column = "Currency"
allowed = ["EUR", "USD"]
[fields.status]
column = "Active"
map = { yes = "active", no = "archived" }
clear = "-"
[fields.description]
column = "Unit"
lookup = { file = "units.csv", from = "Word", to = "Code" }
"#;

const SHEET: &str = "\
SKU,Name,Price,Currency,Active,Unit
0042,Bolt,free,EUR,yes,Piece
0043,Nut,1.10,EUR,yess,Piece
0044,Screw,2.50,EUR,yes,Piece
0045,Anchor,gratis,EUR,no,Piece
0046,Washer,3.00,Yen,yes,Piece
";

/// The columns of a report in front of those of the sheet. `view` shows them behind.
const IN_FRONT: usize = 3;

/// Returns the cells of each sheet with its name.
#[track_caller]
fn sheets(place: &Place, file: &str) -> Vec<(String, Vec<Vec<Value>>)> {
    let seen = place.sheetport(["view", file, "--all-sheets", "--json"]).exits(0).json();
    let sheets = seen["sheets"].as_array().unwrap().iter();
    sheets.map(|sheet| (sheet["name"].as_str().unwrap().to_owned(), rows_of(&sheet["rows"]))).collect()
}

fn rows_of(rows: &Value) -> Vec<Vec<Value>> {
    rows.as_array().unwrap().iter().map(|row| row.as_array().unwrap().clone()).collect()
}

/// Returns the rows of the summary sheet without blank cells.
#[track_caller]
fn front(place: &Place, file: &str) -> Vec<Vec<Value>> {
    let (name, rows) = sheets(place, file).remove(0);
    assert_eq!(name, "Summary");
    rows.into_iter().map(|row| row.into_iter().filter(|cell| !cell.is_null()).collect()).collect()
}

#[track_caller]
pub(super) fn part(path: &Path, part: &str) -> String {
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let mut text = String::new();
    archive.by_name(part).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// Returns the values of an attribute, in order.
pub(super) fn attributes<'x>(xml: &'x str, element: &str, attribute: &str) -> Vec<&'x str> {
    let begin = format!("<{element} ");
    let of_element = |text: &'x str| {
        let element = text.split_once('>')?.0;
        element.split_once(&format!("{attribute}=\""))?.1.split_once('"').map(|(value, _)| value)
    };
    xml.split(&begin as &str).skip(1).filter_map(of_element).collect()
}

fn place_with(sheet: &str) -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("t.toml", TEMPLATE);
    place.write("units.csv", "Word,Code\nPiece,C62\nBox of 100,BX\n\"Pair, of shoes\",PR\n");
    place.write("prices.csv", sheet);
    (place, served)
}

#[test]
fn the_summary_links_to_cells_with_problems() {
    let (place, served) = place_with(SHEET);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "t.toml", "--report", "r.xlsx"]).exits(3);
    let front = front(&place, "r.xlsx");
    assert_eq!(front[0], ["Upload of prices.csv"]);
    let counts: Vec<_> = front.iter().filter(|row| row.len() == 3 && row[0].is_number()).cloned().collect();
    assert_eq!(counts[0], json!([5, "total", "records from 5 rows"]).as_array().unwrap()[..]);
    assert_eq!(
        (&counts[1][..2], &counts[2][..2]),
        (&[json!(1), json!("sent")][..], &[json!(4), json!("rejected")][..])
    );
    assert!(front.contains(&vec![json!("sheetport continue r.xlsx")]), "{front:?}");

    let head = front.iter().position(|row| row.first() == Some(&json!("Rows"))).unwrap();
    let causes: Vec<Vec<&str>> = front[head + 1..head + 4]
        .iter()
        .map(|row| row.iter().skip(1).map(|cell| cell.as_str().unwrap()).collect())
        .collect();
    assert_eq!(front[head + 1][0], 2, "the most frequent cause is the first");
    assert_eq!(
        causes[0],
        ["Price", "such as 'free': is not a number", "write a number, or leave the cell blank", "row 2", "row 5"]
    );
    assert_eq!(causes[1][..2], ["Active", "'yess' is not one of the values listed in the template"]);
    assert!(causes[1][2].starts_with("did you mean 'yes'?"), "{causes:?}");
    assert_eq!(causes[2][..2], ["Currency", "'Yen' is not a value that the template allows"]);

    let rows = &sheets(&place, "r.xlsx")[1];
    assert_eq!(rows.0, "prices");
    let linked: Vec<&str> =
        attributes(&part(&place.path("r.xlsx"), "xl/worksheets/sheet1.xml"), "hyperlink", "location")
            .into_iter()
            .map(|link| {
                let cell = link.strip_prefix("'prices'!").unwrap();
                let (column, row) = cell.split_at(1);
                let column = usize::from(column.as_bytes()[0] - b'A') - IN_FRONT;
                rows.1[row.parse::<usize>().unwrap() - 1][column].as_str().unwrap()
            })
            .collect();
    assert_eq!(linked, ["free", "gratis", "yess", "Yen"]);
    for fact in [place.path("prices.csv").to_str().unwrap(), "t.toml, for each item", &served.url(), "shop"] {
        assert!(front.iter().any(|row| row.last() == Some(&json!(fact))), "{fact}: {front:?}");
    }
}

#[test]
fn drop_downs_offer_the_words_of_the_sheet() {
    let (place, served) = place_with(SHEET);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "t.toml", "--report", "r.xlsx"]).exits(3);
    let sheet = part(&place.path("r.xlsx"), "xl/worksheets/sheet2.xml");
    assert_eq!(attributes(&sheet, "dataValidation", "sqref"), ["G2:G6", "H2:H6", "I2:I6"]);
    assert!(attributes(&sheet, "dataValidation", "errorStyle").iter().all(|style| *style == "warning"));
    let ranges: Vec<&str> = sheet.split("<formula1>").skip(1).map(|text| text.split_once('<').unwrap().0).collect();
    assert_eq!(ranges, ["'Lists'!$A$1:$A$2", "'Lists'!$B$1:$B$3", "'Lists'!$C$1:$C$3"]);
    let all = sheets(&place, "r.xlsx");
    assert_eq!(all[2].0, "Lists");
    let list = |column: usize| all[2].1.iter().filter_map(|row| row.get(column)?.as_str()).collect::<Vec<_>>();
    assert_eq!(list(0), ["EUR", "USD"]);
    assert_eq!(list(1), ["yes", "no", "-"]);
    assert_eq!(list(2), ["Piece", "Box of 100", "Pair, of shoes"]);
    assert!(part(&place.path("r.xlsx"), "xl/workbook.xml").contains(r#"name="Lists" sheetId="3" state="hidden""#));

    // A long list, with the file deleted: the summary mentions the missing drop-down.
    place.write(
        "units.csv",
        (0..20_000).fold("Word,Code\nPiece,C62\n".to_owned(), |all, n| all + &format!("U{n},C{n}\n")),
    );
    // The report has the words that the run has read.
    place.sheetport(["report", "-o", "changed.xlsx"]).exits(0).says(&["no drop-down lists", "has changed"]);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "t.toml", "--report", "second.xlsx"]).exits(3);
    fs::remove_file(place.path("prices.csv")).unwrap();
    place.sheetport(["report", "-o", "again.xlsx"]).exits(0);
    assert_eq!(
        attributes(&part(&place.path("again.xlsx"), "xl/worksheets/sheet2.xml"), "dataValidation", "sqref").len(),
        2
    );
    let remark = json!("Unit has no drop-down list: 20,001 values are too many.");
    assert!(front(&place, "again.xlsx").contains(&vec![remark]));
    fs::remove_file(place.path("units.csv")).unwrap();
    place.sheetport(["report", "-o", "without.xlsx"]).exits(0).says(&["no drop-down lists", "units.csv"]);
}

#[test]
fn the_rows_of_a_report_are_found_whatever_sheet_the_template_names() {
    let (place, served) = place_with(SHEET);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "t.toml", "--report", "r.xlsx"]).exits(3);
    let by_letters = r#"
record = "item"
[fields.externalId]
column = "A"
[fields.name]
column = "B"
"#;
    for (template, toml) in [
        ("first.toml", TEMPLATE.to_owned()),
        ("index.toml", TEMPLATE.replace("[fields.externalId]", "[sheet]\nindex = 1\n[fields.externalId]")),
        ("name.toml", TEMPLATE.replace("[fields.externalId]", "[sheet]\nname = \"Preise\"\n[fields.externalId]")),
        ("all.toml", TEMPLATE.replace("[fields.externalId]", "[sheet]\nname = \"*\"\n[fields.externalId]")),
        ("letters.toml", by_letters.to_owned()),
    ] {
        place.write(template, toml);
        let checked = place.sheetport(["check", "r.xlsx", "-t", template, "--json"]).run();
        let summary = summary(&checked);
        let expected = if template == "letters.toml" { "5: pending 5" } else { "5: rejected 4, pending 1" };
        assert_eq!(accounting(&summary), expected, "{template}: {checked:?}");
        assert!(!checked.stderr.contains("left out"), "{template}: {checked:?}");
    }
    let mended = served.sheetport(&place, ["upload", "r.xlsx", "-t", "items", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&mended)), "5: sent 3, rejected 2");
    assert!(place.path("r-2.xlsx").exists(), "{:?}", place.names());
}

#[test]
fn all_sheets_of_a_long_report_are_read() {
    let place = Place::new();
    let mut book = rust_xlsxwriter::Workbook::new();
    book.add_worksheet().set_name("Summary").unwrap().write_string(0, 0, "Upload of prices.csv").unwrap();
    for (sheet, skus) in [("Items", ["1", "2"]), ("Items 2", ["3", "4"])] {
        let sheet = book.add_worksheet().set_name(sheet).unwrap();
        for (column, name) in (0..).zip(["SKU", "Name", "sheetport_status", "sheetport_row"]) {
            sheet.write_string(0, column, name).unwrap();
        }
        for (row, sku) in (1..).zip(skus) {
            sheet.write_string(row, 0, sku).unwrap().write_string(row, 1, "Bolt").unwrap();
        }
    }
    book.add_worksheet().set_name("Lists").unwrap().set_hidden(true);
    book.save(place.path("r.xlsx")).unwrap();
    let checked = |words: &[&str]| {
        let check = ["check", "r.xlsx", "-t", "items", "--json"];
        accounting(&summary(&place.sheetport(check.iter().chain(words)).exits(0)))
    };
    assert_eq!(checked(&[]), "4: pending 4");
    assert_eq!(checked(&["--sheet", "Items 2"]), "2: pending 2");
}

#[test]
fn similar_messages_of_the_service_are_one_cause() {
    let place = Place::new();
    let served = Served::demo(&place);
    let template =
        "record = \"order\"\n[fields.externalId]\ncolumn = \"No\"\n[fields.companyExternalId]\ncolumn = \"Customer\"\n";
    place.write("t.toml", template);
    place.write("orders.csv", "No,Customer\nSO-2026-0001,C-71\nSO-2026-0002,C-72\nSO-2026-0003,C-73\n");
    served.sheetport(&place, ["upload", "orders.csv", "-t", "t.toml", "--report", "r.xlsx"]).exits(3);
    let front = front(&place, "r.xlsx");
    let head = front.iter().position(|row| row.first() == Some(&json!("Rows"))).unwrap();
    assert_eq!(front[head + 1][0], 3, "{front:?}");
    let words = front[head + 1].iter().filter_map(Value::as_str).find(|words| words.contains("no company"));
    let words = words.unwrap_or_else(|| panic!("{front:?}"));
    assert!(words.contains("C-71"), "the first one's words: {words}");
}

#[test]
fn long_text_is_cut_in_a_workbook_and_complete_in_a_csv() {
    let long = "long ".repeat(8_000);
    let (place, served) =
        place_with(&format!("SKU,Name,Price,Currency,Active,Unit,Note\n1,Bolt,free,EUR,yes,Piece,{long}\n"));
    served.sheetport(&place, ["upload", "prices.csv", "-t", "t.toml"]).csv_report("prices.report.csv").exits(3);
    assert_eq!(column(&table(&place.path("prices.report.csv")), "Note"), [long.as_str()]);
    place.sheetport(["report", "-o", "r.xlsx"]).exits(0);
    let cell = sheets(&place, "r.xlsx")[1].1[1][6].as_str().unwrap().to_owned();
    assert!(cell.len() == 32_767 + "…".len() - 1 && cell.ends_with("… [cut]"), "{}", cell.len());
    let said = front(&place, "r.xlsx");
    assert!(
        said.iter().any(|row| row.iter().any(|cell| cell
            .as_str()
            .is_some_and(|said| said.starts_with("Cells longer than 32,767 characters, the limit of a workbook: 1.")))),
        "{said:?}"
    );
}

#[test]
fn report_with_more_columns_than_a_workbook_is_a_csv() {
    let place = Place::new();
    let served = Served::start(&place);
    let further: String = (4..=16_380).map(|number| format!(",c{number}")).collect();
    place.write("wide.csv", format!("SKU,Name,Price{further}\n1,Bolt,free{}\n", ",".repeat(16_377)));
    let upload = served.sheetport(&place, ["upload", "wide.csv", "-t", "items"]).exits(3);
    upload.says(&["the report is a CSV file, because it has 16391 columns and a workbook has room for 16384"]);
    assert_eq!(column(&table(&place.path("wide.report.csv")), "sheetport_status"), ["rejected"]);
    let named = place.sheetport(["report", "-o", "wide.xlsx"]).exits(1);
    named.says(&["a workbook has room for 16384 columns, not 16391; write it as .csv"]);
}

#[test]
fn notes_beyond_the_limit_are_counted_in_the_summary() {
    let rows: String = (0..4_100).map(|row| format!("{row:04},Bolt,free,EUR,yes,Piece\n")).collect();
    let (place, _served) = place_with(&format!("SKU,Name,Price,Currency,Active,Unit\n{rows}"));
    place.sheetport(["check", "prices.csv", "-t", "t.toml", "--report", "r.xlsx", "-q"]).exits(3);
    let said = front(&place, "r.xlsx");
    let remark = "Faulty cells without a note, because more notes would slow down the workbook: 100. See the column \
                  sheetport_errors.";
    assert!(said.contains(&vec![json!(remark)]), "{said:?}");
    let notes = part(&place.path("r.xlsx"), "xl/comments1.xml");
    assert_eq!(attributes(&notes, "comment", "ref").len(), 4_000);
    let rows = &sheets(&place, "r.xlsx")[1].1;
    assert_eq!(rows.len(), 4_101);
    assert!(rows[4_100][7].as_str().unwrap().contains("Price 'free' is not a number"), "{:?}", rows[4_100]);
    // A cell without a note has the same format as one with a note.
    let sheet = part(&place.path("r.xlsx"), "xl/worksheets/sheet2.xml");
    let look = |row: u32| sheet.split_once(&format!("r=\"F{row}\" s=\"")).unwrap().1.split_once('"').unwrap().0;
    assert_eq!(look(2), look(4_101));
    // With few notes, the summary does not mention them.
    place.write("few.csv", "SKU,Name,Price,Currency,Active,Unit\n1,Bolt,free,EUR,yes,Piece\n");
    place.sheetport(["check", "few.csv", "-t", "t.toml", "--report", "few.xlsx", "-q"]).exits(3);
    assert!(!format!("{:?}", front(&place, "few.xlsx")).contains("without a note"));
}

#[test]
fn the_summary_of_a_check_says_that_nothing_was_sent() {
    let (place, _served) = place_with(SHEET);
    place.sheetport(["check", "prices.csv", "-t", "t.toml", "--report", "r.xlsx"]).exits(3);
    let front = front(&place, "r.xlsx");
    assert_eq!(front[0], ["Check of prices.csv"]);
    assert!(front.contains(&vec![json!(1), json!("pending"), json!("valid and ready to send")]), "{front:?}");
    assert!(front.iter().all(|row| row.first() != Some(&json!("Run"))));
}

#[test]
fn an_office_program_preserves_a_report() {
    if !office::is_there() {
        return;
    }
    let (place, served) = place_with(SHEET);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "t.toml", "--report", "r.xlsx"]).exits(3);
    office::save_again(&place, &place.path("r.xlsx"), office::XLSX);
    let (before, after) = (sheets(&place, "r.xlsx"), sheets(&place, "saved/r.xlsx"));
    let names = |sheets: &[(String, Vec<Vec<Value>>)]| sheets.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
    let cells = |rows: &[Vec<Value>]| rows.iter().map(|row| trimmed(row)).collect::<Vec<_>>();
    assert_eq!(cells(&before[1].1), cells(&after[1].1));
    assert_eq!(cells(&before[2].1), cells(&after[2].1));
    let saved = place.path("saved/r.xlsx");
    let sheet = part(&saved, "xl/worksheets/sheet2.xml");
    assert_eq!(attributes(&sheet, "dataValidation", "sqref"), ["G2:G6", "H2:H6", "I2:I6"]);
    let links = part(&saved, "xl/worksheets/sheet1.xml");
    assert_eq!(attributes(&links, "hyperlink", "location").len(), 4);
    let sent = served.sheetport(&place, ["upload", "saved/r.xlsx", "-t", "t.toml", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&sent)), "5: sent 1, rejected 4");
}

fn trimmed(row: &[Value]) -> Vec<Value> {
    let end = row.iter().rposition(|cell| !cell.is_null()).map_or(0, |last| last + 1);
    row[..end].to_vec()
}

#[test]
fn workbooks_store_each_row_once_and_in_order() {
    let place = Place::new();
    let served = Served::demo(&place);
    let long = "x".repeat(300);
    let hostile = ["=1+1", "a\u{0}b", "_x0041_", "two\nlines", "]]>", "\u{fffe}", "<b>&", " ", &long];
    let rows = hostile.iter().map(|name| format!("\"{name}\",\"{name}\",\"{name}\"\n"));
    let text: String = std::iter::once("SKU,Name,Price\n".to_owned()).chain(rows).collect();
    place.write("prices.csv", &text);
    // The last row has a long message, so that it wraps.
    served.sheetport(&place, ["check", "prices.csv", "-t", "items", "--report", "check.xlsx", "-q"]).exits(3);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items", "--report", "upload.xlsx", "-q"]).exits(3);
    served.sheetport(&place, ["report", "-o", "problems.xlsx", "--only", "problems"]).exits(0);
    for list in ["items", "orders", "companies", "contacts", "inventories"] {
        let file = format!("{list}.xlsx");
        served.sheetport(&place, ["export", list, "-o", &file, "-q"]).exits(0);
    }
    let files: Vec<String> = place.names().into_iter().filter(|name| name.ends_with(".xlsx")).collect();
    assert_eq!(files.len(), 8);
    files.iter().for_each(|file| worksheet_xml::check(&place.path(file)));
}

#[test]
fn problem_columns_are_frozen_and_technical_columns_are_folded() {
    let (place, served) = place_with(SHEET);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "t.toml", "--report", "r.xlsx"]).exits(3);
    let sheet = part(&place.path("r.xlsx"), "xl/worksheets/sheet2.xml");
    let pane = |attribute| attributes(&sheet, "pane", attribute);
    assert_eq!(
        (pane("xSplit"), pane("ySplit"), pane("state")),
        (vec!["2"], vec!["1"], vec!["frozen"]),
        "without warnings"
    );
    let columns: Vec<&str> = sheet.split("<col ").skip(1).map(|text| text.split_once('>').unwrap().0).collect();
    let folded: Vec<&&str> = columns.iter().filter(|column| column.contains("hidden=\"1\"")).collect();
    assert!(folded.iter().all(|column| column.contains("outlineLevel=\"1\"")), "{columns:?}");
    let number = |column: &str, name: &str| -> usize {
        column.split_once(&format!("{name}=\"")).unwrap().1.split_once('"').unwrap().0.parse().unwrap()
    };
    let folded: usize = folded.iter().map(|column| 1 + number(column, "max") - number(column, "min")).sum();
    assert_eq!(folded, 8, "{columns:?}");
    assert!(sheet.contains("fitToHeight=\"0\"") && sheet.contains("orientation=\"landscape\""), "{sheet}");
    assert!(sheet.contains("&amp;P / &amp;N"), "pages have numbers");
    let book = part(&place.path("r.xlsx"), "xl/workbook.xml");
    assert!(book.contains("prices!$1:$1"), "the header is on every page: {book}");
}
