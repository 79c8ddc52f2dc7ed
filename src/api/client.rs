//! One HTTP exchange with the service: its answer, or how far it got before it broke.
//!
//! Requests go over connections of our own, straight to the service (`Direct`). Where a proxy stands between, they go
//! through reqwest, which knows proxies.

use std::error::Error as _;
use std::io::Read;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use http_body_util::Full;
use hyper::Uri;
use hyper::body::Bytes;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap,
    HeaderValue, RETRY_AFTER, USER_AGENT,
};
use reqwest::{Method, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};

use super::auth::{self, Access, Credentials, Tokens};
use super::direct::{Came, Direct, last_cause};
use super::error::Error;
use crate::records::token::{REFRESH_PATH, RefreshInput};

/// More than any page should be. A longer one is not read to its end.
const MAX_PAGE: usize = 64 << 20;
/// The same for the answer to a write, of which there are as many at once as there are workers.
const MAX_RESULT: usize = 1 << 20;
pub(super) const CONNECT: Duration = Duration::from_secs(10);
const READ: Duration = Duration::from_secs(60);
const WRITE: Duration = Duration::from_secs(120);
const GZIP: &str = "gzip";
/// So much of a token is looked for in answers, before all of it is.
const SEARCHED: usize = 16;
const AGENT: &str = concat!("sheetport/", env!("CARGO_PKG_VERSION"));

/// A connection pool to one service with one workspace's credentials.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    /// What requests go over; nothing where a proxy stands between.
    direct: Option<Direct>,
    base: Url,
    /// The headers that all requests have.
    headers: HeaderMap,
    tokens: Tokens,
}

/// A call to make: a path below the base address, query and all.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: &'static str,
    pub path: String,
    /// A JSON body, sent as it is.
    pub body: Option<Bytes>,
}

/// What came of a request.
#[derive(Debug)]
pub struct Attempt {
    /// How many times it went out: not at all when there was no token to send it with.
    pub requests: u32,
    pub exchange: Exchange,
}

#[derive(Clone, Debug)]
pub enum Exchange {
    /// Of an answer outside 2xx the body may be cut: its status says what to do.
    Answered(Answer),
    /// The body of a success was cut or too long.
    CutAnswer { status: u16, reason: String },
    /// Nothing was written: the service can't have seen it.
    NotSent { reason: String },
    /// The connection broke after a byte may have left: the service may have acted on it.
    Lost { reason: String },
    /// The call was not let in, so it was not acted upon, and the token is a newer one now. Send it again.
    Renewed { reason: String },
    /// No valid credentials.
    Unauthorized { reason: String },
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
    /// The header Retry-After, a date in it turned into seconds.
    pub retry_after: Option<String>,
    /// What the service says of its limit, where it does.
    pub quota: Option<Quota>,
}

/// How many requests the service takes before so much time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub remaining: u64,
    pub reset: Duration,
}

impl Client {
    /// `connections` is how many requests will be under way together.
    pub fn new(base: &str, credentials: Credentials, connections: usize) -> Result<Client, Error> {
        let base = base_url(base)?;
        if credentials.is_empty() {
            return Err(Error::NoCredentials(base.as_str().trim_end_matches('/').to_owned()));
        }
        let http = reqwest::Client::builder()
            .user_agent(AGENT)
            // A redirected POST would be repeated as a GET, and a redirect elsewhere would carry the token along.
            .redirect(reqwest::redirect::Policy::none())
            // Every repetition is decided by the policy, with the ledger knowing.
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(connections)
            .tcp_nodelay(true)
            .build()
            .map_err(|error| Error::Client(chain(&error)))?;
        let address: Uri = base.as_str().parse().map_err(|_| Error::BaseUrl(shown(base.as_str())))?;
        let direct = Direct::new(address, connections).map_err(|error| Error::Client(error.to_string()))?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let tokens = Tokens::new(base.as_str().trim_end_matches('/').to_owned(), credentials);
        Ok(Client { http, direct, base, headers, tokens })
    }

    /// Asks for answers in a language, such as `de` or `de-AT, de;q=0.8`.
    pub fn speaking(mut self, language: &str) -> Result<Client, Error> {
        let language = HeaderValue::from_str(language).map_err(|_| Error::Language(language.to_owned()))?;
        self.headers.insert(ACCEPT_LANGUAGE, language);
        Ok(self)
    }

