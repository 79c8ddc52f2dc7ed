//! Rows that are no records, and rows of damaged files: problems with their rows, never requests.

use super::process::{Place, name};
use super::service::Served;
use super::{accounting, column, office, table};
use crate::sheet::parts::Xlsx;

/// Returns the rows and codes of the problems of a check.
fn problem_rows(checked: &serde_json::Value) -> Vec<String> {
    let mut rows: Vec<(u64, &str)> = Vec::new();
    for problem in checked["problems"].as_array().unwrap() {
        let code = problem["code"].as_str().unwrap();
        rows.extend(problem["rows"].as_array().unwrap().iter().map(|row| (row.as_u64().unwrap(), code)));
    }
    rows.sort_unstable();
    rows.iter().map(|(row, code)| format!("{row} {code}")).collect()
}

/// Checks a text by a template, and compares the rows and codes of its problems, and the summary.
#[track_caller]
fn check(template: &str, text: impl AsRef<[u8]>, expected: &[&str], summary: &str) {
    let place = Place::new();
    place.write("list.csv", text);
    let checked = place.sheetport(["check", "list.csv", "-t", template, "--json"]).run().json();
    assert_eq!(problem_rows(&checked), expected, "{checked}");
    assert_eq!(accounting(&checked), summary, "{checked}");
}

const HEADER: &str = "SKU,Name,Price\n";
const ROWS: &str = "A-1,Bolt,1.00\nA-2,Nut,2.00\n";

#[test]
fn remarks_pages_headings_and_totals_are_problems() {
    for (row, code) in [
        ("# second delivery,,", "no-record"),
        ("* all prices without VAT,,", "no-record"),
        ("Ende der Liste,,", "no-record"),
        ("Page 1 of 2,,", "no-record"),
        ("Seite 3,,", "no-record"),
        ("Screws and bolts,,", "no-record"),
        ("Nuts,,", "no-record"),
        ("Gesamtsumme netto,,", "no-record"),
        ("Gesamtsumme netto,,3.00", "no-record"),
        (",Summe,3.00", "no-record"),
    ] {
        check(
            "items",
            format!("{HEADER}{ROWS}{row}\nA-3,Pin,3.00\n"),
            &[&format!("4 {code}")],
            "4: rejected 1, pending 3",
        );
    }
}

#[test]
fn footers_of_short_lists_are_problems() {
    for row in [
        "Page 1,of 2,",
        "Shipping,,4.90",
        "Versandkosten,,4.90",
        "Count,2,",
        "Anzahl Artikel,2,",
        "Exported on,2026-01-05,",
        "Imprimé le,05/01/2026,",
        "作成者,山田,",
        "*** end of report ***,,",
        "Prepared by: X,,",
    ] {
        check("items", format!("{HEADER}{ROWS}{row}\n"), &["4 no-record"], "3: rejected 1, pending 2");
    }
    let all = "Shipping,,4.90\nCount,2,\nPrepared by: X,,\nExported on,2026-01-05,\n";
    let rows = ["4 no-record", "5 no-record", "6 no-record", "7 no-record"];
    check("items", format!("{HEADER}{ROWS}{all}"), &rows, "6: rejected 4, pending 2");
    // Without a column of names, and with the identifier in the second column.
    check("items", "SKU,Price\nA-1,1\nA-2,2\nShipping,4.90\n", &["4 no-record"], "3: rejected 1, pending 2");
    let rows = "Name;SKU\nBolt;A-1\nNut;A-2\nSeite 1;von 2\nAnzahl Artikel:;2\nErstellt am;05.01.2026\n";
    check("items", rows, &["4 no-record", "5 no-record", "6 no-record"], "5: rejected 3, pending 2");
}

#[test]
fn services_and_words_as_identifiers_are_sent() {
    check("items", format!("{HEADER}{ROWS}SHIP-1,Shipping,4.90\n"), &[], "3: pending 3");
    check("items", format!("{HEADER}{ROWS}Shipping,Shipping costs,4.90\n"), &[], "3: pending 3");
    let words = "SKU,Name,Price\nBOLT,Bolt,1\nNUT,Nut,2\nSHIPPING,,4.90\nCOUNT,12,1\nSHEET,1,2\n";
    check("items", words, &[], "5: pending 5");
}

