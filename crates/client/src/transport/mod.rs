//! The HTTP transport: sends a request once and returns the response or the kind of failure.
//!
//! Non-idempotent calls use a second pool of connections, without reuse of a connection after about a second of idleness: if
//! the service had closed the connection meanwhile, the outcome would be unknown. "No connection was established" (certainly not written) is
//! distinguished from every later failure (may have been written).

mod address;
mod options;
mod tls;

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{
    ACCEPT, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{StatusCode, Url, redirect, retry};
use secrecy::{ExposeSecret, SecretString};
use sheetport_telemetry as telemetry;

use super::base_url;
use super::error::Error;
use super::outcome::rate_headers::{quota, retry_after, service_time};
use super::outcome::{MAX_RESULT, Redirect, Response, Shortage, TlsProblem, TransportOutcome};
use super::policy::Call;
use super::request::{Request, idempotency};
use address::Address;

pub use address::normal_address;
pub use options::{ClientCert, ConnectOptions, ProxyAddress};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_secs(60);
pub(super) const WRITE_TIMEOUT: Duration = Duration::from_secs(120);
/// How long an idle connection may be reused for idempotent calls.
const MAX_IDLE: Duration = Duration::from_secs(90);
/// How long an idle connection may be reused for other calls. If the service closed an idle connection during the write, the
/// outcome would be unknown.
const MAX_IDLE_NON_IDEMPOTENT: Duration = Duration::from_secs(1);
/// If the service closes idle connections within this time, a connection may be closed during the write even so.
const SHORTEST_SAFE_KEEP_ALIVE: Duration = Duration::from_secs(2);
const KEEP_ALIVE_HEADER: HeaderName = HeaderName::from_static("keep-alive");
/// Idle connections to object storage.
const STORAGE_CONNECTIONS: usize = 4;
/// Interval of TCP keep-alive probes.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Unanswered TCP keep-alive probes until a connection counts as lost.
const KEEP_ALIVE_RETRIES: u32 = 3;
/// `TCP_USER_TIMEOUT`: how long written data may stay unacknowledged.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);
/// Maximum number of characters kept of the target of a redirect.
const MAX_LOCATION: usize = 200;
/// Number of non-HTTP responses after which the service counts as speaking another protocol, unless it has answered in HTTP.
const OTHER_PROTOCOL: u32 = 3;
const USER_AGENT: &str = concat!("sheetport/", env!("CARGO_PKG_VERSION"));

/// Connection pools to one service.
#[derive(Debug)]
pub(super) struct Transport {
    address: Address,
    headers: HeaderMap,
    idempotent: reqwest::Client,
    non_idempotent: reqwest::Client,
    /// A new connection for each request.
    unpooled: reqwest::Client,
    /// Whether the service closes idle connections so early that non-idempotent calls must not reuse connections.
    closes_early: AtomicBool,
    /// Whether the service has ever answered in HTTP.
    has_answered: AtomicBool,
    /// Number of non-HTTP responses.
    unreadable: AtomicU32,
    has_client_cert: bool,
    /// Lead of the service's clock over the local clock in seconds, according to the last `Date` header.
    clock_lead: Mutex<Option<i64>>,
}

impl Transport {
    /// Creates a transport with up to `connections` idle connections. Fails if the address is invalid or unencrypted to
    /// another machine, if a file of `options` can't be used, or if the system has no usable CA certificates.
    pub(super) fn new(base: &str, options: &ConnectOptions, connections: usize) -> Result<Transport, Error> {
        let address = Address::new(base)?;
        if base_url::is_exposed(base) && !options.insecure_http {
            return Err(Error::Unencrypted(address.as_str().to_owned()));
        }
        if let Some(proxy) = options.proxy.as_ref().filter(|_| !options.is_direct)
            && address.is_http()
            && !proxy.is_local()
            && !options.insecure_http
        {
            return Err(Error::Unencrypted(proxy.to_string()));
        }
        let is_direct = options.goes_directly(base_url::is_local(base));
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let tls = tls::config(options)?;
        let proxy = options.proxy.as_ref();
        let pool = |connections, max_idle| pool(&tls, proxy, is_direct, connections, max_idle);
        Ok(Transport {
            address,
            headers,
            idempotent: pool(connections, MAX_IDLE)?,
            non_idempotent: pool(connections, MAX_IDLE_NON_IDEMPOTENT)?,
            unpooled: pool(0, Duration::ZERO)?,
            closes_early: AtomicBool::new(false),
            has_answered: AtomicBool::new(false),
            unreadable: AtomicU32::new(0),
            has_client_cert: options.client_cert.is_some(),
            clock_lead: Mutex::new(None),
        })
    }

    /// Sets Accept-Language. Fails if a header cannot hold the text.
    pub(super) fn set_language(&mut self, language: &str) -> Result<(), Error> {
        let value = HeaderValue::from_str(language).map_err(|_| Error::Language(language.to_owned()))?;
        self.headers.insert(ACCEPT_LANGUAGE, value);
        Ok(())
    }

    /// Returns the base address without a trailing slash.
    pub(super) fn address(&self) -> &str {
        self.address.as_str()
    }

    /// Returns how far the service's clock is ahead of ours, in seconds, or `None` before an answer with a Date.
    pub(super) fn clock_lead(&self) -> Option<i64> {
        *self.clock_lead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the request once, with `token` as bearer token.
    pub(super) async fn send(&self, request: &Request, token: Option<&SecretString>) -> TransportOutcome {
        let built = match self.build(request, token) {
            Ok(built) => built,
            Err(outcome) => return outcome,
        };
        let pool = match request.call {
            Call::Idempotent => &self.idempotent,
            // With a key, a lost answer can be asked for again, but only as long as the service remembers the key.
            Call::Keyed | Call::NonIdempotent if self.closes_early.load(Ordering::Relaxed) => &self.unpooled,
            Call::Keyed | Call::NonIdempotent => &self.non_idempotent,
        };
        match pool.execute(built).await {
            Ok(response) => {
                if let Some(time) = service_time(response.headers()) {
                    let lead = time - jiff::Timestamp::now().as_second();
                    *self.clock_lead.lock().unwrap_or_else(PoisonError::into_inner) = Some(lead);
                }
                if keep_alive(response.headers()).is_some_and(|timeout| timeout < SHORTEST_SAFE_KEEP_ALIVE) {
                    self.closes_early.store(true, Ordering::Relaxed);
                }
                match read(response, request.max_answer).await {
                    TransportOutcome::Response(Response { status: 400, body, .. })
                        if let Some(problem) = TlsProblem::of_bad_request(&body) =>
                    {
                        TransportOutcome::Untrusted(problem)
                    }
                    outcome => {
                        self.has_answered.store(true, Ordering::Relaxed);
                        outcome
                    }
                }
            }
            Err(error) if let Some(problem) = self.tls_problem(request, &error) => TransportOutcome::Untrusted(problem),
            Err(error) if is_proxy_refusal(&error) => {
                let response =
                    Response { status: 407, body: Vec::new(), retry_after: None, redirect: None, quota: None };
                TransportOutcome::Response(response)
            }
            Err(error)
                if error.is_connect()
                    && let Some(shortage) = Shortage::behind(&error) =>
            {
                TransportOutcome::Short(shortage)
            }
            Err(error) if error.is_connect() || error.is_builder() => {
                TransportOutcome::NotSent { reason: describe(&error) }
            }
            Err(error) => {
                // Perhaps an idle connection was closed.
                if request.call != Call::Idempotent && !error.is_timeout() {
                    self.closes_early.store(true, Ordering::Relaxed);
                }
                TransportOutcome::NoResponse { reason: describe(&error) }
            }
        }
    }

    /// Returns the reason why no trusted connection can be made, or `None` for any other failure.
    fn tls_problem(&self, request: &Request, error: &reqwest::Error) -> Option<TlsProblem> {
        if let Some(cause) = cause::<rustls::Error>(error) {
            return TlsProblem::of(cause, error.is_connect(), self.has_client_cert);
        }
        // Repeated non-HTTP responses are most likely TLS alerts.
        let is_other_protocol = self.address.is_http()
            && !self.has_answered.load(Ordering::Relaxed)
            && cause::<hyper::Error>(error).is_some_and(hyper::Error::is_parse)
            && self.unreadable.fetch_add(1, Ordering::Relaxed) + 1 >= OTHER_PROTOCOL;
        (is_other_protocol && request.call == Call::Idempotent).then_some(TlsProblem::SpeaksTls)
    }

    fn build(&self, request: &Request, token: Option<&SecretString>) -> Result<reqwest::Request, TransportOutcome> {
        let url = self.address.url(&request.path).map_err(|reason| TransportOutcome::NotSent { reason })?;
        let mut built = reqwest::Request::new(request.method.clone(), url);
        *built.headers_mut() = self.headers.clone();
        if let Some(token) = token {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret())).map_err(|_| {
                let reason = "the access token contains characters that a header can't hold".to_owned();
                TransportOutcome::Unauthorized { reason }
            })?;
            value.set_sensitive(true);
            built.headers_mut().insert(AUTHORIZATION, value);
        }
        if let Some(key) = &request.idempotency_key {
            built.headers_mut().insert(idempotency::HEADER, key.header_value());
        }
        telemetry::inject(built.headers_mut());
        *built.timeout_mut() = Some(READ_TIMEOUT);
        if let Some(body) = &request.body {
            built.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            *built.body_mut() = Some(body.clone().into());
            *built.timeout_mut() = Some(WRITE_TIMEOUT);
        }
        Ok(built)
    }
}