    /// The base address as a person writes it, without a slash at its end.
    pub fn address(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// The tokens in force: those that were given, or newer ones.
    pub async fn credentials(&self) -> Credentials {
        self.tokens.credentials().await
    }

    /// Makes the request once. On 401 the token is refreshed, once for all workers; the request does not go out again
    /// by itself, because a resend is as much a request as any other to the pace and to a pause.
    pub async fn attempt(&self, request: &Request) -> Attempt {
        let ask = async |refresh: &SecretString| self.ask_for_tokens(refresh).await;
        let mut bearer = self.tokens.bearer().await;
        if bearer.is_stale {
            // Where it fails, the token may be good all the same; if it is not, the refusal is the answer.
            let _ = Box::pin(self.tokens.refresh(bearer.stand, ask)).await;
            bearer = self.tokens.bearer().await;
        }
        let mut requests = 0;
        let mut reason = "there is no access token".to_owned();
        if let Some(access) = &bearer.access {
            requests = 1;
            let exchange = self.exchange(request, Some(access)).await.without(&access.token);
            tracing::debug!(method = request.method, path = request.path, came = exchange.in_short(), "request");
            match exchange {
                Exchange::Answered(answer) if answer.status == 401 => {
                    reason = super::answer::message(&answer.body).unwrap_or_else(|| "401 after a refresh".to_owned());
                }
                exchange => return Attempt { requests, exchange },
            }
        }
        // It is rare and large, and would make every attempt as large.
        let renewed = Box::pin(self.tokens.refresh(bearer.stand, ask)).await;
        tracing::info!(renewed = renewed.is_ok(), "the access token was refused");
        let exchange = match renewed {
            Ok(true) => Exchange::Renewed { reason },
            Ok(false) => {
                let reason = "the access token is not valid, and there is no refresh token".to_owned();
                Exchange::Unauthorized { reason }
            }
            Err(exchange) => exchange,
        };
        Attempt { requests, exchange }
    }

    async fn ask_for_tokens(&self, refresh: &SecretString) -> Result<auth::Pair, Exchange> {
        let input = RefreshInput { refresh: refresh.expose_secret().to_owned() };
        let body = serde_json::to_string(&input).map_err(|error| Exchange::NotSent { reason: error.to_string() })?;
        let request = Request { method: "POST", path: REFRESH_PATH.to_owned(), body: Some(body.into()) };
        match self.exchange(&request, None).await.without(refresh) {
            Exchange::Answered(answer) if (200..300).contains(&answer.status) => {
                auth::read_pair(&answer.body).ok_or(Exchange::Unauthorized {
                    reason: "the answer to the token refresh holds no access token".to_owned(),
                })
            }
            // These concern everybody, whichever call they answer.
            Exchange::Answered(answer) if matches!(answer.status, 300..=399 | 429) => Err(Exchange::Answered(answer)),
            Exchange::Answered(answer) if (400..500).contains(&answer.status) && answer.status != 408 => {
                let words = super::answer::message(&answer.body).unwrap_or_default();
                let reason = format!("the refresh token was not accepted ({} {words})", answer.status);
                Err(Exchange::Unauthorized { reason: reason.replace(" )", ")") })
            }
            // Nothing of the record itself was sent; whatever went wrong with the refresh, the record may be repeated.
            Exchange::Answered(answer) => {
                Err(Exchange::NotSent { reason: format!("the token refresh was answered {}", answer.status) })
            }
            Exchange::CutAnswer { reason, .. } | Exchange::Lost { reason } | Exchange::NotSent { reason } => {
                Err(Exchange::NotSent { reason })
            }
            exchange @ (Exchange::Renewed { .. } | Exchange::Unauthorized { .. }) => Err(exchange),
        }
    }

    async fn exchange(&self, request: &Request, access: Option<&Access>) -> Exchange {
        let mut headers = self.headers.clone();
        match access.map(|access| &access.header) {
            None => {}
            Some(Some(header)) => drop(headers.insert(AUTHORIZATION, header.clone())),
            Some(None) => {
                return Exchange::Unauthorized {
                    reason: "the access token holds characters that no token has".to_owned(),
                };
            }
        }
        let method = Method::from_bytes(request.method.as_bytes()).unwrap_or(Method::GET);
        match &self.direct {
            Some(direct) => self.exchange_directly(direct, method, request, headers).await,
            // It is much larger, and would make the other as large.
            None => Box::pin(self.exchange_by_reqwest(method, request, headers)).await,
        }
    }

    async fn exchange_directly(
        &self,
        direct: &Direct,
        method: Method,
        request: &Request,
        mut headers: HeaderMap,
    ) -> Exchange {
        let url = match self.target(&request.path) {
            Ok(url) => url,
            Err(reason) => return Exchange::NotSent { reason },
        };
        let (longest, limit) = match &request.body {
            Some(_) => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                (MAX_RESULT, WRITE)
            }
            None => {
                // Within a machine it takes longer to pack a page than to hand it over.
                if !direct.is_local() {
                    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(GZIP));
                }
                (MAX_PAGE, READ)
            }
        };
        let mut sent = hyper::Request::new(Full::new(request.body.clone().unwrap_or_default()));
        *sent.method_mut() = method;
        *sent.uri_mut() = url;
        *sent.headers_mut() = headers;
        match direct.exchange(sent, longest, limit).await {
            Came::NotSent(reason) => Exchange::NotSent { reason },
            Came::Lost(reason) => Exchange::Lost { reason },
            Came::Answer { status, headers, body, cut: None } => match unpacked(&headers, body, longest) {
                Ok(body) => answered(status, &headers, body, None),
                Err(reason) => answered(status, &headers, Vec::new(), Some(reason)),
            },
            Came::Answer { status, headers, body, cut } => answered(status, &headers, body, cut),
        }
    }

    async fn exchange_by_reqwest(&self, method: Method, request: &Request, headers: HeaderMap) -> Exchange {
        let url = match self.base.join(request.path.trim_start_matches('/')) {
            Ok(url) => url,
            Err(error) => return Exchange::NotSent { reason: error.to_string() },
        };
        let timeout = if request.body.is_some() { WRITE } else { READ };
        let mut builder = self.http.request(method, url).headers(headers).timeout(timeout);
        if let Some(body) = &request.body {
            builder = builder.header(CONTENT_TYPE, HeaderValue::from_static("application/json")).body(body.clone());
        }
        let mut response = match builder.send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() || error.is_builder() => {
                return Exchange::NotSent { reason: chain(&error) };
            }
            Err(error) => return Exchange::Lost { reason: chain(&error) },
        };
        let longest = if request.body.is_some() { MAX_RESULT } else { MAX_PAGE };
        let told = response.content_length().and_then(|len| usize::try_from(len).ok()).unwrap_or_default();
        let mut body = Vec::with_capacity(told.min(MAX_RESULT));
        let cut = loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > longest => {
                    break Some("the answer does not end".to_owned());
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break None,
                Err(error) => break Some(chain(&error)),
            }
        };
        answered(response.status(), response.headers(), body, cut)
    }

    /// What a request's first line names: the path below the base address.
    fn target(&self, path: &str) -> Result<Uri, String> {
        let path = path.trim_start_matches('/');
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'?' | b'&' | b'=');
        // Nothing that a URL would write in another way, and no steps up: it is added as it is.
        let target = if path.bytes().all(is_plain) && !path.contains("//") {
            [self.base.path(), path].concat()
        } else {
            let url = self.base.join(path).map_err(|error| error.to_string())?;
            match url.query() {
                Some(query) => [url.path(), "?", query].concat(),
                None => url.path().to_owned(),
            }
        };
        // It is made for each request, and so it is handed over rather than copied once more.
        Uri::from_maybe_shared(Bytes::from(target)).map_err(|error| error.to_string())
    }
}

