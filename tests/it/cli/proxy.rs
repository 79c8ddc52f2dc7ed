//! Proxies from environment variables.

use std::time::Duration;

use super::process::Place;
use super::{accounting, count, items, summary};
use crate::faults::server::{Reply, Server, answer};

const ITEMS: &str = "/v1/public/items";

#[tokio::test(flavor = "multi_thread")]
async fn uploads_use_the_proxy_from_the_environment() {
    let server = Server::start(|_| Reply::Accept).await;
    let host = server.address.trim_start_matches("http://");
    for (name, value, base, path) in [
        // Only the proxy can resolve this host.
        ("HTTP_PROXY", server.address.as_str(), "http://service.invalid", format!("http://service.invalid{ITEMS}")),
        ("http_proxy", host, "http://service.invalid/below/", format!("http://service.invalid/below{ITEMS}")),
        ("ALL_PROXY", &server.address, "http://service.invalid", format!("http://service.invalid{ITEMS}")),
        ("HTTPS_PROXY", "http://127.0.0.1:9", &server.address, ITEMS.to_owned()),
    ] {
        let place = Place::new();
        place.write("items.csv", items(5));
        let before = server.log().len();
        let upload = place.sheetport(["upload", "items.csv", "-t", "items", "--json", "--insecure-http"]);
        let upload = upload.env("SHEETPORT_BASE_URL", base).secret("SHEETPORT_ACCESS_TOKEN", "access-1");
        let upload = summary(&upload.env(name, value).exits(0));
        assert_eq!(accounting(&upload), "5: sent 5", "{name}");
        let log = &server.log()[before..];
        assert!(log.len() == 5 && log.iter().all(|seen| seen.path == path), "{name}: {log:?}");
    }
}

/// Without `--rate`, requests to another machine begin slowly.
#[tokio::test(flavor = "multi_thread")]
async fn uploads_to_other_machines_measure_the_rate_by_default() {
    let server = Server::start(|_| Reply::Accept).await;
    let place = Place::new();
    place.write("items.csv", items(12));
    let upload =
        place.sheetport(["upload", "items.csv", "-t", "items", "--insecure-http"]).env("HTTP_PROXY", &server.address);
    let upload =
        upload.env("SHEETPORT_BASE_URL", "http://service.invalid").secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    upload.exits(0).says(&["The service's rate limit is measured while sending"]);
    let log = server.log();
    assert_eq!(log.len(), 12);
    let in_the_first_second = log.iter().filter(|seen| seen.came - log[0].came < Duration::from_secs(1)).count();
    assert!(in_the_first_second <= 7, "{in_the_first_second} requests");
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_in_no_proxy_are_reached_directly() {
    let server = Server::start(|_| Reply::Accept).await;
    let place = Place::new();
    place.write("items.csv", items(5));
    let upload = place.sheetport(["upload", "items.csv", "-t", "items", "--json"]);
    let upload = upload.env("SHEETPORT_BASE_URL", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    let upload = upload.env("SHEETPORT_PROXY", "http://127.0.0.1:9").env("NO_PROXY", "127.0.0.1").exits(0);
    assert_eq!(accounting(&summary(&upload)), "5: sent 5");
    assert!(server.log().iter().all(|seen| seen.path == ITEMS));
}

/// To the proxy, `localhost` would be another machine, which would get the token.
#[tokio::test(flavor = "multi_thread")]
async fn services_on_this_machine_are_reached_without_the_proxy_of_the_environment() {
    let server = Server::start(|_| Reply::Accept).await;
    let place = Place::new();
    place.write("items.csv", items(5));
    let upload = |variable, proxy| {
        let upload = place.sheetport(["upload", "items.csv", "-t", "items", "--json"]);
        let upload = upload.env("SHEETPORT_BASE_URL", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1");
        upload.env(variable, proxy)
    };
    for variable in ["HTTP_PROXY", "ALL_PROXY"] {
        upload(variable, "http://proxy.invalid:9").exits(0);
        assert!(server.log().iter().all(|seen| seen.path == ITEMS), "{variable}");
    }
    let before = server.log().len();
    let refused = upload("SHEETPORT_PROXY", "http://proxy.invalid:9").exits(2);
    refused.says(&["a token would travel unencrypted to http://proxy.invalid:9", "--insecure-http"]);
    assert_eq!(server.log().len(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_use_the_proxy_from_the_environment() {
    let server = Server::start(|_| answer(200, "", r#"{"data": [{"id": "1"}, {"id": "2"}], "total": 2}"#)).await;
    let place = Place::new();
    let export = place.sheetport(["export", "items", "-o", "items.csv", "--json", "--insecure-http"]);
    let export =
        export.env("SHEETPORT_BASE_URL", "http://service.invalid").secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    let summary = export.env("HTTP_PROXY", &server.address).exits(0).json();
    assert_eq!(count(&summary, "count"), 2, "{summary}");
    let first = server.log()[0].clone();
    assert!(first.path.starts_with(&format!("http://service.invalid{ITEMS}?page=1")), "{first:?}");
    assert_eq!(first.bearer.as_deref(), Some("access-1"));
}

/// Over HTTP the proxy answers the request itself, over HTTPS it refuses the tunnel.
#[tokio::test(flavor = "multi_thread")]
async fn proxy_that_requires_credentials_stops_the_upload() {
    let proxy = Server::start(|_| answer(407, "proxy-authenticate: Basic\r\n", "")).await;
    for (name, base) in [("HTTP_PROXY", "http://service.invalid"), ("HTTPS_PROXY", "https://service.invalid")] {
        let place = Place::new();
        place.write("items.csv", items(5));
        let upload = place.sheetport(["upload", "items.csv", "-t", "items", "--json", "--insecure-http"]);
        let upload = upload.env("SHEETPORT_BASE_URL", base).secret("SHEETPORT_ACCESS_TOKEN", "access-1");
        let upload = upload.env(name, &proxy.address).exits(9);
        let upload = upload.says(&["the proxy requires credentials (407)", "user:password@proxy.example"]);
        assert_eq!(accounting(&summary(&upload)), "5: pending 5", "{name}");
    }
}

#[test]
fn services_in_the_same_process_are_reached_without_a_proxy() {
    let place = Place::new();
    place.write("items.csv", items(5));
    for variable in ["HTTP_PROXY", "SHEETPORT_PROXY"] {
        let upload = place.sheetport(["upload", "items.csv", "-t", "items", "--rehearse", "--json"]);
        let upload = upload.env(variable, "http://127.0.0.1:9").exits(0);
        assert_eq!(accounting(&summary(&upload)), "5: sent 5", "{variable}");
    }
}