/// Creates a client for other services than the service of the records. Never sends a token.
pub(super) fn webhook_client(options: &ConnectOptions, is_local: bool) -> Result<reqwest::Client, Error> {
    let is_direct = options.goes_directly(is_local);
    pool(&tls::config(options)?, options.proxy.as_ref(), is_direct, 0, Duration::ZERO)
}

/// Creates clients for object storage: for other machines, and for this machine. They never send a token. Bodies are not
/// decompressed, because the length of an object is the length of its body.
///
/// # Errors
/// If a file in `options` is unusable, or the system has no usable CA certificates.
pub fn storage_clients(options: &ConnectOptions) -> Result<(reqwest::Client, reqwest::Client), Error> {
    let (tls, proxy) = (tls::config(options)?, options.proxy.as_ref());
    let client = |is_local| {
        let builder = builder(&tls, proxy, options.goes_directly(is_local), STORAGE_CONNECTIONS, MAX_IDLE)?;
        builder.no_gzip().read_timeout(READ_TIMEOUT).build().map_err(|error| Error::Client(describe(&error)))
    };
    Ok((client(false)?, client(true)?))
}

/// Creates a connection pool.
fn pool(
    tls: &rustls::ClientConfig,
    proxy: Option<&ProxyAddress>,
    is_direct: bool,
    connections: usize,
    max_idle: Duration,
) -> Result<reqwest::Client, Error> {
    let builder = builder(tls, proxy, is_direct, connections, max_idle)?;
    builder.build().map_err(|error| Error::Client(describe(&error)))
}

