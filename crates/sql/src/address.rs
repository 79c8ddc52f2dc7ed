//! The address of a database on a PostgreSQL server.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use secrecy::{ExposeSecret, SecretString};
use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use url::Url;

/// The parameters of an address.
const PARAMETERS: [&str; 12] = [
    "target_session_attrs",
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

/// Values of `target_session_attrs` that a database meets to which this program can write.
const WRITABLE: [&str; 3] = ["read-write", "primary", "any"];

/// The address of a database on a PostgreSQL server, such as `postgres://anna@db.example/ledger`, or on several of them, of which one can be
/// written: `postgres://anna@a.example,b.example/ledger`. Displayed without its password.
#[derive(Clone)]
pub struct ServerAddress {
    /// One for each server.
    urls: Vec<SecretString>,
    shown: String,
    has_password: bool,
}

impl ServerAddress {
    pub fn has_password(&self) -> bool {
        self.has_password
    }

    /// Returns the connection options of each server. Missing parts come from `PGUSER`, `PGPASSWORD` and the other variables of PostgreSQL's
    /// programs, and the password from `.pgpass`. Fails with the reason if the address is not valid.
    pub(super) fn options(&self) -> Result<Vec<PgConnectOptions>, String> {
        self.urls.iter().map(|url| ServerAddress::options_of(url.expose_secret())).collect()
    }

    fn options_of(url: &str) -> Result<PgConnectOptions, String> {
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

    /// Whether the address names several servers.
    pub fn has_several(&self) -> bool {
        self.urls.len() > 1
    }

    /// Whether the address allows sessions to keep prepared statements.
    pub fn keeps_statements(&self) -> bool {
        let parsed = self.urls.first().and_then(|url| Url::parse(url.expose_secret()).ok());
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

/// Returns the address of each server in an address with lists of hosts, as PostgreSQL's programs accept them: in front of the path, or in the
/// parameters `host` and `port`. `None` if a list of ports has another length.
fn of_each_server(text: &str) -> Option<Vec<String>> {
    let Some((scheme, rest)) = text.trim().split_once("://") else { return Some(vec![text.to_owned()]) };
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    let (path, query) = tail.split_once('?').map_or((tail, None), |(path, query)| (path, Some(query)));
    let parameters: Vec<&str> = query.map(|query| query.split('&').collect()).unwrap_or_default();
    let list = |name: &str| {
        let value = parameters.iter().find_map(|parameter| parameter.strip_prefix(name)?.strip_prefix('='));
        value.map(|value| {
            value.replace("%2c", ",").replace("%2C", ",").split(',').map(str::to_owned).collect::<Vec<_>>()
        })
    };
    let (authorities, named, ports): (Vec<&str>, _, _) = (hosts.split(',').collect(), list("host"), list("port"));
    let servers = authorities.len().max(named.as_ref().map_or(1, Vec::len));
    let nth_of = |list: &[String], nth: usize| match list {
        [one] => Some(one.clone()),
        list if list.len() == servers => list.get(nth).cloned(),
        _ => None,
    };
    let of_server = |nth: usize| {
        let authority = if authorities.len() == servers { authorities.get(nth)? } else { authorities.first()? };
        let mut changed = Vec::new();
        for parameter in &parameters {
            changed.push(match (parameter.split_once('='), &named, &ports) {
                (Some(("host", _)), Some(named), _) => format!("host={}", nth_of(named, nth)?),
                (Some(("port", _)), _, Some(ports)) => format!("port={}", nth_of(ports, nth)?),
                _ => (*parameter).to_owned(),
            });
        }
        let query = if changed.is_empty() { String::new() } else { format!("?{}", changed.join("&")) };
        Some(format!("{scheme}://{user}{authority}{path}{query}"))
    };
    (0..servers).map(of_server).collect()
}

impl FromStr for ServerAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<ServerAddress, String> {
        let example = "the address of the database is not like postgres://USER@HOST/DATABASE";
        let each = of_each_server(text)
            .ok_or("the address of the database has lists of hosts and ports of different lengths")?;
        let mut address = ServerAddress { urls: Vec::new(), shown: String::new(), has_password: false };
        let mut shown = Vec::new();
        for server in each {
            let url = parse(&server).filter(|url| matches!(url.scheme(), "postgres" | "postgresql")).ok_or(example)?;
            address.has_password |= has_password(&url);
            let (url, without) = checked(url)?;
            shown.push(without);
            address.urls.push(url);
        }
        address.shown = joined(&shown);
        address.options().map_err(|why| format!("the address of the database is not valid: {why}"))?;
        Ok(address)
    }
}

fn is_password((key, _): &(Cow<'_, str>, Cow<'_, str>)) -> bool {
    key == "password"
}

fn has_password(url: &Url) -> bool {
    url.password().is_some() || url.query_pairs().any(|pair| is_password(&pair))
}

/// Checks the parameters of the address of one server. Returns it for the driver, and without its password.
fn checked(mut url: Url) -> Result<(SecretString, Url), String> {
    if let Some((key, _)) = url.query_pairs().find(|(key, _)| !PARAMETERS.contains(&key.as_ref())) {
        return Err(format!(
            "the address of the database has the unknown parameter '{key}'; the known ones are {}",
            PARAMETERS.join(", ")
        ));
    }
    let wants_another = |(key, value): &(Cow<'_, str>, Cow<'_, str>)| {
        key == "target_session_attrs" && !WRITABLE.contains(&value.as_ref())
    };
    if url.query_pairs().any(|pair| wants_another(&pair)) {
        return Err("the address of the database asks for a server that can't be written; target_session_attrs can be read-write".to_owned());
    }
    let owned = |(key, value): (Cow<'_, str>, Cow<'_, str>)| (key.into_owned(), value.into_owned());
    let all: Vec<(String, String)> = url.query_pairs().map(owned).collect();
    // The driver does not know it, and only servers that can be written are taken anyway.
    let mut for_driver = url.clone();
    set_parameters(&mut for_driver, all.iter().filter(|(key, _)| key != "target_session_attrs"));
    set_parameters(&mut url, all.iter().filter(|(key, _)| key != "password"));
    if url.password().is_some() {
        url.set_password(None).map_err(|()| "the address of the database can't be without a password".to_owned())?;
    }
    Ok((SecretString::from(String::from(for_driver)), url))
}

fn set_parameters<'p>(url: &mut Url, parameters: impl Iterator<Item = &'p (String, String)>) {
    let parameters: Vec<_> = parameters.collect();
    url.set_query(None);
    if !parameters.is_empty() {
        url.query_pairs_mut().extend_pairs(parameters);
    }
}

fn of_parameter_named(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Returns an address with the hosts of all servers.
fn joined(servers: &[Url]) -> String {
    let Some(first) = servers.first() else { return String::new() };
    let mut joined = first.clone();
    let list = |of: fn(&Url) -> Option<String>| {
        let values: Vec<String> = servers.iter().map(|server| of(server).unwrap_or_default()).collect();
        if values.iter().all(|value| *value == values[0]) { None } else { Some(values.join(",")) }
    };
    let (hosts, ports) = (list(|url| of_parameter_named(url, "host")), list(|url| of_parameter_named(url, "port")));
    let parameters: Vec<(String, String)> = first
        .query_pairs()
        .map(|(key, value)| match (key.as_ref(), &hosts, &ports) {
            ("host", Some(hosts), _) => (key.into_owned(), hosts.clone()),
            ("port", _, Some(ports)) => (key.into_owned(), ports.clone()),
            _ => (key.into_owned(), value.into_owned()),
        })
        .collect();
    set_parameters(&mut joined, parameters.iter());
    let authority = |url: &Url| {
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", url.host_str().unwrap_or_default())
    };
    let (one, all) = (authority(first), servers.iter().map(authority).collect::<Vec<_>>());
    match all.iter().all(|other| *other == one) {
        true => joined.to_string(),
        false => {
            let text = joined.to_string();
            let user =
                text.find('@').map(|at| at + 1).or_else(|| text.find("://").map(|at| at + 3)).unwrap_or_default();
            let (user, rest) = text.split_at(user);
            format!("{user}{}", rest.replacen(&one, &all.join(","), 1))
        }
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
            ("postgres://anna:s3cret@a.example,b.example:5433/l", "postgres://anna@a.example,b.example:5433/l", true),
            (
                "postgres://a:1,b:2/l?target_session_attrs=read-write&password=s3cret",
                "postgres://a:1,b:2/l?target_session_attrs=read-write",
                true,
            ),
            ("postgres:///l?host=/x,/y&user=a", "postgres:///l?host=%2Fx%2C%2Fy&user=a", false),
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
            "postgres://a@h,i,j/l?port=1,2",
            "postgres://a@h,i/l?target_session_attrs=standby",
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
            assert_eq!(matches!(options[0].get_ssl_mode(), PgSslMode::VerifyFull), verifies, "{text}");
        }
    }

    #[test]
    fn each_server_has_its_host_and_port() {
        for (text, expected) in [
            ("postgres://a@x,y/l", [("x", 5432), ("y", 5432)]),
            ("postgres://a@x:1,y:2/l?sslmode=disable", [("x", 1), ("y", 2)]),
            ("postgres:///l?host=x,y&port=1,2", [("x", 1), ("y", 2)]),
            ("postgres:///l?host=x%2Cy&port=3&target_session_attrs=primary", [("x", 3), ("y", 3)]),
        ] {
            let options = text.parse::<ServerAddress>().expect("an address").options().expect("options");
            let found: Vec<(&str, u16)> = options.iter().map(|it| (it.get_host(), it.get_port())).collect();
            assert_eq!(found, expected, "{text}");
            let again = text.parse::<ServerAddress>().expect("an address").to_string();
            assert_eq!(again.parse::<ServerAddress>().expect("as shown").to_string(), again);
        }
    }
}