/// The body as it was before it was packed for the way, if it was. No more than `longest` bytes are unpacked.
fn unpacked(headers: &HeaderMap, body: Vec<u8>, longest: usize) -> Result<Vec<u8>, String> {
    let is_packed =
        headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(GZIP.as_bytes()));
    if !is_packed || body.is_empty() {
        return Ok(body);
    }
    let mut whole = Vec::new();
    // One byte more tells a body that is too long from one that is just as long.
    let most = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    let read = MultiGzDecoder::new(&*body).take(most).read_to_end(&mut whole);
    match read {
        Ok(_) if whole.len() > longest => Err("the answer does not end".to_owned()),
        Ok(_) => Ok(whole),
        Err(error) => Err(error.to_string()),
    }
}

fn answered(status: StatusCode, headers: &HeaderMap, body: Vec<u8>, cut: Option<String>) -> Exchange {
    let retry_after = retry_after(status, headers);
    let quota = quota(headers);
    let status = status.as_u16();
    match cut {
        Some(reason) if (200..300).contains(&status) => Exchange::CutAnswer { status, reason },
        _ => Exchange::Answered(Answer { status, body, retry_after, quota }),
    }
}

impl Exchange {
    /// For the log: what came, without any of its words.
    fn in_short(&self) -> String {
        match self {
            Exchange::Answered(answer) => answer.status.to_string(),
            Exchange::CutAnswer { status, .. } => format!("{status}, cut"),
            Exchange::NotSent { .. } => "not sent".to_owned(),
            Exchange::Lost { .. } => "lost".to_owned(),
            Exchange::Renewed { .. } | Exchange::Unauthorized { .. } => "refused".to_owned(),
        }
    }

