//! Access control of the page: only requests to our own host names, from our own page, by a browser that has exchanged the token
//! in the address, or the code that a person typed, for a cookie.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sheetport_operations::TemporaryFolder;
use sheetport_web::OwnHosts;

use super::failure::Failure;

/// Bytes of the token and of the cookie.
const SECRET: usize = 32;
/// Name of the cookie, without the port.
const COOKIE: &str = "sheetport_review";
/// Characters of the code. Letters and digits that look alike are missing: there are 32, so that a byte chooses one evenly.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// Number of characters of the code: 40 bits.
const CODE: usize = 8;
/// Number of wrong codes after which no code is taken any more. With 40 bits, five guesses succeed once in 200 billion pages.
const ATTEMPTS: u8 = 5;

/// The secrets of the page.
pub(crate) struct Access {
    hosts: OwnHosts,
    /// Cookies do not tell ports apart.
    cookie_name: String,
    cookie: String,
    /// `None` once a browser is in.
    ticket: Mutex<Option<Ticket>>,
}

/// What lets the first browser in.
struct Ticket {
    /// The token in the address.
    token: String,
    /// The code to type where the address can't be handed to the browser.
    code: String,
    attempts_left: u8,
    /// A folder with a page that leads to the address, removed together with the ticket.
    opener: Option<TemporaryFolder>,
}

/// The answer to a token or a code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Exchanged {
    /// The header with the cookie.
    Cookie(String),
    /// The address was used before, or too many wrong codes were typed.
    Closed,
    WrongCode {
        attempts_left: u8,
    },
}

impl Access {
    /// Creates new secrets for a server at `address`.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub(crate) fn new(address: SocketAddr) -> std::io::Result<Access> {
        Ok(Access {
            hosts: OwnHosts::new(&[address], &[]),
            cookie_name: format!("{COOKIE}_{}", address.port()),
            cookie: secret()?,
            ticket: Mutex::new(Some(Ticket { token: secret()?, code: code()?, attempts_left: ATTEMPTS, opener: None })),
        })
    }

    fn ticket(&self) -> MutexGuard<'_, Option<Ticket>> {
        self.ticket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the token of the address.
    pub(crate) fn token(&self) -> String {
        self.ticket().as_ref().map(|ticket| ticket.token.clone()).unwrap_or_default()
    }

    /// Returns the code to type, in two groups.
    pub(crate) fn code(&self) -> String {
        let code = self.ticket().as_ref().map(|ticket| ticket.code.clone()).unwrap_or_default();
        let (first, second) = code.split_at_checked(CODE / 2).unwrap_or_default();
        format!("{first}-{second}")
    }

    /// Whether a code is still taken.
    pub(crate) fn takes_code(&self) -> bool {
        self.ticket().as_ref().is_some_and(|ticket| ticket.attempts_left > 0)
    }

    /// Keeps a folder with a page that leads to the address until a browser is in.
    pub(crate) fn keep(&self, opener: TemporaryFolder) {
        if let Some(ticket) = self.ticket().as_mut() {
            ticket.opener = Some(opener);
        }
    }

    /// Lets no further browser in.
    pub(crate) fn close(&self) {
        *self.ticket() = None;
    }

    /// Exchanges the token of the address for the cookie, once.
    pub(crate) fn exchange(&self, token: &str) -> Exchanged {
        let mut ticket = self.ticket();
        match ticket.as_ref().is_some_and(|ticket| is_same(&ticket.token, token)) {
            true => self.let_in(&mut ticket),
            false => Exchanged::Closed,
        }
    }

    /// Exchanges the code for the cookie, once, however it is written.
    pub(crate) fn exchange_code(&self, typed: &str) -> Exchanged {
        let typed: String = typed.chars().filter(char::is_ascii_alphanumeric).collect();
        let mut ticket = self.ticket();
        let Some(open) = ticket.as_mut().filter(|ticket| ticket.attempts_left > 0) else { return Exchanged::Closed };
        if is_same(&open.code, &typed.to_ascii_uppercase()) {
            return self.let_in(&mut ticket);
        }
        open.attempts_left -= 1;
        match open.attempts_left {
            0 => Exchanged::Closed,
            attempts_left => Exchanged::WrongCode { attempts_left },
        }
    }

    fn let_in(&self, ticket: &mut Option<Ticket>) -> Exchanged {
        *ticket = None;
        Exchanged::Cookie(format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name, self.cookie))
    }

    /// Whether the request has the cookie.
    pub(super) fn is_known(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.cookie_name && is_same(value, &self.cookie))
    }
}

