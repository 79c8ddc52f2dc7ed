//! Exports from a service with huge pages, records and names of fields, with many requests in flight: memory stays bounded.

use crate::cli::process::Place;
use crate::environment;
use crate::faults::server::{Server, answer};

const MEMORY: u64 = 256 << 20;
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
