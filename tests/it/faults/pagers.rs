//! Lists with misleading paging. Each export ends within a bounded number of requests, contains every returned record once,
//! and is complete only if it contains all records of the list.

use std::collections::BTreeSet;
use std::ops::Range;

use super::client;
use super::exports::{export_as, job, number};
use super::server::{Server, answer};

/// Number of records in most of the lists.
const LEN: usize = 250;

/// Returns the body of a page; the first page is 1.
type Pager = fn(usize) -> String;

struct Trap {
    name: &'static str,
    pager: Pager,
    /// The records of the list in the end, if they are known.
    has: Option<Range<usize>>,
    /// Expected `complete` of the manifest, and part of `how`.
    expected: (bool, &'static str),
    records: u64,
    requests: usize,
}

const BY_TOTAL: &str = "records that the service lists";
const TO_THE_END: &str = "read until a page was empty";

const TRAPS: [Trap; 15] = [
    Trap {
        name: "count is the number of entries on this page",
        pager: |page| {
            let ids = slice(page, 100, LEN);
            format!(r#"{{"data": {}, "page": {page}, "count": {}, "total": {LEN}}}"#, entries(ids.clone()), ids.len())
        },
        has: Some(0..LEN),
        expected: (true, BY_TOTAL),
        records: 250,
        requests: 3,
    },
    Trap {
        name: "total is the number of entries on this page",
        pager: |page| envelope(slice(page, 100, LEN), slice(page, 100, LEN).len()),
        has: Some(0..LEN),
        expected: (false, "0 records, but its pages contained 250"),
        records: 250,
        requests: 8,
    },
    Trap {
        name: "there is no total",
        pager: |page| format!(r#"{{"data": {}, "page": {page}}}"#, entries(slice(page, 100, LEN))),
        has: Some(0..LEN),
        expected: (true, TO_THE_END),
        records: 250,
        requests: 8,
    },
    Trap {
        name: "the requested page is ignored, and the total is known",
        pager: |_| envelope(0..100, LEN),
        has: Some(0..LEN),
        expected: (false, "250 records, but its pages contained 100"),
        records: 100,
        requests: 4,
    },
    Trap {
        name: "the requested page is ignored, and contains all records",
        pager: |_| envelope(0..100, 100),
        has: Some(0..100),
        expected: (true, BY_TOTAL),
        records: 100,
        requests: 3,
    },
    Trap {
        name: "the limit is capped",
        pager: |page| envelope(slice(page, 20, LEN), LEN),
        has: Some(0..LEN),
        expected: (true, BY_TOTAL),
        records: 250,
        requests: 13,
    },
    Trap {
        name: "the list is a bare array",
        pager: |page| entries(slice(page, 100, LEN)),
        has: Some(0..LEN),
        expected: (true, TO_THE_END),
        records: 250,
        requests: 8,
    },
    Trap {
        name: "a record is inserted at the front between pages",
        // A new first record moves the others by one.
        pager: |page| match page {
            1 => envelope(0..100, LEN),
            page => envelope((page - 1) * 100 - 1..(page * 100 - 1).min(LEN), LEN + 1),
        },
        has: None,
        expected: (false, "251 records, but its pages contained 250"),
        records: 250,
        requests: 8,
    },
    Trap {
        name: "a record is removed between pages",
        pager: |page| match page {
            1 => envelope(0..100, LEN),
            page => envelope(((page - 1) * 100 + 1).min(LEN)..(page * 100 + 1).min(LEN), LEN - 1),
        },
        has: None,
        expected: (false, "removed while the list was being read"),
        records: 249,
        requests: 8,
    },
    Trap {
        name: "pages overlap",
        pager: |page| envelope(((page - 1) * 90).min(LEN)..((page - 1) * 90 + 100).min(LEN), LEN),
        has: Some(0..LEN),
        expected: (true, BY_TOTAL),
        records: 250,
        requests: 4,
    },
    Trap {
        name: "the total grows while the list is read",
        pager: |page| envelope(slice(page, 100, 249 + page.min(3)), 249 + page.min(3)),
        has: Some(0..252),
        expected: (true, BY_TOTAL),
        records: 252,
        requests: 8,
    },
    Trap {
        name: "a page in the middle is empty",
        pager: |page| match page {
            2 => envelope(0..0, LEN),
            page => envelope(slice(page - usize::from(page > 2), 100, LEN), LEN),
        },
        has: Some(0..LEN),
        expected: (true, BY_TOTAL),
        records: 250,
        requests: 8,
    },
    Trap {
        name: "the same page is repeated endlessly without a total",
        pager: |_| entries(0..100),
        has: None,
        expected: (false, "its pages repeat records"),
        records: 100,
        requests: 4,
    },
    Trap {
        name: "the page size changes from page to page",
        pager: |page| {
            let ends = [0, 100, 130, 131, 231, LEN, LEN];
            let at = |page: usize| ends[page.min(ends.len() - 1)];
            envelope(at(page - 1)..at(page), LEN)
        },
        has: Some(0..LEN),
        expected: (true, BY_TOTAL),
        records: 250,
        requests: 6,
    },
    Trap {
        name: "records have no ids",
        pager: |page| {
            let named = slice(page, 100, LEN).map(|n| format!(r#"{{"n": {n}}}"#)).collect::<Vec<_>>().join(",");
            format!(r#"{{"data": [{named}], "total": {LEN}}}"#)
        },
        has: Some(0..LEN),
        expected: (true, BY_TOTAL),
        records: 250,
        requests: 3,
    },
];

#[tokio::test]
async fn misleading_paging_ends_and_is_reported() {
    for trap in TRAPS {
        let pager = trap.pager;
        let server = Server::start(move |seen| answer(200, "", &pager(number(seen)))).await;
        let folder = tempfile::tempdir().unwrap();
        let exported = export_as(client(&server, 4), &job(folder.path())).await.unwrap();
        let (manifest, requests) = (exported.manifest, server.log().len());
        let details = format!("{}: {manifest:#?} after {requests} requests", trap.name);
        assert_eq!((manifest.complete, manifest.distinct), (trap.expected.0, trap.records), "{details}");
        assert!(manifest.how.contains(trap.expected.1), "{details}");
        assert!(requests <= trap.requests, "{details}");
        let file = exported.path.unwrap();
        assert_eq!(file.extension().is_some_and(|end| end == "incomplete"), !manifest.complete, "{details}");
        let rows = numbers(&file, manifest.columns.iter().rposition(|name| name == "n" || name == "id").unwrap());
        let distinct: BTreeSet<usize> = rows.iter().copied().collect();
        assert_eq!((rows.len(), rows.len() as u64), (distinct.len(), manifest.count), "no duplicates: {details}");
        if let (true, Some(has)) = (manifest.complete, trap.has) {
            assert_eq!(distinct, has.collect(), "{details}");
        }
    }
}

#[tokio::test]
async fn a_second_pass_finds_records_missed_by_the_first() {
    // Between the passes, record 250 is added and 17 removed, so the total is unchanged.
    let pager = |request: usize, page: usize| match request {
        0..3 => envelope(slice(page, 100, LEN), LEN),
        _ => {
            let ids = (0..=LEN).filter(|id| *id != 17).skip((page - 1) * 100).take(100);
            format!(r#"{{"data": {}, "total": {LEN}}}"#, entries(ids))
        }
    };
    let server = Server::start(move |seen| answer(200, "", &pager(seen.number, number(seen)))).await;
    let folder = tempfile::tempdir().unwrap();
    let mut job = job(folder.path());
    job.verify = true;
    let exported = export_as(client(&server, 4), &job).await.unwrap();
    let manifest = exported.manifest;
    assert!(!manifest.complete && manifest.verified, "{manifest:#?}");
    assert!(
        manifest.how.contains("found 1 records") && manifest.how.contains("missed 1 that the first had found"),
        "{manifest:#?}"
    );
    let exported = export_as(client(&server, 4), &job).await.unwrap();
    assert!(exported.manifest.complete, "{:#?}", exported.manifest);
    assert!(exported.manifest.how.ends_with("a second pass found the same IDs"));
    assert_eq!(exported.path, Some(folder.path().join("items.csv")));
    assert!(!folder.path().join("items.csv.incomplete").exists(), "the complete file replaces it");
}

fn numbers(file: &std::path::Path, column: usize) -> Vec<usize> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(column).unwrap().parse().unwrap()).collect()
}

fn entries(ids: impl IntoIterator<Item = usize>) -> String {
    let entries: Vec<String> = ids.into_iter().map(|id| format!(r#"{{"id": "{id}"}}"#)).collect();
    format!("[{}]", entries.join(","))
}

fn envelope(ids: Range<usize>, total: usize) -> String {
    format!(r#"{{"data": {}, "total": {total}}}"#, entries(ids))
}

/// Returns the IDs on a page of `size` entries in a list of `0..len`.
fn slice(page: usize, size: usize, len: usize) -> Range<usize> {
    ((page - 1) * size).min(len)..(page * size).min(len)
}
