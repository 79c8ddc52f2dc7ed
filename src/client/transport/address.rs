//! Base address of the service.

use std::net::IpAddr;

use reqwest::Url;

use crate::client::error::Error;

/// A base address with a trailing slash, so that joining a path keeps the last segment.
#[derive(Debug)]
pub(super) struct Address(Url);

impl Address {
    /// Parses a base address. Fails unless it is http or https with a host, and without credentials, query and fragment.
    pub(super) fn new(base: &str) -> Result<Address, Error> {
        let invalid = || Error::BaseUrl(redacted(base));
        let url = Url::parse(&format!("{}/", base.trim().trim_end_matches('/'))).map_err(|_| invalid())?;
        let is_plain =
            url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
        let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
        if is_http && is_plain { Ok(Address(url)) } else { Err(invalid()) }
    }

    /// Returns the address without the trailing slash.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    /// Returns the full URL of a path and query.
    pub(super) fn url(&self, path: &str) -> Result<Url, String> {
        self.0.join(path.trim_start_matches('/')).map_err(|error| error.to_string())
    }
}

/// Returns a base address in the form in which runs remember it.
///
/// # Errors
/// If it is none.
pub fn normal_address(base: &str) -> Result<String, Error> {
    Address::new(base).map(|address| address.as_str().to_owned())
}

/// Whether a base address is that of this machine: `localhost` or a loopback address.
pub fn is_local(base: &str) -> bool {
    let Ok(url) = Url::parse(base.trim()) else { return false };
    let Some(host) = url.host_str() else { return false };
    let ip: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
    host == "localhost" || ip.is_some_and(|ip| ip.is_loopback())
}

/// Returns the address for a message, without potential secrets in user information, query and fragment.
fn redacted(base: &str) -> String {
    let base = base.split(['?', '#']).next().expect("a split yields at least one part");
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
    fn only_loopback_addresses_are_local() {
        for local in ["http://localhost:8080", "http://127.0.0.1", "https://127.1.2.3/below", "http://[::1]:8080/"] {
            assert!(is_local(local), "{local}");
        }
        for other in
            ["https://records.example", "http://localhost.example", "http://10.0.0.1", "http://[::2]", "localhost"]
        {
            assert!(!is_local(other), "{other}");
        }
    }

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