    /// Takes out a token that the service repeats in its words, because words go into ledgers and reports.
    fn without(mut self, secret: &SecretString) -> Exchange {
        let secret = secret.expose_secret();
        // Its end is found many times as fast as all of it, and hardly ever there.
        let end = secret.as_bytes().rchunks(SEARCHED).next().unwrap_or_default();
        if let Exchange::Answered(answer) = &mut self
            && answer.body.len() <= MAX_RESULT
            && !secret.is_empty()
            && memchr::memmem::find(&answer.body, end).is_some()
        {
            answer.body = String::from_utf8_lossy(&answer.body).replace(secret, "***").into_bytes();
        }
        self
    }
}

/// The address as given, with a slash at its end, so that paths are added to it rather than replacing its last part.
fn base_url(base: &str) -> Result<Url, Error> {
    let bad = || Error::BaseUrl(shown(base));
    let url = Url::parse(&format!("{}/", base.trim().trim_end_matches('/'))).map_err(|_| bad())?;
    let plain =
        url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if matches!(url.scheme(), "http" | "https") && url.has_host() && plain { Ok(url) } else { Err(bad()) }
}

/// An address for a message: without what may be a password or a token.
fn shown(base: &str) -> String {
    let base = base.split(['?', '#']).next().unwrap_or_default();
    match (base.split_once("://"), base.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://***@{host}"),
        (None, Some((_, host))) => format!("***@{host}"),
        (_, None) => base.to_owned(),
    }
}

/// The header Retry-After in seconds. A date in it is counted from the service's own clock, where it shows that.
fn retry_after(status: StatusCode, headers: &HeaderMap) -> Option<String> {
    if !matches!(status.as_u16(), 408 | 429 | 503) {
        return None;
    }
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let date = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp());
    let value = text(RETRY_AFTER)?;
    match date(value) {
        Some(until) => {
            let now = text(DATE).and_then(date).unwrap_or_else(jiff::Timestamp::now);
            Some(until.duration_since(now).as_secs().max(0).to_string())
        }
        None => Some(value.to_owned()),
    }
}

