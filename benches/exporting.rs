//! Exports of a whole list, compared with a minimal client that fetches and discards the same pages, and with a loop that
//! writes the same workbook.
//!
//! The server has all pages in memory and answers immediately. It reports afterwards what it served.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};
use sheetport_client::auth::Credentials;
use sheetport_client::{Client, ConnectOptions, KnownSizes, Pace, PageSize};
use sheetport_export::{self as export, Clock, ExportOptions, Job as Export, Output, Source};
use sheetport_records::item::LIST;
use tokio::runtime::{Builder, Runtime};

use crate::child::{Sample, Seen, Server, timed};
use crate::client::{self, Calls, Each};
use crate::sending::{ITEMS, TOKEN, seen_by};
use crate::serving::{self, Service};
use crate::{BARE, Job, Needs, Outcome, Row, items};

pub const EXPORT_CSV: Row = Row {
    name: "export-csv",
    compares: "an export of items to CSV, 1,000 per page, compared with a bare hyper client on as many connections",
    unit: "pages",
    target: 1.5,
    beside: BARE,
    prepare: |folder, scale| write_pages(&folder.join(PAGES), items::count(FULL, scale)),
    needs: Needs::Nothing,
    ours: |job| ours(job, "items.csv"),
    bare: fetching,
};

pub const EXPORT_XLSX: Row = Row {
    name: "export-xlsx",
    compares: "the same to XLSX, compared with the slower of that client and a bare loop that writes the workbook",
    ours: |job| ours(job, "items.xlsx"),
    bare: |job| {
        let (fetched, written) = (fetching(job)?, writing(job)?);
        let slower = if fetched.wall_seconds > written.wall_seconds { fetched } else { written };
        Ok(Sample { seen: fetched.seen, ..slower })
    },
    ..EXPORT_CSV
};

pub const EXPORT_PARQUET: Row = Row {
    name: "export-parquet",
    compares: "the same to Parquet, compared with the same to CSV",
    target: 2.0,
    beside: "CSV",
    ours: |job| ours(job, "items.parquet"),
    bare: |job| ours(job, "items.csv"),
    ..EXPORT_CSV
};

pub const EXPORT_SQLITE: Row = Row {
    name: "export-sqlite",
    compares: "the same to a database, compared with the same to CSV",
    ours: |job| ours(job, "items.db"),
    ..EXPORT_PARQUET
};

pub const EXPORT_SERVED: Row = Row {
    name: "export-csv-served",
    compares: "the same to CSV, compared with the same client, from `sheetport serve`, which reads pages from disk",
    target: 2.5,
    prepare: serving::fill,
    ours: |job| ours_served(job, PageSize::Largest(KnownSizes::default()), LIMIT),
    bare: |job| fetching_served(job, LIMIT),
    ..EXPORT_CSV
};

pub const EXPORT_SERVED_100: Row = Row {
    name: "export-csv-served-100",
    compares: "the same with 100 per page on both sides, as from services that grant no more",
    ours: |job| ours_served(job, PageSize::Chosen(SMALL_LIMIT as u64), SMALL_LIMIT),
    bare: |job| fetching_served(job, SMALL_LIMIT),
    ..EXPORT_SERVED
};

const FULL: u32 = 1_000_000;
const CONNECTIONS: u16 = 8;
const LIMIT: usize = 1_000;
const SMALL_LIMIT: usize = 100;
/// File with one page per line.
const PAGES: &str = "pages.ndjson";
/// File with the number of items.
const COUNT: &str = "count.txt";

fn ours(job: &Job, file: &str) -> Outcome<Sample> {
    let count = count(&job.folder)?;
    let server = Server::start(&[&job.folder.join(PAGES).to_string_lossy()])?;
    let runtime = runtime()?;
    let size = PageSize::Largest(KnownSizes::default());
    exported(job, &runtime, file, size, (&server.address, TOKEN), count, || seen_by(&runtime, &server.address))
}

/// Measures an export from the service in pages of `limit` items, which `size` must lead to.
fn ours_served(job: &Job, size: PageSize, limit: usize) -> Outcome<Sample> {
    let service = Service::start(&job.folder.join(serving::DATA))?;
    let count = serving::item_count(&job.folder)?;
    let seen = Seen { units: count.div_ceil(limit as u64), bytes: count };
    exported(job, &runtime()?, "items.csv", size, (&service.address, &service.token), count, || Ok(seen))
}

/// Measures the bare client, which fetches the same pages from the service.
fn fetching_served(job: &Job, limit: usize) -> Outcome<Sample> {
    let service = Service::start(&job.folder.join(serving::DATA))?;
    let count = serving::item_count(&job.folder)?;
    let pages = count.div_ceil(limit as u64);
    let (runtime, calls) = (runtime()?, calls((&service.address, &service.token), pages, limit));
    timed(|| runtime.block_on(client::make(calls)), |()| Ok(Seen { units: pages, bytes: count }))
}

