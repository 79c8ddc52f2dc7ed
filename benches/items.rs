//! Synthetic items from a fixed seed: the same on every machine and in every format, so that results can be compared.
//!
//! The items resemble the list of a shop: unique article numbers with leading zeros, names with some repetition, words
//! repeated on every row, exact decimals, and a date. Some cells are blank, some texts need quotes or are not ASCII.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};

use crate::Outcome;

/// Column names. The built-in template `items` uses the first eight.
pub const HEADER: [&str; 10] =
    ["SKU", "Name", "Description", "Currency", "Price", "Purchase price", "Tax rate", "Status", "Stock", "Updated"];

/// One row. Prices are in cents and never end in 0, so every format writes the same digits.
pub struct Item {
    pub sku: String,
    pub name: String,
    pub description: &'static str,
    pub price: u32,
    pub purchase_price: u32,
    pub tax: u32,
    pub status: &'static str,
    pub stock: u32,
    pub updated: (u16, u8, u8),
}

pub const CURRENCY: &str = "EUR";

/// The storage of texts in a workbook.
#[derive(Clone, Copy)]
pub enum Texts {
    /// In one table for the whole file, as in Excel.
    Shared,
    /// In the cells, as in programs that write with little memory.
    Inline,
}

/// Returns the number of rows at a fraction of the full size, at least 1.
pub fn count(full: u32, scale: f64) -> u32 {
    ((f64::from(full) * scale) as u32).max(1)
}

pub fn items(count: u32) -> impl Iterator<Item = Item> {
    let mut random = fastrand::Rng::with_seed(0x5EED);
    (0..count).map(move |index| {
        let sort = random.u8(..).into();
        let price = 10 * random.u32(10..20_000) + random.u32(1..10);
        Item {
            sku: format!("{:08}", 4711 + index),
            name: format!("{} M{} x {}", pick(NAMES, sort), random.u8(3..30), random.u8(8..200)),
            description: pick(DESCRIPTIONS, random.u8(..).into()),
            price,
            purchase_price: 10 * (price / 25) + random.u32(1..10),
            tax: if sort.is_multiple_of(8) { 7 } else { 19 },
            status: if sort.is_multiple_of(16) { "archived" } else { "active" },
            stock: random.u32(0..5_000),
            updated: (random.u16(2019..2027), random.u8(1..13), random.u8(1..29)),
        }
    })
}

pub fn write_csv(path: &Path, count: u32) -> Outcome<()> {
    let mut writer = csv::Writer::from_writer(BufWriter::new(File::create(path)?));
    writer.write_record(HEADER)?;
    for item in items(count) {
        let (year, month, day) = item.updated;
        writer.write_record([
            &item.sku,
            &item.name,
            item.description,
            CURRENCY,
            &decimal(item.price),
            &decimal(item.purchase_price),
            &item.tax.to_string(),
            item.status,
            &item.stock.to_string(),
            &format!("{year:04}-{month:02}-{day:02}"),
        ])?;
    }
    writer.flush()?;
    Ok(())
}

pub fn write_xlsx(path: &Path, count: u32, texts: Texts) -> Outcome<()> {
    let mut workbook = Workbook::new();
    let sheet = match texts {
        Texts::Shared => workbook.add_worksheet_with_low_memory(),
        Texts::Inline => workbook.add_worksheet_with_constant_memory(),
    }?;
    let date = Format::new().set_num_format("yyyy-mm-dd");
    for (column, name) in (0..).zip(HEADER) {
        sheet.write_string(0, column, name)?;
    }
    for (row, item) in (1..).zip(items(count)) {
        let (year, month, day) = item.updated;
        sheet.write_string(row, 0, &item.sku)?;
        sheet.write_string(row, 1, &item.name)?;
        // An empty text gives no cell.
        sheet.write_string(row, 2, item.description)?;
        sheet.write_string(row, 3, CURRENCY)?;
        sheet.write_number(row, 4, f64::from(item.price) / 100.0)?;
        sheet.write_number(row, 5, f64::from(item.purchase_price) / 100.0)?;
        sheet.write_number(row, 6, item.tax)?;
        sheet.write_string(row, 7, item.status)?;
        sheet.write_number(row, 8, item.stock)?;
        sheet.write_datetime_with_format(row, 9, ExcelDateTime::from_ymd(year, month, day)?, &date)?;
    }
    workbook.save(path)?;
    Ok(())
}

/// Writes the request bodies for these items, one per line, with their fields in the contract's order.
pub fn write_bodies(path: &Path, count: u32) -> Outcome<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for item in items(count) {
        write!(file, r#"{{"externalId":"{}","name":"{}","#, item.sku, item.name)?;
        if !item.description.is_empty() {
            write!(file, r#""description":{},"#, serde_json::to_string(item.description)?)?;
        }
        writeln!(
            file,
            r#""currency":"{CURRENCY}","price":{},"purchasePrice":{},"tax":{},"status":"{}"}}"#,
            decimal(item.price),
            decimal(item.purchase_price),
            item.tax,
            item.status
        )?;
    }
    file.flush()?;
    Ok(())
}

const NAMES: &[&str] = &[
    "Hex bolt DIN 933 zinc plated",
    "Hex bolt DIN 933 stainless A2",
    "Hex nut DIN 934",
    "Lock nut DIN 985",
    "Sechskantschraube 8.8 verzinkt, groß",
    "Dübel für Hohlräume",
    "Écrou frein à bague",
    "Tornillo para madera, cabeza plana, año 2026",
];

const DESCRIPTIONS: &[&str] = &[
    "",
    "Box of 100",
    "Box of 50, sold by the box",
    "Sold by the piece",
    "Fits a 1/2\" drive",
    "Für außen geeignet",
    "Not for loads above 40 kg; see the data sheet",
];

fn pick(words: &'static [&'static str], number: usize) -> &'static str {
    words[number % words.len()]
}

fn decimal(cents: u32) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}
