//! A separate service for each test, and plain HTTP access to its records.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::count;
use super::process::{Place, Running, Sheetport};

/// A running `sheetport serve` on a free port, with data in the folder of the test.
pub struct Served {
    _process: Running,
    /// Host and port.
    host: String,
    full: Tokens,
    /// What a literal service does not show to a test, from its data.
    unshown: Option<Unshown>,
}

/// The data of a service, as `serve show` reads them.
struct Unshown {
    data: PathBuf,
    workspace: String,
}

/// Whether every service takes only what the contract shows, so that a client which relies on more fails its tests (CONTRIBUTING.md).
fn everything_is_literal() -> bool {
    std::env::var_os("SHEETPORT_TEST_LITERAL").is_some_and(|value| value == "1")
}

pub struct Tokens {
    pub access: String,
    pub refresh: String,
}

impl Served {
    #[track_caller]
    pub fn start(place: &Place) -> Served {
        Served::start_on(place, 0)
    }

    #[track_caller]
    pub fn start_on(place: &Place, port: u16) -> Served {
        Served::start_with(place, port, &[])
    }

    /// Starts a service with additional arguments.
    #[track_caller]
    pub fn start_with(place: &Place, port: u16, words: &[&str]) -> Served {
        let listen = format!("127.0.0.1:{port}");
        let first = ["serve", "--listen", &listen, "--data", "service", "--json"];
        Served::of(place, place.sheetport(first), words, "shop")
    }

    /// Starts a service with the demo workspace.
    #[track_caller]
    pub fn demo(place: &Place) -> Served {
        Served::demo_with(place, 0, &[])
    }

    /// Starts a service with the demo workspace and additional arguments.
    #[track_caller]
    pub fn demo_with(place: &Place, port: u16, words: &[&str]) -> Served {
        let listen = format!("127.0.0.1:{port}");
        let first = ["serve", "--demo", "--listen", &listen, "--data", "service", "--json"];
        Served::of(place, place.sheetport(first), words, "demo")
    }

    #[track_caller]
    fn of(place: &Place, serve: Sheetport, words: &[&str], workspace: &str) -> Served {
        let is_plain = !words.contains(&"--literal") && !words.contains(&"--strict");
        let literal: &[&str] = if is_plain && everything_is_literal() { &["--literal"] } else { &[] };
        let process = serve.args(words.iter().chain(literal)).start();
        let unshown = || Unshown { data: place.path("service"), workspace: workspace.to_owned() };
        let first: Value = serde_json::from_str(&process.line()).unwrap();
        let host = first["listening"].as_str().and_then(|url| url.strip_prefix("http://")).unwrap().to_owned();
        let is_literal = words.iter().chain(literal).any(|word| *word == "--literal");
        let unshown = is_literal.then(unshown);
        Served { _process: process, host, full: tokens_of(place, workspace, "full"), unshown }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.host)
    }

    pub fn port(&self) -> u16 {
        self.host.rsplit_once(':').unwrap().1.parse().unwrap()
    }

    /// Returns the executable with the address and both tokens in the environment.
    pub fn sheetport<'a>(&self, place: &Place, args: impl IntoIterator<Item = &'a str>) -> Sheetport {
        self.known_to(place.sheetport(args))
    }

    /// Returns a shell command with the same environment.
    #[cfg(unix)]
    pub fn shell(&self, place: &Place, line: &str) -> Sheetport {
        self.known_to(place.command("sh", ["-c", line]))
    }

    fn known_to(&self, command: Sheetport) -> Sheetport {
        command
            .env("SHEETPORT_BASE_URL", &self.url())
            .secret("SHEETPORT_ACCESS_TOKEN", &self.full.access)
            .secret("SHEETPORT_REFRESH_TOKEN", &self.full.refresh)
    }

    /// Returns an access token and a refresh token with full access.
    pub fn tokens(&self) -> (String, String) {
        (self.full.access.clone(), self.full.refresh.clone())
    }

    /// Returns the number of items.
    #[track_caller]
    pub fn total(&self) -> u64 {
        count(&self.get("/v1/public/items?page=1&limit=1"), "total")
    }

    /// Sends a GET. Returns the response body, with all fields of its records also from a literal service: the test looks
    /// at what has arrived.
    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        let mut body = serde_json::from_str(&self.call("GET", path, "")).unwrap();
        if let Some(unshown) = &self.unshown {
            unshown.complete(path, &mut body);
        }
        body
    }

    /// Sends a POST. Returns the response body.
    #[track_caller]
    pub fn post(&self, path: &str, body: &str) -> String {
        self.call("POST", path, body)
    }

    /// Sends a PUT. Returns the response body.
    #[track_caller]
    pub fn put(&self, path: &str, body: &str) -> String {
        self.call("PUT", path, body)
    }

    #[track_caller]
    fn call(&self, method: &str, path: &str, body: &str) -> String {
        let answer = self.send(method, path, "", body);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    /// Sends a request with further header lines. Returns the whole response, whatever it is; empty if there is none.
    pub fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let (host, token, len) = (&self.host, &self.full.access, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {len}\r\n{headers}\r\n{body}"
        )
        .unwrap();
        let mut answer = Vec::new();
        // A service may close the connection on purpose.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }
}

impl Unshown {
    /// Adds what is not shown to the records of a response.
    #[track_caller]
    fn complete(&self, path: &str, body: &mut Value) {
        let mut parts = path.split(['/', '?']).filter(|part| !matches!(*part, "" | "v1" | "public"));
        let kind = match parts.next().unwrap() {
            "inventory-transactions" => "transactions",
            kind => kind,
        };
        let is_single = parts.next().is_some_and(|part| !part.contains('='));
        let mut show = Command::new(env!("CARGO_BIN_EXE_sheetport"));
        show.args(["serve", "show", kind, "--limit", "all", "--json", "--data"]);
        let shown = show.arg(&self.data).output().unwrap();
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        let mut stored = shown["records"].as_array().unwrap().clone();
        stored.retain(|stored| stored["workspace"] == self.workspace.as_str());
        let complete = |record: &mut Value| {
            let Some(found) = stored.iter().find(|stored| stored["id"] == record["id"]) else { return };
            *record = found["record"].clone();
            if is_single && kind == "orders" {
                record["items"] = found["lines"].clone();
            }
        };
        match body {
            Value::Array(records) => records.iter_mut().for_each(complete),
            body if body.get("data").is_some() => {
                body["data"].as_array_mut().unwrap().iter_mut().for_each(complete);
                body["total"] = stored.len().into();
            }
            body => complete(body),
        }
    }
}

/// Issues tokens of the service in `place` with `full` or `regular` access.
#[track_caller]
pub fn tokens(place: &Place, access: &str) -> Tokens {
    tokens_of(place, "shop", access)
}

#[track_caller]
fn tokens_of(place: &Place, workspace: &str, access: &str) -> Tokens {
    let args = ["serve", "token", "--data", "service", "--workspace", workspace, "--access", access, "--json"];
    let pair = place.sheetport(args).exits(0).json();
    let token = |name: &str| pair[name].as_str().unwrap().to_owned();
    Tokens { access: token("access"), refresh: token("refresh") }
}