#[test]
fn rows_that_look_like_records_are_sent() {
    for rows in ["A-3,Pin,\n", "A-3,,3.00\n", "A-3,Total,5.00\n", "A-3,Page 2,5.00\n", "A-3,(optional),5.00\n"] {
        check("items", format!("{HEADER}{ROWS}{rows}"), &[], "3: pending 3");
    }
    // Identifiers may be words, also with spaces.
    check("items", "SKU,Price\nred bolt,1.00\nblue bolt,\ngreen bolt,2.00\n", &[], "3: pending 3");
    check("items", "SKU,Price\nNuts,1.00\nBolts,\nPins,2.00\n", &[], "3: pending 3");
    check("items", "SKU,Price\nA-1,1.00\nA-2,\nA-3,2.00\n", &[], "3: pending 3");
}

#[test]
fn hints_under_the_header_are_a_problem() {
    check(
        "items",
        format!("{HEADER}(required),(optional),(optional)\n{ROWS}"),
        &["2 no-record"],
        "3: rejected 1, pending 2",
    );
    check("items", format!("{HEADER}Pflichtfeld,Text,Zahl\n{ROWS}"), &["2 no-record"], "3: rejected 1, pending 2");
}

#[test]
fn the_rows_of_a_further_table_are_problems() {
    let other_order = format!("{HEADER}{ROWS}Name,SKU,Price\nPin,A-3,3.00\n");
    check("items", other_order, &["4 second-table", "5 second-table"], "4: rejected 2, pending 2");
    let other_columns = format!("{HEADER}{ROWS}\nCustomer,City,Phone\nMiller,Bonn,030\n");
    check("items", other_columns, &["5 second-table", "6 second-table"], "4: rejected 2, pending 2");
    // A record after a blank row.
    check("items", format!("{HEADER}{ROWS}\nA-3,Pin,3.00\n"), &[], "3: pending 3");
}

#[test]
fn a_line_ending_in_the_middle_of_a_row_breaks_it() {
    let text = format!("{HEADER}{ROWS}A-3,Pin with\nwasher,2.00\nA-4,Rod,3.00\n");
    check("items", text, &["4 broken-row", "5 broken-row"], "5: rejected 2, pending 3");
    // Rows without their last delimiters.
    check("items", format!("{HEADER}A-1,Bolt\nA-2,Nut\nA-3\nA-4,Rod,1.00\nA-5,Cap,2.00\n"), &[], "5: pending 5");
}

#[test]
fn a_last_line_that_was_cut_is_a_problem() {
    check("items", format!("{HEADER}{ROWS}A-3,Pi"), &["4 cut-off"], "3: rejected 1, pending 2");
    check("items", format!("{HEADER}{ROWS}A-3,Pin,3.00"), &[], "3: pending 3");
    check("items", format!("{HEADER}A-1,Bolt\nA-2,Nut,2.00\nA-3,Pin"), &[], "3: pending 3");
}

#[test]
fn rows_with_another_delimiter_are_problems() {
    let rows: String = (1..9).map(|row| format!("A-{row};Bolt;{row}.00\n")).collect();
    let text = format!("SKU;Name;Price\n{rows}A-9,Nut,9.00\n");
    check("items", text, &["10 other-delimiter"], "9: rejected 1, pending 8");
}

#[test]
fn rows_with_all_columns_in_one_cell_are_problems() {
    let quoted = "\"A-8,\"\"Bolt, large\"\",1.50\"\n\"A-9,Nut,0.20\"\n";
    check("items", format!("{HEADER}{quoted}"), &["2 unsplit-row", "3 unsplit-row"], "2: rejected 2");
    check(
        "items",
        format!("{HEADER}{ROWS}{quoted}"),
        &["4 no-record", "4 unsplit-row", "5 unsplit-row"],
        "4: rejected 2, pending 2",
    );
    // A name with a comma in a row without a price.
    check("items", "SKU,Name\n\"A-1, left\",\n\"A-1, right\",Nut\n", &[], "2: pending 2");
    let place = Place::new();
    place.write("list.csv", format!("\"SKU,Name,Price\"\n{quoted}"));
    for template in [&["-t", "items"][..], &[]] {
        place.sheetport(["check", "list.csv"]).args(template).exits(2).says(&["Data > Text to Columns"]);
    }
}

