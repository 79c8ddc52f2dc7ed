//! Exports from services that refuse a request: the message says what happened, and what can be done.

use crate::cli::process::{Ended, Place};
use crate::faults::server::{Reply, Server, answer};

/// A server that reacts to its first requests by `reply`, and sends pages from the request number `first` on. The first page is
/// requested twice, because it is short.
async fn server(first: usize, reply: impl Fn(u32) -> Reply + Send + Sync + 'static) -> Server {
    Server::with_probes(move |seen| {
        let (_, query) = seen.path.split_once("?page=").unwrap();
        let number = query.split('&').next().unwrap().parse().unwrap();
        if seen.number >= first { page(number) } else { reply(number) }
    })
    .await
}

/// Exports items in `place`.
fn export(place: &Place, args: &[&str], server: &Server) -> Ended {
    let words = ["export", "items", "-o", "items.csv", "--concurrency", "1"].iter().chain(args);
    let command = place.sheetport(words).env("SHEETPORT_BASE_URL", &server.address);
    command.secret("SHEETPORT_ACCESS_TOKEN", "access-1").run()
}

/// Returns a page of ten items of fifty.
fn page(number: u32) -> Reply {
    let ids: Vec<String> = (0..10).map(|id| format!(r#"{{"id":"{}"}}"#, (number - 1) * 10 + id)).collect();
    answer(200, "", &format!(r#"{{"data":[{}],"total":50}}"#, ids.join(",")))
}

const SAME_COMMAND: &str = "run the same command again within an hour";

#[tokio::test(flavor = "multi_thread")]
async fn each_refusal_says_what_it_is_and_the_remedy() {
    let redirect = "location: https://shop.example/login?token=secret-1#a\r\n";
    for (status, headers, body, exit, says) in [
        (
            302,
            redirect,
            "",
            9,
            &[
                "the service redirects (302) to https://shop.example/login, and a token is never sent",
                "the service's own root address",
            ][..],
        ),
        (
            400,
            "",
            r#"{"message": "unknown workspace"}"#,
            9,
            &[
                "the service answered 400 for /v1/public/items: unknown workspace",
                "will not accept it later",
                "base address",
            ],
        ),
        (
            403,
            "",
            r#"{"detail": "not yours"}"#,
            5,
            &["the service answered 403 for /v1/public/items: not yours", "Regular is enough", "sheetport doctor"],
        ),
        (
            404,
            "",
            "<html>",
            9,
            &[
                "the service answered 404 for /v1/public/items",
                "nothing is there: check the base address",
                "without /v1",
                "--family legacy",
            ],
        ),
    ] {
        let place = Place::new();
        let body = body.to_owned();
        let server = server(usize::MAX, move |_| answer(status, headers, &body)).await;
        let ended = export(&place, &[], &server).exits(exit).says(says);
        assert!(!ended.stderr.contains(SAME_COMMAND), "nothing was read: {}", ended.stderr);
        assert!(!ended.stderr.contains("secret-1") && !ended.stderr.contains("later;"), "{}", ended.stderr);
        assert_eq!(place.names(), ["home"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_after_some_pages_says_that_they_are_kept() {
    for (status, exit, says) in [(400, 9, "will not accept it later"), (403, 5, "Regular is enough")] {
        let place = Place::new();
        let server = server(4, move |number| if number < 3 { page(number) } else { answer(status, "", "{}") }).await;
        export(&place, &[], &server).exits(exit).says(&[says, SAME_COMMAND]);
        export(&place, &[], &server).exits(0).shows(&["50 items", "continued an interrupted export"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_failures_are_one_line_with_the_remedy() {
    let place = Place::new();
    let refusing =
        server(4, |number| if number < 3 { page(number) } else { answer(403, "", r#"{"message": "no"}"#) }).await;
    let ended = export(&place, &["-q"], &refusing).exits(5);
    assert_eq!((ended.stdout.as_str(), ended.stderr.lines().count()), ("", 1), "{ended:#?}");
    ended.says(&["error: the service answered 403", "Regular is enough", SAME_COMMAND]);
    // A resumed export is silent if all is well.
    let ended = export(&place, &["-q"], &refusing).exits(0);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
    let manifest = std::fs::read_to_string(place.path("items.csv.manifest.json")).unwrap();
    assert!(manifest.contains(r#""resumed": true"#), "{manifest}");
    // Ten records less than the service says.
    let lacking = |number| match number {
        5.. => answer(200, "", r#"{"data":[],"total":50}"#),
        number => page(number),
    };
    let ended = export(&place, &["-q"], &server(usize::MAX, lacking).await).exits(8);
    assert_eq!((ended.stdout.as_str(), ended.stderr.lines().count()), ("", 1), "{ended:#?}");
    ended.says(&["items.csv.incomplete may be incomplete: the service reports a total of 50 records"]);
}
