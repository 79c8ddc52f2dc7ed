//! Walks over lists whose responses are wrong or misleading: every walk ends, and none reports an incomplete list as
//! complete.

use std::collections::BTreeSet;

use crate::pages::Page;
use crate::pages::walk::{Completeness, MAX_PAGES, Walk};

/// A finished walk, the entries it found and the number of pages it requested.
struct Walked {
    walk: Walk,
    found: Vec<String>,
    fetches: u64,
}

/// Walks a list whose pages are returned by `page` as JSON; the first page is 1.
fn walk(mut page: impl FnMut(u64) -> String) -> Walked {
    let mut walked = Walked { walk: Walk::default(), found: Vec::new(), fetches: 0 };
    while !walked.walk.is_over() {
        walked.fetches += 1;
        assert!(walked.fetches <= MAX_PAGES, "the walk does not end");
        let page = parse(page(walked.fetches));
        let new = walked.walk.insert(&page);
        assert_eq!(new.len(), page.entries().len());
        let entries = page.entries().zip(new).filter(|(_, is_new)| *is_new);
        walked.found.extend(entries.map(|(entry, _)| entry.json().to_owned()));
    }
    assert_eq!(walked.walk.entries, walked.found.len() as u64);
    walked
}

fn parse(page: String) -> Page {
    Page::parse(page.into_bytes()).expect("a page")
}

