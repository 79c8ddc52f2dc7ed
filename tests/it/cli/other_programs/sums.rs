//! The sum and the number of the values in every numeric column of an exported workbook, as LibreOffice calculates them, are
//! those of the NDJSON of the same list.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::super::export_formats::company;
use super::super::process::{Place, name};
use super::super::{office, table};

/// Numbers of the file, not those that are shown.
const CSV: &str = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false";
const SHEET: &str = "xl/worksheets/sheet1.xml";

#[test]
fn sums_and_counts_in_libreoffice_equal_those_of_the_records() {
    if !office::is_there() {
        return;
    }
    let place = Place::new();
    let served = company(&place);
    // Computed prices have up to 17 digits.
    for number in 0..300_u32 {
        let price = match number % 6 {
            0 => json!(f64::from(number) / 7.0),
            1 => json!(0.1 + 0.2 * f64::from(number)),
            2 => json!(-1.1 * f64::from(number)),
            3 => json!(number),
            4 => Value::Null,
            _ => json!(f64::from(number) * 1e9 + 0.25),
        };
        let item = json!({"externalId": format!("s{number}"), "name": "x", "price": price});
        let answer = served.post("/v1/public/items", &item.to_string());
        assert!(answer.contains("\"ok\":true"), "{item}: {answer}");
    }
    let mut checked = Vec::new();
    for records in ["items", "orders", "inventories"] {
        let [book, lines] = ["xlsx", "ndjson"].map(|kind| format!("{records}.{kind}"));
        for file in [&book, &lines] {
            served.sheetport(&place, ["export", records, "-o", file, "-q"]).exits(0);
        }
        let expected = numbers(&fs::read_to_string(place.path(&lines)).unwrap());
        let header: Vec<String> = {
            let manifest = fs::read(place.path(&format!("{book}.manifest.json"))).unwrap();
            let manifest: Value = serde_json::from_slice(&manifest).unwrap();
            manifest["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
        };
        let calculated = calculated(&place, &place.path(&book), header.len());
        for (column, values) in &expected {
            let place = header.iter().position(|name| name == column).unwrap();
            let (sum, count) = &calculated[place];
            let number = |text: &str| text.parse::<f64>().unwrap_or_else(|_| panic!("{records}, {column}: {text:?}"));
            let (sum, count) = (number(sum), number(count));
            let (exact, largest) =
                (exact_sum(values), values.iter().fold(0.0_f64, |most, value| most.max(value.abs())));
            assert_eq!(count, values.len() as f64, "{records}, {column}");
            let error = (sum - exact).abs();
            assert!(error <= largest * 1e-12, "{records}, {column}: {sum} instead of {exact}");
            checked.push(format!("{records}.{column}"));
        }
    }
    for column in ["items.price", "orders.total_price", "inventories.available", "inventories.unit_price"] {
        assert!(checked.iter().any(|found| found == column), "{column} of {checked:?}");
    }
}

/// Returns the numbers of each column with any.
fn numbers(lines: &str) -> BTreeMap<String, Vec<f64>> {
    let mut columns: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in lines.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        for (column, value) in record.as_object().unwrap() {
            if let Some(number) = value.as_f64() {
                columns.entry(column.clone()).or_default().push(number);
            }
        }
    }
    columns
}

/// Returns the sum without the errors of rounding after each addition.
fn exact_sum(values: &[f64]) -> f64 {
    let (mut sum, mut rest) = (0.0, 0.0);
    for value in values {
        let next: f64 = sum + value;
        rest += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + rest
}

/// Returns the sum and the number of the values in each column of a workbook, as LibreOffice calculates them by two formulas per
/// column below the table.
fn calculated(place: &Place, book: &Path, columns: usize) -> Vec<(String, String)> {
    let with_formulas = place.path("sums.xlsx");
    let mut archive = ZipArchive::new(File::open(book).unwrap()).unwrap();
    let mut copy = ZipWriter::new(File::create(&with_formulas).unwrap());
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).unwrap();
        let (part_name, mut bytes) = (part.name().unwrap().into_owned(), Vec::new());
        part.read_to_end(&mut bytes).unwrap();
        if part_name == SHEET {
            let sheet = String::from_utf8(bytes).unwrap();
            let last = sheet.matches("<row ").count();
            let row = |number: usize, function: &str| {
                let cells: String = (0..columns)
                    .map(|column| {
                        let letters = sheetport_sheet::column_letters(column);
                        format!(r#"<c r="{letters}{number}"><f>{function}({letters}2:{letters}{last})</f></c>"#)
                    })
                    .collect();
                format!(r#"<row r="{number}">{cells}</row>"#)
            };
            let formulas = row(last + 1, "SUM") + &row(last + 2, "COUNT");
            bytes = sheet.replacen("</sheetData>", &format!("{formulas}</sheetData>"), 1).into_bytes();
        }
        copy.start_file(part_name, SimpleFileOptions::default()).unwrap();
        copy.write_all(&bytes).unwrap();
    }
    copy.finish().unwrap();
    office::save_all_again(place, &[name(&with_formulas)], CSV, &place.path("saved"));
    let rows = table(&place.path("saved").join("sums.csv"));
    let [sums, counts] = &rows[rows.len() - 2..] else { panic!("{rows:?}") };
    sums.iter().cloned().zip(counts.iter().cloned()).collect()
}
