//! Counters and histograms.

use super::super::process::Place;
use super::collector::{Answer, Collector};
use super::{command, run, write_items};
use crate::faults::server::{Reply, Server, answer};

#[tokio::test(flavor = "multi_thread")]
async fn records_requests_and_waits_are_counted() {
    let place = Place::new();
    let service = Server::start(|seen| match (seen.key().as_str(), seen.repeat) {
        ("SECRETKEY-1", 0) => answer(503, "", ""),
        ("SECRETKEY-2", 0) => answer(429, "", ""),
        ("SECRETKEY-3", _) => answer(422, "", ""),
        _ => Reply::Accept,
    })
    .await;
    let collector = Collector::start(Answer::Accept).await;
    write_items(&place);
    run(collector.of(command(&place, &service, &["upload", "items.csv", "-t", "items", "--rate", "20/s", "-q"])), 3)
        .await;
    let records = collector.counts("sheetport.records", "sheetport.outcome");
    assert_eq!(records, [("failed".to_owned(), 1), ("sent".to_owned(), 3)].into());
    assert_eq!(collector.counts("sheetport.retries", "sheetport.purpose"), [("send".to_owned(), 1)].into());
    assert_eq!(collector.counts("sheetport.throttled", "sheetport.purpose"), [("send".to_owned(), 1)].into());
    let count = |name: &str| -> u64 {
        let count = |point: &serde_json::Value| point["count"].as_str().and_then(|count| count.parse().ok());
        collector.points(name).iter().map(|point| point["count"].as_u64().or_else(|| count(point)).unwrap()).sum()
    };
    assert_eq!(count("http.client.request.duration"), service.log().len() as u64);
    assert!(count("sheetport.rate.wait") > 0);
    super::traces::assert_no_secrets(&collector);
}
