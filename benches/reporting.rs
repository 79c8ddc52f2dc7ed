//! Writing a run's report from its ledger, compared with a bare loop that writes the same cells from memory.
//!
//! The sheet has twelve columns, and the report adds eleven. One in a hundred rows has a problem. Rows repeat every thousand,
//! except for their numbers, so rows within a block of the ledger differ. Both files are on disk when the clock stops.

use std::fs::File;
use std::path::{Path, PathBuf};

use rust_xlsxwriter::{ExcelDateTime, Format as Look, Workbook};
use sheetport_findings::Code;
use sheetport_ledger::{
    Disposition, Ledger, NewRun, Origin, Outcome, PlannedRecord, Problem, RecordState, RunCommand, RunSettings,
    SheetSelection, SourceRow,
};
use sheetport_records::RecordKind;
use sheetport_report::{self as report, COLUMNS, COLUMNS_IN_FRONT, CsvForm, Format, Request, RowFilter};
use sheetport_sheet::write::Existing;
use sheetport_sheet::{Cell, ReportWords, Row as Cells};
use tokio::runtime::{Builder, Runtime};

use crate::child::{Sample, Seen, timed};
use crate::items::{CURRENCY, HEADER, Item};
use crate::{BARE, Job, Needs, Outcome as Ended, Row, items};

/// A run name of the usual length.
const RUN: &str = "1-bcdfgh";

pub const REPORT_CSV: Row = Row {
    name: "report-csv",
    compares: "a run's report as CSV, beside a bare csv writer of the same cells",
    unit: "cells",
    target: 2.0,
    beside: BARE,
    prepare: |folder, scale| prepare(folder, scale, false),
    needs: Needs::Nothing,
    ours: |job| ours(job, "report.csv", Format::Csv),
    bare: bare_csv,
};

pub const REPORT_XLSX: Row = Row {
    name: "report-xlsx",
    compares: "the same as a workbook, beside a bare rust_xlsxwriter loop that writes the same cells",
    target: 1.3,
    prepare: |folder, scale| prepare(folder, scale, true),
    ours: |job| ours(job, "report.xlsx", Format::Xlsx),
    bare: bare_xlsx,
    ..REPORT_CSV
};

const FULL: u32 = 1_000_000;
const CYCLE: u32 = 1_000;
const WRONG_EVERY: u32 = 100;
const COUNT: &str = "count.txt";
const NOW: i64 = 1_795_267_200_000;
const OWN: usize = HEADER.len() + 2;
const IN_FRONT: u16 = COLUMNS_IN_FRONT as u16;

/// Returns the names of the added columns in front of the sheet's and behind them. A run of one sheet has no column for it.
fn added() -> (Vec<String>, Vec<String>) {
    let added = COLUMNS.into_iter().filter(|name| *name != "sheet").map(|name| format!("sheetport_{name}"));
    let mut in_front: Vec<String> = added.collect();
    let behind = in_front.split_off(COLUMNS_IN_FRONT);
    (in_front, behind)
}

fn header() -> Vec<String> {
    let (in_front, behind) = added();
    in_front.into_iter().chain(own_header().map(str::to_owned)).chain(behind).collect()
}

/// A row of the cycle.
struct Ready {
    item: Item,
    own: [String; OWN],
    /// Status, errors, warnings, field and the ids.
    ours: [String; 6],
}

fn cycle() -> Vec<Ready> {
    let ready = |(number, item): (u32, Item)| {
        let (year, month, day) = item.updated;
        let is_wrong = is_wrong(number);
        let price = if is_wrong { "free".to_owned() } else { decimal(item.price) };
        let own = [
            item.sku.clone(),
            item.name.clone(),
            item.description.to_owned(),
            CURRENCY.to_owned(),
            price,
            decimal(item.purchase_price),
            item.tax.to_string(),
            item.status.to_owned(),
            item.stock.to_string(),
            format!("{year:04}-{month:02}-{day:02}"),
            format!("40{:011}", u64::from(number) * 7_919),
            "pcs".to_owned(),
        ];
        let text = str::to_owned;
        let ours = match is_wrong {
            true => [
                text("rejected"),
                text("Price 'free' is not a number (write it as a number)"),
                String::new(),
                text("price"),
                String::new(),
                String::new(),
            ],
            false => [text("sent"), String::new(), String::new(), String::new(), id(number, '-'), id(number, '0')],
        };
        Ready { item, own, ours }
    };
    (0..).zip(items::items(CYCLE)).map(ready).collect()
}

fn is_wrong(number: u32) -> bool {
    number % WRONG_EVERY == WRONG_EVERY - 1
}

