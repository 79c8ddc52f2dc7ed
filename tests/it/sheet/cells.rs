//! Values of workbook cells: dates and times, number formats, formulas, order.

use sheetport_sheet::{Cell, Row};

use super::parts::{Xlsx, ods, xls, xls_cell, xlsb};
use super::{file, folder, read, rows};

#[track_caller]
fn check(workbook: &Xlsx<'_>, expected: &[&str]) {
    let folder = folder();
    let book = read(&workbook.save(&folder)).unwrap();
    let (lines, error) = rows(&book, 0);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(lines, expected);
}

#[track_caller]
fn check_row(cells: &str, formats: &[&str], properties: &str, expected: &str) {
    let sheet = format!("<sheetData><row r=\"1\">{cells}</row></sheetData>");
    check(&Xlsx { sheet: &sheet, formats, workbook_properties: properties, ..Xlsx::default() }, &[expected]);
}

#[test]
fn date_formats_make_dates_in_both_epochs() {
    let cells = "<c s=\"1\"><v>45943</v></c><c s=\"1\"><v>60</v></c><c s=\"1\"><v>59</v></c><c s=\"2\"><v>0.5</v></c>\
                 <c s=\"3\"><v>1.5208333333333333</v></c><c s=\"4\"><v>0.19</v></c><c s=\"5\"><v>1234.5</v></c>";
    let formats = ["yyyy-mm-dd", "hh:mm", "[h]:mm", "0%", "#,##0.00 [$€-407]"];
    check_row(cells, &formats, "", "1: 2025-10-13|60|1900-02-28|12:00:00|36:30:00|19%|1234.5 €");
    let cells = "<c s=\"1\"><v>44481</v></c><c s=\"1\"><v>0</v></c>";
    check_row(cells, &formats, "<workbookPr date1904=\"1\"/>", "1: 2025-10-13|00:00:00");
}

#[test]
fn formats_for_leading_zeros_are_applied() {
    let cells = "<c s=\"1\"><v>42</v></c><c s=\"2\"><v>1234</v></c><c s=\"1\"><v>123456</v></c><c><v>42</v></c>\
                 <c s=\"1\"><v>4.5</v></c><c s=\"1\" t=\"str\"><v>7</v></c><c s=\"1\"><f>1+1</f></c><c s=\"1\"/>";
    check_row(cells, &["00000", "000-000"], "", "1: 00042|001-234|123456|42|4.5|7|#NOT CALCULATED");
}

#[test]
fn percent_formats_are_read_from_all_supporting_formats() {
    // Blank cells and formulas need a separate pass.
    let cells = "<c s=\"1\"><v>0.19</v></c><c s=\"2\"/><c s=\"2\"><f>A1/2</f><v>9.5000000000000001E-2</v></c>\
                 <c s=\"1\"><f>A1</f></c><c><v>0.19</v></c><c s=\"1\" t=\"str\"><v>0.19</v></c><c s=\"2\"/>";
    check_row(cells, &["0%", "0.0 %;[Red]-0.0 %"], "", "1: 19%||9.5%|#NOT CALCULATED|0.19|0.19");
    let folder = folder();
    let (tenth, more) = (0.1_f64.to_le_bytes(), 0.195_f64.to_le_bytes());
    // Type 2 is a small number: 1, four times, plus a mark; 5 is a number.
    let cells: [(u8, u8, &[u8]); 4] = [(5, 1, &tenth), (5, 0, &tenth), (2, 1, &[6, 0, 0, 0]), (5, 1, &more)];
    let book = read(&file(&folder, "prices.xlsb", xlsb(&["0.0%"], &[&cells]))).unwrap();
    assert_eq!(rows(&book, 0).0, ["1: 10%|0.1|100%|19.5%"]);

    let cells = "<table:table-cell office:value-type=\"percentage\" office:value=\"0.19\" table:number-columns-repeated=\"2\">\
                 <text:p>19 %</text:p></table:table-cell>\
                 <table:table-cell office:value-type=\"float\" office:value=\"0.19\"><text:p>0,19</text:p></table:table-cell>\
                 <table:table-cell office:value=\"0.07\" table:formula=\"of:=[.A1]\" office:value-type=\"percentage\"/>\
                 <table:table-cell office:value-type=\"time\" office:time-value=\"PT09H30M00S\"/>";
    for indent in ["", "\n  "] {
        let row = format!("<table:table-row>{indent}{cells}{indent}</table:table-row>");
        let book = read(&file(&folder, "prices.ods", ods(&row))).unwrap();
        assert_eq!(rows(&book, 0).0, ["1: 19%|19%|0.19|7%|09:30:00"]);
    }
}

