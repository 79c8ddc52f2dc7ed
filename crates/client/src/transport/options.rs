//! How to connect to a service: certificates, a proxy, and whether tokens may travel unencrypted.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use reqwest::Url;

use crate::base_url::{is_local, redacted};

/// How to connect to a service. The default is the system's CA certificates and the proxy of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectOptions {
    /// PEM file with CA certificates, in addition to the CA certificates of the system.
    pub ca_file: Option<PathBuf>,
    pub client_cert: Option<ClientCert>,
    /// `None` uses the proxy from the environment, if any, unless the service runs on this machine.
    pub proxy: Option<ProxyAddress>,
    /// Sends tokens to other machines without encryption.
    pub insecure_http: bool,
    /// Uses no proxy at all, not even from the environment: for a service in this process.
    pub is_direct: bool,
}

/// A certificate that identifies this client to the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCert {
    /// PEM file with the certificate and its issuers.
    pub cert: PathBuf,
    /// PEM file with the private key; `None` if the key is in the file of the certificate.
    pub key: Option<PathBuf>,
}

impl ConnectOptions {
    /// Returns whether to connect without a proxy. A proxy on another machine can't reach a service on this machine, so the proxy
    /// from the environment is ignored for local addresses.
    pub(super) fn goes_directly(&self, is_local: bool) -> bool {
        self.is_direct || (is_local && self.proxy.is_none())
    }

    /// Fills missing options from `other`.
    pub fn or(self, other: &ConnectOptions) -> ConnectOptions {
        ConnectOptions {
            ca_file: self.ca_file.or_else(|| other.ca_file.clone()),
            client_cert: self.client_cert.or_else(|| other.client_cert.clone()),
            proxy: self.proxy.or_else(|| other.proxy.clone()),
            insecure_http: self.insecure_http || other.insecure_http,
            is_direct: self.is_direct || other.is_direct,
        }
    }
}

/// The address of a proxy. `Display` and `Debug` hide its user name and password.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyAddress(Url);

impl ProxyAddress {
    const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

    /// Whether the address contains a user name or a password.
    pub fn has_credentials(&self) -> bool {
        !self.0.username().is_empty() || self.0.password().is_some()
    }

    /// Whether the proxy runs on this machine.
    pub(super) fn is_local(&self) -> bool {
        is_local(self.0.as_str())
    }

    /// Returns the address, including credentials.
    pub(super) fn url(&self) -> &Url {
        &self.0
    }
}

/// Parses an address such as `socks5h://proxy.example:1080`. The default scheme is HTTP.
impl FromStr for ProxyAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<ProxyAddress, String> {
        let text = text.trim();
        let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&with_scheme).ok().filter(|url| {
            let is_root = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
            ProxyAddress::SCHEMES.contains(&url.scheme()) && url.has_host() && is_root
        });
        url.map(ProxyAddress).ok_or_else(|| {
            format!(
                "'{}' is not the address of a proxy; write it as http://proxy.example:8080 or \
                 socks5h://proxy.example:1080",
                redacted(text)
            )
        })
    }
}

impl fmt::Display for ProxyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut url = self.0.clone();
        // Only URLs without a host can't have credentials.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        f.write_str(url.as_str().trim_end_matches('/'))
    }
}

impl fmt::Debug for ProxyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProxyAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_shown_without_their_credentials() {
        for (text, shown, has_credentials) in [
            ("socks5h://proxy.example:1080", "socks5h://proxy.example:1080", false),
            ("proxy.example:8080", "http://proxy.example:8080", false),
            ("http://user:secret@proxy.example:8080/", "http://proxy.example:8080", true),
            ("socks5://user:secret@[::1]:1080", "socks5://[::1]:1080", true),
        ] {
            let proxy: ProxyAddress = text.parse().expect("an address");
            assert_eq!((proxy.to_string().as_str(), proxy.has_credentials()), (shown, has_credentials));
            assert!(!format!("{proxy:?}").contains("secret"));
        }
        for text in ["ftp://proxy.example", "socks5://", "http://proxy.example/path", "user:secret@:80", ""] {
            let error = text.parse::<ProxyAddress>().expect_err("not an address");
            assert!(error.contains("socks5h://") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn options_of_a_command_precede_those_of_its_profile() {
        let profile = ConnectOptions {
            ca_file: Some("profile.pem".into()),
            proxy: Some("http://profile.example".parse().expect("an address")),
            insecure_http: true,
            ..ConnectOptions::default()
        };
        let command = ConnectOptions { ca_file: Some("command.pem".into()), ..ConnectOptions::default() };
        let both = command.clone().or(&profile);
        assert_eq!(both, ConnectOptions { ca_file: command.ca_file, ..profile });
    }
}
