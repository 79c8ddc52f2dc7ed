//! Exports from an unreliable service: the requested file is complete, or does not exist.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use sheetport_client::{Client, KnownSizes, Pace, PageSize};
use sheetport_export::{self as export, Clock, Error, ExportOptions, Exported, Format, IdFile, Job, Output, Source};
use sheetport_records::item::LIST;

use super::client;
use super::server::{Reply, Seen, Server, answer};

/// Returns options that export all items to `items.csv` in a folder.
pub fn job(folder: &Path) -> Job {
    let path = folder.join("items.csv");
    Job {
        source: Source::List(&LIST),
        output: Output::File { pattern: path.to_str().unwrap().to_owned(), format: Format::of(&path).unwrap() },
        changes: None,
        latest: None,
        template: None,
        details: None,
        options: ExportOptions { concurrency: 4, ..ExportOptions::default() },
        page_size: PageSize::Largest(KnownSizes::default()),
        home: folder.join("home"),
        base_url: "http://service".to_owned(),
        workspace: "shop".to_owned(),
        clock: Clock { local: "2026-11-21T02:00:00[UTC]".parse().unwrap(), now: SystemTime::now },
        shown_pattern: None,
    }
}

async fn export(client: Arc<Client>, folder: &Path) -> Result<Exported, Error> {
    export_as(client, &job(folder)).await
}

pub async fn export_as(client: Arc<Client>, job: &Job) -> Result<Exported, Error> {
    export::export(client, Arc::new(Pace::new(None, Instant::now())), job, &|_, _| {}).await
}

const BY_TOTAL: &str = "all 1000 records that the service lists";
const TO_THE_END: &str = "read until a page was empty; the service reports no total";

