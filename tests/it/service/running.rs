//! A running service and its client.

use std::path::Path;
use std::time::Duration;

use reqwest::{Client, Method, StatusCode};
use serde_json::Value;
use sheetport_records::token::Access;
use sheetport_service::{Config, Error, LoadRecord, Reading, Service, Tokens};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::config;

pub(super) const ITEMS: &str = "/v1/public/items";

/// A running service and its client.
pub(super) struct Running {
    pub(super) base: String,
    pub(super) config: Config,
    pub(super) client: Client,
    /// Token with Full Access to the workspace `acme`.
    pub(super) token: String,
    pub(super) stop: oneshot::Sender<()>,
    pub(super) served: JoinHandle<Result<(), Error>>,
}

pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: reqwest::header::HeaderMap,
    pub(super) text: String,
}

pub(super) async fn start(data: &Path) -> Running {
    start_with(config(data)).await
}

pub(super) async fn start_with(config: Config) -> Running {
    let service = Service::open(config.clone()).await.unwrap();
    let lasting = Config { access_lifetime: Duration::from_secs(900), ..config.clone() };
    let token = sheetport_service::issue_tokens(&lasting, "acme", Access::Full).await.unwrap().access;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(service.serve(
        listener,
        Box::pin(async {
            let _ = stopped.await;
        }),
    ));
    let client = Client::builder().no_proxy().build().unwrap();
    Running { base, config, client, token, stop, served }
}

/// Parses a record to load.
pub(super) fn loaded(kind: &str, record: &str) -> LoadRecord {
    let fields = serde_json::from_str(record).unwrap();
    match kind {
        "item" => LoadRecord::Item(fields),
        "company" => LoadRecord::Company(fields),
        "contact" => LoadRecord::Contact(fields),
        "inventory" => LoadRecord::Inventory(fields),
        "transaction" => LoadRecord::Transaction(fields),
        _ => LoadRecord::Order(fields),
    }
}

/// Loads valid records into `workspace` before a service starts.
pub(super) async fn load(data: &Path, workspace: &str, records: &[(&str, &str)]) {
    let service = Service::open(config(data)).await.unwrap();
    let records = records.iter().map(|(kind, record)| loaded(kind, record)).collect();
    for result in service.load(workspace, records).await.unwrap() {
        result.unwrap();
    }
    service.close().await;
}

impl Running {
    pub(super) async fn tokens(&self, workspace: &str, access: Access) -> Tokens {
        sheetport_service::issue_tokens(&self.config, workspace, access).await.unwrap()
    }

    pub(super) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.checked(self.request(Method::GET, path).bearer_auth(&self.token)).await
    }

    /// Every answer has a context id, unless the service is literal.
    async fn checked(&self, request: reqwest::RequestBuilder) -> Answer {
        let answer = answer(request).await;
        assert_eq!(answer.headers.contains_key("x-ctx-id"), self.config.reading != Reading::Literal);
        answer
    }

    pub(super) async fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> Answer {
        let request = self.request(Method::POST, path).bearer_auth(&self.token);
        self.checked(request.header("content-type", "application/json").body(body)).await
    }

    pub(super) async fn put(&self, path: &str, body: impl Into<reqwest::Body>) -> Answer {
        let request = self.request(Method::PUT, path).bearer_auth(&self.token);
        self.checked(request.header("content-type", "application/json").body(body)).await
    }

    /// Starts a request with Full Access to another workspace.
    pub(super) async fn other_calls(&self, method: Method, path: &str, body: &str) -> Answer {
        let token = self.tokens("other", Access::Full).await.access;
        let request = self.request(method, path).bearer_auth(token).header("content-type", "application/json");
        answer(request.body(body.to_owned())).await
    }

    /// Sends an upsert that must succeed. Returns the response.
    pub(super) async fn upsert(&self, body: impl Into<reqwest::Body>) -> Value {
        let answer = self.post(ITEMS, body).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        answer.json()
    }

    pub(super) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.served.await.unwrap().unwrap();
    }

    /// Kills the service without a graceful stop.
    pub(super) async fn kill(self) {
        self.served.abort();
        assert!(self.served.await.unwrap_err().is_cancelled());
    }
}

impl Answer {
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Returns the body of a successful response.
    #[track_caller]
    pub(super) fn ok(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/json");
        self.json()
    }

    #[track_caller]
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {:?}", self.headers)).to_str().unwrap()
    }

    /// Asserts an error response with this status.
    #[track_caller]
    pub(super) fn refused(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/json");
        let body = self.json();
        assert!(!body["message"].as_str().unwrap().is_empty());
        assert_eq!(body["ctx_id"].as_str().unwrap(), self.header("x-ctx-id"));
        body
    }

    /// Asserts a 422 with exactly these errors.
    #[track_caller]
    pub(super) fn invalid(&self, errors: &str) {
        let expected: Value = serde_json::from_str(errors).unwrap();
        assert_eq!(self.refused(422)["errors"], expected);
    }
}

pub(super) async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    Answer { status, headers, text: response.text().await.unwrap() }
}
