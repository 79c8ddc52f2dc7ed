//! The validated base address of the service, and addresses below.

use reqwest::Url;

use crate::base_url::{plain, redacted};
use crate::error::Error;

/// A base address with a trailing slash, so that joining a path keeps the last segment.
#[derive(Debug)]
pub(super) struct Address(Url);

impl Address {
    /// Parses a base address. Fails unless it is http or https with a host, and without credentials, query and fragment.
    pub(super) fn new(base: &str) -> Result<Address, Error> {
        let invalid = || Error::BaseUrl(redacted(base));
        let url = Url::parse(&format!("{}/", plain(base))).map_err(|_| invalid())?;
        let is_plain =
            url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
        let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
        if is_http && is_plain { Ok(Address(url)) } else { Err(invalid()) }
    }

    /// Returns the address without the trailing slash.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    /// Whether the address begins with http://.
    pub(super) fn is_http(&self) -> bool {
        self.0.scheme() == "http"
    }

    /// Returns the full URL of a path and query.
    pub(super) fn url(&self, path: &str) -> Result<Url, String> {
        self.0.join(path.trim_start_matches('/')).map_err(|error| error.to_string())
    }
}

/// Returns a base address in the normal form stored with runs.
///
/// # Errors
/// If the address is invalid.
pub fn normal_address(base: &str) -> Result<String, Error> {
    Address::new(base).map(|address| address.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_below_the_base_address() {
        for (base, path, url) in [
            ("http://localhost:8080", "/v1/items?page=2", "http://localhost:8080/v1/items?page=2"),
            ("https://records.example/below/", "/v1/items", "https://records.example/below/v1/items"),
            ("https://records.example/below", "orders/a%2Fb", "https://records.example/below/orders/a%2Fb"),
        ] {
            let address = Address::new(base).expect("an address");
            assert_eq!(address.url(path).expect("a URL").as_str(), url);
        }
    }
}
