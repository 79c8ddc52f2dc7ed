//! A separate service for each test, and plain HTTP access to its records.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::count;
use super::process::{Place, Running, Sheetport};

/// A running `sheetport serve` on a free port, with data in the folder of the test.
pub struct Served {
    _process: Running,
    /// Host and port.
    host: String,
    full: Tokens,
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
        Served::of(place, place.sheetport(first.iter().chain(words)), "shop")
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
        Served::of(place, place.sheetport(first.iter().chain(words)), "demo")
    }

    #[track_caller]
    fn of(place: &Place, serve: Sheetport, workspace: &str) -> Served {
        let process = serve.start();
        let first: Value = serde_json::from_str(&process.line()).unwrap();
        let host = first["listening"].as_str().and_then(|url| url.strip_prefix("http://")).unwrap().to_owned();
        Served { _process: process, host, full: tokens_of(place, workspace, "full") }
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

    /// Sends a GET. Returns the response body.
    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        serde_json::from_str(&self.call("GET", path, "")).unwrap()
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
