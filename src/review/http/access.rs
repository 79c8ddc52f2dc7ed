//! Access control of the page: only requests to our own host names, from our own page, by a browser that has exchanged the token
//! in the address for a cookie.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::failure::Failure;
use crate::web_server::OwnHosts;

/// Bytes of the token and of the cookie.
const SECRET: usize = 32;
/// Name of the cookie, without the port.
const COOKIE: &str = "sheetport_review";

/// The secrets of the page.
pub(in crate::review) struct Access {
    hosts: OwnHosts,
    /// Cookies do not tell ports apart.
    cookie_name: String,
    cookie: String,
    /// The token in the address, until a browser has used it.
    token: Mutex<Option<String>>,
}

impl Access {
    /// Creates new secrets for a server at `address`.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub(in crate::review) fn new(address: SocketAddr) -> std::io::Result<Access> {
        Ok(Access {
            hosts: OwnHosts::new(&[address], &[]),
            cookie_name: format!("{COOKIE}_{}", address.port()),
            cookie: secret()?,
            token: Mutex::new(Some(secret()?)),
        })
    }

    /// Returns the token of the address.
    pub(in crate::review) fn token(&self) -> String {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    /// Exchanges the token of the address for the cookie, once. Returns the header with the cookie.
    pub(in crate::review) fn exchange(&self, token: &str) -> Option<String> {
        let mut known = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.as_deref().is_some_and(|known| is_same(known, token)) {
            return None;
        }
        *known = None;
        Some(format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name, self.cookie))
    }

    /// Whether the request has the cookie.
    pub(super) fn is_known(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.cookie_name && is_same(value, &self.cookie))
    }
}

/// Refuses requests to other hosts and from other pages.
pub(in crate::review) async fn require_own_page(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    if access.hosts.refusal(&request).is_some() {
        return Failure::new(StatusCode::MISDIRECTED_REQUEST, "this is not the address of the page").into_response();
    }
    if !is_from_own_page(request.method(), request.headers()) {
        return Failure::new(StatusCode::FORBIDDEN, "the request comes from another page").into_response();
    }
    next.run(request).await
}

/// Refuses requests without the cookie.
pub(in crate::review) async fn require_cookie(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    match access.is_known(request.headers()) {
        true => next.run(request).await,
        false => {
            let message = "this browser has not opened the page with the address that Sheetport printed";
            Failure::new(StatusCode::UNAUTHORIZED, message).into_response()
        }
    }
}

/// Returns whether the headers of a request show our page as its origin. Only GET and HEAD may leave out `Origin`.
fn is_from_own_page(method: &Method, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &axum::http::HeaderValue| value.to_str().ok());
    let site = text("sec-fetch-site");
    let is_same_site = site.is_none_or(|site| matches!(site, "same-origin" | "none"));
    let origin = text(header::ORIGIN.as_str());
    let own = text(header::HOST.as_str()).map(|host| format!("http://{host}"));
    let is_own = |origin: &str| own.as_deref() == Some(origin);
    match *method {
        Method::GET | Method::HEAD => is_same_site && origin.is_none_or(is_own),
        _ => is_same_site && origin.is_some_and(is_own),
    }
}

fn secret() -> std::io::Result<String> {
    let mut bytes = [0; SECRET];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares secrets in constant time.
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value"))).collect()
    }

    #[test]
    fn the_token_is_exchanged_once() {
        let access = Access::new("127.0.0.1:4711".parse().expect("an address")).expect("random numbers");
        let token = access.token();
        assert_eq!((token.len(), access.exchange("x")), (64, None));
        let cookie = access.exchange(&token).expect("a cookie");
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        assert_eq!(access.exchange(&token), None);
        let (pair, _) = cookie.split_once(';').expect("attributes");
        assert!(access.is_known(&headers(&[("cookie", &format!("a=b; {pair}"))])));
        assert!(!access.is_known(&headers(&[("cookie", "sheetport_review_4711=x")])));
        assert!(!access.is_known(&HeaderMap::new()));
    }

    #[test]
    fn other_pages_are_recognized() {
        let host = ("host", "127.0.0.1:4711");
        for (method, more, expected) in [
            (Method::GET, vec![], true),
            (Method::GET, vec![("sec-fetch-site", "cross-site")], false),
            (Method::GET, vec![("origin", "http://evil.example")], false),
            (Method::POST, vec![], false),
            (Method::POST, vec![("origin", "http://127.0.0.1:4711")], true),
            (Method::POST, vec![("origin", "http://127.0.0.1:4711"), ("sec-fetch-site", "same-site")], false),
            (Method::POST, vec![("origin", "http://127.0.0.1:9999")], false),
            (Method::POST, vec![("origin", "null")], false),
        ] {
            let all: Vec<_> = more.iter().copied().chain([host]).collect();
            assert_eq!(is_from_own_page(&method, &headers(&all)), expected, "{method} {more:?}");
        }
    }
}