#[test]
fn rows_swallowed_by_a_quote_are_a_problem() {
    let rows = |from: u32, to: u32| -> String { (from..to).map(|row| format!("A-{row},Bolt,{row}.00\n")).collect() };
    let text =
        format!("{HEADER}{}A-20,\"5 inch pipe,20.00\n{}A-30,6\",30.00\n{}", rows(1, 20), rows(21, 30), rows(31, 40));
    check("items", text, &["21 swallowed-rows"], "29: rejected 1, pending 28");
    check("items", "SKU,Name,Price\nA-1,\"Bolt\nM8\",1.00\nA-2,Nut,2.00\n", &[], "2: pending 2");
}

#[test]
fn a_stray_byte_is_a_problem_at_its_cell() {
    let mut text = format!("{HEADER}A-1,Größe,1.00\nA-2,Straße,2.00\nA-3,Café,3.00\nA-4,naïve,4.00\n").into_bytes();
    text.extend(b"A-5,Gr\xFCn,5.00\n");
    check("items", text, &["6 lost-letters"], "5: rejected 1, pending 4");
    check("items", "SKU,Name\nA-1,M\u{fffd}ller\nA-2,Weber\n", &["2 lost-letters"], "2: rejected 1, pending 1");
}

#[test]
fn control_characters_at_the_end_of_a_file_are_no_row() {
    check("items", format!("{HEADER}{ROWS}\u{1a}"), &[], "2: pending 2");
    check("items", format!("{HEADER}{}\0\0\0\0", ROWS.replace("Bolt", &"Bolt".repeat(20))), &[], "2: pending 2");
}

#[test]
fn a_first_record_is_no_header_for_columns_named_by_letters() {
    let place = Place::new();
    place.write("t.toml", "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\n[fields.name]\ncolumn = \"B\"\n");
    place.write("list.csv", "H-1,Bolt\nH-2,Nut\n");
    let checked = place.sheetport(["check", "list.csv", "-t", "t.toml", "--json"]).run().json();
    assert_eq!(accounting(&checked), "2: pending 2");
    place.write("list.csv", "Number,Name\nH-1,Bolt\nH-2,Nut\n");
    let checked = place.sheetport(["check", "list.csv", "-t", "t.toml", "--json"]).run().json();
    assert_eq!(accounting(&checked), "2: pending 2");
}

#[test]
fn dates_half_turned_by_a_spreadsheet_program_are_problems() {
    let place = Place::new();
    place.write(
        "t.toml",
        "record = \"inventory-transaction\"\n[fields.transactionType]\nvalue = \"in\"\n\
         [fields.inventoryExternalId]\ncolumn = \"Stock\"\n[fields.transactionAmount]\ncolumn = \"Qty\"\n\
         [fields.transactionDate]\ncolumn = \"Date\"\n",
    );
    let text = |text: &str| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let row = |stock: &str, date: String| format!("<row>{}<c><v>1</v></c>{date}</row>", text(stock));
    let header = format!("<row>{}{}{}</row>", text("Stock"), text("Qty"), text("Date"));
    let date = |serial: u32| format!("<c s=\"1\"><v>{serial}</v></c>");
    // 4 March 2026, and a text.
    let sheet = format!("<sheetData>{header}{}{}</sheetData>", row("a", date(46085)), row("b", text("13/02/2026")));
    place.write("turned.xlsx", Xlsx { sheet: &sheet, formats: &["yyyy-mm-dd"], ..Xlsx::default() }.bytes());
    let checked = place.sheetport(["check", "turned.xlsx", "-t", "t.toml", "--json"]).run().json();
    assert_eq!(problem_rows(&checked), ["2 turned-date"], "{checked}");
}

