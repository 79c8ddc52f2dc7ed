//! A proxy between the executable and the service that delays, loses and falsifies requests and answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::faults::server::{read, reset};

/// What the proxy does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Resets the connection.
    Reset(Place),
    /// Closes the connection without an answer.
    Close(Place),
    /// Answers with this status in place of the service.
    Answer(Place, u16),
    /// Cuts the answer in half.
    Half,
    /// Answers nothing for this time, and closes the connection then.
    BlackHole(Place, Duration),
}

/// Whether the service gets the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    BeforeTheService,
    AfterTheService,
}

/// The behaviour of a proxy.
pub struct Behaviour {
    /// The time of a message on its way through the proxy.
    pub delay: Duration,
    /// Closes connections that were idle for this long. Requests that come while the news is on its way are lost.
    pub closes_idle: Option<Duration>,
    /// Returns the fault of the request with this number, a time after the start.
    pub fault: Box<dyn Fn(usize, Duration) -> Fault + Send + Sync>,
}

/// What arrived at the service.
#[derive(Debug, Default)]
pub struct Seen {
    /// Number of requests of all kinds.
    pub requests: usize,
    /// How often the service accepted each body.
    pub accepted: BTreeMap<String, usize>,
}

pub struct Proxy {
    pub address: String,
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Shared {
    service: String,
    behaviour: Behaviour,
    began: Instant,
    seen: Arc<Mutex<Seen>>,
}

impl Proxy {
    /// Starts a proxy to the service at this host and port.
    pub async fn start(service: &str, behaviour: Behaviour) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::default();
        let shared = Shared { service: service.to_owned(), behaviour, began: Instant::now(), seen: Arc::clone(&seen) };
        let shared = Arc::new(shared);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Proxy { address, seen, task }
    }

    /// Returns how often the service accepted each body.
    pub fn accepted(&self) -> BTreeMap<String, usize> {
        self.seen.lock().unwrap().accepted.clone()
    }
}

async fn serve(mut client: TcpStream, shared: Arc<Shared>) {
    let Behaviour { delay, closes_idle, fault } = &shared.behaviour;
    loop {
        let idle = closes_idle.unwrap_or(Duration::from_secs(3600));
        let Ok(request) = tokio::time::timeout(idle, read(&mut client)).await else {
            // The client learns of it later.
            tokio::time::sleep(*delay).await;
            return;
        };
        let Some((head, body)) = request else { return };
        tokio::time::sleep(*delay).await;
        let number = {
            let mut seen = shared.seen.lock().unwrap();
            seen.requests += 1;
            seen.requests - 1
        };
        let fault = fault(number, shared.began.elapsed());
        let is_forwarded = match fault {
            Fault::None | Fault::Half => true,
            Fault::Reset(place) | Fault::Close(place) | Fault::Answer(place, _) | Fault::BlackHole(place, _) => {
                place == Place::AfterTheService
            }
        };
        let answer = if is_forwarded { forward(&shared, &head, &body).await } else { Vec::new() };
        tokio::time::sleep(*delay).await;
        let bytes = match fault {
            Fault::None => answer,
            Fault::Half => answer[..answer.len() / 2].to_vec(),
            Fault::Answer(_, 204) => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
            Fault::Answer(_, status) => {
                let page = "<html><body>Bad gateway</body></html>";
                format!("HTTP/1.1 {status} Gateway\r\ncontent-length: {}\r\n\r\n{page}", page.len()).into_bytes()
            }
            Fault::Reset(_) => return reset(client),
            Fault::Close(_) => return,
            Fault::BlackHole(_, time) => {
                tokio::time::sleep(time).await;
                return;
            }
        };
        // The executable may have been stopped.
        if client.write_all(&bytes).await.is_err() || fault == Fault::Half {
            return;
        }
    }
}

/// Sends a request to the service and returns its answer.
async fn forward(shared: &Shared, head: &str, body: &str) -> Vec<u8> {
    let mut service = TcpStream::connect(&shared.service).await.unwrap();
    let request = format!("{head}\r\nconnection: close\r\n\r\n{body}");
    let mut answer = Vec::new();
    // The service ends with the test.
    if service.write_all(request.as_bytes()).await.is_err() || service.read_to_end(&mut answer).await.is_err() {
        return Vec::new();
    }
    let is_accepted = answer.starts_with(b"HTTP/1.1 20");
    if is_accepted && !body.is_empty() {
        *shared.seen.lock().unwrap().accepted.entry(body.to_owned()).or_default() += 1;
    }
    // The connection to the executable stays open.
    String::from_utf8(answer).unwrap().replace("connection: close\r\n", "").into_bytes()
}