/// Prepares a connection pool, with the proxy of the environment unless another is given or `is_direct`. HTTP/1.1 only: each request has a connection to itself, so a broken connection concerns a
/// single request.
fn builder(
    tls: &rustls::ClientConfig,
    proxy: Option<&ProxyAddress>,
    is_direct: bool,
    connections: usize,
    max_idle: Duration,
) -> Result<reqwest::ClientBuilder, Error> {
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls.clone())
        .user_agent(USER_AGENT)
        .http1_only()
        // A followed redirect would carry the token elsewhere, and repeat a POST as a GET.
        .redirect(redirect::Policy::none())
        // The policy decides about every retry, after the ledger knows of the attempt.
        .retry(retry::never())
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(max_idle)
        .pool_max_idle_per_host(connections)
        .tcp_nodelay(true)
        .tcp_keepalive(KEEP_ALIVE)
        .tcp_keepalive_interval(KEEP_ALIVE)
        .tcp_keepalive_retries(KEEP_ALIVE_RETRIES);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let builder = builder.tcp_user_timeout(UNACKNOWLEDGED);
    Ok(match proxy {
        _ if is_direct => builder.no_proxy(),
        None => builder,
        Some(proxy) => {
            let proxy = reqwest::Proxy::all(proxy.url().clone()).map_err(|error| Error::Client(describe(&error)))?;
            builder.proxy(proxy.no_proxy(reqwest::NoProxy::from_env()))
        }
    })
}