/// Returns a page of a list of 1000 items, with 100 per page.
fn page(seen: &Seen, total: &str) -> Reply {
    let page = number(seen);
    let ids = if page <= 10 { (page - 1) * 100..page * 100 } else { 0..0 };
    let data: Vec<String> = ids.map(|id| format!(r#"{{"id": "{id}", "name": "n"}}"#)).collect();
    answer(200, "", &format!(r#"{{"data": [{}], "total": {total}}}"#, data.join(",")))
}

pub fn number(seen: &Seen) -> usize {
    let (_, query) = seen.path.split_once("?page=").unwrap();
    query.split('&').next().unwrap().parse().unwrap()
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap().lines().count()
}

#[tokio::test]
async fn connection_faults_are_retried_until_the_list_is_complete() {
    let server = Server::start(|seen| match (seen.number, number(seen)) {
        (1, _) => Reply::Reset,
        (2, _) => answer(502, "", "<html>"),
        (3, _) => answer(200, "", "{\"data\": [{\"id\": \"1\""),
        (4, _) => Reply::Cut("HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{\"data\"".into()),
        _ => page(seen, "1000"),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let exported = export(client(&server, 4), folder.path()).await.unwrap();
    let manifest = &exported.manifest;
    assert_eq!((manifest.complete, manifest.how.as_str()), (true, BY_TOTAL));
    assert_eq!((manifest.count, manifest.pages), (1000, 10));
    assert_eq!(exported.path, Some(folder.path().join("items.csv")));
    assert_eq!(lines(&folder.path().join("items.csv")), 1001);
}

#[tokio::test]
async fn an_unproven_list_is_written_as_incomplete() {
    let server = Server::start(|seen| page(seen, "1001")).await;
    let folder = tempfile::tempdir().unwrap();
    let exported = export(client(&server, 4), folder.path()).await.unwrap();
    assert!(!exported.manifest.complete);
    assert_eq!(exported.path, Some(folder.path().join("items.csv.incomplete")));
    assert_eq!(lines(&folder.path().join("items.csv.incomplete")), 1001);
    assert!(!folder.path().join("items.csv").exists());
}

#[tokio::test]
async fn a_404_past_the_last_page_ends_the_list() {
    let server = Server::start(|seen| match number(seen) {
        11.. => answer(404, "", r#"{"detail": "Invalid page."}"#),
        _ => page(seen, "null"),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let exported = export(client(&server, 4), folder.path()).await.unwrap();
    let manifest = exported.manifest;
    assert_eq!((manifest.complete, manifest.count), (true, 1000));
    assert!(manifest.how.starts_with(TO_THE_END), "{}", manifest.how);
}

#[tokio::test]
async fn a_refused_page_leaves_no_file() {
    let server = Server::start(|seen| match number(seen) {
        4 => answer(403, "", r#"{"message": "no"}"#),
        _ => page(seen, "1000"),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let error = export(client(&server, 4), folder.path()).await.unwrap_err();
    assert_eq!(error.to_string(), "the service answered 403 for /v1/public/items: no");
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["home"]);
}

#[tokio::test]
async fn no_page_is_requested_during_retry_after() {
    let server = Server::start(|seen| match seen.number {
        3 => answer(429, "retry-after: 1\r\n", ""),
        _ => Reply::Late(Duration::from_millis(10), Box::new(page(seen, "1000"))),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let exported = export(client(&server, 4), folder.path()).await.unwrap();
    assert_eq!(exported.manifest.count, 1000);
    let log = server.log();
    let asked = log[3].left.unwrap();
    let next = log.iter().map(|seen| seen.came).filter(|came| *came > asked + Duration::from_millis(50)).min().unwrap();
    assert!(next - asked >= Duration::from_millis(995), "{:?}", next - asked);
}

/// Returns a page of 10 of `len` items with the additional fields returned by `more`.
fn small_page(seen: &Seen, len: usize, more: impl Fn(usize) -> String) -> Reply {
    let page = number(seen);
    let ids = ((page - 1) * 10).min(len)..(page * 10).min(len);
    let data: Vec<String> = ids.map(|id| format!(r#"{{"id": "{id}", "price": {id}.50{}}}"#, more(id))).collect();
    answer(200, "", &format!(r#"{{"data": [{}], "total": {len}}}"#, data.join(",")))
}

#[tokio::test]
async fn columns_added_by_a_late_page_are_in_every_format() {
    let late = |id: usize| if id == 97 { r#", "note": "late""#.to_owned() } else { String::new() };
    let server = Server::start(move |seen| small_page(seen, 100, late)).await;
    let folder = tempfile::tempdir().unwrap();
    for name in ["items.csv", "items.tsv.gz", "items.xlsx", "items.ndjson"] {
        let path = folder.path().join(name);
        let mut job = job(folder.path());
        job.output = Output::File { pattern: path.to_str().unwrap().to_owned(), format: Format::of(&path).unwrap() };
        let manifest = export_as(client(&server, 4), &job).await.unwrap().manifest;
        assert_eq!((manifest.complete, manifest.count, manifest.rows), (true, 100, 100), "{name}");
        assert_eq!(manifest.columns.last().map(String::as_str), Some("note"));
        if name == "items.ndjson" {
            assert!(std::fs::read_to_string(&path).unwrap().contains(r#""note": "late""#));
            continue;
        }
        let book = sheetport_sheet::open(&path, &sheetport_sheet::Options::default()).unwrap();
        let (mut rows, mut row) = (book.rows(0).unwrap(), sheetport_sheet::Row::default());
        let mut notes = Vec::new();
        while rows.next(&mut row).unwrap() {
            notes.push(row.get(manifest.columns.len() - 1).shown().into_owned());
        }
        let place = notes.iter().position(|note| note == "late");
        assert_eq!((notes.len(), notes[0].as_str(), place), (101, "note", Some(98)), "{name}");
    }
}

#[tokio::test]
async fn the_number_of_columns_is_limited() {
    let strange = |id: usize| (0..50).map(|field| format!(r#", "f{}": {field}"#, id * 50 + field)).collect::<String>();
    let server = Server::start(move |seen| small_page(seen, 60, strange)).await;
    let folder = tempfile::tempdir().unwrap();
    let exported = export(client(&server, 4), folder.path()).await.unwrap();
    let manifest = &exported.manifest;
    assert_eq!((manifest.columns.len(), manifest.columns.last().map(String::as_str)), (2001, Some("other_fields")));
    // 60 items with 50 fields each, less those with columns of their own besides the contract's six.
    assert_eq!(manifest.gathered, 60 * 50 - (2_000 - 6));
    assert!(exported.remarks[0].contains("beyond 2000 columns"), "{:?}", exported.remarks);
    let text = std::fs::read_to_string(folder.path().join("items.csv")).unwrap();
    assert!(text.lines().last().unwrap().ends_with(r#"""f2999"":49}""#), "{:?}", text.lines().last());
}

#[tokio::test]
async fn large_pages_are_not_read_ahead() {
    // The first page tells nothing of the size of the next ones.
    let text = |id: usize| format!(r#", "name": "{}""#, "x".repeat(if id < 10 { 1 } else { 300_000 }));
    let server = Server::start(move |seen| small_page(seen, 80, text)).await;
    let folder = tempfile::tempdir().unwrap();
    let manifest = export(client(&server, 4), folder.path()).await.unwrap().manifest;
    assert!(manifest.complete, "{manifest:#?}");
    assert_eq!((manifest.count, manifest.pages), (80, 8));
    let numbers: Vec<usize> = server.log().iter().map(number).collect();
    // Those that were requested together with the first large page are requested again, one by one.
    assert!((10..=13).contains(&numbers.len()), "{numbers:?}");
    assert!((2..=8).all(|page| (1..=2).contains(&numbers.iter().filter(|number| **number == page).count())));
    // The first page is asked for in two sizes, and once more in the end.
    assert_eq!(numbers.iter().filter(|number| **number == 1).count(), 3, "{numbers:?}");
    let large: Vec<usize> = numbers.into_iter().filter(|page| *page > 1).collect();
    assert_eq!(large[large.len() - 3..], [6, 7, 8]);
}

#[tokio::test]
async fn array_elements_can_have_a_row_each() {
    let lines = |id: usize| format!(r#", "items": [{}]"#, vec![format!(r#"{{"sku": "s{id}"}}"#); id % 3].join(","));
    let server = Server::start(move |seen| small_page(seen, 30, lines)).await;
    let folder = tempfile::tempdir().unwrap();
    let mut job = job(folder.path());
    job.options.explode = Some("items".to_owned());
    let manifest = export_as(client(&server, 4), &job).await.unwrap().manifest;
    // Records with an empty array have one row.
    assert_eq!((manifest.count, manifest.rows), (30, 10 + 10 + 20));
    let text = std::fs::read_to_string(folder.path().join("items.csv")).unwrap();
    let row = |line: &str| text.lines().filter(|found| *found == line).count();
    assert!(manifest.columns.iter().any(|name| name == "items.sku"), "{:?}", manifest.columns);
    assert_eq!((row("5,,5.50,,,,s5"), row("4,,4.50,,,,s4"), row("3,,3.50,,,,")), (2, 1, 1), "{text}");
}

#[tokio::test]
async fn pages_before_a_fault_are_not_requested_again() {
    let server = Server::start(|seen| match (seen.number, number(seen)) {
        (..70, 60) => answer(403, "", r#"{"message": "no"}"#),
        _ => small_page(seen, 1_000, |_| String::new()),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    assert!(export(client(&server, 4), folder.path()).await.is_err());
    let requests = server.log().len();
    assert!((60..70).contains(&requests), "{requests}");
    let failed = jiff::Timestamp::now().to_string();
    let mut again = job(folder.path());
    again.options.concurrency = 1;
    let exported = loop {
        // The service refuses page 60 until its seventieth request.
        match export_as(client(&server, 1), &again).await {
            Err(error) => assert_eq!(error.to_string(), "the service answered 403 for /v1/public/items: no"),
            Ok(exported) => break exported,
        }
        assert!(server.log().len() <= 71, "only page 60 is requested");
    };
    assert!(exported.manifest.resumed && exported.manifest.complete, "{:#?}", exported.manifest);
    assert_eq!((exported.manifest.count, exported.manifest.pages), (1_000, 100));
    assert!(exported.manifest.started < failed, "when its first page was requested");
    let numbers: Vec<usize> = server.log().iter().skip(requests).map(number).collect();
    let rest = numbers.iter().position(|page| *page < 60).unwrap();
    assert!(numbers[..rest].starts_with(&[60]) && numbers[..rest].ends_with(&[100]), "only the rest: {numbers:?}");
    // Then the first page, as in each export, and all pages for a second look at the ids.
    assert_eq!(numbers[rest..], [1].into_iter().chain(1..=100).collect::<Vec<_>>());
    assert!(exported.manifest.how.ends_with("a second pass found the same IDs"), "{}", exported.manifest.how);
    // An export of the same list to another name starts from the beginning.
    again.output = Output::File {
        pattern: folder.path().join("other.csv").to_str().unwrap().to_owned(),
        format: Format::of(Path::new("other.csv")).unwrap(),
    };
    assert!(!export_as(client(&server, 4), &again).await.unwrap().manifest.resumed);
}

#[tokio::test]
async fn exports_by_id_resume_after_the_last_requested_id() {
    let folder = tempfile::tempdir().unwrap();
    let ids: String = (0..200).map(|id| format!("i{id}\n")).collect();
    std::fs::write(folder.path().join("ids.csv"), ids).unwrap();
    let server = Server::with_probes(|seen| match seen.path.rsplit_once("/i").unwrap().1.parse::<usize>().unwrap() {
        150 if seen.number < 300 => Reply::Bytes("HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n".into()),
        id if id % 10 == 7 => answer(404, "", "{}"),
        id => answer(200, "", &format!(r#"{{"id": "i{id}"}}"#)),
    })
    .await;
    let mut job = job(folder.path());
    let file = IdFile { path: folder.path().join("ids.csv"), column: None };
    job.source = Source::Ids { single: &sheetport_records::order::SINGLE, file, by_external_id: false };
    assert!(export_as(client(&server, 8), &job).await.is_err());
    let before = server.log().len();
    assert!((151..=160).contains(&before), "{before}");
    let other = Server::with_probes(|seen| match seen.path.rsplit_once("/i").unwrap().1.parse::<usize>().unwrap() {
        id if id % 10 == 7 => answer(404, "", "{}"),
        id => answer(200, "", &format!(r#"{{"id": "i{id}"}}"#)),
    })
    .await;
    let exported = export_as(client(&other, 8), &job).await.unwrap();
    let manifest = &exported.manifest;
    assert_eq!((manifest.count, manifest.not_found, manifest.resumed), (180, 20, true), "{manifest:#?}");
    assert_eq!(other.log().len(), 50, "from the 151st ID on");
    let text = std::fs::read_to_string(folder.path().join("items.csv")).unwrap();
    let found: Vec<&str> = text.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    let expected: Vec<String> = (0..200).filter(|id| id % 10 != 7).map(|id| format!("i{id}")).collect();
    assert_eq!(found, expected);
    let missing = std::fs::read_to_string(exported.not_found.unwrap()).unwrap();
    assert_eq!((missing.lines().count(), missing.lines().nth(1)), (21, Some("i7,8,not found")));
}

/// If the service lists external IDs, an export can be uploaded again unchanged.
#[tokio::test(flavor = "multi_thread")]
async fn an_export_with_external_ids_uploads_unchanged() {
    let list = r#"{"data": [
        {"id": "u1", "external_id": "00042", "name": "Bolt, M8 \"x\"", "price": 1234.50, "currency": "EUR", "status": "active", "updated_at": "2026-01-02T03:04:05Z"},
        {"id": "u2", "external_id": "4006381333931", "name": "Écrou", "price": 0.10, "currency": "EUR", "status": null, "updated_at": "2026-01-02T03:04:05Z"},
        {"id": "u3", "external_id": "1-2", "name": "-5", "price": 7, "currency": "USD", "status": "archived", "updated_at": "2026-01-02T03:04:05Z"}
    ], "total": 3}"#;
    for name in ["items.csv", "items.tsv", "items.csv.gz", "items.xlsx"] {
        let server = Server::start(move |seen| match seen.body.is_empty() {
            true => answer(200, "", list),
            false => Reply::Accept,
        })
        .await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let mut job = job(folder.path());
        job.output = Output::File { pattern: path.to_str().unwrap().to_owned(), format: Format::of(&path).unwrap() };
        export_as(client(&server, 4), &job).await.unwrap();
        let upload = std::process::Command::new(env!("CARGO_BIN_EXE_sheetport"))
            .env("SHEETPORT_LANG", "en")
            .args(["upload", path.to_str().unwrap(), "-t", "items", "-q"])
            .env("SHEETPORT_BASE_URL", &server.address)
            .env("SHEETPORT_HOME", folder.path().join("home"))
            .env("SHEETPORT_ACCESS_TOKEN", "access-1")
            .env_remove("SHEETPORT_REFRESH_TOKEN")
            .output();
        let upload = upload.unwrap();
        assert!(upload.status.success(), "{name}: {}", String::from_utf8_lossy(&upload.stderr));
        let listed: serde_json::Value = serde_json::from_str(list).unwrap();
        let mut sent: Vec<serde_json::Value> =
            server.log().iter().filter_map(|seen| serde_json::from_str(&seen.body).ok()).collect();
        sent.sort_by_key(|body| body["price"].to_string().len());
        let mut entries = listed["data"].as_array().unwrap().clone();
        entries.sort_by_key(|entry| entry["price"].to_string().len());
        for (body, entry) in sent.iter().zip(&entries) {
            assert_eq!(body["externalId"], entry["external_id"], "{name}");
            for field in ["name", "currency"] {
                assert_eq!(body[field], entry[field], "{name}");
            }
            // A workbook keeps the number's value; text files keep its digits.
            match name {
                "items.xlsx" => assert_eq!(body["price"].as_f64(), entry["price"].as_f64()),
                _ => assert_eq!(body["price"].to_string(), entry["price"].to_string(), "{name}"),
            }
            // A blank cell leaves the service's value unchanged.
            assert!(body.get("status").is_none_or(|status| *status == entry["status"]), "{name}: {body}");
        }
        assert_eq!(sent.len(), 3, "{name}");
    }
}
