//! Services that grant large pages, or cap, ignore or refuse them: an export finds the largest size with few requests, and has
//! every record.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sheetport_client::{KnownSizes, PageSize};
use sheetport_export::{Error, Exported};

use super::client;
use super::exports::{export_as, job, number};
use super::server::{Reply, Seen, Server, answer};

/// Number of records in the list.
const LEN: usize = 2_345;

/// Returns the requested page size.
fn limit(seen: &Seen) -> usize {
    seen.path.split_once("&limit=").unwrap().1.parse().unwrap()
}

fn page(number: usize, size: usize, has_total: bool) -> Reply {
    let ids: Vec<String> =
        ((number - 1) * size..LEN).take(size).map(|id| format!(r#"{{"id":"{id}","name":"n"}}"#)).collect();
    let total = if has_total { format!(r#","total":{LEN}"#) } else { String::new() };
    answer(200, "", &format!(r#"{{"data":[{}]{total}}}"#, ids.join(",")))
}

fn refused() -> Reply {
    answer(400, "", r#"{"message": "limit is too large"}"#)
}

/// Exports to a new file, with what is known.
async fn export(server: &Server, size: PageSize) -> Result<Exported, Error> {
    let folder = tempfile::tempdir().unwrap();
    let mut job = job(folder.path());
    job.page_size = size;
    let exported = export_as(client(server, 4), &job).await?;
    let manifest = &exported.manifest;
    assert!(manifest.complete && manifest.distinct == LEN as u64, "{manifest:#?}");
    Ok(exported)
}

fn known(granted: u64, refused: u64) -> KnownSizes {
    let size = |size| (size > 0).then_some(size);
    KnownSizes { granted: size(granted), refused: size(refused) }
}

/// A service, by what it answers to a page number and a size.
struct Service {
    name: &'static str,
    answers: fn(usize, usize) -> Reply,
    /// Requests of a first export, with the first page that is read again at the end.
    requests: usize,
    learned: KnownSizes,
    /// Requests of the next one.
    next_requests: usize,
}

const SERVICES: [Service; 7] = [
    Service {
        name: "grants everything",
        answers: |number, size| page(number, size, true),
        requests: 4,
        learned: KnownSizes { granted: Some(1_000), refused: None },
        next_requests: 4,
    },
    Service {
        name: "caps at 250",
        answers: |number, size| page(number, size.min(250), true),
        requests: 11,
        learned: KnownSizes { granted: Some(250), refused: Some(251) },
        next_requests: 11,
    },
    Service {
        name: "caps the page, but begins it by the size that was asked for",
        answers: |number, size| {
            let first = (number - 1) * size;
            let ids: Vec<String> = (first..LEN).take(size.min(100)).map(|id| format!(r#"{{"id":"{id}"}}"#)).collect();
            answer(200, "", &format!(r#"{{"data":[{}],"total":{LEN}}}"#, ids.join(",")))
        },
        requests: 25,
        learned: KnownSizes { granted: Some(100), refused: Some(101) },
        next_requests: 25,
    },
    Service {
        name: "refuses more than 100",
        answers: |number, size| if size > 100 { refused() } else { page(number, size, true) },
        requests: 26,
        learned: KnownSizes { granted: Some(100), refused: Some(1_000) },
        // 500 is tried.
        next_requests: 26,
    },
    Service {
        name: "refuses more than 500",
        answers: |number, size| if size > 500 { refused() } else { page(number, size, true) },
        requests: 26,
        learned: KnownSizes { granted: Some(100), refused: Some(1_000) },
        next_requests: 6,
    },
    Service {
        name: "returns twenty if it is asked for more than 100",
        answers: |number, size| page(number, if size > 100 { 20 } else { size }, true),
        requests: 26,
        learned: KnownSizes { granted: Some(100), refused: Some(1_000) },
        next_requests: 26,
    },
    Service {
        name: "breaks down at more than 100",
        answers: |number, size| if size > 100 { answer(504, "", "<html>") } else { page(number, size, true) },
        requests: 26,
        learned: KnownSizes { granted: Some(100), refused: Some(1_000) },
        next_requests: 26,
    },
];

#[tokio::test]
async fn the_largest_page_is_found_with_at_most_one_request_more() {
    for Service { name, answers, requests, learned, next_requests } in SERVICES {
        let server = Server::start(move |seen| answers(number(seen), limit(seen))).await;
        let first = export(&server, PageSize::Largest(KnownSizes::default())).await.unwrap();
        assert_eq!((server.log().len(), first.known_sizes), (requests, Some(learned)), "{name}");
        assert_eq!(first.manifest.requests, requests as u64, "{name}");
        export(&server, PageSize::Largest(learned)).await.unwrap();
        assert_eq!(server.log().len() - requests, next_requests, "{name}");
    }
}

#[tokio::test]
async fn a_size_that_the_service_has_refused_is_not_asked_for_again() {
    let server =
        Server::start(|seen| if limit(seen) > 250 { refused() } else { page(number(seen), limit(seen), true) }).await;
    let mut sizes = KnownSizes::default();
    let mut requests = Vec::new();
    for _ in 0..5 {
        let before = server.log().len();
        sizes = export(&server, PageSize::Largest(sizes)).await.unwrap().known_sizes.unwrap();
        requests.push(server.log().len() - before);
    }
    assert_eq!((requests, sizes), (vec![26, 26, 11, 11, 11], known(250, 500)));
    // It grants less than before.
    let server =
        Server::start(|seen| if limit(seen) > 200 { refused() } else { page(number(seen), limit(seen), true) }).await;
    let exported = export(&server, PageSize::Largest(sizes)).await.unwrap();
    assert_eq!((server.log().len(), exported.known_sizes), (26, Some(known(100, 250))));
}

#[tokio::test]
async fn without_a_total_short_pages_are_followed_by_smaller_sizes() {
    // A list without total is read twice, each time with two pages beyond its end and some more on their way.
    let server = Server::start(|seen| page(number(seen), limit(seen).min(500), false)).await;
    let exported = export(&server, PageSize::Largest(KnownSizes::default())).await.unwrap();
    assert_eq!((exported.manifest.page_size, exported.known_sizes), (Some(500), Some(known(500, 501))));
    assert!(server.log().len() <= 24, "{}", server.log().len());
    let usual = |seen: &Seen| page(number(seen), if limit(seen) > 300 { 20 } else { limit(seen) }, false);
    let server = Server::start(usual).await;
    let mut sizes = KnownSizes::default();
    for page_size in [20, 20, 250, 250] {
        let exported = export(&server, PageSize::Largest(sizes)).await.unwrap();
        assert_eq!(exported.manifest.page_size, Some(page_size));
        sizes = exported.known_sizes.unwrap();
    }
}

#[tokio::test]
async fn a_list_whose_later_pages_are_too_large_is_read_with_small_ones() {
    type Failure = fn() -> Reply;
    for failure in [refused as Failure, || answer(413, "", ""), || answer(500, "", "")] {
        let server = Server::start(move |seen| match (number(seen), limit(seen)) {
            (2.., 101..) => failure(),
            (number, size) => page(number, size, true),
        })
        .await;
        let exported = export(&server, PageSize::Largest(KnownSizes::default())).await.unwrap();
        assert_eq!((exported.manifest.page_size, exported.known_sizes), (Some(100), Some(known(100, 101))));
        assert!(!exported.manifest.resumed);
    }
}

#[tokio::test]
async fn a_lost_answer_says_nothing_about_sizes() {
    for broken in [|| Reply::Reset, || answer(200, "", r#"{"data": [{"id""#)] {
        let server = Server::start(move |seen| match seen.number {
            0 => broken(),
            _ => page(number(seen), limit(seen), true),
        })
        .await;
        let exported = export(&server, PageSize::Largest(KnownSizes::default())).await.unwrap();
        assert_eq!((exported.manifest.page_size, exported.known_sizes), (Some(100), Some(known(100, 0))));
    }
}

#[tokio::test]
async fn a_chosen_size_is_asked_for_and_nothing_is_learned() {
    let server = Server::start(|seen| page(number(seen), limit(seen), true)).await;
    let exported = export(&server, PageSize::Chosen(50)).await.unwrap();
    assert_eq!((exported.manifest.page_size, exported.known_sizes), (Some(50), None));
    assert!(server.log().iter().all(|seen| limit(seen) == 50));
    let server = Server::start(|_| refused()).await;
    let error = export(&server, PageSize::Chosen(5_000)).await.unwrap_err();
    assert_eq!((server.log().len(), error.to_string().contains("limit is too large")), (1, true), "{error}");
}

#[tokio::test]
async fn an_interrupted_export_goes_on_with_the_same_size() {
    let refusals = Arc::new(AtomicUsize::new(1));
    let left = Arc::clone(&refusals);
    let server = Server::start(move |seen| match number(seen) {
        3 if left.swap(0, Ordering::Relaxed) > 0 => answer(403, "", "{}"),
        number => page(number, limit(seen).min(300), true),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let job = job(folder.path());
    let error = export_as(client(&server, 1), &job).await.unwrap_err();
    assert!(error.to_string().contains("403"), "{error}");
    let before = server.log().len();
    let manifest = export_as(client(&server, 1), &job).await.unwrap().manifest;
    assert!(manifest.complete && manifest.resumed && manifest.distinct == LEN as u64, "{manifest:#?}");
    assert_eq!(manifest.page_size, Some(300));
    assert!(server.log_from(before).iter().all(|seen| limit(seen) == 300));
}
