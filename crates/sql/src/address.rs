//! The address of a database on a PostgreSQL server.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use secrecy::{ExposeSecret, SecretString};
use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use url::Url;

/// The parameters of an address.
const PARAMETERS: [&str; 11] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "statement-cache-capacity",
];

/// The address of a database on a PostgreSQL server, such as `postgres://anna@db.example/ledger`. Displayed without its password.
#[derive(Clone)]
pub struct ServerAddress {
    url: SecretString,
    shown: String,
    has_password: bool,
}

impl ServerAddress {
    pub fn has_password(&self) -> bool {
        self.has_password
    }

    /// Returns the connection options. Missing parts come from `PGUSER`, `PGPASSWORD` and the other variables of PostgreSQL's
    /// programs, and the password from `.pgpass`. Fails with the reason if the address is not valid.
    pub(super) fn options(&self) -> Result<PgConnectOptions, String> {
        let url = self.url.expose_secret();
        let parsed = Url::parse(url).map_err(|error| error.to_string())?;
        let has = |name: &str| parsed.query_pairs().any(|(key, _)| key == name);
        let mut options = PgConnectOptions::from_str(url).map_err(|error| error.to_string())?;
        if !has("application_name") {
            options = options.application_name("sheetport");
        }
        if !has("statement-cache-capacity") {
            // Prepared statements belong to a session, but a pooler may switch sessions after each transaction.
            options = options.statement_cache_capacity(0);
        }
        let chooses_tls = has("sslmode") || std::env::var_os("PGSSLMODE").is_some();
        let is_local = options.get_socket().is_some() || is_local(options.get_host());
        if !chooses_tls && !is_local {
            options = options.ssl_mode(PgSslMode::VerifyFull);
        }
        // Poolers refuse sessions with this parameter, and no number here is a float.
        Ok(options.extra_float_digits(None).disable_statement_logging())
    }

    /// Whether the address allows sessions to keep prepared statements.
    pub fn keeps_statements(&self) -> bool {
        let parsed = Url::parse(self.url.expose_secret()).ok();
        let capacity = parsed.as_ref().and_then(|url| {
            url.query_pairs().find(|(key, _)| key == "statement-cache-capacity").map(|(_, value)| value.into_owned())
        });
        capacity.is_some_and(|capacity| capacity.parse::<usize>().is_ok_and(|capacity| capacity > 0))
    }
}

fn is_local(host: &str) -> bool {
    let is_loopback = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    host == "localhost" || host.starts_with('/') || is_loopback
}

/// Parses an address. Like PostgreSQL's programs, accepts a user, a password or a port without a host, as in
/// `postgres://anna:PASSWORD@/ledger?host=/run/postgresql`, and makes parameters of them: other URLs need a host there.
fn parse(text: &str) -> Option<Url> {
    let text = text.trim();
    if let Ok(url) = Url::parse(text) {
        return Some(url);
    }
    let (scheme, rest) = text.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let port = if host.is_empty() { "" } else { host.strip_prefix(':')? };
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let mut url = Url::parse(&format!("{scheme}://{path}")).ok()?;
    let mut query = url.query().map(str::to_owned).unwrap_or_default();
    for (key, value) in [("user", user), ("password", password), ("port", port)] {
        if !value.is_empty() {
            let separator = if query.is_empty() { "" } else { "&" };
            // Both signs stand for themselves in front of a host, and for something else in a parameter.
            let value = value.replace('+', "%2B").replace('&', "%26");
            query.push_str(&format!("{separator}{key}={value}"));
        }
    }
    url.set_query(Some(query.as_str()).filter(|query| !query.is_empty()));
    Some(url)
}

impl FromStr for ServerAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<ServerAddress, String> {
        let example = "postgres://USER@HOST/DATABASE";
        let mut url = parse(text)
            .filter(|url| matches!(url.scheme(), "postgres" | "postgresql"))
            .ok_or_else(|| format!("the address of the database is not like {example}"))?;
        let secret = SecretString::from(url.as_str().to_owned());
        if let Some((key, _)) = url.query_pairs().find(|(key, _)| !PARAMETERS.contains(&key.as_ref())) {
            return Err(format!(
                "the address of the database has the unknown parameter '{key}'; the known ones are {}",
                PARAMETERS.join(", ")
            ));
        }
        let is_password = |(key, _): &(std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)| key == "password";
        let has_password = url.password().is_some() || url.query_pairs().any(|pair| is_password(&pair));
        let without: Vec<(String, String)> = url
            .query_pairs()
            .filter(|pair| !is_password(pair))
            .map(|(key, value)| (key.into_owned(), value.into_owned()))
            .collect();
        url.set_query(None);
        if !without.is_empty() {
            url.query_pairs_mut().extend_pairs(without);
        }
        if url.password().is_some() {
            url.set_password(None).map_err(|()| format!("the address of the database is not like {example}"))?;
        }
        let address = ServerAddress { url: secret, shown: url.to_string(), has_password };
        address.options().map_err(|why| format!("the address of the database is not valid: {why}"))?;
        Ok(address)
    }
}

/// Writes the address without its password.
impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (text, shown, has_password) in [
            ("postgres://anna:s3cret@db.example/ledger", "postgres://anna@db.example/ledger", true),
            ("postgres://", "postgres://", false),
            ("postgresql://db.example:5433/l", "postgresql://db.example:5433/l", false),
            ("postgres:///l?host=/run&password=s3cret&user=a", "postgres:///l?host=%2Frun&user=a", true),
            ("postgres://a:s3cret@/l?host=/run", "postgres:///l?host=%2Frun&user=a", true),
            ("postgres://a%40b:s3cret%2F1@/l?host=/run", "postgres:///l?host=%2Frun&user=a%40b", true),
            ("postgres://a:s3cret+&@:5433/l", "postgres:///l?user=a&port=5433", true),
            ("postgres://a@/l", "postgres:///l?user=a", false),
        ] {
            let address: ServerAddress = text.parse().expect("an address");
            assert_eq!((address.to_string().as_str(), address.has_password()), (shown, has_password));
            assert!(!format!("{address:?}").contains("s3cret"));
        }
    }

    #[test]
    fn wrong_addresses_are_refused_without_their_values() {
        for text in [
            "",
            "ledger.db",
            "https://db.example/l",
            "postgres://a:s3cret@:x/l",
            "postgres://a:s3cret@[/l",
            "postgres://a@h/l?passwrd=s3cret",
            "postgres://a@h/l?port=s3cret",
        ] {
            let why = text.parse::<ServerAddress>().expect_err(text);
            assert!(why.contains("the address of the database") && !why.contains("s3cret"), "{why}");
        }
    }

    #[test]
    fn certificates_are_verified_for_other_machines() {
        for (text, verifies) in [
            ("postgres://a@db.example/l", true),
            ("postgres://a@db.example/l?sslmode=require", false),
            ("postgres://a@localhost/l", false),
            ("postgres://a@[::1]/l", false),
            ("postgres:///l?host=/run/postgresql", false),
        ] {
            let options = text.parse::<ServerAddress>().expect("an address").options().expect("options");
            assert_eq!(matches!(options.get_ssl_mode(), PgSslMode::VerifyFull), verifies, "{text}");
        }
    }
}
