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
        let arguments = ["serve", "--listen", &listen, "--data", "service", "--json"];
        Served::with(place, place.sheetport(arguments), "shop")
    }

    /// With the records of the demo, in its workspace.
    #[track_caller]
    pub fn demo(place: &Place) -> Served {
        let arguments = ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", "service", "--json"];
        Served::with(place, place.sheetport(arguments), "demo")
    }

    #[track_caller]
    fn with(place: &Place, serve: Sheetport, workspace: &str) -> Served {
        let process = serve.start();
        let first: Value = serde_json::from_str(&process.line()).unwrap();
        let host = first["listening"].as_str().and_then(|url| url.strip_prefix("http://")).unwrap().to_owned();
        Served { _process: process, host, full: tokens_of(place, workspace, "full") }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.host)
    }

    /// The executable with this service's address and both tokens in its environment.
    pub fn sheetport<'a>(&self, place: &Place, args: impl IntoIterator<Item = &'a str>) -> Sheetport {
        place
            .sheetport(args)
            .env("SHEETPORT_BASE_URL", &self.url())
            .secret("SHEETPORT_ACCESS_TOKEN", &self.full.access)
            .secret("SHEETPORT_REFRESH_TOKEN", &self.full.refresh)
    }

    /// How many items the service has.
    #[track_caller]
    pub fn total(&self) -> u64 {
        count(&self.get("/v1/public/items?page=1&limit=1"), "total")
    }

    /// What the service answers at `path`.
    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
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
        serde_json::from_str(body).unwrap()
    }
}

/// Tokens of the service in `place`, for `full` or `regular` access to one workspace.
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
