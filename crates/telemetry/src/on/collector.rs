//! Requests to the collector.

use std::error::Error as _;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::redirect;
use tokio::runtime::Handle;

/// Maximum size of an answer. Answers have a short message at most.
const MAX_ANSWER: usize = 64 << 10;

/// A client for the collector. Warns about the first failure only.
#[derive(Clone, Debug)]
pub(super) struct Collector {
    client: reqwest::Client,
    /// For collectors on this machine, which no proxy can reach.
    direct: reqwest::Client,
    /// The runtime of the requests. The threads that export have none.
    runtime: Handle,
    has_warned: Arc<AtomicBool>,
}

impl Collector {
    pub(super) fn new(runtime: Handle, timeout: Duration) -> Result<Collector, reqwest::Error> {
        let client = || {
            let builder = reqwest::Client::builder().http1_only().redirect(redirect::Policy::none()).timeout(timeout);
            builder.user_agent(concat!("sheetport/", env!("CARGO_PKG_VERSION")))
        };
        Ok(Collector {
            client: client().build()?,
            direct: client().no_proxy().build()?,
            runtime,
            has_warned: Arc::default(),
        })
    }

    /// Warns that traces or metrics are lost, once in the lifetime of the process.
    pub(super) fn warn(&self, reason: &str) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(reason, "traces and metrics are lost, because the collector can't be used");
        }
    }

    async fn send(self, request: Request<Bytes>) -> Result<Response<Bytes>, reqwest::Error> {
        let is_local = request.uri().host().is_some_and(is_this_machine);
        let client = if is_local { &self.direct } else { &self.client };
        let mut answer = client.execute(request.try_into()?).await?;
        let mut response = Response::builder().status(answer.status());
        if let Some(headers) = response.headers_mut() {
            headers.clone_from(answer.headers());
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            let room = MAX_ANSWER.saturating_sub(body.len()).min(chunk.len());
            body.extend_from_slice(&chunk[..room]);
            if room < chunk.len() {
                break;
            }
        }
        Ok(response.body(body.into()).unwrap_or_default())
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = self.runtime.spawn(self.clone().send(request)).await?;
        match &sent {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => self.warn(&format!("it answers {}", response.status().as_u16())),
            Err(error) if error.is_timeout() => self.warn("no answer in time"),
            Err(error) => self.warn(&root_cause(error)),
        }
        Ok(sent?)
    }
}

/// Returns the message of the innermost cause. The error itself would name the address, which may contain a password.
fn root_cause(error: &reqwest::Error) -> String {
    let Some(mut cause) = error.source() else { return "the request could not be made".to_owned() };
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn is_this_machine(host: &str) -> bool {
    let ip: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
    host.eq_ignore_ascii_case("localhost") || ip.is_some_and(|ip| ip.is_loopback())
}