#[test]
fn uncalculated_formulas_are_distinguished_from_blanks() {
    let folder = folder();
    for (formats, shown) in [(&["0.00"][..], "7"), (&["000"], "007")] {
        let mut sheet = "<sheetData>".to_owned();
        for number in 1..=3000 {
            let formula = if number == 2000 { "<f>1+1</f>" } else { "" };
            sheet.push_str(&format!("<row r=\"{number}\"><c s=\"1\"><v>7</v></c><c s=\"1\">{formula}</c></row>"));
        }
        let sheet = sheet + "</sheetData>";
        let book = read(&Xlsx { sheet: &sheet, formats, ..Xlsx::default() }.save(&folder)).unwrap();
        let (lines, error) = rows(&book, 0);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(lines.len(), 3000);
        assert_eq!(lines[1999], format!("2000: {shown}|#NOT CALCULATED"));
        assert!(
            lines.iter().enumerate().all(|(index, line)| index == 1999 || *line == format!("{}: {shown}", index + 1))
        );
    }
}

#[test]
fn formulas_have_their_value_or_are_an_error() {
    let cells = "<c><f>1+1</f><v>2</v></c><c t=\"str\"><f>\"\"</f><v></v></c><c t=\"e\"><f>NA()</f><v>#N/A</v></c>\
                 <c><f>A1*2</f><v/></c><c><f t=\"shared\" si=\"0\"/></c><c t=\"b\"><f>1=1</f><v>1</v></c>";
    check_row(cells, &[], "", "1: 2||#N/A|#NOT CALCULATED|#NOT CALCULATED|TRUE");
    let folder = folder();
    let sheet = "<sheetData><row><c><f>A1</f></c></row></sheetData>";
    let book = read(&Xlsx { sheet, ..Xlsx::default() }.save(&folder)).unwrap();
    let mut row = Row::default();
    assert!(book.rows(0).unwrap().next(&mut row).unwrap());
    assert_eq!(row.get(0), Cell::Error(sheetport_sheet::cell::NOT_CALCULATED));
}

#[test]
fn formulas_of_libraries_that_cannot_calculate_are_errors() {
    let folder = folder();
    let formula = |column: u16, result: [u8; 8], flags: u8| {
        xls_cell(0x0006, (0, column), 0, &[&result[..], &[flags], &[0; 7]].concat())
    };
    let (empty, two) = ([3, 0, 0, 0, 0, 0, 0xFF, 0xFF], 2_f64.to_le_bytes());
    let cells =
        [formula(0, [0; 8], 3), formula(1, empty, 2), formula(2, [0; 8], 1), formula(3, two, 2), formula(4, empty, 0)];
    let book = read(&file(&folder, "prices.xls", xls(&[], &cells))).unwrap();
    assert_eq!(rows(&book, 0).0, ["1: #NOT CALCULATED|#NOT CALCULATED|0|2"]);

    let cells = "<table:table-cell table:formula=\"of:=[.B1]*2\"/>\
                 <table:table-cell table:formula=\"of:=TRUE()\" office:value-type=\"float\" office:value=\"1\"/>\
                 <table:table-cell table:formula=\"of:=[.B1]\" office:value-type=\"string\" office:string-value=\"\"/>\
                 <table:table-cell table:formula=\"of:=[.B1]\" office:value-type=\"float\" office:value=\"5\"/>";
    let book = read(&file(&folder, "prices.ods", ods(&format!("<table:table-row>{cells}</table:table-row>")))).unwrap();
    assert_eq!(rows(&book, 0).0, ["1: #NOT CALCULATED|TRUE||5"]);
}

#[test]
fn an_unparsable_formula_keeps_its_value() {
    let cells = "<c><v>1</v></c><c><f t=\"shared\">A1</f><v>2</v></c><c><v>3</v></c>";
    check_row(cells, &[], "", "1: 1|2|3");
}

