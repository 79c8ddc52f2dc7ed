//! How many requests an export needs: the size of pages is remembered, and a limited service refuses few of them.

use std::fs;

use super::process::Place;
use super::service::Served;
use super::{accounting, count, summary};
use crate::faults::server::{Server, answer};

/// Returns a sheet of so many items.
fn items(count: usize) -> String {
    (0..count).fold("externalId,name\n".to_owned(), |sheet, id| format!("{sheet}i{id},n{id}\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_size_of_a_service_is_remembered() {
    let server = Server::with_probes(|seen| {
        let (_, query) = seen.path.split_once("?page=").unwrap();
        let (page, limit) = query.split_once("&limit=").unwrap();
        let (page, limit): (usize, usize) = (page.parse().unwrap(), limit.parse().unwrap());
        if limit > 200 {
            return answer(422, "", r#"{"message": "limit: at most 200"}"#);
        }
        let ids: Vec<String> = ((page - 1) * limit..900).take(limit).map(|id| format!(r#"{{"id":"{id}"}}"#)).collect();
        answer(200, "", &format!(r#"{{"data":[{}],"total":900}}"#, ids.join(",")))
    })
    .await;
    let place = Place::new();
    let export = |flags: &[&str]| {
        let words = ["export", "items", "--json"].iter().chain(flags);
        let command = place.sheetport(words).env("SHEETPORT_BASE_URL", &server.address);
        let exported = command.secret("SHEETPORT_ACCESS_TOKEN", "access-1").exits(0).json();
        (count(&exported, "page_size"), count(&exported, "requests"))
    };
    // Each export tries the next size, until one is granted: for every name of a file, as it is the service's.
    assert_eq!(export(&["-o", "a.csv"]), (100, 11));
    assert_eq!(export(&["-o", "b.csv"]), (100, 11));
    assert_eq!(export(&["-o", "c.csv"]), (100, 11));
    assert_eq!(export(&["-o", "d.csv"]), (200, 6));
    assert_eq!(export(&["-o", "d.csv", "--since", "last"]), (200, 6));
    assert_eq!(export(&["-o", "a.csv", "--page-size", "150"]), (150, 7));
    assert_eq!(export(&["-o", "a.csv"]), (200, 6));
    let words = ["export", "items", "-o", "a.csv", "--page-size", "5000"];
    let command = place.sheetport(words).env("SHEETPORT_BASE_URL", &server.address);
    let refused = command.secret("SHEETPORT_ACCESS_TOKEN", "access-1").exits(9);
    refused.says(&["the service answered 422", "limit: at most 200", "leave out --page-size", "--page-size 5000"]);
    for size in ["0", "100001", "many"] {
        place.sheetport(["export", "items", "-o", "a.csv", "--page-size", size]).exits(2).says(&["--page-size", size]);
    }
}

/// A service that says how many requests it accepts is never asked for more, whatever the rate.
#[test]
fn few_requests_are_refused_by_a_limited_service() {
    let place = Place::new();
    place.write("items.csv", items(4_000));
    let load = ["serve", "load", "--data", "service", "--workspace", "shop", "--kind", "items", "items.csv"];
    place.sheetport(load).exits(0);
    let served = Served::start_with(&place, 0, &["--limit", "60/s"]);
    for (flags, concurrency) in [(&[][..], "8"), (&["--rate", "auto"], "8"), (&[], "2")] {
        let words = ["export", "items", "-o", "out.csv", "--json", "--fresh", "--page-size", "20"];
        let export = served.sheetport(&place, words).args(flags).args(["--concurrency", concurrency]);
        let exported = export.exits(0).json();
        assert_eq!(count(&exported, "count"), 4_000);
        // 200 pages, and the first one again.
        let requests = count(&exported, "requests");
        assert!((201..=204).contains(&requests), "{requests} with {flags:?} and {concurrency} at once");
    }
}

#[test]
fn a_comparison_reads_pages_as_large_as_an_export() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("in.csv", items(2_345));
    served.sheetport(&place, ["upload", "in.csv", "-t", "items", "-q"]).exits(0);
    served.sheetport(&place, ["export", "items", "-o", "items.csv", "-q"]).exits(0);
    fs::remove_dir_all(place.path("home")).unwrap();
    let upload = || {
        let words = ["upload", "items.csv", "-t", "exported-items", "--changed-only", "--json"];
        let ended = summary(&served.sheetport(&place, words).exits(0));
        (accounting(&ended), count(&ended, "other_requests"))
    };
    // The list is read for the identifiers, and for the values.
    let (sent, requests) = upload();
    assert_eq!(sent, "2345: unchanged 2345");
    assert!(requests <= 8, "{requests} requests");
}

/// The size of pages is found out with the first one, whose refusal could also be one of the size.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_busy_at_first_is_waited_for() {
    let server = Server::start(|seen| match seen.number {
        0 => answer(429, "retry-after: 1\r\n", "{}"),
        _ => answer(200, "", r#"{"data": [{"id": "1"}, {"id": "2"}], "total": 2}"#),
    })
    .await;
    let place = Place::new();
    let export = place.sheetport(["export", "items", "-o", "items.csv", "--json"]);
    let export = export.env("SHEETPORT_BASE_URL", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    let exported = export.exits(0).json();
    assert_eq!((count(&exported, "count"), &exported["complete"]), (2, &true.into()), "{exported}");
}
