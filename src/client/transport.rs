//! One HTTP exchange with the service: its answer, or how far it got before it broke.
//!
//! A client asks for it over connections of its own, straight to the service (`client::direct`), or, where a proxy
//! stands between, over those of reqwest (`proxied`). What comes of either is read in one way (`exchange`).

mod address;
mod exchange;
mod gzip;
mod limits;
mod proxied;

use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use reqwest::Method;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT,
};
use secrecy::{ExposeSecret, SecretString};

use super::auth::{self, Access, Credentials, Tokens};
use super::direct::{Came, Direct};
use super::error::Error;
use crate::records::token::{REFRESH_PATH, RefreshInput};

use address::Address;
use gzip::GZIP;
use proxied::Proxied;

pub use exchange::{Answer, Exchange};
pub use limits::Quota;

/// More than any page should be. A longer one is not read to its end.
const MAX_PAGE: usize = 64 << 20;
/// The same for the answer to a write, of which there are as many at once as there are workers.
const MAX_RESULT: usize = 1 << 20;
pub(super) const CONNECT: Duration = Duration::from_secs(10);
const READ: Duration = Duration::from_secs(60);
const WRITE: Duration = Duration::from_secs(120);
const AGENT: &str = concat!("sheetport/", env!("CARGO_PKG_VERSION"));

/// A connection pool to one service with one workspace's credentials.
#[derive(Debug)]
pub struct Client {
    address: Address,
    way: Way,
    /// The headers that all requests have.
    headers: HeaderMap,
    tokens: Tokens,
}

/// What requests go over.
#[derive(Debug)]
enum Way {
    /// Connections of our own, straight to the service.
    Direct(Box<Direct>),
    /// There is a proxy between.
    Proxied(Proxied),
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

impl Client {
    /// `connections` is how many requests will be under way together.
    pub fn new(base: &str, credentials: Credentials, connections: usize) -> Result<Client, Error> {
        let address = Address::new(base)?;
        if credentials.is_empty() {
            return Err(Error::NoCredentials(address.as_str().to_owned()));
        }
        let direct = Direct::new(address.uri()?, connections).map_err(|error| Error::Client(error.to_string()))?;
        let way = match direct {
            Some(direct) => Way::Direct(Box::new(direct)),
            None => Way::Proxied(Proxied::new(connections)?),
        };
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let tokens = Tokens::new(address.as_str().to_owned(), credentials);
        Ok(Client { address, way, headers, tokens })
    }

    /// Asks for answers in a language, such as `de` or `de-AT, de;q=0.8`.
    pub fn speaking(mut self, language: &str) -> Result<Client, Error> {
        let language = HeaderValue::from_str(language).map_err(|_| Error::Language(language.to_owned()))?;
        self.headers.insert(ACCEPT_LANGUAGE, language);
        Ok(self)
    }

    /// The base address as a person writes it, without a slash at its end.
    pub fn address(&self) -> &str {
        self.address.as_str()
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
        let (longest, limit) = match &request.body {
            Some(_) => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                (MAX_RESULT, WRITE)
            }
            None => (MAX_PAGE, READ),
        };
        let came = match &self.way {
            Way::Direct(direct) => {
                // Within a machine it takes longer to pack a page than to hand it over.
                if request.body.is_none() && !direct.is_local() {
                    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(GZIP));
                }
                match self.direct_request(request, headers) {
                    Ok(made) => direct.exchange(made, longest, limit).await,
                    Err(reason) => Came::NotSent(reason),
                }
            }
            Way::Proxied(proxied) => match self.proxied_request(request, headers, limit) {
                // It is much larger, and would make the other as large.
                Ok(made) => Box::pin(proxied.exchange(made, longest)).await,
                Err(reason) => Came::NotSent(reason),
            },
        };
        Exchange::of(came, longest)
    }

    fn direct_request(&self, request: &Request, headers: HeaderMap) -> Result<hyper::Request<Full<Bytes>>, String> {
        let mut made = hyper::Request::new(Full::new(request.body.clone().unwrap_or_default()));
        *made.method_mut() = request.method();
        *made.uri_mut() = self.address.target(&request.path)?;
        *made.headers_mut() = headers;
        Ok(made)
    }

    fn proxied_request(
        &self,
        request: &Request,
        headers: HeaderMap,
        limit: Duration,
    ) -> Result<reqwest::Request, String> {
        let mut made = reqwest::Request::new(request.method(), self.address.url(&request.path)?);
        *made.headers_mut() = headers;
        *made.body_mut() = request.body.clone().map(reqwest::Body::from);
        *made.timeout_mut() = Some(limit);
        Ok(made)
    }
}

impl Request {
    fn method(&self) -> Method {
        Method::from_bytes(self.method.as_bytes()).unwrap_or(Method::GET)
    }
}
