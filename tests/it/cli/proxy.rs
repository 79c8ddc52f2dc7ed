//! Proxies that the environment names: what is sent goes through them, and past them where it says so.

use super::process::Place;
use super::{accounting, count, items, summary};
use crate::faults::server::{Reply, Server, answer};

const ITEMS: &str = "/v1/public/items";

#[tokio::test(flavor = "multi_thread")]
async fn uploads_go_through_the_proxy_that_the_environment_names() {
    let server = Server::start(|_| Reply::Accept).await;
    let host = server.address.trim_start_matches("http://");
    for (name, value, base, path) in [
        // Nobody but the proxy could find that service.
        ("HTTP_PROXY", server.address.as_str(), "http://service.invalid", format!("http://service.invalid{ITEMS}")),
        ("http_proxy", host, "http://service.invalid/below/", format!("http://service.invalid/below{ITEMS}")),
        ("ALL_PROXY", &server.address, "http://service.invalid", format!("http://service.invalid{ITEMS}")),
        ("HTTPS_PROXY", "http://127.0.0.1:9", &server.address, ITEMS.to_owned()),
    ] {
        let place = Place::new();
        place.write("items.csv", items(5));
        let before = server.log().len();
        let upload = place.sheetport(["upload", "items.csv", "-t", "items", "--json"]);
        let upload = upload.env("SHEETPORT_BASE_URL", base).secret("SHEETPORT_ACCESS_TOKEN", "access-1");
        let upload = summary(&upload.env(name, value).exits(0));
        assert_eq!(accounting(&upload), "5: sent 5", "{name}");
        let log = &server.log()[before..];
        assert!(log.len() == 5 && log.iter().all(|seen| seen.path == path), "{name}: {log:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_needs_no_proxy_is_spoken_to_directly() {
    let server = Server::start(|_| Reply::Accept).await;
    let place = Place::new();
    place.write("items.csv", items(5));
    let upload = place.sheetport(["upload", "items.csv", "-t", "items", "--json"]);
    let upload = upload.env("SHEETPORT_BASE_URL", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    let upload = upload.env("HTTP_PROXY", "http://127.0.0.1:9").env("NO_PROXY", "127.0.0.1").exits(0);
    assert_eq!(accounting(&summary(&upload)), "5: sent 5");
    assert!(server.log().iter().all(|seen| seen.path == ITEMS));
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_go_through_the_proxy_too() {
    let server = Server::start(|_| answer(200, "", r#"{"data": [{"id": "1"}, {"id": "2"}], "total": 2}"#)).await;
    let place = Place::new();
    let export = place.sheetport(["export", "items", "-o", "items.csv", "--json"]);
    let export =
        export.env("SHEETPORT_BASE_URL", "http://service.invalid").secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    let told = export.env("HTTP_PROXY", &server.address).exits(0).json();
    assert_eq!(count(&told, "count"), 2, "{told}");
    let first = server.log()[0].clone();
    assert!(first.path.starts_with(&format!("http://service.invalid{ITEMS}?page=1")), "{first:?}");
    assert_eq!(first.bearer.as_deref(), Some("access-1"));
}
