//! Lists that lie about themselves. Whatever they say, the walk ends, and it never calls a list whole that is not.

use std::collections::BTreeSet;

use super::read::unquoted;
use super::{Completeness, MAX_PAGES, Walk, read};

/// What came of a walk: the ids that were found, and the fetches that it took.
struct Walked {
    walk: Walk,
    found: Vec<String>,
    fetches: u64,
}

/// Walks a list whose pages, from 1, `page` tells as JSON.
fn walk(mut page: impl FnMut(u64) -> String) -> Walked {
    let mut walked = Walked { walk: Walk::default(), found: Vec::new(), fetches: 0 };
    while !walked.walk.is_over() {
        walked.fetches += 1;
        assert!(walked.fetches <= MAX_PAGES, "it does not end");
        let page = read(page(walked.fetches).into_bytes()).expect("a page");
        let new = walked.walk.take(&page);
        assert_eq!(new.len(), page.len());
        let entries = page.entries().zip(new).filter(|(_, is_new)| *is_new);
        walked.found.extend(entries.map(|(entry, _)| entry.text().to_owned()));
    }
    assert_eq!(walked.walk.entries, walked.found.len() as u64);
    walked
}

fn entries(ids: impl IntoIterator<Item = u64>) -> String {
    let entries: Vec<String> = ids.into_iter().map(|id| format!(r#"{{"id": "{id}"}}"#)).collect();
    format!("[{}]", entries.join(","))
}

fn envelope(ids: impl IntoIterator<Item = u64>, total: u64) -> String {
    format!(r#"{{"data": {}, "total": {total}, "count": 7, "page": 1}}"#, entries(ids))
}

/// The ids of a page of `size` in a list of `0..len`.
fn slice(page: u64, size: u64, len: u64) -> std::ops::Range<u64> {
    ((page - 1) * size).min(len)..(page * size).min(len)
}

#[track_caller]
fn assert_whole(walked: &Walked, len: u64, fetches: u64) {
    assert_ne!(std::mem::discriminant(&walked.walk.completeness()), std::mem::discriminant(&unproven()));
    assert_eq!(walked.found.iter().collect::<BTreeSet<_>>().len() as u64, len);
    assert_eq!((walked.found.len() as u64, walked.fetches), (len, fetches));
}

#[track_caller]
fn assert_unproven(walked: &Walked, reason: &str) {
    match walked.walk.completeness() {
        Completeness::Unproven(said) => assert!(said.contains(reason), "{said}"),
        other => panic!("{other:?} of {} records", walked.found.len()),
    }
}

fn unproven() -> Completeness {
    Completeness::Unproven(String::new())
}

#[test]
fn a_list_that_tells_its_total_is_walked_without_a_fetch_too_many() {
    assert_whole(&walk(|page| envelope(slice(page, 100, 250), 250)), 250, 3);
    assert_whole(&walk(|page| envelope(slice(page, 100, 200), 200)), 200, 2);
    assert_eq!(walk(|page| envelope(slice(page, 100, 250), 250)).walk.completeness(), Completeness::TotalReached);
}

#[test]
fn a_list_of_one_page_is_whole_when_the_next_is_empty() {
    assert_whole(&walk(|page| envelope(slice(page, 100, 37), 37)), 37, 2);
    assert_whole(&walk(|page| envelope(slice(page, 100, 0), 0)), 0, 1);
}

#[test]
fn a_list_without_a_total_is_walked_until_its_pages_are_empty() {
    let bare = walk(|page| entries(slice(page, 100, 250)));
    assert_whole(&bare, 250, 5);
    assert_eq!(bare.walk.completeness(), Completeness::ReadToTheEnd);
    let data = walk(|page| format!(r#"{{"data": {}, "total": null}}"#, entries(slice(page, 100, 250))));
    assert_whole(&data, 250, 5);
}

#[test]
fn a_limit_that_is_capped_loses_nothing() {
    assert_whole(&walk(|page| envelope(slice(page, 20, 250), 250)), 250, 13);
    assert_eq!(walk(|page| envelope(slice(page, 20, 250), 250)).walk.horizon(), 14);
}

#[test]
fn a_total_that_counts_the_page_or_what_came_so_far_is_not_believed() {
    let of_the_page = walk(|page| envelope(slice(page, 100, 250), slice(page, 100, 250).count() as u64));
    assert_eq!(of_the_page.found.len(), 250);
    assert_unproven(&of_the_page, "pages held 250");
    let so_far = walk(|page| envelope(slice(page, 100, 250), slice(page, 100, 250).end));
    assert_whole(&so_far, 250, 4);
}

#[test]
fn a_service_that_always_answers_the_same_page_is_found_out() {
    let told = walk(|_| envelope(0..100, 250));
    assert_unproven(&told, "250 records, and its pages held 100");
    assert_unproven(&walk(|_| entries(0..100)), "repeat");
    let nameless = walk(|_| r#"[{"name": "a"}, {"name": "a"}, {"name": "b"}]"#.to_owned());
    assert_unproven(&nameless, "repeat");
    assert_eq!((nameless.found.len(), nameless.fetches), (3, 3));
}

#[test]
fn a_list_that_never_ends_is_ended() {
    assert_unproven(&walk(|page| entries([page])), "does not end");
    assert_unproven(&walk(|page| envelope([page], u64::MAX)), "does not end");
    assert_unproven(&walk(|page| format!(r#"[{{"at": {page}}}]"#)), "does not end");
}

#[test]
fn a_hole_in_the_middle_is_walked_over() {
    let with_hole = |page: u64| if page == 2 { 0..0 } else { slice(page - u64::from(page > 2), 100, 250) };
    assert_whole(&walk(|page| envelope(with_hole(page), 250)), 250, 4);
    assert_whole(&walk(|page| entries(with_hole(page))), 250, 6);
    let wide = walk(|page| envelope(if page > 1 && page < 9 { 0..0 } else { slice(page, 100, 1000) }, 1000));
    assert_unproven(&wide, "1000 records, and its pages held 100");
}

#[test]
fn records_that_are_added_at_the_end_are_taken_along() {
    let grown = |page: u64| 249 + page.min(3);
    assert_whole(&walk(|page| envelope(slice(page, 100, grown(page)), grown(page))), 252, 4);
}

#[test]
fn records_that_are_added_at_the_front_are_missed_and_that_is_said() {
    // From the second page on there is one more before all others.
    let shifted = |page: u64| if page == 1 { 0..100 } else { (page - 1) * 100 - 1..(page * 100 - 1).min(250) };
    let walked = walk(|page| envelope(shifted(page), 250 + u64::from(page > 1)));
    assert_unproven(&walked, "251 records, and its pages held 250");
    assert_eq!(walked.walk.duplicates, 1);
    assert_unproven(&walk(|page| entries(shifted(page).start.min(250)..shifted(page).end)), "repeat");
}

#[test]
fn records_that_are_removed_take_others_past_the_reader_and_that_is_said() {
    // The record 0 goes after the first page: 100 moves to the first page and is never seen.
    let shifted =
        |page: u64| if page == 1 { 0..100 } else { ((page - 1) * 100 + 1).min(250)..(page * 100 + 1).min(250) };
    let walked = walk(|page| envelope(shifted(page), 250 - u64::from(page > 1)));
    assert!(!walked.found.contains(&r#"{"id": "100"}"#.to_owned()));
    assert_unproven(&walked, "removed");
}

#[test]
fn pages_that_overlap_are_made_distinct() {
    let overlapping = |page: u64| ((page - 1) * 90).min(250)..((page - 1) * 90 + 100).min(250);
    let walked = walk(|page| envelope(overlapping(page), 250));
    assert_whole(&walked, 250, 3);
    assert_eq!(walked.walk.duplicates, 20);
}

#[test]
fn records_without_ids_are_all_kept() {
    let named = |page: u64| slice(page, 2, 5).map(|n| format!(r#"{{"n": {n}}}"#)).collect::<Vec<_>>().join(",");
    let walked = walk(|page| format!("[{}]", named(page)));
    assert_eq!((walked.found.len(), walked.walk.completeness()), (5, Completeness::ReadToTheEnd));
    // Two that look alike on different pages may be two or one.
    let alike = walk(|page| match page {
        1 => r#"{"data": [{"n": 1}, {"n": 1}], "total": 4}"#.to_owned(),
        2 => r#"{"data": [{"n": 2}, {"n": 1}], "total": 4}"#.to_owned(),
        _ => r#"{"data": [], "total": 4}"#.to_owned(),
    });
    assert_eq!(alike.found.len(), 4);
    assert_unproven(&alike, "look alike");
}

#[test]
fn an_id_is_not_taken_for_a_text_and_null_is_none() {
    let walked = walk(|page| match page {
        1 => r#"[{"id": 1}, {"id": "1"}, {"id": null, "n": 1}, {"id": null, "n": 2}, 7, "x"]"#.to_owned(),
        _ => "[]".to_owned(),
    });
    // A number and a text with the same digits are one id.
    assert_eq!((walked.found.len(), walked.walk.duplicates), (5, 1));
}

/// Any JSON, some levels deep.
fn json() -> impl proptest::strategy::Strategy<Value = serde_json::Value> {
    use proptest::prelude::{Just, Strategy, any, prop_oneof};
    use serde_json::Value;
    let name = || prop_oneof!["[a-c]{0,2}", "\\PC{0,3}", Just("\"}{\\ \n".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i32>().prop_map(Value::from),
        name().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec((name(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest::proptest! {
    /// Whatever JSON a page holds, its entries and their fields are found as they stand.
    #[test]
    fn every_entry_and_field_is_found(list in proptest::collection::vec(json(), 0..6), is_wide in proptest::bool::ANY) {
        let body = serde_json::json!({"x": {"data": 1}, "data": list, "total": list.len()});
        let text = if is_wide { serde_json::to_string_pretty(&body) } else { serde_json::to_string(&body) };
        let page = read(text.expect("JSON").into_bytes()).expect("a page");
        proptest::prop_assert_eq!((page.len(), page.total), (list.len(), Some(list.len() as u64)));
        let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        for (entry, value) in page.entries().zip(&list) {
            proptest::prop_assert_eq!(&parsed(entry.text()), value);
            let fields = entry.fields().map(|(name, value)| (unquoted(name).into_owned(), parsed(value)));
            let expected = value.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
            proptest::prop_assert_eq!(fields.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }

    /// A list that stands still and is paged properly is whole, whatever its length and page size.
    #[test]
    fn an_honest_list_is_whole(len in 0u64..400, size in 1u64..50, is_told in proptest::bool::ANY) {
        let page = |page| if is_told { envelope(slice(page, size, len), len) } else { entries(slice(page, size, len)) };
        let walked = walk(page);
        proptest::prop_assert!(!matches!(walked.walk.completeness(), Completeness::Unproven(_)));
        proptest::prop_assert_eq!(walked.found.len() as u64, len);
        proptest::prop_assert!(walked.fetches <= len.div_ceil(size) + 2);
    }

    /// Whatever pages come, the walk ends; and where it calls a list whole, it has as many as the list says at last.
    #[test]
    fn any_pages_end(pages in proptest::collection::vec((proptest::collection::vec(0u64..20, 0..6), 0u64..12), 1..8)) {
        let walked = walk(|page| {
            let (ids, total) = &pages[usize::try_from(page).expect("small") % pages.len()];
            if *total == 11 { entries(ids.iter().copied()) } else { envelope(ids.iter().copied(), *total) }
        });
        if walked.walk.completeness() == Completeness::TotalReached {
            proptest::prop_assert_eq!(walked.walk.total, Some(walked.found.len() as u64));
        }
    }
}

#[test]
fn pages_are_asked_for_ahead_only_as_far_as_they_are_likely_to_be_there() {
    let mut walk = Walk::default();
    let mut horizons = vec![walk.horizon()];
    for page in 1..=6 {
        walk.take(&read(entries(slice(page, 10, 35)).into_bytes()).expect("a page"));
        horizons.push(walk.horizon());
    }
    // Four pages are full, the fifth and the sixth empty.
    assert_eq!(horizons, [1, 2, 4, 6, 8, 6, 7]);
    let mut told = Walk::default();
    told.take(&read(envelope(0..10, 95).into_bytes()).expect("a page"));
    assert_eq!(told.horizon(), 10);
}

#[test]
fn a_second_reading_tells_what_came_and_went_between() {
    let read_twice = |second: std::ops::Range<u64>| {
        let first = walk(|page| envelope(slice(page, 10, 35), 35)).walk;
        let mut again = first.again();
        let pages: Vec<u64> = second.collect();
        for page in pages.chunks(10).map(|ids| envelope(ids.iter().copied(), pages.len() as u64)) {
            again.take(&read(page.into_bytes()).expect("a page"));
        }
        first.confirmed_by(&again)
    };
    assert_eq!(read_twice(0..35), Completeness::TotalReached);
    let Completeness::Unproven(reason) = read_twice(1..36) else { panic!("one came and one went") };
    assert!(reason.contains("found 1 records") && reason.contains("missed 1"), "{reason}");
}

#[test]
fn what_is_no_page_is_an_error() {
    for body in ["", "<html>", "{}", r#"{"data": {}}"#, r#"{"data": [1"#, "[1] [2]", "null", r#"{"data":[],"data":[]}"#]
    {
        assert!(read(body.as_bytes().to_vec()).is_err(), "{body}");
    }
    assert!(read(b"[\"\xff\"]".to_vec()).is_err());
    let page = read(b" [1, 2]".to_vec()).expect("a page");
    assert_eq!((page.len(), page.total), (2, None));
}

#[test]
fn entries_and_their_fields_are_found_as_they_stand() {
    let body = r#" {"total" : 3, "d\u0061ta": [ { "a" : 1.50 , "b" : {"c": [1, "}"]} } ,{}, 7, {"\u0061":"x\ty"}] } "#;
    let page = read(body.as_bytes().to_vec()).expect("a page");
    let found: Vec<_> = page.entries().map(|entry| (entry.text(), entry.fields().collect::<Vec<_>>())).collect();
    assert_eq!(
        found,
        [
            (r#"{ "a" : 1.50 , "b" : {"c": [1, "}"]} }"#, vec![("\"a\"", "1.50"), ("\"b\"", r#"{"c": [1, "}"]}"#)]),
            ("{}", vec![]),
            ("7", vec![]),
            (r#"{"\u0061":"x\ty"}"#, vec![(r#""\u0061""#, r#""x\ty""#)]),
        ]
    );
    assert_eq!(page.total, Some(3));
    // The same, where all entries are objects with fields.
    let page = read(br#"[ {"a":"}"  } , {"b":{} , "c":[] }]"#.to_vec()).expect("a page");
    assert_eq!(
        page.entries().map(|entry| entry.text()).collect::<Vec<_>>(),
        [r#"{"a":"}"  }"#, r#"{"b":{} , "c":[] }"#]
    );
}