/// Writes the ledger of a finished run, with cells of a workbook if `typed`, or else of a CSV.
fn prepare(folder: &Path, scale: f64, typed: bool) -> Ended<()> {
    let count = items::count(FULL, scale);
    let ready = cycle();
    runtime()?.block_on(async {
        let ledger = Ledger::open(folder).await?;
        let mut plan = ledger.begin_plan(&about(), NOW).await?;
        let (mut cells, mut outcomes) = (Cells::default(), Vec::new());
        for number in 0..count {
            let row = &ready[(number % CYCLE) as usize];
            let at = u64::from(number) + 2;
            fill(&mut cells, row, typed);
            let mut encoded = Vec::new();
            cells.encode(&mut encoded);
            let seq = i64::from(number);
            plan.add_row(SourceRow {
                number: at,
                cell: None,
                seq,
                cells: encoded,
                sheet: String::new(),
                origin: Origin::Same,
            })
            .await?;
            let disposition = match is_wrong(number) {
                true => Disposition::Rejected(vec![problem(at)]),
                false => Disposition::Send(body(row).into()),
            };
            let key = Some(row.item.sku.clone());
            plan.add_record(PlannedRecord {
                key,
                target: None,
                rows: vec![at],
                disposition,
                sheet: String::new(),
                command: None,
                warnings: Vec::new(),
            })
            .await?;
            if !is_wrong(number) {
                outcomes.push(Outcome {
                    http_status: Some(200),
                    service_status: Some("success".to_owned()),
                    service_id: Some(row.ours[4].clone()),
                    ctx_id: Some(row.ours[5].clone()),
                    attempts: 1,
                    ..Outcome::new(seq, RecordState::Sent, NOW)
                });
            }
        }
        let run = plan.finish(OWN).await?;
        for outcomes in outcomes.chunks(50_000) {
            ledger.settle(run, outcomes).await?;
        }
        ledger.end_sending(run, 0, None, 60_000, NOW).await?;
        ledger.close().await;
        Ended::Ok(())
    })?;
    std::fs::write(folder.join(COUNT), count.to_string())?;
    Ok(())
}

fn about() -> NewRun {
    NewRun {
        command: RunCommand::Upload,
        record: RecordKind::Item,
        template: "items".to_owned(),
        template_toml: String::new(),
        lookups: None,
        file: "items.csv".to_owned(),
        file_hash: String::new(),
        readers: sheetport_files::readers::Readers::Everyone,
        text_form: None,
        base_url: "http://127.0.0.1".to_owned(),
        workspace: String::new(),
        sheet: SheetSelection::One("Items".to_owned()),
        header: own_header().map(str::to_owned).collect(),
        header_row: 1,
        columns: Vec::new(),
        name_columns: Vec::new(),
        chosen: None,
        retry_of: None,
        undo_of: None,
        options: Vec::new(),
        settings: RunSettings::default(),
    }
}

fn own_header() -> impl Iterator<Item = &'static str> {
    HEADER.into_iter().chain(["Barcode", "Unit"])
}

fn fill(cells: &mut Cells, row: &Ready, typed: bool) {
    cells.clear(0);
    let (year, month, day) = row.item.updated;
    for (column, text) in row.own.iter().enumerate() {
        cells.push(match (column, text.parse()) {
            (4..=6 | 8, Ok(number)) if typed => Cell::Number(number),
            (9, _) if typed => Cell::Date(jiff::civil::date(year as i16, month as i8, day as i8)),
            _ => Cell::Text(text),
        });
    }
}

fn problem(row: u64) -> Problem {
    Problem {
        row: Some(row),
        column: Some(4),
        header: "Price".to_owned(),
        field: "price".to_owned(),
        value: "free".to_owned(),
        remedy: "write it as a number".to_owned(),
        ..Problem::of_record(Code::NotANumber, "is not a number")
    }
}

fn body(row: &Ready) -> String {
    let [sku, name, description, currency, price, ..] = &row.own;
    let description = serde_json::Value::from(description.as_str());
    format!(
        r#"{{"externalId":"{sku}","name":"{name}","description":{description},"currency":"{currency}","price":{price}}}"#
    )
}

fn ours(job: &Job, name: &str, format: Format) -> Ended<Sample> {
    let count = count(&job.folder)?;
    let folder = tempfile::tempdir_in(&job.folder)?;
    let path = folder.path().join(name);
    let runtime = runtime()?;
    let ledger = runtime.block_on(Ledger::open(&job.folder))?;
    let run = runtime.block_on(ledger.run(1))?;
    let existing = Existing::Replace;
    let request = Request {
        path: &path,
        format,
        existing,
        rows: RowFilter::All,
        next: None,
        is_kept: true,
        choices: &[],
        csv: CsvForm::default(),
        words: ReportWords::of(None),
        for_supplier: false,
    };
    // On a thread of the runtime, as in the program.
    timed(
        || Ok(runtime.block_on(report::write(&ledger, &run, &request))?),
        |written| match written.rows == u64::from(count) {
            true => seen(count, &path, format),
            false => Err(format!("of {count} rows {} are in the report", written.rows).into()),
        },
    )
}

