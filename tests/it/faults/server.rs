//! A scripted server that can break the HTTP protocol, and records every request.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The request that shows whether the service answers.
pub const PROBE: &str = "GET /v1/public/items?page=1&limit=1 ";

/// Reaction to a request.
pub enum Reply {
    /// The contract's answer for the record in the body.
    Accept,
    /// These bytes; the connection stays open.
    Bytes(String),
    /// These bytes; then the connection is closed.
    Cut(String),
    /// A connection reset without an answer.
    Reset,
    /// These bytes, followed by endless white space.
    Endless(String),
    /// The reply after a delay.
    Late(Duration, Box<Reply>),
}

/// A received request.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Index among all requests.
    pub number: usize,
    /// Index among the requests with the same body.
    pub repeat: usize,
    pub path: String,
    pub bearer: Option<String>,
    pub idempotency_key: Option<String>,
    pub traceparent: Option<String>,
    pub body: String,
    pub came: Instant,
    /// When the reply was written.
    pub left: Option<Instant>,
}

impl Seen {
    /// Returns the external id in the body, or an empty string.
    pub fn key(&self) -> String {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        body["externalId"].as_str().unwrap_or_default().to_owned()
    }
}

/// Returns an HTTP response. Each line of `headers` ends with `\r\n`.
pub fn answer(status: u16, headers: &str, body: &str) -> Reply {
    Reply::Bytes(format!("HTTP/1.1 {status} Said\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()))
}

pub fn accepted(key: &str) -> String {
    json!({"ok": true, "status": "created", "external_id": key, "item_id": "i", "ctx_id": null}).to_string()
}

/// Returns the contract's answer to the call.
fn acceptance(seen: &Seen) -> String {
    if !seen.path.starts_with("/v1/public/orders/") {
        return accepted(&seen.key());
    }
    let body: Value = serde_json::from_str(&seen.body).unwrap_or_default();
    let result =
        json!({"external_id": body["order"]["externalId"], "status": "updated", "order_id": "o", "errors": []});
    json!({"ok": true, "results": [result], "job_id": "j", "ctx_id": "c"}).to_string()
}

pub struct Server {
    pub address: String,
    log: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Starts a server that answers probes and searches for orders itself, without recording them.
    pub async fn start(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Server {
        Server::refusing(0, script).await
    }

    /// Starts a server that resets the first `refused` connections before it reads anything.
    pub async fn refusing(refused: usize, script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Server {
        Server::scripted(refused, true, script).await
    }

    /// Starts a server whose script also reacts to probes.
    pub async fn with_probes(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Server {
        Server::scripted(0, false, script).await
    }

    async fn scripted(
        refused: usize,
        answers_probes: bool,
        script: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let log: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let script = Arc::new(script);
        let shared = Arc::clone(&log);
        let task = tokio::spawn(async move {
            for number in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                if number < refused {
                    reset(stream);
                } else {
                    tokio::spawn(serve(stream, answers_probes, Arc::clone(&shared), Arc::clone(&script)));
                }
            }
        });
        Server { address, log, task }
    }

    pub fn log(&self) -> Vec<Seen> {
        self.log.lock().unwrap().clone()
    }

    /// Returns the number of requests.
    pub fn received(&self) -> usize {
        self.log.lock().unwrap().len()
    }

    /// Returns the largest number of requests within any second.
    pub fn most_in_a_second(&self) -> usize {
        let log = self.log.lock().unwrap();
        let mut first = 0;
        let most = (0..log.len()).map(|last| {
            while log[last].came - log[first].came >= Duration::from_secs(1) {
                first += 1;
            }
            last - first + 1
        });
        most.max().unwrap_or_default()
    }

    /// Returns the number of requests of a kind without an answer yet.
    pub fn in_flight(&self, is_meant: fn(&Seen) -> bool) -> usize {
        self.log.lock().unwrap().iter().filter(|seen| seen.left.is_none() && is_meant(seen)).count()
    }

    /// Returns the requests from the index `first` on.
    pub fn log_from(&self, first: usize) -> Vec<Seen> {
        self.log.lock().unwrap()[first..].to_vec()
    }

    /// Returns the received bodies with the number of their requests.
    pub fn bodies(&self) -> std::collections::BTreeMap<String, usize> {
        self.log().into_iter().fold(Default::default(), |mut bodies: std::collections::BTreeMap<_, _>, seen| {
            *bodies.entry(seen.body).or_default() += 1;
            bodies
        })
    }
}

async fn serve(
    mut stream: TcpStream,
    answers_probes: bool,
    log: Arc<Mutex<Vec<Seen>>>,
    script: Arc<impl Fn(&Seen) -> Reply>,
) {
    while let Some((head, body)) = read(&mut stream).await {
        if answers_probes && head.starts_with(PROBE) {
            let Reply::Bytes(list) = answer(200, "", r#"{"data": []}"#) else { unreachable!() };
            let _ = stream.write_all(list.as_bytes()).await;
            continue;
        }
        // The orders of a file are looked up before they are sent. A service that shows none is sent the identifiers of the file.
        if answers_probes && head.starts_with("GET /v1/public/orders") {
            let (status, body) = match head.starts_with("GET /v1/public/orders?") {
                true => (200, r#"{"data": [], "page": 1, "count": 0, "total": 0}"#),
                false => (404, r#"{"message": "no such order"}"#),
            };
            let Reply::Bytes(shown) = answer(status, "", body) else { unreachable!() };
            let _ = stream.write_all(shown.as_bytes()).await;
            continue;
        }
        let seen = note(&log, &head, body);
        let reply = script(&seen);
        let goes_on = write(&mut stream, reply, &seen).await;
        log.lock().unwrap()[seen.number].left = Some(Instant::now());
        match goes_on {
            After::NextRequest => {}
            After::Close => return,
            After::Reset => return reset(stream),
        }
    }
}

enum After {
    NextRequest,
    Close,
    Reset,
}

async fn write(stream: &mut TcpStream, reply: Reply, seen: &Seen) -> After {
    let mut reply = reply;
    while let Reply::Late(wait, then) = reply {
        tokio::time::sleep(wait).await;
        reply = *then;
    }
    let (bytes, after) = match reply {
        Reply::Accept => {
            let Reply::Bytes(bytes) = answer(200, "", &acceptance(seen)) else { unreachable!() };
            (bytes, After::NextRequest)
        }
        Reply::Bytes(bytes) => (bytes, After::NextRequest),
        Reply::Cut(bytes) => (bytes, After::Close),
        Reply::Reset | Reply::Late(..) => return After::Reset,
        Reply::Endless(bytes) => {
            let blanks = [b' '; 1 << 14];
            let mut written = stream.write_all(bytes.as_bytes()).await;
            while written.is_ok() {
                written = stream.write_all(&blanks).await;
            }
            return After::Close;
        }
    };
    // Some tests close the client first.
    let _ = stream.write_all(bytes.as_bytes()).await;
    after
}

/// Reads the head and body of a request. Returns `None` at the end of the connection.
pub async fn read(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let len: usize = header(&head, "content-length").map_or(0, |len| len.parse().unwrap());
            if bytes.len() >= end + 4 + len {
                let body = String::from_utf8(bytes[end + 4..end + 4 + len].to_vec()).unwrap();
                return Some((head, body));
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(len) => bytes.extend_from_slice(&buffer[..len]),
        }
    }
}

fn note(log: &Mutex<Vec<Seen>>, head: &str, body: String) -> Seen {
    let mut log = log.lock().unwrap();
    let seen = Seen {
        number: log.len(),
        repeat: log.iter().filter(|other| other.body == body).count(),
        path: head.split(' ').nth(1).unwrap().to_owned(),
        bearer: header(head, "authorization").map(|value| value.trim_start_matches("Bearer ").to_owned()),
        idempotency_key: header(head, "idempotency-key"),
        traceparent: header(head, "traceparent"),
        body,
        came: Instant::now(),
        left: None,
    };
    log.push(seen.clone());
    seen
}

fn header(head: &str, name: &str) -> Option<String> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find_map(|(found, value)| found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned()))
}

pub fn reset(stream: TcpStream) {
    #[expect(deprecated, reason = "a linger of zero does not block: it resets")]
    stream.set_linger(Some(Duration::ZERO)).unwrap();
}
