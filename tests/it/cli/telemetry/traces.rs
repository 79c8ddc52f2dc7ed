//! Spans of uploads, workers and exports.

use std::collections::{BTreeMap, BTreeSet};

use super::super::desk::{Desk, late};
use super::super::items;
use super::super::process::Place;
use super::super::service::Served;
use super::collector::{Answer, Collector, Span, named, only};
use super::{command, run, write_items};
use crate::faults::server::{Reply, Seen, Server, answer};

const UPLOAD: [&str; 7] = ["upload", "items.csv", "-t", "items", "--rate", "1000/s", "-q"];
const CALL: &str = "POST /v1/public/items";

/// One item has a failure first, one is refused, and one meets a limit.
fn with_faults(seen: &Seen) -> Reply {
    match (seen.key().as_str(), seen.repeat) {
        ("SECRETKEY-2", 0) => answer(500, "", ""),
        ("SECRETKEY-3", _) => answer(422, "", r#"{"message":"SECRETANSWER"}"#),
        ("SECRETKEY-4", 0) => answer(429, "retry-after: 1\r\n", ""),
        _ => Reply::Accept,
    }
}

/// Asserts that nothing confidential was exported.
#[track_caller]
pub(super) fn assert_no_secrets(collector: &Collector) {
    let text = collector.text();
    assert!(!text.is_empty());
    for secret in ["SECRET", "Namex", "1.25"] {
        let at = text.find(secret);
        assert_eq!(at, None, "{:?}", at.map(|at| &text[at.saturating_sub(200)..at + 50]));
    }
}

/// Returns the requests of a record.
fn calls<'a>(spans: &'a [Span], record: &Span) -> Vec<&'a Span> {
    let mut calls: Vec<_> = spans.iter().filter(|span| span.parent == record.id).collect();
    calls.sort_by_key(|span| span.get("http.request.resend_count").to_owned());
    calls
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_a_trace_from_row_to_request() {
    let (place, service) = (Place::new(), Server::start(with_faults).await);
    let collector = Collector::start(Answer::Accept).await;
    write_items(&place);
    run(collector.of(command(&place, &service, &UPLOAD)), 3).await;
    let spans = collector.spans();
    assert_eq!(spans.iter().map(|span| &span.trace).collect::<BTreeSet<_>>().len(), 1);
    let root = only(&spans, "sheetport upload");
    assert_eq!((root.parent.as_str(), root.get("process.exit.code"), root.is_error), ("", "3", false));
    let plan = only(&spans, "plan");
    assert_eq!((&plan.parent, plan.get("sheetport.rows"), plan.get("sheetport.records")), (&root.id, "4", "4"));
    let sending = only(&spans, "send run");
    assert_eq!(sending.parent, root.id);
    for (name, value) in [
        ("sheetport.run", "1"),
        ("sheetport.kind", "item"),
        ("sheetport.template", "items"),
        ("sheetport.base_url", &service.address),
        ("sheetport.sent", "3"),
        ("sheetport.failed", "1"),
        ("sheetport.retries", "1"),
        ("sheetport.throttled", "1"),
        ("sheetport.stopped", "false"),
    ] {
        assert_eq!(sending.get(name), value, "{name}: {sending:?}");
    }

    let records: BTreeMap<&str, &Span> =
        named(&spans, "send record").into_iter().map(|span| (span.get("sheetport.row"), span)).collect();
    let outcomes: Vec<_> = records
        .iter()
        .map(|(row, span)| (*row, span.get("sheetport.record"), span.get("sheetport.outcome"), span.is_error))
        .collect();
    let expected =
        [("2", "1", "sent", false), ("3", "2", "sent", false), ("4", "3", "failed", true), ("5", "4", "sent", false)];
    assert_eq!(outcomes, expected);
    assert!(records.values().all(|span| span.parent == sending.id && span.kind == 1));
    let answers = |row: &str| -> Vec<(String, String, String)> {
        let attributes = ["http.response.status_code", "error.type", "http.request.resend_count"];
        let calls = calls(&spans, records[row]);
        assert!(calls.iter().all(|call| call.name == CALL && call.kind == 3));
        calls.iter().map(|call| attributes.map(|name| call.get(name).to_owned()).into()).collect()
    };
    let answered = |status: &str, error: &str, resends: &str| (status.to_owned(), error.to_owned(), resends.to_owned());
    assert_eq!(answers("2"), [answered("200", "", "")]);
    assert_eq!(answers("3"), [answered("500", "500", ""), answered("200", "", "1")]);
    assert_eq!(answers("4"), [answered("422", "422", "")]);
    assert_eq!(answers("5"), [answered("429", "429", ""), answered("200", "", "1")]);
    let call = calls(&spans, records["2"])[0];
    let port = service.address.rsplit_once(':').unwrap().1;
    for (name, value) in [
        ("http.request.method", "POST"),
        ("url.template", "/v1/public/items"),
        ("url.scheme", "http"),
        ("server.address", "127.0.0.1"),
        ("server.port", port),
    ] {
        assert_eq!(call.get(name), value, "{name}");
    }

    // Every request names its span.
    let sent: BTreeSet<String> = named(&spans, CALL).into_iter().map(Span::traceparent).collect();
    let received: BTreeSet<String> = service.log().into_iter().map(|seen| seen.traceparent.unwrap()).collect();
    assert_eq!((received.len(), received), (6, sent));
    assert_no_secrets(&collector);
    let resource = collector.resource();
    assert_eq!(resource["service.name"], "sheetport");
    assert!(resource.contains_key("service.instance.id"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_token_is_in_the_trace_and_its_value_is_not() {
    let place = Place::new();
    let service = Server::start(|seen| match (seen.path.as_str(), seen.bearer.as_deref()) {
        ("/api/token/refresh/", _) => answer(200, "", r#"{"access":"SECRETTOKEN-2","refresh":"SECRETREFRESH-2"}"#),
        (_, Some("SECRETTOKEN-2")) => Reply::Accept,
        _ => answer(401, "", ""),
    })
    .await;
    let collector = Collector::start(Answer::Accept).await;
    place.write("items.csv", format!("SKU,Name,Price,Currency\n{}\n", super::ROWS[0]));
    let upload = command(&place, &service, &UPLOAD).secret("SHEETPORT_REFRESH_TOKEN", "SECRETREFRESH");
    run(collector.of(upload), 0).await;
    let spans = collector.spans();
    let record = only(&spans, "send record");
    let renewal = only(&spans, "POST /api/token/refresh/");
    assert_eq!((&renewal.parent, renewal.get("http.request.resend_count")), (&record.id, ""));
    let calls: Vec<_> = calls(&spans, record).into_iter().filter(|span| span.name == CALL).collect();
    let statuses: Vec<_> = calls.iter().map(|call| call.get("http.response.status_code")).collect();
    assert_eq!(statuses, ["401", "200"]);
    assert_no_secrets(&collector);
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_traced_without_their_numbers() {
    let (place, service) = (Place::new(), Server::start(|_| Reply::Accept).await);
    let collector = Collector::start(Answer::Accept).await;
    place.write("orders.csv", "Order no.,Customer no.,Item no.,Quantity\nSECRET-1,42,A,2\nSECRET-1,42,B,1\n");
    run(collector.of(command(&place, &service, &["upload", "orders.csv", "-t", "orders", "-q"])), 0).await;
    assert!(service.log().iter().any(|seen| seen.path == "/v1/public/orders/SECRET-1"));
    let spans = collector.spans();
    let record = only(&spans, "send record");
    assert_eq!((record.get("sheetport.row"), record.get("sheetport.rows")), ("2", "2"));
    assert_eq!(only(&spans, "PUT /v1/public/orders/{order_id}").parent, record.id);
    assert_no_secrets(&collector);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_part_of_a_worker_is_a_trace() {
    let Some(desk) = Desk::new(|_| late(Reply::Accept)).await else { return };
    let collector = Collector::start(Answer::Accept).await;
    desk.place.write("items.csv", items(150));
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    let worker = desk.on("two", &["work", "--until-idle"]);
    // Not continued: a worker sends runs of many origins.
    let worker = worker.env("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    run(collector.of(worker), 0).await;
    let spans = collector.spans();
    let parts = named(&spans, "send part");
    let ranges: Vec<_> =
        parts.iter().map(|part| [part.get("sheetport.part.first"), part.get("sheetport.part.last")]).collect();
    assert_eq!(ranges, [["1", "64"], ["65", "128"], ["129", "150"]]);
    assert!(parts.iter().all(|part| part.parent.is_empty() && part.get("sheetport.run") == "1"));
    let traces: BTreeSet<_> = parts.iter().map(|part| part.trace.as_str()).collect();
    assert_eq!(traces.len(), 3);
    let records = named(&spans, "send record");
    assert_eq!(records.len(), 150);
    assert!(
        records.iter().all(|record| parts.iter().any(|part| part.id == record.parent && part.trace == record.trace))
    );
    assert_eq!(collector.counts("sheetport.records", "sheetport.outcome"), [("sent".to_owned(), 150)].into());
    assert_eq!(collector.points("sheetport.worker.parts")[0]["asInt"], "3");
    assert_eq!(collector.points("sheetport.worker.runs_finished")[0]["asInt"], "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_a_trace_with_its_pages() {
    let place = Place::new();
    let served = Served::demo(&place);
    let total = served.total();
    let collector = Collector::start(Answer::Accept).await;
    run(collector.of(served.sheetport(&place, ["export", "items", "-o", "items.csv", "--page-size", "10", "-q"])), 0)
        .await;
    let spans = collector.spans();
    let root = only(&spans, "sheetport export");
    let export = only(&spans, "export");
    assert_eq!((&export.parent, export.get("sheetport.workspace")), (&root.id, "demo"));
    assert_eq!(
        (export.get("sheetport.records"), export.get("sheetport.complete")),
        (total.to_string().as_str(), "true")
    );
    let pages = named(&spans, "read /v1/public/items");
    assert!(pages.iter().all(|page| page.parent == export.id));
    let numbers: BTreeSet<u64> = pages.iter().map(|page| page.get("sheetport.page").parse().unwrap()).collect();
    assert!(numbers.len() as u64 >= total.div_ceil(10) && numbers.contains(&1), "{numbers:?}");
    let calls = named(&spans, "GET /v1/public/items");
    assert!(calls.len() >= pages.len() && calls.iter().all(|call| pages.iter().any(|page| page.id == call.parent)));
}

#[tokio::test(flavor = "multi_thread")]
async fn protobuf_is_the_default_and_the_trace_of_the_environment_is_continued() {
    let (place, service) = (Place::new(), Server::start(|_| Reply::Accept).await);
    let collector = Collector::start(Answer::Accept).await;
    write_items(&place);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let upload = command(&place, &service, &UPLOAD)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address)
        .secret("OTEL_EXPORTER_OTLP_HEADERS", "api-key=SECRETHEADER")
        .env("OTEL_SERVICE_NAME", "prices-at-night")
        .env("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
        .env("TRACEPARENT", &format!("00-{trace}-b7ad6b7169203331-01"));
    run(upload, 0).await;
    assert!(service.log().iter().all(|seen| seen.traceparent.as_ref().is_some_and(|parent| parent.contains(trace))));
    let log = collector.log();
    let paths: BTreeSet<_> = log.iter().map(|received| received.path.as_str()).collect();
    assert_eq!(paths, ["/v1/metrics", "/v1/traces"].into());
    for received in &log {
        assert_eq!(received.headers["content-type"], "application/x-protobuf");
        assert_eq!(received.headers["api-key"], "SECRETHEADER");
    }
    let text = collector.text();
    assert!(["send record", "prices-at-night", "deployment.environment.name"].iter().all(|words| text.contains(words)));
    assert_no_secrets(&collector);
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_switch_traces_off() {
    let (place, service) = (Place::new(), Server::start(|_| Reply::Accept).await);
    let mut before = 0;
    for (name, value, sends) in [
        ("OTEL_SDK_DISABLED", "true", [false; 3]),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "", [false; 3]),
        ("OTEL_TRACES_EXPORTER", "none", [false, true, false]),
        ("OTEL_METRICS_EXPORTER", "none", [true, false, true]),
        ("OTEL_PROPAGATORS", "none", [true, true, false]),
    ] {
        let collector = Collector::start(Answer::Accept).await;
        write_items(&place);
        let again = [UPLOAD.as_slice(), &["--allow-repeat"]].concat();
        run(collector.of(command(&place, &service, &again)).env(name, value), 0).await;
        let has = |path: &str| collector.log().iter().any(|received| received.path == path);
        let requests = service.log_from(before);
        before += requests.len();
        let found = [has("/v1/traces"), has("/v1/metrics"), requests.iter().any(|seen| seen.traceparent.is_some())];
        assert_eq!((found, requests.len()), (sends, 4), "{name}={value}");
    }
    // An unsampled trace is not exported, and the service learns that.
    let collector = Collector::start(Answer::Accept).await;
    let upload = collector.of(command(&place, &service, &UPLOAD)).env("OTEL_TRACES_SAMPLER", "always_off");
    run(upload, 0).await;
    assert!(
        service
            .log_from(before)
            .iter()
            .all(|seen| seen.traceparent.as_ref().is_some_and(|parent| parent.ends_with("-00")))
    );
    assert!(collector.log().iter().all(|received| received.path == "/v1/metrics"));
}
