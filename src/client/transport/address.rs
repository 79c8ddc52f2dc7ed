//! The service's base address, and what requests name below it.

use hyper::Uri;
use hyper::body::Bytes;
use reqwest::Url;

use crate::client::error::Error;

/// A base address with a slash at its end, so that paths are added to it rather than replacing its last part.
#[derive(Debug)]
pub struct Address(Url);

impl Address {
    /// The address as a person writes it.
    pub fn new(base: &str) -> Result<Address, Error> {
        let bad = || Error::BaseUrl(shown(base));
        let url = Url::parse(&format!("{}/", base.trim().trim_end_matches('/'))).map_err(|_| bad())?;
        let plain =
            url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
        if matches!(url.scheme(), "http" | "https") && url.has_host() && plain { Ok(Address(url)) } else { Err(bad()) }
    }

    /// Without a slash at its end.
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    /// Where connections lead to.
    pub fn uri(&self) -> Result<Uri, Error> {
        self.0.as_str().parse().map_err(|_| Error::BaseUrl(shown(self.0.as_str())))
    }

    /// The whole address of what is at `path`, query and all.
    pub fn url(&self, path: &str) -> Result<Url, String> {
        self.0.join(path.trim_start_matches('/')).map_err(|error| error.to_string())
    }

    /// The same as a request's first line names it, where the connection says the rest.
    pub fn target(&self, path: &str) -> Result<Uri, String> {
        let path = path.trim_start_matches('/');
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'?' | b'&' | b'=');
        // Nothing that a URL would write in another way, and no steps up: it is added as it is.
        let target = if path.bytes().all(is_plain) && !path.contains("//") {
            [self.0.path(), path].concat()
        } else {
            let url = self.url(path)?;
            match url.query() {
                Some(query) => [url.path(), "?", query].concat(),
                None => url.path().to_owned(),
            }
        };
        // It is made for each request, and so it is handed over rather than copied once more.
        Uri::from_maybe_shared(Bytes::from(target)).map_err(|error| error.to_string())
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_names_what_the_whole_address_does() {
        for base in ["http://localhost:8080", "https://records.example/below/", "http://[::1]/a%20b"] {
            let address = Address::new(base).expect("an address");
            for path in [
                "/public-api/items",
                "/items/?page=12&limit=1000",
                "orders/SO-1_a",
                "",
                "?page=2",
                "orders/SO 1/\u{e9}",
                "orders/SO%201?a=b%2Fc",
                "a//b",
                "a/../b",
                "./a",
                "items?next=a?b",
                "items#part",
            ] {
                let url = address.url(path).expect("a URL");
                let named = address.target(path).expect("a target");
                assert_eq!((named.path(), named.query()), (url.path(), url.query()), "{base} {path}");
                assert!(named.authority().is_none() && named.scheme().is_none(), "{named}");
            }
        }
        assert!(Address::new("http://localhost/").expect("an address").target(&"a".repeat(1 << 16)).is_err());
    }
}