#[test]
fn newer_error_values_are_errors_at_their_cells() {
    let sheet = "<sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"B1\" t=\"e\"><v>#SPILL!</v></c><c r=\"C1\"><v>2</v></c></row>\
                 <row r=\"3\"><c r=\"A3\" t=\"e\"><f>X()</f><v>#CALC!</v></c><c r=\"B3\" t=\"e\"><v>#BUSY!</v></c>\
                 <c r=\"D3\" s=\"1\"><v>7</v></c></row></sheetData>";
    for formats in [&["0.00"][..], &["000"]] {
        let last = if formats[0] == "000" { "007" } else { "7" };
        let expected = ["1: 1|#SPILL!|2".to_owned(), format!("3: #CALC!|#BUSY!||{last}")];
        check(&Xlsx { sheet, formats, ..Xlsx::default() }, &expected.each_ref().map(String::as_str));
    }
    // A cell without a position would be mistaken for the previous one.
    let cells = "<c><v>1</v></c><c t=\"e\"><v>#SPILL!</v></c><c><v>3</v></c>";
    let folder = folder();
    let sheet = format!("<sheetData><row>{cells}</row></sheetData>");
    let book = read(&Xlsx { sheet: &sheet, ..Xlsx::default() }.save(&folder)).unwrap();
    let error = rows(&book, 0).1.unwrap().to_string();
    assert!(error.contains("a row with the error #SPILL! has cells without a position"), "{error}");
}

#[test]
fn rows_and_cells_out_of_order_are_sorted() {
    let sheet = "<sheetData><row r=\"3\"><c r=\"B3\"><v>2</v></c><c r=\"A3\"><v>1</v></c></row>\
                 <row r=\"1\"><c r=\"A1\"><v>0</v></c></row><row r=\"3\"><c r=\"C3\"><v>3</v></c></row></sheetData>";
    check(&Xlsx { sheet, ..Xlsx::default() }, &["1: 0", "3: 1|2|3"]);
}

#[test]
fn the_first_of_merged_cells_has_the_value() {
    let sheet = "<sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"B1\"/><c r=\"C1\"><v>2</v></c></row></sheetData>\
                 <mergeCells><mergeCell ref=\"A1:B2\"/></mergeCells>";
    check(&Xlsx { sheet, ..Xlsx::default() }, &["1: 1||2"]);
    // Programs may keep invisible values in the others.
    let folder = folder();
    let cell = |span: &str, kind: &str, text: &str| {
        format!("<table:{kind} {span} office:value-type=\"string\"><text:p>{text}</text:p></table:{kind}>")
    };
    let first = cell("table:number-columns-spanned=\"2\" table:number-rows-spanned=\"1\"", "table-cell", "a");
    let row =
        format!("<table:table-row>{first}<table:covered-table-cell/>{}</table:table-row>", cell("", "table-cell", "b"));
    let book = read(&file(&folder, "prices.ods", ods(&row))).unwrap();
    assert_eq!(rows(&book, 0).0, ["1: a||b"]);
}

#[test]
fn opendocument_cells_and_repeated_rows_are_read() {
    let folder = folder();
    let cells = "<table:table-cell office:value-type=\"string\"><text:p>0042</text:p></table:table-cell>\
                 <table:table-cell table:number-columns-repeated=\"2\" office:value-type=\"float\" office:value=\"1.5\"/>\
                 <table:table-cell office:value-type=\"date\" office:date-value=\"2025-10-13\"/>\
                 <table:table-cell office:value-type=\"time\" office:time-value=\"PT09H30M00S\"/>\
                 <table:table-cell office:value-type=\"boolean\" office:boolean-value=\"true\"/>";
    let sheet = format!(
        "<table:table-row table:number-rows-repeated=\"2\">{cells}</table:table-row>\
         <table:table-row table:number-rows-repeated=\"1048570\"><table:table-cell \
         table:number-columns-repeated=\"16384\"/></table:table-row>"
    );
    let book = read(&file(&folder, "prices.ods", ods(&sheet))).unwrap();
    assert_eq!(book.description(), "ODS, 1 sheet");
    let row = "0042|1.5|1.5|2025-10-13|09:30:00|TRUE";
    assert_eq!(rows(&book, 0).0, [format!("1: {row}"), format!("2: {row}")]);
}

