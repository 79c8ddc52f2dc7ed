//! Tests of the embedded service over HTTP. Bodies are written by hand from the contract, not generated from types.

use std::path::Path;
use std::time::Duration;

use reqwest::{Client, Method, StatusCode};
use serde_json::Value;
use sheetport::records::token::Access;
use sheetport::service::{Config, Error, LoadRecord, Service, Tokens};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

mod auth;
mod billing;
mod errors;
mod fault_injection;
mod host;
mod idempotency;
mod items;
mod lifecycle;
mod lists;
mod load;
mod openapi;
mod orders;
mod strict;
mod transactions;

const ITEMS: &str = "/v1/public/items";
const REFRESH: &str = "/api/token/refresh/";

/// A running service and its client.
struct Running {
    base: String,
    config: Config,
    client: Client,
    /// Token with Full Access to the workspace `acme`.
    token: String,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Result<(), Error>>,
}

struct Answer {
    status: StatusCode,
    headers: reqwest::header::HeaderMap,
    text: String,
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

async fn start(data: &Path) -> Running {
    start_with(Config::new(data)).await
}

async fn start_with(config: Config) -> Running {
    let service = Service::open(config.clone()).await.unwrap();
    let lasting = Config { access_lifetime: Duration::from_secs(900), ..config.clone() };
    let token = sheetport::service::issue_tokens(&lasting, "acme", Access::Full).unwrap().access;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(service.serve(listener, async {
        let _ = stopped.await;
    }));
    let client = Client::builder().no_proxy().build().unwrap();
    Running { base, config, client, token, stop, served }
}

/// Parses a record to load.
fn loaded(kind: &str, record: &str) -> LoadRecord {
    let fields = serde_json::from_str(record).unwrap();
    match kind {
        "item" => LoadRecord::Item(fields),
        "company" => LoadRecord::Company(fields),
        "contact" => LoadRecord::Contact(fields),
        "inventory" => LoadRecord::Inventory(fields),
        _ => LoadRecord::Order(fields),
    }
}

/// Loads valid records into `workspace` before a service starts.
async fn load(data: &Path, workspace: &str, records: &[(&str, &str)]) {
    let service = Service::open(Config::new(data)).await.unwrap();
    let records = records.iter().map(|(kind, record)| loaded(kind, record)).collect();
    for result in service.load(workspace, records).await.unwrap() {
        result.unwrap();
    }
    service.close().await;
}

impl Running {
    fn tokens(&self, workspace: &str, access: Access) -> Tokens {
        sheetport::service::issue_tokens(&self.config, workspace, access).unwrap()
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    async fn get(&self, path: &str) -> Answer {
        answer(self.request(Method::GET, path).bearer_auth(&self.token)).await
    }

    async fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> Answer {
        let request = self.request(Method::POST, path).bearer_auth(&self.token);
        answer(request.header("content-type", "application/json").body(body)).await
    }

    async fn put(&self, path: &str, body: impl Into<reqwest::Body>) -> Answer {
        let request = self.request(Method::PUT, path).bearer_auth(&self.token);
        answer(request.header("content-type", "application/json").body(body)).await
    }

    /// Starts a request with Full Access to another workspace.
    async fn other_calls(&self, method: Method, path: &str, body: &str) -> Answer {
        let token = self.tokens("other", Access::Full).access;
        let request = self.request(method, path).bearer_auth(token).header("content-type", "application/json");
        answer(request.body(body.to_owned())).await
    }

    /// Sends an upsert that must succeed. Returns the response.
    async fn upsert(&self, body: impl Into<reqwest::Body>) -> Value {
        let answer = self.post(ITEMS, body).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        answer.json()
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.served.await.unwrap().unwrap();
    }

    /// Kills the service without a graceful stop.
    async fn kill(self) {
        self.served.abort();
        assert!(self.served.await.unwrap_err().is_cancelled());
    }
}

impl Answer {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Returns the body of a successful response.
    #[track_caller]
    fn ok(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/json");
        self.json()
    }

    #[track_caller]
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {:?}", self.headers)).to_str().unwrap()
    }

    /// Asserts an error response with this status.
    #[track_caller]
    fn refused(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/json");
        let body = self.json();
        assert!(!body["message"].as_str().unwrap().is_empty());
        assert_eq!(body["ctx_id"].as_str().unwrap(), self.header("x-ctx-id"));
        body
    }

    /// Asserts a 422 with exactly these errors.
    #[track_caller]
    fn invalid(&self, errors: &str) {
        let expected: Value = serde_json::from_str(errors).unwrap();
        assert_eq!(self.refused(422)["errors"], expected);
    }
}

async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    assert!(headers.contains_key("x-ctx-id"), "every answer has a context id");
    Answer { status, headers, text: response.text().await.unwrap() }
}
