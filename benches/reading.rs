//! Reading every cell of a large file, compared with a bare loop on the underlying library.
//!
//! Both sides count the non-blank cells and their bytes: the length of a text, eight for a number or date, one for a
//! boolean.

use std::io::BufReader;
use std::path::Path;

use calamine::{DataRef, Reader, Xlsx};
use sheetport_sheet::{self as sheet, Cell};

use crate::child::{Sample, Seen, timed};
use crate::items::{self, Texts};
use crate::{BARE, Job, Needs, Outcome, Row};

pub const READ_CSV: Row = Row {
    name: "read-csv",
    compares: "sheet::open and every cell of every row, beside csv::ByteRecord",
    unit: "cells",
    target: 1.5,
    beside: BARE,
    prepare: |folder, scale| items::write_csv(&folder.join(CSV), items::count(FULL, scale)),
    needs: Needs::Nothing,
    ours: |job| ours(&job.folder.join(CSV)),
    bare: bare_csv,
};

pub const READ_XLSX: Row = Row {
    name: "read-xlsx",
    compares: "sheet::open and every cell of every row, beside calamine's cell reader; shared strings, as Excel writes",
    unit: "cells",
    target: 1.2,
    beside: BARE,
    prepare: |folder, scale| items::write_xlsx(&folder.join(XLSX), items::count(FULL, scale), Texts::Shared),
    needs: Needs::Nothing,
    ours: |job| ours(&job.folder.join(XLSX)),
    bare: bare_xlsx,
};

pub const READ_XLSX_INLINE: Row = Row {
    name: "read-xlsx-inline",
    compares: "the same with the texts in the cells, as streaming programs write",
    prepare: |folder, scale| items::write_xlsx(&folder.join(XLSX), items::count(FULL, scale), Texts::Inline),
    ..READ_XLSX
};

const FULL: u32 = 1_000_000;
const CSV: &str = "items.csv";
const XLSX: &str = "items.xlsx";

fn ours(path: &Path) -> Outcome<Sample> {
    let work = || {
        let mut seen = Seen::default();
        let book = sheet::open(path, &sheet::Options::default())?;
        let mut rows = book.rows(0)?;
        let mut row = sheet::Row::default();
        while rows.next(&mut row)? {
            for cell in row.cells() {
                let bytes = match cell {
                    Cell::Blank => continue,
                    Cell::Text(text) | Cell::Error(text) | Cell::Formatted(_, text) => text.len() as u64,
                    Cell::Number(_) | Cell::Percent(_) | Cell::Money(..) | Cell::Rounded(..) => 8,
                    Cell::Date(_) | Cell::Time(_) | Cell::DateTime(_) => 8,
                    Cell::Boolean(_) => 1,
                };
                seen.units += 1;
                seen.bytes += bytes;
            }
        }
        Ok(seen)
    };
    timed(work, Ok)
}

fn bare_csv(job: &Job) -> Outcome<Sample> {
    let path = job.folder.join(CSV);
    let work = || {
        let mut seen = Seen::default();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(&path)?;
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record)? {
            for field in record.iter().filter(|field| !field.is_empty()) {
                seen.units += 1;
                seen.bytes += field.len() as u64;
            }
        }
        Ok(seen)
    };
    timed(work, Ok)
}

fn bare_xlsx(job: &Job) -> Outcome<Sample> {
    let path = job.folder.join(XLSX);
    let work = || {
        let mut seen = Seen::default();
        let mut workbook: Xlsx<BufReader<_>> = calamine::open_workbook(&path)?;
        let name = workbook.sheet_names().first().cloned().ok_or("no sheet")?;
        let mut cells = workbook.worksheet_cells_reader(&name)?;
        while let Some(cell) = cells.next_cell()? {
            let bytes = match cell.get_value() {
                DataRef::Empty => continue,
                DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.len() as u64,
                DataRef::SharedString(text) => text.len() as u64,
                DataRef::Error(error) => error.to_string().len() as u64,
                DataRef::Int(_) | DataRef::Float(_) | DataRef::DateTime(_) => 8,
                DataRef::Bool(_) => 1,
            };
            seen.units += 1;
            seen.bytes += bytes;
        }
        Ok(seen)
    };
    timed(work, Ok)
}