fn entries(ids: impl IntoIterator<Item = u64>) -> String {
    let entries: Vec<String> = ids.into_iter().map(|id| format!(r#"{{"id": "{id}"}}"#)).collect();
    format!("[{}]", entries.join(","))
}

fn envelope(ids: impl IntoIterator<Item = u64>, total: u64) -> String {
    format!(r#"{{"data": {}, "total": {total}, "count": 7, "page": 1}}"#, entries(ids))
}

/// Returns the IDs on a page of `size` entries in a list of `0..len`.
fn slice(page: u64, size: u64, len: u64) -> std::ops::Range<u64> {
    ((page - 1) * size).min(len)..(page * size).min(len)
}

#[track_caller]
fn assert_complete(walked: &Walked, len: u64, fetches: u64) {
    let completeness = walked.walk.completeness();
    assert!(matches!(completeness, Completeness::TotalReached | Completeness::ReadToEnd), "{completeness:?}");
    assert_eq!(walked.found.iter().collect::<BTreeSet<_>>().len() as u64, len);
    assert_eq!((walked.found.len() as u64, walked.fetches), (len, fetches));
}

#[track_caller]
fn assert_unproven(walked: &Walked, reason: &str) {
    match walked.walk.completeness() {
        Completeness::Unproven(found) | Completeness::Moved(found) => assert!(found.contains(reason), "{found}"),
        other => panic!("{other:?} of {} records", walked.found.len()),
    }
}

#[test]
fn a_total_ends_the_walk_without_extra_requests() {
    assert_complete(&walk(|page| envelope(slice(page, 100, 250), 250)), 250, 3);
    assert_complete(&walk(|page| envelope(slice(page, 100, 200), 200)), 200, 2);
    assert_eq!(walk(|page| envelope(slice(page, 100, 250), 250)).walk.completeness(), Completeness::TotalReached);
}

#[test]
fn a_single_page_is_complete_once_the_next_one_is_empty() {
    assert_complete(&walk(|page| envelope(slice(page, 100, 37), 37)), 37, 2);
    assert_complete(&walk(|page| envelope(slice(page, 100, 0), 0)), 0, 1);
}

#[test]
fn without_a_total_two_empty_pages_end_the_walk() {
    let bare = walk(|page| entries(slice(page, 100, 250)));
    assert_complete(&bare, 250, 5);
    assert_eq!(bare.walk.completeness(), Completeness::ReadToEnd);
    let data = walk(|page| format!(r#"{{"data": {}, "total": null}}"#, entries(slice(page, 100, 250))));
    assert_complete(&data, 250, 5);
}

#[test]
fn a_capped_page_size_loses_no_entries() {
    assert_complete(&walk(|page| envelope(slice(page, 20, 250), 250)), 250, 13);
    assert_eq!(walk(|page| envelope(slice(page, 20, 250), 250)).walk.horizon(), 14);
}

#[test]
fn totals_that_count_only_returned_entries_are_ignored() {
    let of_the_page = walk(|page| envelope(slice(page, 100, 250), slice(page, 100, 250).count() as u64));
    assert_eq!(of_the_page.found.len(), 250);
    assert_unproven(&of_the_page, "pages contained 250");
    let so_far = walk(|page| envelope(slice(page, 100, 250), slice(page, 100, 250).end));
    assert_complete(&so_far, 250, 4);
}

#[test]
fn a_service_that_repeats_one_page_is_detected() {
    let with_total = walk(|_| envelope(0..100, 250));
    assert_unproven(&with_total, "250 records, but its pages contained 100");
    assert_unproven(&walk(|_| entries(0..100)), "all its pages are the same");
    let nameless = walk(|_| r#"[{"name": "a"}, {"name": "a"}, {"name": "b"}]"#.to_owned());
    assert_unproven(&nameless, "are the same");
    assert_eq!((nameless.found.len(), nameless.fetches), (3, 3));
}

#[test]
fn an_endless_list_is_cut_off() {
    assert_unproven(&walk(|page| entries([page])), "does not end");
    assert_unproven(&walk(|page| envelope([page], u64::MAX)), "does not end");
    assert_unproven(&walk(|page| format!(r#"[{{"at": {page}}}]"#)), "does not end");
}

#[test]
fn an_empty_page_in_the_middle_does_not_end_the_walk() {
    let with_hole = |page: u64| if page == 2 { 0..0 } else { slice(page - u64::from(page > 2), 100, 250) };
    assert_complete(&walk(|page| envelope(with_hole(page), 250)), 250, 4);
    assert_complete(&walk(|page| entries(with_hole(page))), 250, 6);
    let wide = walk(|page| envelope(if page > 1 && page < 9 { 0..0 } else { slice(page, 100, 1000) }, 1000));
    assert_unproven(&wide, "1000 records, but its pages contained 100");
}

#[test]
fn records_appended_during_the_walk_are_found() {
    let grown = |page: u64| 249 + page.min(3);
    assert_complete(&walk(|page| envelope(slice(page, 100, grown(page)), grown(page))), 252, 4);
}

#[test]
fn records_inserted_at_the_front_are_reported_as_missing() {
    // From the second page on, one more record precedes all others.
    let shifted = |page: u64| if page == 1 { 0..100 } else { (page - 1) * 100 - 1..(page * 100 - 1).min(250) };
    let walked = walk(|page| envelope(shifted(page), 250 + u64::from(page > 1)));
    assert_unproven(&walked, "251 records, but its pages contained 250");
    assert_eq!(walked.walk.duplicates, 1);
    assert_unproven(&walk(|page| entries(shifted(page).start.min(250)..shifted(page).end)), "repeat");
}

#[test]
fn records_skipped_because_others_were_removed_are_reported() {
    // Record 0 is removed after the first page: record 100 moves to the first page and is never seen.
    let shifted =
        |page: u64| if page == 1 { 0..100 } else { ((page - 1) * 100 + 1).min(250)..(page * 100 + 1).min(250) };
    let walked = walk(|page| envelope(shifted(page), 250 - u64::from(page > 1)));
    assert!(!walked.found.contains(&r#"{"id": "100"}"#.to_owned()));
    assert_unproven(&walked, "removed");
}

#[test]
fn overlapping_pages_yield_each_record_once() {
    let overlapping = |page: u64| ((page - 1) * 90).min(250)..((page - 1) * 90 + 100).min(250);
    let walked = walk(|page| envelope(overlapping(page), 250));
    assert_complete(&walked, 250, 3);
    assert_eq!(walked.walk.duplicates, 20);
}

#[test]
fn records_without_ids_are_never_dropped() {
    let named = |page: u64| slice(page, 2, 5).map(|n| format!(r#"{{"n": {n}}}"#)).collect::<Vec<_>>().join(",");
    let walked = walk(|page| format!("[{}]", named(page)));
    assert_eq!((walked.found.len(), walked.walk.completeness()), (5, Completeness::ReadToEnd));
    // Two identical entries on different pages may be one record or two.
    let alike = walk(|page| match page {
        1 => r#"{"data": [{"n": 1}, {"n": 1}], "total": 4}"#.to_owned(),
        2 => r#"{"data": [{"n": 2}, {"n": 1}], "total": 4}"#.to_owned(),
        _ => r#"{"data": [], "total": 4}"#.to_owned(),
    });
    assert_eq!(alike.found.len(), 4);
    assert_unproven(&alike, "are identical");
}

#[test]
fn ids_compare_by_their_text_and_null_is_no_id() {
    let walked = walk(|page| match page {
        1 => r#"[{"id": 1}, {"id": "1"}, {"id": null, "n": 1}, {"id": null, "n": 2}, 7, "x"]"#.to_owned(),
        _ => "[]".to_owned(),
    });
    // A number and a string with the same digits are the same ID.
    assert_eq!((walked.found.len(), walked.walk.duplicates), (5, 1));
}

proptest::proptest! {
    /// A list that does not change and is paged correctly is complete, whatever its length and page size.
    #[test]
    fn a_correctly_paged_list_is_complete(len in 0u64..400, size in 1u64..50, has_total in proptest::bool::ANY) {
        let page = |page| if has_total { envelope(slice(page, size, len), len) } else { entries(slice(page, size, len)) };
        let walked = walk(page);
        proptest::prop_assert!(matches!(walked.walk.completeness(), Completeness::TotalReached | Completeness::ReadToEnd));
        proptest::prop_assert_eq!(walked.found.len() as u64, len);
        proptest::prop_assert!(walked.fetches <= len.div_ceil(size) + 2);
    }

    /// Every walk ends. If it reports the list as complete, it found as many records as the last total.
    #[test]
    fn every_walk_ends(pages in proptest::collection::vec((proptest::collection::vec(0u64..20, 0..6), 0u64..12), 1..8)) {
        let walked = walk(|page| {
            let (ids, total) = &pages[usize::try_from(page).expect("small") % pages.len()];
            if *total == 11 { entries(ids.iter().copied()) } else { envelope(ids.iter().copied(), *total) }
        });
        if walked.walk.completeness() == Completeness::TotalReached {
            proptest::prop_assert_eq!(walked.walk.total, Some(walked.found.len() as u64));
        }
    }
}

/// Walks a list as `walk`, and then reads its first and last pages again.
fn walk_and_look_again(mut page: impl FnMut(u64) -> String) -> Walked {
    let mut walked = walk(&mut page);
    for first in [walked.walk.first_look(), walked.walk.last_look()].into_iter().flatten() {
        for number in first.. {
            let page = parse(page(number));
            walked.fetches += 1;
            let new = walked.walk.look_again(&page);
            let entries = page.entries().zip(&new).filter(|(_, is_new)| **is_new);
            walked.found.extend(entries.map(|(entry, _)| entry.json().to_owned()));
            if !new.contains(&true) {
                break;
            }
        }
    }
    walked
}

#[test]
fn records_inserted_at_the_front_are_found_when_the_first_page_is_read_again() {
    let mut requests = 0;
    let walked = walk_and_look_again(|page| {
        requests += 1;
        // The newest come first. One record is inserted after each request, and then none.
        let newest = 1_000 + u64::min(requests, 5);
        let (from, to) = (((page - 1) * 100).min(newest), (page * 100).min(newest));
        envelope((newest - to..newest - from).rev(), newest)
    });
    assert_complete(&walked, 1_005, walked.fetches);
    assert_eq!(walked.walk.completeness(), Completeness::TotalReached);
}

#[test]
fn a_list_without_a_total_needs_a_second_walk_unless_it_has_one_page() {
    let needs_second_walk = |len| walk(|page| entries(slice(page, 100, len))).walk.needs_second_walk();
    assert_eq!([0, 100, 101].map(needs_second_walk), [false, false, true]);
    assert!(!walk(|page| envelope(slice(page, 100, 250), 250)).walk.needs_second_walk());
}

#[test]
fn the_horizon_grows_only_with_productive_pages() {
    let mut walk = Walk::default();
    let mut horizons = vec![walk.horizon()];
    for page in 1..=6 {
        walk.insert(&parse(entries(slice(page, 10, 35))));
        horizons.push(walk.horizon());
    }
    // Four pages have entries; the fifth and the sixth are empty.
    assert_eq!(horizons, [1, 2, 4, 6, 8, 6, 7]);
    let mut with_total = Walk::default();
    with_total.insert(&parse(envelope(0..10, 95)));
    assert_eq!(with_total.horizon(), 10);
}

#[test]
fn a_second_walk_finds_added_and_removed_records() {
    let read_twice = |ids: std::ops::Range<u64>| {
        let first = walk(|page| envelope(slice(page, 10, 35), 35)).walk;
        let mut second = first.restarted();
        let pages: Vec<u64> = ids.collect();
        for page in pages.chunks(10).map(|ids| envelope(ids.iter().copied(), pages.len() as u64)) {
            second.insert(&parse(page));
        }
        first.confirmed_by(&second)
    };
    assert_eq!(read_twice(0..35), Completeness::TotalReached);
    let Completeness::Moved(reason) = read_twice(1..36) else { panic!("one was added and one removed") };
    assert!(reason.contains("found 1 records") && reason.contains("missed 1 that"), "{reason}");
}
