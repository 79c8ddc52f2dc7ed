//! Mapping of rows to records, as in `check`: read, convert, find duplicates, group. The baseline only reads.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use sheetport_mapping::builtin;
use sheetport_mapping::load::{load, no_tables};
use sheetport_plan::Source;
use sheetport_plan::plan::{ReadMode, read};
use sheetport_sheet::Options;

use crate::child::{Sample, Seen, timed};
use crate::items;
use crate::{BARE, Needs, Outcome, Row};

pub const CHECK_ITEMS: Row = Row {
    name: "check-items",
    compares: "check with the template items, against csv::ByteRecord",
    unit: "rows",
    target: 4.0,
    beside: BARE,
    prepare: |folder, scale| items::write_csv(&folder.join(ITEMS), items::count(FULL, scale)),
    needs: Needs::Nothing,
    ours: |job| {
        let source = builtin::find("items").ok_or("the template items is not built in")?;
        ours(&job.folder.join(ITEMS), source)
    },
    bare: |job| bare(&job.folder.join(ITEMS), b','),
};

pub const CHECK_ORDERS: Row = Row {
    name: "check-orders",
    compares: "check of orders with five adjacent lines, against csv::ByteRecord; also shows memory",
    prepare: |folder, scale| write_orders(&folder.join(ORDERS), items::count(FULL, scale), false),
    ours: |job| ours(&job.folder.join(ORDERS), ORDER_TEMPLATE),
    bare: |job| bare(&job.folder.join(ORDERS), b';'),
    target: 12.0,
    ..CHECK_ITEMS
};

pub const CHECK_SCATTERED_ORDERS: Row = Row {
    name: "check-orders-scattered",
    compares: "the same with the lines of each order scattered over the sheet",
    prepare: |folder, scale| write_orders(&folder.join(ORDERS), items::count(FULL, scale), true),
    ..CHECK_ORDERS
};

const FULL: u32 = 1_000_000;
const ITEMS: &str = "items.csv";
const ORDERS: &str = "orders.csv";
const LINES: u32 = 5;

const ORDER_TEMPLATE: &str = r#"
record = "order"
[group]
by = ["Order no"]
[fields.externalId]
column = "Order no"
[fields.companyExternalId]
column = "Customer"
[fields.orderAt]
column = "Date"
format = "DD.MM.YYYY"
[fields.deliveryStatus]
column = "Status"
[lines.itemExternalId]
column = "SKU"
[lines.quantity]
column = "Qty"
[lines.price]
column = "Price"
locale = "de"
[lines.tax_rate]
column = "VAT"
percent = "whole"
"#;

fn write_orders(path: &Path, lines: u32, scattered: bool) -> Outcome<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "Order no;Customer;Date;Status;Line;SKU;Name;Qty;Price;VAT")?;
    let orders = lines.div_ceil(LINES);
    for line in 0..lines {
        let order = if scattered { line % orders } else { line / LINES };
        let (customer, day) = (order % 997, order % 28 + 1);
        let item = line.wrapping_mul(7919) % 50_000;
        write!(out, "SO-{order:07};C-{customer:04};{day:02}.03.2026;open;{line};{item:06};Part {item};")?;
        writeln!(out, "{};{},{:02};19%", line % 12 + 1, item % 900, line % 100)?;
    }
    Ok(out.flush()?)
}

fn ours(path: &Path, template: &str) -> Outcome<Sample> {
    let work = || {
        let template = load("bench", template, &no_tables)?;
        let source = Source::open(path, &template, None, &Options::default())?;
        let tally = read(&source, &template, ReadMode::TallyOnly, |_| true)?;
        if tally.rejected > 0 {
            return Err(format!("{} records were rejected", tally.rejected).into());
        }
        Ok(Seen { units: tally.rows, bytes: 0 })
    };
    timed(work, Ok)
}

fn bare(path: &Path, delimiter: u8) -> Outcome<Sample> {
    let work = || {
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_path(path)?;
        let mut record = csv::ByteRecord::new();
        let mut seen = Seen::default();
        let mut cells = 0;
        while reader.read_byte_record(&mut record)? {
            seen.units += 1;
            cells += record.iter().filter(|field| !field.is_empty()).count();
        }
        std::hint::black_box(cells);
        Ok(seen)
    };
    timed(work, Ok)
}