#[test]
fn a_visible_sheet_is_read_before_a_hidden_one() {
    let place = Place::new();
    let mut workbook = rust_xlsxwriter::Workbook::new();
    for (name, price) in [("Old", "no price"), ("Current", "2.00")] {
        let sheet = workbook.add_worksheet().set_name(name).unwrap();
        sheet.set_hidden(name == "Old");
        for (column, title) in (0..).zip(["SKU", "Name", "Price"]) {
            sheet.write_string(0, column, title).unwrap();
        }
        sheet.write_string(1, 0, "A-1").unwrap().write_string(1, 1, "Bolt").unwrap().write_string(1, 2, price).unwrap();
        if name == "Current" {
            sheet.set_active(true);
        }
    }
    workbook.save(place.path("prices.xlsx")).unwrap();
    let check = |sheet: &[&str]| {
        let check = ["check", "prices.xlsx", "-t", "items", "--json"];
        accounting(&place.sheetport(check.iter().chain(sheet)).run().json())
    };
    assert_eq!(check(&[]), "1: pending 1");
    assert_eq!(check(&["--sheet", "Old"]), "1: rejected 1");
    let checked = place.sheetport(["check", "prices.xlsx", "-t", "items", "--sheet", "Old", "--json"]).run().json();
    assert_eq!(
        (&checked["warnings"][0]["code"], &checked["warnings"][0]["value"]),
        (&"hidden-sheet".into(), &"Old".into())
    );
}

#[test]
fn blank_columns_are_one_problem() {
    let place = Place::new();
    place.write(
        "t.toml",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\non_blank = \"error\"\n",
    );
    let rows: String = (1..=300).map(|row| format!("A-{row},,\n")).collect();
    place.write("list.csv", format!("SKU,Name,Price\n{rows}"));
    let refused = place.sheetport(["check", "list.csv", "-t", "t.toml"]).exits(7);
    for words in ["list.csv: the column 'Name' is blank in all 300 rows, and the template needs a value", "on_blank"] {
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    // The same for a price is possible, but probably wrong.
    let rows: String = (1..=300).map(|row| format!("A-{row},Bolt,\n")).collect();
    place.write("list.csv", format!("SKU,Name,Price\n{rows}"));
    let checked = place.sheetport(["check", "list.csv", "-t", "items", "--json"]).run().json();
    let warning = &checked["warnings"][0];
    assert_eq!(
        (&warning["code"], &warning["header"], &warning["count"]),
        (&"blank-column".into(), &"Price".into(), &1.into())
    );
    assert_eq!(accounting(&checked), "300: pending 300");
    // A single row has the problem itself.
    place.write("one.csv", "SKU,Name,Price\nA-1,,\n");
    assert_eq!(
        accounting(&place.sheetport(["check", "one.csv", "-t", "t.toml", "--json"]).run().json()),
        "1: rejected 1"
    );
}

#[test]
fn skipped_rows_have_their_reason_in_the_report() {
    let place = Place::new();
    let skip = "[sheet]\nskip_where = 'Name == \"draft\"'\n";
    place.write(
        "t.toml",
        format!("record = \"item\"\n{skip}[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n"),
    );
    place.write("list.csv", "SKU,Name\nA-1,draft\nSKU,Name\nA-2,Bolt\nA-3,Nut\n");
    let served = Served::start(&place);
    let upload = ["upload", "list.csv", "-t", "t.toml", "--rows", "2-4", "--report", "out.csv"];
    served.sheetport(&place, upload).exits(0);
    let report = table(&place.path("out.csv"));
    assert_eq!(column(&report, "sheetport_status"), ["skipped", "skipped", "sent", "skipped"]);
    let reasons = [
        "is left out by skip_where of the template",
        "repeats the header",
        "",
        "is not among the rows given with --rows",
    ];
    assert_eq!(column(&report, "sheetport_errors"), reasons);
}

#[test]
fn hidden_rows_are_remarked_in_every_kind_of_workbook() {
    let place = Place::new();
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, title) in (0..).zip(["SKU", "Name", "Price"]) {
        sheet.write_string(0, column, title).unwrap();
    }
    for row in 1..=6 {
        sheet.write_string(row, 0, format!("A-{row}")).unwrap();
        sheet.write_string(row, 1, "Bolt").unwrap().write_number(row, 2, 1.5).unwrap();
    }
    for row in [2, 3, 5] {
        sheet.set_row_hidden(row).unwrap();
    }
    workbook.save(place.path("hidden.xlsx")).unwrap();
    let mut files = vec![place.path("hidden.xlsx")];
    if office::is_there() {
        for format in ["xls", "ods"] {
            files.push(office::save_again(&place, &place.path("hidden.xlsx"), format).join(format!("hidden.{format}")));
        }
    }
    for file in files {
        let checked = place.sheetport(["check", name(&file), "-t", "items", "--json"]).run().json();
        let warning = &checked["warnings"][0];
        assert_eq!(warning["code"], "hidden-rows", "{checked}");
        assert_eq!(warning["message"], "are hidden rows, of which 3 are sent like the others");
        assert_eq!((&warning["value"], &warning["rows"][0]), (&"3 to 4, 6".into(), &3.into()), "{}", file.display());
        assert_eq!(accounting(&checked), "6: pending 6");
    }
}

