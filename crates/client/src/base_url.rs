//! Base addresses as text, checked or not.

use std::net::IpAddr;

use reqwest::Url;

/// Returns whether a base address refers to this machine: `localhost` or a loopback address.
pub fn is_local(base: &str) -> bool {
    let Ok(url) = Url::parse(base.trim()) else { return false };
    let Some(host) = url.host_str() else { return false };
    let ip: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
    host == "localhost" || ip.is_some_and(|ip| ip.is_loopback())
}

/// Returns the same text for all base addresses of a service. Ignores the case of the host, the default port, trailing slashes,
/// and different names of this machine.
pub fn service_name(base: &str) -> String {
    let Ok(mut url) = Url::parse(&format!("{}/", plain(base))) else { return plain(base).to_owned() };
    if is_local(base) {
        // Fails for schemes without hosts only.
        let _ = url.set_host(Some("localhost"));
    }
    plain(url.as_str()).to_owned()
}

/// Removes surrounding white space and trailing slashes from a base address.
pub(crate) fn plain(base: &str) -> &str {
    base.trim().trim_end_matches('/')
}

/// Returns whether two base addresses mean the same service. Ignores the case of the host, the default port and trailing slashes.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let parsed = |base: &str| Url::parse(&format!("{}/", plain(base))).ok();
    match (parsed(one), parsed(other)) {
        (Some(one), Some(other)) => one == other,
        _ => plain(one) == plain(other),
    }
}

/// Whether a base address is on a host: with the scheme and the port in `host`, or by https and its usual port if `host` is a
/// bare name.
pub(crate) fn is_on_host(base: &str, host: &str) -> bool {
    let host = host.trim();
    let origin = |text: &str| Url::parse(text.trim()).ok().filter(Url::has_host).map(|url| url.origin());
    let home = if host.contains("://") { origin(host) } else { origin(&format!("https://{host}")) };
    home.is_some() && home == origin(base)
}

/// Returns the scheme, the host and the port of a base address, as in `http://127.0.0.1:8787`. An address that can't be parsed is
/// returned without secrets.
pub(crate) fn origin(base: &str) -> String {
    match Url::parse(base.trim()) {
        Ok(url) if url.has_host() => url.origin().ascii_serialization(),
        _ => redacted(base),
    }
}

/// Whether requests to a base address are unencrypted and leave this machine.
pub(crate) fn is_exposed(base: &str) -> bool {
    Url::parse(base.trim()).is_ok_and(|url| url.scheme() == "http") && !is_local(base)
}

/// Returns the address for a message, without potential secrets in user information, query and fragment.
pub(crate) fn redacted(base: &str) -> String {
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
    fn a_service_has_one_name() {
        for (base, name) in [
            ("http://127.0.0.1:8787", "http://localhost:8787"),
            ("http://[::1]:8787/", "http://localhost:8787"),
            ("http://LOCALHOST:8787//", "http://localhost:8787"),
            ("https://API.example.com:443/below/", "https://api.example.com/below"),
            ("http://api.example.com", "http://api.example.com"),
            (" nonsense ", "nonsense"),
        ] {
            assert_eq!(service_name(base), name, "{base}");
        }
    }

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
    fn requests_over_plain_http_to_other_machines_are_exposed() {
        for (base, exposed) in [
            ("http://records.example", true),
            ("HTTP://192.0.2.1:8080/", true),
            ("https://records.example", false),
            ("http://localhost:8787", false),
            ("http://127.0.0.1", false),
        ] {
            assert_eq!(is_exposed(base), exposed, "{base}");
        }
    }
}
