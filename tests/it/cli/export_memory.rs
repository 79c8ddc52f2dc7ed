//! Exports from a service with huge pages, records and names of fields, with many requests in flight: memory stays bounded.

use crate::cli::process::Place;
use crate::environment;
use crate::faults::server::{Server, answer};

const MEMORY: u64 = 256 << 20;
/// Maximum for a list with any number of records of 40 fields, on pages of 1,000.
const MEMORY_OF_RECORDS: u64 = 128 << 20;
const PAGES: usize = 24;

/// Returns a page with a record of `size` bytes.
fn page(number: usize, size: usize) -> String {
    let name = if number == 1 { "n".repeat(100_000) } else { "name".to_owned() };
    format!(r#"{{"data":[{{"id":"{number}","{name}":"{}"}}],"total":{PAGES}}}"#, "x".repeat(size))
}

#[tokio::test(flavor = "multi_thread")]
async fn huge_pages_need_a_bounded_amount_of_memory() {
    let server = Server::with_probes(|seen| {
        let (_, query) = seen.path.split_once("?page=").unwrap();
        let number: usize = query.split('&').next().unwrap().parse().unwrap();
        let size = match number {
            1 => 10,
            // As large as pages that are read ahead can be, and larger.
            2..20 => 2_000_000,
            20..22 => 7_900_000,
            _ => 20,
        };
        let mut body = if number <= PAGES { page(number, size) } else { format!(r#"{{"data":[],"total":{PAGES}}}"#) };
        if number == 22 {
            // White space counts, too.
            body.push_str(&" ".repeat(60 << 20));
        }
        answer(200, "", &body)
    })
    .await;
    let place = Place::new();
    let words = ["export", "items", "-o", "items.ndjson", "--concurrency", "256", "--json", "--no-progress"];
    let export = place.sheetport(words).env("SHEETPORT_BASE_URL", &server.address);
    let exported = export.secret("SHEETPORT_ACCESS_TOKEN", "access-1").exits(0).json();
    assert_eq!((&exported["count"], &exported["complete"]), (&PAGES.into(), &true.into()), "{exported}");
    #[cfg(unix)]
    if let Some(peak) = environment::peak_memory_of_children() {
        assert!(peak < MEMORY, "{} MiB", peak >> 20);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn huge_pages_of_small_records_need_a_bounded_amount_of_memory() {
    const RECORDS: usize = 99_000;
    const PAGES: usize = 2;
    let server = Server::with_probes(|seen| {
        let (_, query) = seen.path.split_once("?page=").unwrap();
        let number: usize = query.split('&').next().unwrap().parse().unwrap();
        let ids = if number <= PAGES { (number - 1) * RECORDS..number * RECORDS } else { 0..0 };
        let text = "x".repeat(600);
        let records: Vec<String> = ids.map(|id| format!(r#"{{"id":"{id}","name":"{text}"}}"#)).collect();
        answer(200, "", &format!(r#"{{"data":[{}],"total":{}}}"#, records.join(","), PAGES * RECORDS))
    })
    .await;
    let place = Place::new();
    let words = ["export", "items", "-o", "items.csv", "--concurrency", "8", "--json", "--no-progress"];
    let export = place.sheetport(words).env("SHEETPORT_BASE_URL", &server.address);
    let exported = export.secret("SHEETPORT_ACCESS_TOKEN", "access-1").exits(0).json();
    assert_eq!((&exported["count"], &exported["complete"]), (&(PAGES * RECORDS).into(), &true.into()), "{exported}");
    #[cfg(unix)]
    if let Some(peak) = environment::peak_memory_of_children() {
        assert!(peak < MEMORY, "{} MiB", peak >> 20);
    }
}

/// A few groups of rows of a Parquet file, and more than the page cache of a database.
#[tokio::test(flavor = "multi_thread")]
async fn files_with_typed_columns_need_a_bounded_amount_of_memory() {
    const RECORDS: usize = 30_000;
    const PAGE: usize = 1_000;
    let record = |id: usize| {
        let fields: String = (0..38)
            .map(|field| match field % 4 {
                0 => format!(r#","text_{field}":"Text {} of {id}""#, id * field % 977),
                1 => format!(r#","number_{field}":{}.{:02}"#, id * field % 10_007, field),
                2 => format!(r#","time_{field}":"2026-{:02}-{:02}T06:00:00Z""#, 1 + id % 12, 1 + field % 28),
                _ => format!(r#","flag_{field}":{}"#, (id + field).is_multiple_of(2)),
            })
            .collect();
        format!(r#"{{"id":"{id:08}","name":"Record {id}"{fields}}}"#)
    };
    let server = Server::with_probes(move |seen| {
        let (_, query) = seen.path.split_once("?page=").unwrap();
        let number: usize = query.split('&').next().unwrap().parse().unwrap();
        let ids = (number - 1) * PAGE..RECORDS.min(number * PAGE);
        let records: Vec<String> = ids.map(record).collect();
        answer(200, "", &format!(r#"{{"data":[{}],"total":{RECORDS}}}"#, records.join(",")))
    })
    .await;
    let place = Place::new();
    let files = ["items.csv", "items.db", "items.parquet"];
    // The second night compares each row of the database.
    for file in
        files.into_iter().chain(["items.db"]).filter(|file| cfg!(feature = "parquet") || !file.ends_with("parquet"))
    {
        let words =
            ["export", "items", "-o", file, "--page-size", "1000", "--concurrency", "4", "--json", "--no-progress"];
        let export = place.sheetport(words).env("SHEETPORT_BASE_URL", &server.address);
        let exported = export.secret("SHEETPORT_ACCESS_TOKEN", "access-1").exits(0).json();
        assert_eq!((&exported["count"], &exported["complete"]), (&RECORDS.into(), &true.into()), "{exported}");
        #[cfg(unix)]
        if let Some(peak) = environment::peak_memory_of_children() {
            assert!(peak < MEMORY_OF_RECORDS, "{file}: {} MiB", peak >> 20);
        }
    }
}
