//! The host names of a server. A foreign web page can reach a server on this machine through a host name that resolves to this
//! machine (DNS rebinding). Such requests have a foreign `Host`, and are refused.

use std::net::{IpAddr, SocketAddr};

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, header};

/// The host names and addresses of the server.
#[derive(Clone, Debug)]
pub struct OwnHosts {
    listens: Vec<IpAddr>,
    /// In lower case.
    names: Vec<String>,
}

impl OwnHosts {
    /// Returns the hosts of a server that listens on `listens` and has the additional `names`.
    pub fn new(listens: &[SocketAddr], names: &[String]) -> OwnHosts {
        OwnHosts {
            listens: listens.iter().map(SocketAddr::ip).collect(),
            names: names.iter().map(|name| normal(name)).collect(),
        }
    }

    fn has(&self, authority: &Authority) -> bool {
        let host = normal(authority.host());
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
        match address.parse::<IpAddr>() {
            // DNS rebinding needs a name, so an address is safe. The server listens on all addresses of this machine, or on one.
            Ok(address) => {
                address.is_loopback()
                    || self.listens.iter().any(|listens| listens.is_unspecified() || address == *listens)
                    || self.names.contains(&host)
            }
            Err(_) => host == "localhost" || host.ends_with(".localhost") || self.names.contains(&host),
        }
    }
}

/// Converts a name to lower case, and removes a trailing dot.
fn normal(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// The reason for refusing a request because of its `Host`.
#[derive(Debug)]
pub enum Refusal {
    /// Two proxies on the way might each use a different header.
    Several,
    None,
    NoHost,
    /// A foreign host.
    Foreign(String),
}

impl OwnHosts {
    /// Returns the reason for refusing a request, or `None` for a request to one of our hosts.
    pub fn refusal(&self, request: &Request) -> Option<Refusal> {
        let headers = request.headers().get_all(header::HOST);
        if headers.iter().count() > 1 {
            return Some(Refusal::Several);
        }
        let parse = |host: &HeaderValue| host.to_str().ok().and_then(|host| host.parse().ok());
        let mut hosts: Vec<Option<Authority>> = headers.iter().map(parse).collect();
        hosts.extend(request.uri().authority().cloned().map(Some));
        if hosts.is_empty() {
            return Some(Refusal::None);
        }
        let foreign = hosts.iter().find(|host| !host.as_ref().is_some_and(|host| self.has(host)))?;
        Some(foreign.as_ref().map_or(Refusal::NoHost, |host| Refusal::Foreign(host.host().to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(listens: &str, names: &[&str], own: &[&str], foreign: &[&str]) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let hosts = OwnHosts::new(&[listens.parse().expect("an address")], &names);
        let has = |host: &&str| hosts.has(&host.parse().expect("a host"));
        assert_eq!(own.iter().find(|host| !has(host)), None);
        assert_eq!(foreign.iter().find(|host| has(host)), None);
    }

    #[test]
    fn only_names_of_this_machine_and_given_ones_are_ours() {
        let loopback =
            ["localhost", "LOCALHOST:8787", "localhost.", "api.localhost", "127.0.0.1:8787", "127.1.2.3", "[::1]:8787"];
        let foreign =
            ["evil.example", "evil.example:8787", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.5"];
        check("127.0.0.1:8787", &[], &loopback, &foreign);
        check("10.0.0.5:8787", &[], &["10.0.0.5:1", "localhost"], &["evil.example", "10.0.0.6"]);
        check("0.0.0.0:8787", &["API.example.com"], &["192.168.1.7:8787", "api.example.com."], &["example.com"]);
        check("[::]:8787", &[], &["[fe80::1]:8787"], &["xapi.example.com"]);
        check("127.0.0.1:1", &["10.0.0.9"], &["10.0.0.9"], &["10.0.0.8"]);
    }
}
