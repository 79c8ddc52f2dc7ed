//! Reading of workbooks written by another library.

use std::fs;
use std::path::PathBuf;

use rust_xlsxwriter::{Format, Formula, Workbook};
use sheetport_sheet::{Cell, Error, Row};
use tempfile::TempDir;

use super::{file, folder, read, rows};

fn save(folder: &TempDir, build: impl FnOnce(&mut Workbook)) -> PathBuf {
    let path = folder.path().join("prices.xlsx");
    let mut workbook = Workbook::new();
    build(&mut workbook);
    workbook.save(&path).unwrap();
    path
}

#[test]
fn cell_types_and_row_numbers_are_read() {
    let folder = folder();
    let path = save(&folder, |workbook| {
        let sheet = workbook.add_worksheet();
        sheet.set_name("Prices").unwrap();
        sheet.write_string(0, 0, "SKU").unwrap();
        sheet.write_string(0, 3, "Name").unwrap();
        sheet.write_string(9, 0, "0042").unwrap();
        sheet.write_number(9, 1, 1234.5).unwrap();
        sheet.write_boolean(9, 2, true).unwrap();
        sheet.write_blank(9, 5, &Format::new().set_bold()).unwrap();
        sheet.write_blank(11, 0, &Format::new().set_bold()).unwrap();
        let with = |format: &str| Format::new().set_num_format(format);
        sheet.write_number_with_format(1_048_575, 0, 45_943.0, &with("dd.mm.yyyy")).unwrap();
        sheet.write_number_with_format(1_048_575, 1, 45_943.395_833_333_1, &with("dd.mm.yyyy hh:mm")).unwrap();
        sheet.write_number_with_format(1_048_575, 2, 0.395_833_333_333_3, &with("hh:mm")).unwrap();
        sheet.write_number_with_format(1_048_575, 3, 1.520_833_333_333_3, &with("[h]:mm")).unwrap();
        sheet.write_formula(1_048_575, 4, Formula::new("=NA()").set_result("#N/A")).unwrap();
        sheet.write_number(1_048_575, 16_383, 7).unwrap();
        workbook.add_worksheet().set_name("Second").unwrap().write_string(0, 0, "second").unwrap();
    });
    let book = read(&path).unwrap();
    assert_eq!(book.description(), "XLSX, 2 sheets");
    assert_eq!(book.sheets(), ["Prices", "Second"]);

    let mut reader = book.rows(0).unwrap();
    let mut row = Row::default();
    assert!(reader.next(&mut row).unwrap());
    assert_eq!(row.number, 1);
    let cells: Vec<_> = row.cells().collect();
    assert_eq!(cells, [Cell::Text("SKU"), Cell::Blank, Cell::Blank, Cell::Text("Name")]);
    assert!(reader.next(&mut row).unwrap());
    assert_eq!(row.number, 10);
    let cells: Vec<_> = row.cells().collect();
    assert_eq!(cells, [Cell::Text("0042"), Cell::Number(1234.5), Cell::Boolean(true)]);
    assert!(reader.next(&mut row).unwrap());
    assert_eq!(row.number, 1_048_576);
    assert!(matches!(row.get(0), Cell::Date(date) if date.to_string() == "2025-10-13"));
    assert!(matches!(row.get(1), Cell::DateTime(at) if at.to_string() == "2025-10-13T09:30:00"));
    assert!(matches!(row.get(2), Cell::Time(time) if time.to_string() == "09:30:00"));
    assert_eq!(row.get(3), Cell::Text("36:30:00"));
    assert_eq!(row.get(4), Cell::Error("#N/A"));
    assert_eq!(row.get(16_383), Cell::Number(7.0));
    assert!(!reader.next(&mut row).unwrap());
    assert!(!reader.next(&mut row).unwrap());

    assert_eq!(rows(&book, 1).0, ["1: second"]);
}

#[test]
fn a_long_sheet_is_read_in_order_and_can_be_abandoned() {
    let folder = folder();
    let path = save(&folder, |workbook| {
        let sheet = workbook.add_worksheet();
        for row in 0..3000 {
            sheet.write_string(row, 0, format!("row {row}")).unwrap();
            sheet.write_number(row, 1 + (row % 3) as u16, row).unwrap();
        }
    });
    let book = read(&path).unwrap();
    let mut early = book.rows(0).unwrap();
    let mut row = Row::default();
    assert!(early.next(&mut row).unwrap());
    drop(early);
    let side_by_side = book.rows(0).unwrap();
    let (lines, error) = rows(&book, 0);
    drop(side_by_side);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(lines.len(), 3000);
    assert_eq!(lines[0], "1: row 0|0");
    assert_eq!(lines[1], "2: row 1||1");
    assert_eq!(lines[2999], "3000: row 2999|||2999");
}

#[test]
fn percent_formats_make_percentages() {
    let folder = folder();
    let path = save(&folder, |workbook| {
        let sheet = workbook.add_worksheet();
        for (column, format) in (0..).zip(["0%", "0.00%", "#,##0.0 %", "0%;[Red]-0%;\"-\"", "0\"%\"", "0.00"]) {
            let format = Format::new().set_num_format(format);
            for (row, number) in (0..).zip([0.07, -0.195, 0.0, 12.5]) {
                sheet.write_number_with_format(row, column, number, &format).unwrap();
            }
        }
        let percent = Format::new().set_num_format("0%");
        sheet
            .write_formula_with_format(0, 6, Formula::new("=0.1+0.2").set_result("0.30000000000000004"), &percent)
            .unwrap();
        sheet.write_boolean_with_format(1, 6, true, &percent).unwrap();
        sheet.write_string_with_format(2, 6, "none", &percent).unwrap();
    });
    for name in ["prices.xlsx", "prices.xlsm"] {
        let path = file(&folder, name, fs::read(&path).unwrap());
        let book = read(&path).unwrap();
        let (lines, error) = rows(&book, 0);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(
            lines,
            [
                "1: 7%|7%|7%|7%|0%|0.07|30%",
                "2: -19.5%|-19.5%|-19.5%|-19.5%|-0%|-0.195|TRUE",
                "3: 0%|0%|0%|0%|0%|0|none",
                "4: 1250%|1250%|1250%|1250%|13%|12.5",
            ]
        );
        let (mut all, mut row) = (book.rows(0).unwrap(), Row::default());
        assert!(all.next(&mut row).unwrap());
        assert_eq!((row.get(0), row.get(5)), (Cell::Percent(0.07), Cell::Number(0.07)));
    }
}

#[test]
fn an_incomplete_workbook_is_unreadable() {
    let folder = folder();
    let path = save(&folder, |workbook| {
        workbook.add_worksheet().write_string(0, 0, "SKU").unwrap();
    });
    let bytes = fs::read(&path).unwrap();
    for keep in [bytes.len() / 2, bytes.len() - 10] {
        let cut = file(&folder, "cut.xlsx", &bytes[..keep]);
        assert!(matches!(read(&cut), Err(Error::Unreadable { .. })));
    }
}