/// What the RateLimit headers say, in the forms that are in use: one field for each number, with or without `X-` before
/// it, or all in one, as `limit=10, remaining=0, reset=7` or `"default";r=0;t=7`.
fn quota(headers: &HeaderMap) -> Option<Quota> {
    // A moment since 1970 is no number of seconds that anybody is asked to wait.
    const EPOCH: u64 = 1_000_000_000;
    // Nearly no answer has one, and to look each up takes longer.
    if !headers.keys().any(|name| name.as_str().contains("ratelimit")) {
        return None;
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let number = |text: &str| text.trim().split([';', ',']).next()?.trim().parse::<f64>().ok();
    let either = |name: &str, x_name: &str| text(name).or_else(|| text(x_name)).and_then(number);
    let (remaining, reset) = match text("ratelimit") {
        Some(all) => {
            let of = |names: [&str; 2]| {
                all.split([';', ','])
                    .filter_map(|part| part.split_once('='))
                    .find_map(|(name, value)| names.contains(&name.trim()).then(|| number(value)).flatten())
            };
            (of(["remaining", "r"]), of(["reset", "t"]))
        }
        None => {
            (either("ratelimit-remaining", "x-ratelimit-remaining"), either("ratelimit-reset", "x-ratelimit-reset"))
        }
    };
    let whole = |number: f64| (0.0..1e15).contains(&number).then_some(number);
    let (remaining, reset) = (whole(remaining?)?, whole(reset?)?);
    let reset = if reset >= EPOCH as f64 {
        let date =
            headers.get(DATE).and_then(|date| date.to_str().ok()).and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
        let now = date.map_or_else(jiff::Timestamp::now, |date| date.timestamp());
        (reset - now.as_second() as f64).max(0.0)
    } else {
        reset
    };
    Some(Quota { remaining: remaining as u64, reset: Duration::from_secs_f64(reset) })
}

/// The last cause of an error, which is the one that people understand, without the address, which is said elsewhere.
fn chain(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return if error.is_connect() { "no connection in 10 s".to_owned() } else { "no answer in time".to_owned() };
    }
    error.source().map_or_else(|| "the request could not be made".to_owned(), last_cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_read_in_the_forms_that_are_in_use() {
        let read = |headers: &[(&'static str, &'static str)]| {
            let headers =
                headers.iter().map(|(name, value)| (name.parse().expect("a name"), HeaderValue::from_static(value)));
            quota(&headers.collect::<HeaderMap>()).map(|quota| (quota.remaining, quota.reset.as_secs()))
        };
        assert_eq!(read(&[("ratelimit-remaining", "0"), ("ratelimit-reset", "7")]), Some((0, 7)));
        assert_eq!(read(&[("x-ratelimit-remaining", "3"), ("x-ratelimit-reset", "60")]), Some((3, 60)));
        assert_eq!(read(&[("ratelimit", "limit=10, remaining=0, reset=7")]), Some((0, 7)));
        assert_eq!(read(&[("ratelimit", r#""default";r=2;t=30"#)]), Some((2, 30)));
        let epoch = [
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "1700000009"),
            ("date", "Tue, 14 Nov 2023 22:13:20 GMT"),
        ];
        assert_eq!(read(&epoch), Some((0, 9)));
        for bad in [
            &[("ratelimit-remaining", "0")][..],
            &[("ratelimit", "x")],
            &[("ratelimit-remaining", "-1"), ("ratelimit-reset", "NaN")],
        ] {
            assert_eq!(read(bad), None);
        }
    }

    #[test]
    fn a_packed_body_is_unpacked_within_its_bound() {
        let pack = |text: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut encoder, text).expect("room");
            encoder.finish().expect("room")
        };
        let headers = |encoding: &'static str| {
            [(CONTENT_ENCODING, HeaderValue::from_static(encoding))].into_iter().collect::<HeaderMap>()
        };
        let text = b"[1, 2]".repeat(1000);
        let packed = pack(&text);
        assert_eq!(unpacked(&headers("gzip"), packed.clone(), text.len()), Ok(text.clone()));
        assert_eq!(
            unpacked(&headers("GZIP"), [pack(&text[..7]), pack(&text[7..])].concat(), 1 << 20),
            Ok(text.clone())
        );
        assert_eq!(unpacked(&headers("identity"), text.clone(), text.len()), Ok(text.clone()));
        assert_eq!(unpacked(&HeaderMap::new(), text.clone(), text.len()), Ok(text.clone()));
        assert_eq!(unpacked(&headers("gzip"), Vec::new(), 0), Ok(Vec::new()), "an answer without a body");
        let too_long = unpacked(&headers("gzip"), packed.clone(), text.len() - 1);
        assert_eq!(too_long, Err("the answer does not end".to_owned()));
        for cut in [1, packed.len() / 2, packed.len() - 1] {
            assert!(unpacked(&headers("gzip"), packed[..cut].to_vec(), 1 << 20).is_err(), "{cut}");
        }
        assert!(unpacked(&headers("gzip"), text, 1 << 20).is_err(), "it is not packed");
    }
}
