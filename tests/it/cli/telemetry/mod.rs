//! Traces and metrics: with the feature `otel` for a collector, and none without the feature.

#[cfg(feature = "otel")]
mod collector;
#[cfg(feature = "otel")]
mod metrics;
#[cfg(feature = "otel")]
mod outages;
#[cfg(feature = "otel")]
mod traces;

use super::process::{Ended, Place, Sheetport};
use crate::faults::server::Server;

/// Keys and values that are in no trace.
const ROWS: [&str; 4] = [
    "SECRETKEY-1,Namex,1.25,EUR",
    "SECRETKEY-2,Namex,1.25,EUR",
    "SECRETKEY-3,Namex,1.25,EUR",
    "SECRETKEY-4,Namex,1.25,EUR",
];

/// Writes a file with four items.
fn write_items(place: &Place) {
    place.write("items.csv", format!("SKU,Name,Price,Currency\n{}\n", ROWS.join("\n")));
}

/// Returns a command for the service.
fn command(place: &Place, service: &Server, args: &[&str]) -> Sheetport {
    let command = place.sheetport(args).env("SHEETPORT_BASE_URL", &service.address);
    command.secret("SHEETPORT_ACCESS_TOKEN", "SECRETTOKEN")
}

/// Runs a command without blocking the service.
async fn run(command: Sheetport, code: i32) -> Ended {
    tokio::task::spawn_blocking(move || command.exits(code)).await.unwrap()
}

#[cfg(not(feature = "otel"))]
#[tokio::test(flavor = "multi_thread")]
async fn without_the_feature_nothing_is_traced() {
    use crate::faults::server::Reply;
    let (place, service, collector) =
        (Place::new(), Server::start(|_| Reply::Accept).await, Server::start(|_| Reply::Accept).await);
    write_items(&place);
    let upload = command(&place, &service, &["upload", "items.csv", "-t", "items", "-q"]);
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let upload = upload.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address).env("TRACEPARENT", parent);
    let ended = run(upload, 0).await;
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    ended.says(&[
        "traces and metrics are not exported",
        "cargo install --locked --path . --features keyring --features otel --features parquet --features storage",
    ]);
    assert_eq!(service.log().len(), 4);
    assert!(service.log().iter().all(|seen| seen.traceparent.is_none()));
    assert_eq!(collector.log().len(), 0);
}