fn bare_csv(job: &Job) -> Ended<Sample> {
    let count = count(&job.folder)?;
    let ready = cycle();
    let folder = tempfile::tempdir_in(&job.folder)?;
    let path = folder.path().join("bare.csv");
    let work = || {
        let mut writer =
            csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).buffer_capacity(128 * 1024).from_path(&path)?;
        for name in header() {
            writer.write_field(name)?;
        }
        writer.write_record(None::<&[u8]>)?;
        for number in 0..count {
            let row = &ready[(number % CYCLE) as usize];
            let (in_front, behind) = row.ours.split_at(COLUMNS_IN_FRONT);
            for text in in_front.iter().chain(&row.own).chain(behind) {
                writer.write_field(text)?;
            }
            writer.write_field("")?;
            let (status, attempts) = if is_wrong(number) { ("", "") } else { ("200", "1") };
            writer.write_field(status)?;
            writer.write_field(attempts)?;
            writer.write_field((number + 2).to_string())?;
            writer.write_field(RUN)?;
            writer.write_record(None::<&[u8]>)?;
        }
        writer.into_inner().map_err(|error| error.to_string())?.sync_all()?;
        Ok(())
    };
    timed(work, |()| seen(count, &path, Format::Csv))
}

fn bare_xlsx(job: &Job) -> Ended<Sample> {
    let count = count(&job.folder)?;
    let ready = cycle();
    let folder = tempfile::tempdir_in(&job.folder)?;
    let path = folder.path().join("bare.xlsx");
    let work = || {
        let mut workbook = Workbook::new();
        workbook.set_zip_compression_level(1);
        workbook.set_tempdir(folder.path())?;
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        // As in the report, edited text stays text.
        let (text, date) = (Look::new().set_num_format("@"), Look::new().set_num_format("yyyy-mm-dd"));
        for column in [0, 1, 2, 3, 4, 5, 6, 10, 13, 14, 15, 16, 17] {
            sheet.set_column_format(column, &text)?;
        }
        sheet.set_column_format(12, &date)?;
        for (column, name) in (0..).zip(header()) {
            sheet.write_string(0, column, name)?;
        }
        for number in 0..count {
            let Ready { item, own, ours } = &ready[(number % CYCLE) as usize];
            let row = number + 1;
            for column in [0, 1, 2, 3, 7, 10, 11] {
                sheet.write_string(row, IN_FRONT + column, &own[usize::from(column)])?;
            }
            match is_wrong(number) {
                true => sheet.write_string(row, IN_FRONT + 4, "free")?,
                false => sheet.write_number(row, IN_FRONT + 4, f64::from(item.price) / 100.0)?,
            };
            sheet.write_number(row, IN_FRONT + 5, f64::from(item.purchase_price) / 100.0)?;
            sheet.write_number(row, IN_FRONT + 6, item.tax)?;
            sheet.write_number(row, IN_FRONT + 8, item.stock)?;
            let (year, month, day) = item.updated;
            sheet.write_datetime(row, IN_FRONT + 9, ExcelDateTime::from_ymd(year, month, day)?)?;
            let columns = (0..IN_FRONT).chain(IN_FRONT + OWN as u16..);
            for (column, text) in columns.zip(ours) {
                sheet.write_string(row, column, text)?;
            }
            if !is_wrong(number) {
                sheet.write_number(row, 19, 200)?;
                sheet.write_number(row, 20, 1)?;
            }
            sheet.write_number(row, 21, number + 2)?;
            sheet.write_string(row, 22, RUN)?;
        }
        workbook.save(&path)?;
        File::open(&path)?.sync_all()?;
        Ok(())
    };
    timed(work, |()| seen(count, &path, Format::Xlsx))
}

/// Counts all cells, including blank ones, and the bytes of a CSV, which are identical on both sides. A report workbook has
/// more content than its cells.
fn seen(count: u32, path: &PathBuf, format: Format) -> Ended<Seen> {
    let bytes = if format == Format::Csv { std::fs::metadata(path)?.len() } else { 0 };
    Ok(Seen { units: u64::from(count) * header().len() as u64, bytes })
}

fn decimal(cents: u32) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// Returns an id of the usual format.
fn id(number: u32, between: char) -> String {
    let scattered = u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (high, low) = (scattered >> 32, scattered & 0xFFFF_FFFF);
    format!("0199{:04x}{between}{high:08x}{between}7{:03x}{between}{low:08x}", number & 0xFFFF, number & 0xFFF)
}

fn count(folder: &Path) -> Ended<u32> {
    Ok(std::fs::read_to_string(folder.join(COUNT))?.parse()?)
}

fn runtime() -> Ended<Runtime> {
    Ok(Builder::new_multi_thread().enable_all().build()?)
}
