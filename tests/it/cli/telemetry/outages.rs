//! Collectors that are down, slow or refuse everything.

use std::time::Duration;

use super::super::process::{Ended, Place};
use super::collector::{Answer, Collector};
use super::{command, run, write_items};
use crate::faults::server::{Reply, Server};

/// The five seconds at the end, and what an upload takes on a busy machine.
const LONGEST: Duration = Duration::from_secs(14);
const LOST: &str = "traces and metrics are lost";

async fn upload(endpoint: &str) -> Ended {
    let (place, service) = (Place::new(), Server::start(|_| Reply::Accept).await);
    write_items(&place);
    let upload = command(&place, &service, &["upload", "items.csv", "-t", "items", "-q"]);
    let ended = run(upload.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint), 0).await;
    assert_eq!(service.log().len(), 4);
    assert!(ended.took < LONGEST, "{ended:?}");
    ended
}

#[track_caller]
fn assert_one_warning(ended: &Ended, words: &str) {
    assert_eq!(ended.stderr.matches("WARN").count(), 1, "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    assert!(ended.stderr.contains(words), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_down_does_not_matter() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let ended = upload(&format!("http://user:SECRET@{closed}")).await;
    assert_one_warning(&ended, LOST);
    assert!(!ended.stderr.contains("SECRET"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_hangs_costs_five_seconds() {
    let collector = Collector::start(Answer::Hang).await;
    let ended = upload(&collector.address).await;
    assert_one_warning(&ended, LOST);
    assert!(!collector.log().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_refuses_is_a_warning() {
    let collector = Collector::start(Answer::Status(401)).await;
    let ended = upload(&collector.address).await;
    assert_one_warning(&ended, "401");
    assert!(!ended.stderr.contains("SECRETANSWER"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_settings_are_a_warning() {
    let ended = upload("SECRET@collector:4318").await;
    assert_one_warning(&ended, "OTEL_EXPORTER_OTLP_ENDPOINT is not a valid http or https address");
    assert!(!ended.stderr.contains("SECRET"), "{ended:?}");
}
