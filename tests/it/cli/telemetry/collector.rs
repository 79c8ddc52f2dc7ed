//! A collector that keeps what it receives.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::super::process::Sheetport;

/// How a collector answers.
#[derive(Clone, Copy)]
pub enum Answer {
    Accept,
    Status(u16),
    /// Never.
    Hang,
}

/// A request to the collector.
#[derive(Clone, Debug)]
pub struct Received {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

type Log = Arc<Mutex<Vec<Received>>>;

pub struct Collector {
    pub address: String,
    log: Log,
    task: JoinHandle<()>,
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Collector {
    pub async fn start(answer: Answer) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let log = Log::default();
        let routes = Router::new().fallback(receive).with_state((Arc::clone(&log), answer));
        let task = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Collector { address, log, task }
    }

    /// Makes a command export to this collector, in JSON.
    pub fn of(&self, command: Sheetport) -> Sheetport {
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &self.address).env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
    }

    pub fn log(&self) -> Vec<Received> {
        self.log.lock().unwrap().clone()
    }

    /// Returns all that was received as text.
    pub fn text(&self) -> String {
        self.log().iter().map(|received| String::from_utf8_lossy(&received.body).into_owned()).collect()
    }

    fn json(&self, path: &str) -> Vec<Value> {
        let log = self.log();
        let of_path = log.iter().filter(|received| received.path == path);
        of_path.map(|received| serde_json::from_slice(&received.body).unwrap()).collect()
    }

    /// Returns all spans.
    pub fn spans(&self) -> Vec<Span> {
        let exports = self.json("/v1/traces");
        let spans = exports.iter().flat_map(|export| export["resourceSpans"].as_array().unwrap());
        let spans = spans.flat_map(|resource| resource["scopeSpans"].as_array().unwrap());
        spans.flat_map(|scope| scope["spans"].as_array().unwrap()).map(Span::of).collect()
    }

    /// Returns the attributes of the resource of the first export.
    pub fn resource(&self) -> BTreeMap<String, String> {
        attributes(&self.json("/v1/traces")[0]["resourceSpans"][0]["resource"]["attributes"])
    }

    /// Returns the data points of a metric in the last export that has it.
    pub fn points(&self, name: &str) -> Vec<Value> {
        let exports = self.json("/v1/metrics");
        let metrics = |export: &Value| -> Vec<Value> {
            let scopes = export["resourceMetrics"].as_array().unwrap().iter();
            let scopes = scopes.flat_map(|resource| resource["scopeMetrics"].as_array().unwrap().clone());
            scopes.flat_map(|scope| scope["metrics"].as_array().unwrap().clone()).collect()
        };
        let found = exports.iter().rev().find_map(|export| metrics(export).into_iter().find(|one| one["name"] == name));
        let found = found.unwrap_or_default();
        let kinds = ["sum", "histogram", "gauge"].into_iter();
        kinds.filter_map(|kind| found[kind]["dataPoints"].as_array()).flatten().cloned().collect()
    }

    /// Returns the values of a counter by the value of an attribute.
    pub fn counts(&self, name: &str, attribute: &str) -> BTreeMap<String, u64> {
        let points = self.points(name).into_iter();
        points.map(|point| (attributes(&point["attributes"])[attribute].clone(), number(&point["asInt"]))).collect()
    }
}

async fn receive(
    State((log, answer)): State<(Log, Answer)>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, &'static str) {
    log.lock().unwrap().push(Received { path: uri.path().to_owned(), headers, body: body.to_vec() });
    match answer {
        Answer::Accept => (StatusCode::OK, "{}"),
        Answer::Status(status) => (StatusCode::from_u16(status).unwrap(), "SECRETANSWER"),
        Answer::Hang => {
            tokio::time::sleep(Duration::from_secs(600)).await;
            (StatusCode::OK, "{}")
        }
    }
}

/// A received span.
#[derive(Clone, Debug)]
pub struct Span {
    pub trace: String,
    pub id: String,
    /// Empty for the root of a trace.
    pub parent: String,
    pub name: String,
    /// 1: internal, 3: client.
    pub kind: u64,
    pub is_error: bool,
    pub attributes: BTreeMap<String, String>,
}

impl Span {
    fn of(span: &Value) -> Span {
        let text = |name: &str| span[name].as_str().unwrap_or_default().to_owned();
        Span {
            trace: text("traceId"),
            id: text("spanId"),
            parent: text("parentSpanId"),
            name: text("name"),
            kind: number(&span["kind"]),
            is_error: span["status"]["code"].as_u64() == Some(2),
            attributes: attributes(&span["attributes"]),
        }
    }

    /// Returns an attribute, or an empty text.
    pub fn get(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    /// Returns the value of the header of a request in this span.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-01", self.trace, self.id)
    }
}

/// Returns the spans with a name.
pub fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

/// Returns the only span with a name.
#[track_caller]
pub fn only<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let found = named(spans, name);
    assert_eq!(found.len(), 1, "{name}: {spans:#?}");
    found[0]
}

fn attributes(list: &Value) -> BTreeMap<String, String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|pair| (pair["key"].as_str().unwrap().to_owned(), value(&pair["value"]))).collect()
}

fn value(value: &Value) -> String {
    let value = value.as_object().unwrap().values().next().unwrap();
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns a number, which JSON may have as text.
fn number(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{value} is not a number"))
}