#[test]
fn xlsb_cells_leading_zeros_and_errors_are_read() {
    let folder = folder();
    let (number, text) = (1.5_f64.to_le_bytes(), [2, 0, 0, 0, b'a', 0, b'b', 0]);
    // Types: 11 a formula that is an error, 2 a small number (42, four times, plus a mark), 5 a number, 4 a boolean,
    // 3 an error, 6 a text.
    let cells: [(u8, u8, &[u8]); 8] = [
        (11, 0, &[0x2A, 0, 0, 0, 0, 0, 0]),
        (2, 1, &[170, 0, 0, 0]),
        (2, 0, &[170, 0, 0, 0]),
        (5, 1, &number),
        (4, 0, &[1]),
        (3, 0, &[0x07]),
        (6, 0, &text),
        (11, 0, &[0x17, 0, 0, 0, 0, 0, 0]),
    ];
    let book = read(&file(&folder, "prices.xlsb", xlsb(&["00000"], &[&cells]))).unwrap();
    assert_eq!(book.description(), "XLSB, 1 sheet");
    assert_eq!(rows(&book, 0).0, ["1: #N/A|00042|42|1.5|TRUE|#DIV/0!|ab|#REF!"]);
}

#[test]
fn xlsb_texts_inside_cells_are_read() {
    let folder = folder();
    // A flag for runs, a text of UTF-16, and the runs: where each begins, and its font.
    let text = |flag: u8, text: &str| {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        [&[flag], &(text.len() as u32).to_le_bytes()[..], &units].concat()
    };
    let (plain, rich) = (text(0, "A-1"), [text(1, "Bolt M6"), vec![1, 0, 0, 0, 5, 0, 0, 0]].concat());
    let number = 1.5_f64.to_le_bytes();
    let row: [(u8, u8, &[u8]); 4] = [(62, 0, &plain), (62, 0, &rich), (5, 0, &number), (62, 0, &rich)];
    let book = read(&file(&folder, "prices.xlsb", xlsb(&[], &[&row, &row[..1]]))).unwrap();
    assert_eq!(rows(&book, 0).0, ["1: A-1|Bolt M6|1.5|Bolt M6", "2: A-1"]);

    // A number in the short form, and a text that ends before its length.
    for (kind, rest) in [(13, &[170, 0, 0, 0][..]), (62, &[1, 9, 0, 0, 0])] {
        let book =
            read(&file(&folder, "prices.xlsb", xlsb(&[], &[&row, &[(5, 0, &number), (kind, 0, rest)]]))).unwrap();
        let error = rows(&book, 0).1.unwrap().to_string();
        assert!(error.contains("row 2 has a cell in an unknown form; save the file as .xlsx in Excel"), "{error}");
    }
}

#[test]
fn an_indented_opendocument_sheet_is_read() {
    let folder = folder();
    let cell = |text: &str| {
        format!("<table:table-cell office:value-type=\"string\">\n<text:p>{text}</text:p>\n</table:table-cell>")
    };
    let row = |cells: [&str; 2]| {
        format!("\n  <table:table-row>\n    {}\n    {}\n  </table:table-row>\n", cell(cells[0]), cell(cells[1]))
    };
    let bytes = ods(&[row(["SKU", "Name"]), row(["0042", "a  b"])].concat());
    assert_eq!(rows(&read(&file(&folder, "prices.ods", bytes)).unwrap(), 0).0, ["1: SKU|Name", "2: 0042|a  b"]);
}

#[test]
fn macro_sheets_are_left_out_and_parts_may_be_in_utf16() {
    let sheet = "<sheetData><row><c><v>1</v></c><c t=\"inlineStr\"><is><t>ä</t></is></c></row></sheetData>";
    let sheets = "<sheet name=\"Macro\" sheetId=\"2\" r:id=\"rId2\"/><sheet name=\"Gone\" sheetId=\"3\"/>";
    let relation = "<Relationship Id=\"rId2\" Type=\"http://schemas.microsoft.com/office/2006/relationships/xlMacrosheet\" \
                    Target=\"macrosheets/sheet1.xml\"/>";
    let folder = folder();
    let workbook = Xlsx { sheet, more_sheets: sheets, more_relations: relation, ..Xlsx::default() };
    let book = read(&workbook.save(&folder)).unwrap();
    assert_eq!(book.sheets(), ["Prices"]);
    assert_eq!(rows(&book, 0).0, ["1: 1|ä"]);

    let book = read(&Xlsx { sheet, utf16: true, ..Xlsx::default() }.save(&folder)).unwrap();
    assert_eq!(rows(&book, 0).0, ["1: 1|ä"]);
}