/// Refuses requests to other hosts and from other pages.
pub(crate) async fn require_own_page(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    if access.hosts.refusal(&request).is_some() {
        return Failure::new(StatusCode::MISDIRECTED_REQUEST, "this is not the address of the page").into_response();
    }
    if !is_from_own_page(request.method(), request.headers()) && !is_arrival(&request) {
        return Failure::new(StatusCode::FORBIDDEN, "the request comes from another page").into_response();
    }
    next.run(request).await
}

/// Refuses requests without the cookie.
pub(crate) async fn require_cookie(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
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
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
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

/// Returns whether a browser comes to the page from elsewhere, such as from the file that leads to it. The page has no data, and
/// can't be shown in a frame.
fn is_arrival(request: &Request) -> bool {
    let is = |name, value: &str| request.headers().get(name).is_some_and(|found: &HeaderValue| found == value);
    request.method() == Method::GET
        && request.uri().path() == "/"
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
}

fn random<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes)
}

fn secret() -> std::io::Result<String> {
    Ok(random::<SECRET>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn code() -> std::io::Result<String> {
    let bytes = random::<CODE>()?;
    Ok(bytes
        .iter()
        .filter_map(|byte| LETTERS.get(usize::from(*byte) % LETTERS.len()))
        .map(|byte| char::from(*byte))
        .collect())
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
        let (token, code) = (access.token(), access.code());
        assert_eq!((token.len(), access.exchange("x")), (64, Exchanged::Closed));
        let Exchanged::Cookie(cookie) = access.exchange(&token) else { panic!("no cookie") };
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        assert_eq!((access.exchange(&token), access.exchange_code(&code)), (Exchanged::Closed, Exchanged::Closed));
        let (pair, _) = cookie.split_once(';').expect("attributes");
        assert!(access.is_known(&headers(&[("cookie", &format!("a=b; {pair}"))])));
        assert!(!access.is_known(&headers(&[("cookie", "sheetport_review_4711=x")])));
        assert!(!access.is_known(&HeaderMap::new()));
    }

    #[test]
    fn a_code_is_taken_once_and_few_guesses_are() {
        let open = || Access::new("127.0.0.1:4711".parse().expect("an address")).expect("random numbers");
        let access = open();
        let code = access.code();
        assert_eq!(code.len(), 9, "{code}");
        assert_eq!(access.exchange_code("ABCD"), Exchanged::WrongCode { attempts_left: 4 });
        let typed = format!(" {} ", code.to_lowercase().replace('-', " "));
        assert!(matches!(access.exchange_code(&typed), Exchanged::Cookie(_)), "{typed}");
        assert_eq!((access.exchange_code(&code), access.takes_code()), (Exchanged::Closed, false));

        let access = open();
        for _ in 1..ATTEMPTS {
            assert!(matches!(access.exchange_code("0000-0000"), Exchanged::WrongCode { .. }));
        }
        assert_eq!((access.exchange_code("0000-0000"), access.takes_code()), (Exchanged::Closed, false));
        assert_eq!(access.exchange_code(&access.code()), Exchanged::Closed);
        // Guesses of others do not lock out the browser with the address.
        assert!(matches!(access.exchange(&access.token()), Exchanged::Cookie(_)));
    }

    #[test]
    fn a_browser_may_arrive_from_elsewhere_at_the_page_only() {
        let request = |path: &str, mode: &str, destination: &str| {
            let request =
                axum::http::Request::get(path).header("sec-fetch-mode", mode).header("sec-fetch-dest", destination);
            request.body(axum::body::Body::empty()).expect("a request")
        };
        assert!(is_arrival(&request("/", "navigate", "document")));
        for (path, mode, destination) in
            [("/api/start", "navigate", "document"), ("/", "navigate", "iframe"), ("/", "cors", "empty")]
        {
            assert!(!is_arrival(&request(path, mode, destination)), "{path} {mode} {destination}");
        }
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
