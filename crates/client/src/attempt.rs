//! The client: sends a request with the current access token.

use std::sync::atomic::{AtomicU64, Ordering};

use secrecy::{ExposeSecret, SecretString};
use sheetport_records as records;
use sheetport_records::token::{REFRESH_PATH, RefreshInput};
use sheetport_telemetry::HttpSpan;

use super::auth::{Bearer, Credentials, TokenPair, Tokens, redacted};
use super::error::Error;
use super::outcome::{TransportOutcome, service_message};
use super::policy::{Action, Call, decide};
use super::request::Request;
use super::transport::{ConnectOptions, Transport};

/// A client for one service and the credentials of one workspace.
#[derive(Debug)]
pub struct Client {
    transport: Transport,
    tokens: Tokens,
    requests: AtomicU64,
    /// Number of unanswered requests.
    in_flight: AtomicU64,
    /// Number of responses that prove a working service.
    answers: AtomicU64,
    #[cfg(any(test, feature = "testing"))]
    script: Option<Script>,
}

/// Answers instead of the service.
#[cfg(any(test, feature = "testing"))]
struct Script(Box<dyn Fn(&Request) -> TransportOutcome + Send + Sync>);

#[cfg(any(test, feature = "testing"))]
impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

/// Counts a request as long as it is not answered, and not given up.
struct InFlight<'a>(&'a AtomicU64);