#[test]
fn totals_of_sections_and_nameless_rows_are_noticed() {
    let place = Place::new();
    place.write(
        "list.csv",
        "SKU,Name,Price\nA1,Bolt,1.00\nA2,Nut,2.00\nSubtotal Fasteners,,3.00\nB1,Hammer,9.00\nVAT 19%,,9.00\n\
         B2,Saw,8.00\nB3,Drill,7.00\nB4,Vise,1.00\nB5,Axe,3.00\nB6,Pick,5.00\nB7,,6.00\n",
    );
    let checked = place.sheetport(["check", "list.csv", "-t", "items", "--json"]).run().json();
    assert_eq!(problem_rows(&checked), ["4 no-record", "6 no-record"], "{checked}");
    assert_eq!((&checked["warnings"][0]["code"], &checked["warnings"][0]["rows"][0]), (&"no-name".into(), &12.into()));
    assert_eq!(accounting(&checked), "11: rejected 2, pending 9");
    // Without names, nothing is missing.
    place.write("list.csv", "SKU,Name,Price\nA1,,1.00\nA2,,2.00\nB1,Hammer,9.00\n");
    assert_eq!(
        accounting(&place.sheetport(["check", "list.csv", "-t", "items", "--json"]).run().json()),
        "3: pending 3"
    );
}

#[test]
fn damaged_numbers_of_invoices_do_not_join_them() {
    let place = Place::new();
    for damaged in ["2.02601E+16", "#REF!", "n/a"] {
        place.write(
            "list.csv",
            format!("Invoice no.,Customer ID,Item ID,Amount\n{damaged},c1,i1,2\n{damaged},c1,i2,1\nR-3,c1,i1,1\n"),
        );
        let checked = place.sheetport(["check", "list.csv", "-t", "invoices", "--json"]).run().json();
        assert_eq!(accounting(&checked), "2: rejected 1, pending 1", "{damaged}: {checked}");
    }
}

#[test]
fn further_sheets_with_the_same_columns_are_remarked() {
    let place = Place::new();
    let mut workbook = rust_xlsxwriter::Workbook::new();
    for (name, rows) in [("Screws", 2), ("Tools", 1), ("Empty", 0)] {
        let sheet = workbook.add_worksheet().set_name(name).unwrap();
        for (column, title) in (0..).zip(["SKU", "Name", "Price"]) {
            sheet.write_string(0, column, title).unwrap();
        }
        for row in 1..=rows {
            sheet.write_string(row, 0, format!("{name}-{row}")).unwrap();
            sheet.write_string(row, 1, "Bolt").unwrap().write_number(row, 2, 1.5).unwrap();
        }
    }
    workbook.save(place.path("list.xlsx")).unwrap();
    let check = |sheet: &[&str]| {
        let check = ["check", "list.xlsx", "-t", "items", "--json"];
        place.sheetport(check.iter().chain(sheet)).run().json()
    };
    let checked = check(&[]);
    let warning = &checked["warnings"][0];
    assert_eq!((&warning["code"], &warning["value"]), (&"unread-sheet".into(), &"Tools".into()), "{checked}");
    assert_eq!(accounting(&checked), "2: pending 2");
    assert_eq!(check(&["--sheet", "Screws"])["warnings"], serde_json::json!([]));
    assert_eq!(accounting(&check(&["--sheet", "*"])), "3: pending 3");
}
