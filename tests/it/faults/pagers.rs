//! Lists with misleading paging. Each export ends within a bounded number of requests, contains every returned record once,
//! and is complete only if it contains all records of the list.

use std::collections::BTreeSet;
use std::ops::Range;

use super::client;
use super::exports::{export_as, job, number};
use super::server::{Reply, Seen, Server, answer};

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
        requests: 4,
    },
    Trap {
        name: "total is the number of entries on this page",
        pager: |page| envelope(slice(page, 100, LEN), slice(page, 100, LEN).len()),
        has: Some(0..LEN),
        expected: (false, "0 records, but its pages contained 250"),
        records: 250,
        requests: 36,
    },
    Trap {
        name: "there is no total",
        pager: |page| format!(r#"{{"data": {}, "page": {page}}}"#, entries(slice(page, 100, LEN))),
        has: Some(0..LEN),
        expected: (true, TO_THE_END),
        records: 250,
        requests: 16,
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
        // One more than with the page size in force: a size below 100 may be the answer to a size that is too large.
        requests: 15,
    },
    Trap {
        name: "the list is a bare array",
        pager: |page| entries(slice(page, 100, LEN)),
        has: Some(0..LEN),
        expected: (true, TO_THE_END),
        records: 250,
        requests: 16,
    },
    Trap {
        name: "a record is inserted at the front between pages",
        // A new first record moves the others by one.
        pager: |page| match page {
            1 => envelope(0..100, LEN),
            page => envelope((page - 1) * 100 - 1..(page * 100 - 1).min(LEN), LEN + 1),
        },
        has: None,
        expected: (false, "it was read 3 times"),
        records: 250,
        requests: 24,
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
        requests: 36,
    },
    Trap {
        name: "pages overlap",
        pager: |page| envelope(((page - 1) * 90).min(LEN)..((page - 1) * 90 + 100).min(LEN), LEN),
        has: Some(0..LEN),
        expected: (true, BY_TOTAL),
        records: 250,
        requests: 5,
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
        requests: 9,
    },
    Trap {
        name: "the same page is repeated endlessly without a total",
        pager: |_| entries(0..100),
        has: None,
        expected: (false, "all its pages are the same"),
        records: 100,
        requests: 6,
    },
    Trap {
        name: "page numbers and sizes are ignored, and there is no total",
        pager: |_| entries(0..137),
        has: Some(0..137),
        expected: (true, "all records at once"),
        records: 137,
        requests: 6,
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
        requests: 8,
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
        requests: 4,
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
    job.options.verify = true;
    let exported = export_as(client(&server, 4), &job).await.unwrap();
    let manifest = &exported.manifest;
    assert!(manifest.complete && manifest.verified && manifest.distinct == LEN as u64, "{manifest:#?}");
    assert!(manifest.how.contains("so it was read 2 times"), "{manifest:#?}");
    let rows = numbers(exported.path.as_ref().unwrap(), 0);
    assert!(rows.contains(&250) && !rows.contains(&17));
    assert!(exported.manifest.how.ends_with("a second pass found the same IDs"));
    assert_eq!(exported.path, Some(folder.path().join("items.csv")));
    assert!(!folder.path().join("items.csv.incomplete").exists(), "the complete file replaces it");
}

/// A list of 1,000 records, newest first, that changes once after the third request.
fn changing(seen: &Seen, ids: impl Fn(bool) -> Vec<usize>, has_total: bool) -> Reply {
    let (page, ids) = (number(seen), ids(seen.number > 3));
    let data = entries(ids.iter().copied().skip((page - 1) * 100).take(100));
    let total = if has_total { format!(r#", "total": {}"#, ids.len()) } else { String::new() };
    answer(200, "", &format!(r#"{{"data": {data}{total}}}"#))
}

#[tokio::test]
async fn a_list_that_changes_once_ends_complete_with_every_record_that_stayed() {
    type Change = fn(bool) -> Vec<usize>;
    let inserted: Change = |changed| (0..1_000 + usize::from(changed)).rev().collect();
    let removed: Change = |changed| (0..1_000).rev().filter(|id| !changed || *id != 999).collect();
    // An update moves a record to the front.
    let moved: Change = |changed| match changed {
        true => [500].into_iter().chain((0..1_000).rev().filter(|id| *id != 500)).collect(),
        false => (0..1_000).rev().collect(),
    };
    let appended: Change = |changed| (0..1_000 + usize::from(changed)).collect();
    // Without a total, only another reading shows that no other record was removed.
    for (what, ids, readings) in [
        ("inserted", inserted, [1, 2]),
        ("removed", removed, [2, 2]),
        ("moved", moved, [1, 2]),
        ("appended", appended, [1, 1]),
    ] {
        for (has_total, readings) in [true, false].into_iter().zip(readings) {
            let server = Server::start(move |seen| changing(seen, ids, has_total)).await;
            let folder = tempfile::tempdir().unwrap();
            let exported = export_as(client(&server, 1), &job(folder.path())).await.unwrap();
            let manifest = &exported.manifest;
            let details = format!("{what}, total {has_total}: {manifest:#?} after {} requests", server.log().len());
            assert!(manifest.complete, "{details}");
            assert_eq!(manifest.how.contains("so it was read 2 times"), readings == 2, "{details}");
            let mut found = numbers(exported.path.as_ref().unwrap(), 0);
            found.sort_unstable();
            let mut ids = ids(true);
            ids.sort_unstable();
            assert_eq!(found, ids, "{details}");
        }
    }
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