impl<'a> InFlight<'a> {
    fn new(count: &'a AtomicU64) -> InFlight<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        InFlight(count)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The outcome of an attempt.
#[derive(Debug)]
pub struct Attempt {
    /// How often the request was sent: 0 without an access token or a connection of this machine, otherwise 1.
    pub requests: u32,
    pub outcome: TransportOutcome,
}

impl Client {
    /// Creates a client for up to `connections` concurrent requests.
    ///
    /// # Errors
    /// If the address is invalid, both tokens are missing, are for two workspaces, or would travel unencrypted to another machine, a file of
    /// `options` can't be used, or the system has no usable CA certificates.
    pub fn new(
        base: &str,
        credentials: Credentials,
        options: &ConnectOptions,
        connections: usize,
    ) -> Result<Client, Error> {
        let transport = Transport::new(base, options, connections)?;
        let address = transport.address().to_owned();
        if credentials.is_empty() {
            return Err(Error::NoCredentials(address));
        }
        if let Some((access, refresh)) = credentials.two_workspaces() {
            return Err(Error::TwoWorkspaces { access, refresh });
        }
        Ok(Client {
            transport,
            tokens: Tokens::new(address, credentials),
            requests: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            answers: AtomicU64::new(0),
            #[cfg(any(test, feature = "testing"))]
            script: None,
        })
    }

    /// Answers all requests by `script`.
    #[cfg(any(test, feature = "testing"))]
    pub fn with_script(mut self, script: Box<dyn Fn(&Request) -> TransportOutcome + Send + Sync>) -> Client {
        self.script = Some(Script(script));
        self
    }

    /// Asks for answers in a language, such as `de` or `de-AT, de;q=0.8`.
    pub fn with_language(mut self, language: &str) -> Result<Client, Error> {
        self.transport.set_language(language)?;
        Ok(self)
    }

    /// Returns the base address without a trailing slash.
    pub fn address(&self) -> &str {
        self.transport.address()
    }

    /// Returns the current tokens: as given, or renewed since.
    pub async fn credentials(&self) -> Credentials {
        self.tokens.credentials().await
    }

    /// Returns the number of all requests so far, renewals of the token included.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Returns the number of requests that were not answered yet.
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Returns the number of answers so far that show that the service works: all but those of status 500 and more.
    pub(super) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Returns how far the service's clock is ahead of ours, in seconds, or `None` before an answer with a Date.
    pub fn clock_lead(&self) -> Option<i64> {
        self.transport.clock_lead()
    }

    async fn send(&self, request: &Request, token: Option<&SecretString>) -> TransportOutcome {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let _in_flight = InFlight::new(&self.in_flight);
        // A renewal of the token has no token, and is no repetition of the pending request.
        let span = HttpSpan::begin(request.method.as_str(), self.address(), &request.path, token.is_some());
        let outcome = span.within(Box::pin(self.exchange(request, token))).await;
        let (status, error) = outcome.ending();
        span.end(status, error);
        if matches!(outcome, TransportOutcome::Short(_)) {
            self.requests.fetch_sub(1, Ordering::Relaxed);
        }
        let is_answer = matches!(&outcome, TransportOutcome::Response(response) if response.status < 500);
        self.answers.fetch_add(u64::from(is_answer), Ordering::Relaxed);
        outcome
    }

    async fn exchange(&self, request: &Request, token: Option<&SecretString>) -> TransportOutcome {
        #[cfg(any(test, feature = "testing"))]
        if let Some(Script(script)) = &self.script {
            // Requests at the same time are answered in any order.
            tokio::time::sleep(std::time::Duration::from_millis(fastrand::u64(1..50))).await;
            return script(request);
        }
        self.transport.send(request, token).await
    }

    /// Sends the request once. After a 401 the token is renewed, once for all workers, but the request is not sent again:
    /// a repetition needs a permit of the rate limiter like any other request.
    pub async fn attempt(&self, request: &Request) -> Attempt {
        let mut bearer = self.tokens.bearer().await;
        if bearer.is_stale {
            // If the renewal fails, the service decides whether the token is still valid.
            let _ = self.renew(&bearer).await;
            bearer = self.tokens.bearer().await;
        }
        let mut requests = 0;
        let mut reason = "there is no access token".to_owned();
        if let Some(token) = &bearer.token {
            requests = 1;
            let secrets: Vec<&SecretString> = std::iter::once(token).chain(&bearer.refresh).collect();
            let outcome = redacted(self.send(request, Some(token)).await, &secrets, request.body.is_some());
            tracing::debug!(method = %request.method, path = request.path, outcome = %outcome.kind(), "request");
            match outcome {
                TransportOutcome::Response(response) if response.status == 401 => {
                    reason =
                        service_message::summary(&response.body).unwrap_or_else(|| "401 after a renewal".to_owned());
                }
                TransportOutcome::Short(shortage) => {
                    return Attempt { requests: 0, outcome: TransportOutcome::Short(shortage) };
                }
                outcome => return Attempt { requests, outcome },
            }
        }
        let renewed = self.renew(&bearer).await;
        tracing::info!(renewed = renewed.is_ok(), "the access token was refused");
        let outcome = match renewed {
            Ok(true) => TransportOutcome::TokenRenewed { reason },
            Ok(false) => TransportOutcome::Unauthorized {
                reason: "the access token is not valid, and there is no refresh token".to_owned(),
            },
            Err(outcome) => outcome,
        };
        Attempt { requests, outcome }
    }

    /// Renews the access token of `used`, unless another worker did. Returns false if there is no refresh token.
    async fn renew(&self, used: &Bearer) -> Result<bool, TransportOutcome> {
        let request = async |refresh: &SecretString| self.request_tokens(refresh, used.token.as_ref()).await;
        self.tokens.renew(used.generation, request).await
    }

    /// Exchanges the refresh token for a new pair. An error becomes the outcome of the pending request.
    async fn request_tokens(
        &self,
        refresh: &SecretString,
        access: Option<&SecretString>,
    ) -> Result<TokenPair, TransportOutcome> {
        let input = RefreshInput { refresh: refresh.expose_secret().to_owned() };
        let body = serde_json::to_vec(&input).expect("a struct of one string is valid JSON");
        // The service may accept a refresh token only once.
        let call = Call::NonIdempotent;
        let request = Request::write(records::Method::Post, REFRESH_PATH.to_owned(), body.into(), call);
        let outcome = self.send(&request, None).await;
        let refused = |reason| TransportOutcome::Unauthorized { reason };
        let action = decide(call, outcome.kind());
        if let (Action::Accept, TransportOutcome::Response(response)) = (action, &outcome) {
            // Not redacted: the new tokens have parts in common with the old one.
            return TokenPair::parse(&response.body)
                .ok_or_else(|| refused("the answer to the token refresh contains no access token".to_owned()));
        }
        let secrets: Vec<&SecretString> = std::iter::once(refresh).chain(access).collect();
        match (action, redacted(outcome, &secrets, true)) {
            (Action::Fail | Action::RenewToken, TransportOutcome::Response(response)) => {
                let message = service_message::summary(&response.body).map_or(String::new(), |text| format!(" {text}"));
                Err(refused(format!("the refresh token was not accepted ({}{message})", response.status)))
            }
            // Redirects, proxies, pauses and shortages concern every request.
            (Action::Stop | Action::UnknownAndStop | Action::Throttle | Action::Narrow, outcome) => Err(outcome),
            // The pending request was not sent, so a retry is safe.
            (_, outcome) => Err(TransportOutcome::NotSent { reason: format!("token refresh: {}", outcome.reason()) }),
        }
    }
}