/// Reads the body, up to `max_len` decompressed bytes, and less outside 2xx.
async fn read(mut response: reqwest::Response, max_len: usize) -> TransportOutcome {
    let status = response.status();
    let max_len = if status.is_success() { max_len } else { max_len.min(MAX_RESULT) };
    let mut body = Vec::new();
    let truncated = loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > max_len => {
                break Some((format!("the answer is longer than {} MiB", max_len >> 20), Some(max_len)));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break None,
            Err(error) => break Some((describe(&error), None)),
        }
    };
    match truncated {
        Some((reason, limit)) if status.is_success() => {
            TransportOutcome::Truncated { status: status.as_u16(), reason, limit }
        }
        _ => TransportOutcome::Response(Response {
            status: status.as_u16(),
            body,
            retry_after: retry_after(status, response.headers()),
            redirect: redirect_of(&response),
            quota: quota(response.headers()),
        }),
    }
}

/// Returns where a redirect leads. A query and user information may contain secrets.
fn redirect_of(response: &reqwest::Response) -> Option<Redirect> {
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    let to = base_url::redacted(location).chars().take(MAX_LOCATION).collect();
    let (status, sent) = (response.status(), response.url());
    // Frameworks also add or remove a slash at the end of a path.
    let path = |url: &Url| url.path().trim_end_matches('/').to_owned();
    // 303 is the answer of a service that has handled the request.
    let is_same_path = status.is_redirection()
        && status != StatusCode::SEE_OTHER
        && sent.join(location).is_ok_and(|target| target != *sent && path(&target) == path(sent));
    Some(Redirect { to, is_same_path })
}

/// Returns how long the service keeps an idle connection, as announced by `Keep-Alive: timeout=5`.
fn keep_alive(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(KEEP_ALIVE_HEADER)?.to_str().ok()?;
    let seconds =
        value.split(',').filter_map(|part| part.split_once('=')).find(|(name, _)| name.trim() == "timeout")?.1;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

/// Whether a proxy refused a tunnel with 407, or as a SOCKS proxy does. The error types are private to the HTTP library.
fn is_proxy_refusal(error: &reqwest::Error) -> bool {
    const REFUSALS: [&str; 4] = [
        "proxy authorization required",
        "SOCKS error: credentials not accepted",
        "SOCKS error: server does not support user/pass authentication",
        "SOCKS error: server implements authentication incorrectly",
    ];
    error.is_connect() && REFUSALS.into_iter().any(|refusal| root_cause(error).ends_with(refusal))
}

/// Returns the message of the root cause, without the URL.
fn describe(error: &reqwest::Error) -> String {
    match (error.is_timeout(), error.is_connect()) {
        (true, true) => format!("no connection in {} s", CONNECT_TIMEOUT.as_secs()),
        (true, false) => "no answer in time".to_owned(),
        (false, _) if error.source().is_none() => "the request could not be made".to_owned(),
        (false, _) => root_cause(error),
    }
}

/// Returns the first cause of a type.
fn cause<E: std::error::Error + 'static>(error: &reqwest::Error) -> Option<&E> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = error.source();
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref::<E>() {
            return Some(found);
        }
        // The source of an I/O error skips the inner error, so the inner error is taken explicitly.
        next = match cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => cause.source(),
        };
    }
    None
}

/// Returns the message of the innermost cause.
pub fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests;