/// Measures an export of `count` items from the service with this address and token.
fn exported(
    job: &Job,
    runtime: &Runtime,
    file: &str,
    page_size: PageSize,
    (address, token): (&str, &str),
    count: u64,
    seen: impl FnOnce() -> Outcome<Seen>,
) -> Outcome<Sample> {
    let home = tempfile::tempdir_in(&job.folder)?;
    let path = home.path().join(file);
    let export = Export {
        source: Source::List(&LIST),
        output: Output::File {
            pattern: path.to_string_lossy().into_owned(),
            format: export::Format::of(&path).ok_or("no such format")?,
        },
        changes: None,
        latest: None,
        template: None,
        details: None,
        options: ExportOptions { concurrency: CONNECTIONS, ..ExportOptions::default() },
        page_size,
        home: home.path().to_owned(),
        base_url: address.to_owned(),
        workspace: String::new(),
        clock: Clock { local: jiff::Zoned::now(), now: SystemTime::now },
        shown_pattern: None,
    };
    let credentials = Credentials { access: Some(token.to_owned().into()), refresh: None, file: None };
    let client = Arc::new(Client::new(address, credentials, &ConnectOptions::default(), usize::from(CONNECTIONS))?);
    let exporting = || {
        let pace = Arc::new(Pace::new(None, Instant::now()));
        Ok(runtime.block_on(export::export(client, pace, &export, &|_, _| {}))?)
    };
    let mut requests = 0;
    let sample = timed(exporting, |exported| {
        let manifest = exported.manifest;
        requests = manifest.requests;
        if !manifest.complete || manifest.count != count || manifest.rows != count {
            return Err(format!("expected {count} items in the file, found {}: {}", manifest.rows, manifest.how).into());
        }
        seen()
    })?;
    Ok(Sample { requests_per_thousand: Some(requests as f64 * 1_000.0 / count as f64), ..sample })
}

fn fetching(job: &Job) -> Outcome<Sample> {
    let pages = count(&job.folder)?.div_ceil(LIMIT as u64);
    let server = Server::start(&[&job.folder.join(PAGES).to_string_lossy()])?;
    let (runtime, calls) = (runtime()?, calls((&server.address, TOKEN), pages, LIMIT));
    timed(|| runtime.block_on(client::make(calls)), |()| seen_by(&runtime, &server.address))
}

/// Returns requests for each page, in order.
fn calls((address, token): (&str, &str), pages: u64, limit: usize) -> Arc<Calls> {
    Arc::new(Calls {
        server: address.to_owned(),
        token: token.to_owned(),
        connections: usize::from(CONNECTIONS),
        each: Each::Get {
            // An export of several pages reads the first one again at the end, and one of a single page asks for a second.
            paths: (1..=pages)
                .chain([if pages > 1 { 1 } else { 2 }])
                .map(|page| format!("{ITEMS}?page={page}&limit={limit}"))
                .collect(),
            is_good: |body| !body.is_empty(),
        },
    })
}

/// Writes the same workbook from prepared values.
fn writing(job: &Job) -> Outcome<Sample> {
    let count = u32::try_from(count(&job.folder)?)?;
    let folder = tempfile::tempdir_in(&job.folder)?;
    let work = || {
        let mut workbook = Workbook::new();
        workbook.set_zip_compression_level(1);
        workbook.set_tempdir(folder.path())?;
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        let moment = Format::new().set_num_format("yyyy-mm-dd hh:mm:ss");
        for (row, (number, item)) in (1..).zip((0..).zip(items::items(count))) {
            let (year, month, day) = item.updated;
            sheet.write_string(row, 0, id(number))?;
            sheet.write_string(row, 1, &item.name)?;
            sheet.write_number(row, 2, f64::from(item.price) / 100.0)?;
            sheet.write_string(row, 3, items::CURRENCY)?;
            sheet.write_string(row, 4, item.status)?;
            let at = ExcelDateTime::from_ymd(year, month, day)?.and_hms(9, 30, 0.0)?;
            sheet.write_datetime_with_format(row, 5, at, &moment)?;
        }
        Ok(workbook.save(folder.path().join("items.xlsx"))?)
    };
    timed(work, |()| Ok(Seen::default()))
}

fn write_pages(path: &Path, count: u32) -> Outcome<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let all: Vec<_> = (0..).zip(items::items(count)).collect();
    for page in all.chunks(LIMIT) {
        let entries = page.iter().map(|(number, item)| {
            let (year, month, day) = item.updated;
            format!(
                r#"{{"id":"{}","name":{},"price":{}.{:02},"currency":"{}","status":"{}","updated_at":"{year}-{month:02}-{day:02}T09:30:00Z"}}"#,
                id(*number),
                serde_json::Value::from(item.name.as_str()),
                item.price / 100,
                item.price % 100,
                items::CURRENCY,
                item.status
            )
        });
        let entries = entries.collect::<Vec<_>>().join(",");
        writeln!(file, r#"{{"data":[{entries}],"page":1,"count":{LIMIT},"total":{count},"message":"OK"}}"#)?;
    }
    file.flush()?;
    std::fs::write(path.with_file_name(COUNT), count.to_string())?;
    Ok(())
}

/// Returns an ID that looks like a UUID of a service.
fn id(number: u32) -> String {
    let scattered = u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!(
        "0199aa{:02x}-{:04x}-7{:03x}-9c11-{:012x}",
        number >> 24,
        number & 0xFFFF,
        number >> 12 & 0xFFF,
        scattered >> 16
    )
}

fn count(folder: &Path) -> Outcome<u64> {
    Ok(std::fs::read_to_string(folder.join(COUNT))?.parse()?)
}

fn runtime() -> Outcome<Runtime> {
    Ok(Builder::new_multi_thread().enable_all().build()?)
}
