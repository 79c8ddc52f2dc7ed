//! The names that the service answers to. A web page of another site can reach a service on this machine under a name of that
//! site that leads here (DNS rebinding). Its requests carry that name, and are refused.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::response::ErrorResponse;

/// The paths of probes, which know the machine by any name and learn nothing of its records.
pub(super) const ALIVE: &str = "/healthz";
pub(super) const READY: &str = "/readyz";

/// The names and addresses in `Host` that are ours.
#[derive(Clone, Debug)]
pub(super) struct OwnHosts {
    listens: Vec<IpAddr>,
    /// In lower case.
    names: Vec<String>,
}

impl OwnHosts {
    /// Returns the hosts of a service that listens on these addresses, and is known by further names.
    pub(super) fn new(listens: &[SocketAddr], names: &[String]) -> OwnHosts {
        OwnHosts {
            listens: listens.iter().map(SocketAddr::ip).collect(),
            names: names.iter().map(|name| normal(name)).collect(),
        }
    }

    fn has(&self, authority: &Authority) -> bool {
        let host = normal(authority.host());
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
        match address.parse::<IpAddr>() {
            // A name that leads here is no address. All addresses of this machine are listened on, or one.
            Ok(address) => {
                address.is_loopback()
                    || self.listens.iter().any(|listens| listens.is_unspecified() || address == *listens)
                    || self.names.contains(&host)
            }
            Err(_) => host == "localhost" || host.ends_with(".localhost") || self.names.contains(&host),
        }
    }
}

/// Returns a name in lower case, without the dot at its end.
fn normal(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Refuses requests to hosts that are not ours with 421.
pub(super) async fn require(State(own): State<OwnHosts>, request: Request, next: Next) -> Response {
    // Two programs on the way may each follow another one.
    if request.headers().get_all(header::HOST).iter().count() > 1 {
        return ErrorResponse::new(StatusCode::BAD_REQUEST, "send exactly one Host header").into_response();
    }
    match refusal(&own, &request) {
        None => next.run(request).await,
        Some(message) => ErrorResponse::new(StatusCode::MISDIRECTED_REQUEST, message).into_response(),
    }
}

/// Returns why a request is refused.
fn refusal(own: &OwnHosts, request: &Request) -> Option<String> {
    if [ALIVE, READY].contains(&request.uri().path()) {
        return None;
    }
    let parse = |host: &HeaderValue| host.to_str().ok().and_then(|host| host.parse().ok());
    let mut hosts: Vec<Option<Authority>> = request.headers().get_all(header::HOST).iter().map(parse).collect();
    hosts.extend(request.uri().authority().cloned().map(Some));
    if hosts.is_empty() {
        return Some("the request names no host: send a Host header with the name of this service".to_owned());
    }
    let foreign = hosts.iter().find(|host| !host.as_ref().is_some_and(|host| own.has(host)))?;
    Some(match foreign {
        None => "the Host header names no host".to_owned(),
        Some(host) => {
            let host = host.host();
            format!(
                "this service does not answer to the host '{host}'; if it is a name of this service, start it with: \
                 sheetport serve --host-name {host}"
            )
        }
    })
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
