//! A service of its own for each test, and what it holds, asked over plain HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::count;
use super::process::{Place, Running, Sheetport};

/// `sheetport serve` at work on a free port, with its data in the place's folder.
pub struct Served {
    _process: Running,
    /// Without the scheme.
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
        let listen = format!("127.0.0.1:{port}");
        let process = place.sheetport(["serve", "--listen", &listen, "--data", "service", "--json"]).start();
        let first: Value = serde_json::from_str(&process.line()).unwrap();
        let host = first["listening"].as_str().and_then(|url| url.strip_prefix("http://")).unwrap().to_owned();
        Served { _process: process, host, full: tokens(place, "full") }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.host)
    }

    /// The executable with this service's address and both tokens in its environment.
    pub fn sheetport<'a>(&self, place: &Place, args: impl IntoIterator<Item = &'a str>) -> Sheetport {
        self.known_to(place.sheetport(args))
    }

    /// A line for the shell, with the same in its environment.
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

    /// How many items the service has.
    #[track_caller]
    pub fn total(&self) -> u64 {
        let path = "/v1/public/items?page=1&limit=1";
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let token = &self.full.access;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n",
            self.host
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        count(&serde_json::from_str(body).unwrap(), "total")
    }
}

/// Tokens of the service in `place`, for `full` or `regular` access to one workspace.
#[track_caller]
pub fn tokens(place: &Place, access: &str) -> Tokens {
    let args = ["serve", "token", "--data", "service", "--workspace", "shop", "--access", access, "--json"];
    let pair = place.sheetport(args).exits(0).json();
    let token = |name: &str| pair[name].as_str().unwrap().to_owned();
    Tokens { access: token("access"), refresh: token("refresh") }
}
