//! The page of `review` without a browser: requests as the page makes them.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::super::process::{Place, Running, Sheetport, until};
use super::super::service::Served;

/// A file under review.
pub struct ReviewPage {
    _process: Running,
    host: String,
    cookie: String,
    id: u64,
    /// What the browser accepts.
    language: &'static str,
}

impl ReviewPage {
    /// Starts the page with a file, a report or a run.
    #[track_caller]
    pub fn open(place: &Place, served: &Served, what: &str) -> ReviewPage {
        ReviewPage::start(served.sheetport(place, ["review", "--no-open", "--json", what]))
    }

    /// Starts the page by a command that names a file.
    #[track_caller]
    pub fn start(command: Sheetport) -> ReviewPage {
        let process = command.start();
        let line: Value = serde_json::from_str(&process.line()).unwrap();
        let address = line["listening"].as_str().unwrap().strip_prefix("http://").unwrap();
        let (host, token) = address.split_once("/#").unwrap();
        let mut page =
            ReviewPage { _process: process, host: host.to_owned(), cookie: String::new(), id: 0, language: "en" };
        let body = json!({"token": token}).to_string();
        let answer = page.ask("POST", "/api/session", &body);
        let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        page.cookie = cookie.split(';').next().unwrap().to_owned();
        let start = page.json("GET", "/api/start", "");
        page.id = start["review"].as_u64().unwrap_or_else(|| panic!("{start}"));
        page
    }

    /// Chooses the language of the browser.
    pub fn speak(&mut self, language: &'static str) {
        self.language = language;
    }

    /// Returns the description of the file.
    #[track_caller]
    pub fn review(&self) -> Value {
        self.get("")
    }

    /// Waits for the end of what is under way, and returns the file.
    #[track_caller]
    pub fn ended(&self) -> Value {
        until("the end", || {
            let review = self.review();
            let phase = review["status"]["phase"].as_str().unwrap().to_owned();
            ["looked", "ended", "failed"].contains(&phase.as_str()).then_some(review)
        })
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        self.json("GET", &format!("/api/reviews/{}{path}", self.id), "")
    }

    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Value {
        self.json("POST", &format!("/api/reviews/{}{path}", self.id), &body.to_string())
    }

    /// Sends a request that concerns no file.
    #[track_caller]
    pub fn json(&self, method: &str, path: &str, body: &str) -> Value {
        let answer = self.ask(method, path, body);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Listens to the events of the file, as an open page does.
    pub fn listen(&self) -> TcpStream {
        let (host, cookie, language) = (&self.host, &self.cookie, self.language);
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!(
            "GET /api/reviews/{}/events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nAccept-Language: {language}\r\n\r\n",
            self.id
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    /// Sends a request, and returns the whole response.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut answer = String::new();
        self.begin(method, path, body).read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a request for the file, without waiting for the response.
    pub fn begin_post(&self, path: &str, body: &Value) -> TcpStream {
        self.begin("POST", &format!("/api/reviews/{}{path}", self.id), &body.to_string())
    }

    fn begin(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let (host, cookie, language, len) = (&self.host, &self.cookie, self.language, body.len());
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\nConnection: close\r\n\
             Accept-Language: {language}\r\nContent-Type: application/json\r\nContent-Length: {len}\r\n\r\n"
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        stream
    }
}
