//! Connections straight to the service: for the many small writes of an upload, and the pages of an export.
//!
//! Whoever waits for an answer drives its connection meanwhile, so that a request takes no task of its own and nothing is
//! handed from one task to another. HTTP/1.1 alone: a request has its connection to itself, and what breaks with a
//! connection is known to be that request's.

use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{HOST, HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::{self, Handle};
use tokio::time::Sleep;
use tower::ServiceExt;

use super::transport::CONNECT;

/// A connection that nobody used for so long is not used again: the other side may be about to close it.
const IDLE: Duration = Duration::from_secs(90);
/// What a connection's alarm is set to before its first request.
const ALARM: Duration = Duration::from_secs(24 * 60 * 60);
/// The system asks so often whether the other side is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_RETRIES: u32 = 3;
/// What was written and not taken note of by the other side's system for so long is lost.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// The connections to one service, made when they are needed and kept for the next request.
#[derive(Debug)]
pub(super) struct Direct {
    connector: HttpsConnector<HttpConnector>,
    address: Uri,
    host: HeaderValue,
    is_local: bool,
    idle: Mutex<Vec<Line>>,
    most_idle: usize,
}

/// How far a request got.
#[derive(Debug)]
pub(super) enum Came {
    /// Nothing of it was written.
    NotSent(String),
    /// It may have been written, in part or in full, and no answer came.
    Lost(String),
    /// `cut` says why there is no more of the body, where there should be more.
    Answer { status: StatusCode, headers: HeaderMap, body: Vec<u8>, cut: Option<String> },
}

/// One connection.
struct Line {
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
    used: Instant,
    /// The runtime that its socket and its alarm belong to.
    home: runtime::Id,
}

type Connection = http1::Connection<MaybeHttpsStream<TokioIo<TcpStream>>, Full<Bytes>>;

/// What reads and writes for a connection.
struct Driver {
    /// Nothing when it has ended.
    connection: Option<Pin<Box<Connection>>>,
    /// When the request that is under way is late.
    late: Instant,
    /// It is set to that or to a moment before it, so that it need not be set anew for every request.
    alarm: Pin<Box<Sleep>>,
}

/// The time for a request is over.
struct Late;

/// Room that is made for a body before it is there: what it is said to have, up to this.
const MOST_AHEAD: usize = 1 << 20;

const LATE: &str = "no answer in time";

impl Direct {
    /// Nothing where a proxy stands between: this knows none. `most_idle` connections are kept.
    pub fn new(address: Uri, most_idle: usize) -> std::io::Result<Option<Direct>> {
        if Matcher::from_system().intercept(&address).is_some() {
            return Ok(None);
        }
        let host = address.authority().map_or("", |host| host.as_str());
        let host = HeaderValue::from_str(host).map_err(std::io::Error::other)?;
        let is_local = address.host().is_some_and(is_local);
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(CONNECT));
        http.set_keepalive(Some(KEEP_ALIVE));
        http.set_keepalive_interval(Some(KEEP_ALIVE));
        http.set_keepalive_retries(Some(KEEP_ALIVE_RETRIES));
        #[cfg(any(target_os = "linux", target_os = "android"))]
        http.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_platform_verifier(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))?
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        Ok(Some(Direct { connector, address, host, is_local, idle: Mutex::default(), most_idle }))
    }

    /// Whether the service is on this machine.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// Makes the request once. Of a body no more than `longest` bytes are read. `limit` is for all of it but a connection
    /// that has to be made, which has a limit of its own.
    pub async fn exchange(&self, mut request: Request<Full<Bytes>>, longest: usize, limit: Duration) -> Came {
        request.headers_mut().insert(HOST, self.host.clone());
        let mut came = Came::NotSent(LATE.to_owned());
        // When the time is over, it says how far that was.
        let _ = self.go(request, longest, Instant::now() + limit, &mut came).await;
        came
    }

    async fn go(
        &self,
        mut request: Request<Full<Bytes>>,
        longest: usize,
        late: Instant,
        came: &mut Came,
    ) -> Result<(), Late> {
        loop {
            let (mut line, is_new) = match self.take_idle() {
                Some(line) => (line, false),
                // It is rare and large, and would make every exchange as large.
                None => match Box::pin(self.connect()).await {
                    Ok(line) => (line, true),
                    Err(reason) => {
                        *came = Came::NotSent(reason);
                        return Ok(());
                    }
                },
            };
            line.driver.end_by(late);
            if let Err(error) = line.ready().await? {
                if is_new {
                    *came = Came::NotSent(last_cause(&error));
                    return Ok(());
                }
                // It was closed while nobody used it.
                continue;
            }
            *came = Came::Lost(LATE.to_owned());
            match line.driver.until(line.sender.try_send_request(request)).await? {
                Ok(response) => {
                    if line.read(response, longest, came).await? {
                        self.keep(line);
                    }
                    return Ok(());
                }
                Err(mut error) => match error.take_message() {
                    // It is only handed back when nothing of it was written.
                    Some(unsent) if !is_new => {
                        *came = Came::NotSent(LATE.to_owned());
                        request = unsent;
                    }
                    Some(_) => {
                        *came = Came::NotSent(last_cause(error.error()));
                        return Ok(());
                    }
                    None => {
                        *came = Came::Lost(last_cause(error.error()));
                        return Ok(());
                    }
                },
            }
        }
    }

    async fn connect(&self) -> Result<Line, String> {
        let made = async {
            let stream = self.connector.clone().oneshot(self.address.clone()).await;
            let stream = stream.map_err(|error| last_cause(&*error))?;
            // Heads and bodies are small: to write them as one takes the system less than to gather them.
            let connection = http1::Builder::new().writev(false).handshake(stream).await;
            let (sender, connection) = connection.map_err(|error| last_cause(&error))?;
            let now = Instant::now();
            let alarm = Box::pin(tokio::time::sleep_until((now + ALARM).into()));
            let driver = Driver { connection: Some(Box::pin(connection)), late: now, alarm };
            Ok(Line { sender, driver, used: now, home: Handle::current().id() })
        };
        let late = || Err(format!("no connection in {} s", CONNECT.as_secs()));
        tokio::time::timeout(CONNECT, made).await.unwrap_or_else(|_| late())
    }

    /// The one that was used last: the others may grow old. One of another runtime would wait for that one's threads.
    fn take_idle(&self) -> Option<Line> {
        let here = Handle::current().id();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let last = idle.iter().rposition(|line| line.home == here)?;
        Some(idle.remove(last)).filter(|line| line.used.elapsed() < IDLE)
    }

    fn keep(&self, mut line: Line) {
        line.used = Instant::now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(line);
        if idle.len() > self.most_idle {
            // It may be of a runtime that is no more.
            idle.remove(0);
        }
    }
}

impl Line {
    /// Waits until it takes a request.
    async fn ready(&mut self) -> Result<hyper::Result<()>, Late> {
        // It may have ended. It is looked at without its waking anybody, because the request that is handed to it next
        // would wake whoever hands it over.
        self.driver.drive(&mut Context::from_waker(Waker::noop()));
        if self.sender.is_ready() {
            return Ok(Ok(()));
        }
        self.driver.until(self.sender.ready()).await
    }

    /// Reads the answer's body. True: to its end, and the connection may be used again.
    async fn read(&mut self, response: Response<Incoming>, longest: usize, came: &mut Came) -> Result<bool, Late> {
        let (head, mut incoming) = response.into_parts();
        let told = incoming.size_hint().exact().and_then(|len| usize::try_from(len).ok()).unwrap_or_default();
        let body = Vec::with_capacity(told.min(longest).min(MOST_AHEAD));
        *came = Came::Answer { status: head.status, headers: head.headers, body, cut: Some(LATE.to_owned()) };
        let Came::Answer { body, cut, .. } = came else { return Ok(false) };
        loop {
            match self.driver.until(incoming.frame()).await? {
                None => {
                    *cut = None;
                    return Ok(!self.sender.is_closed());
                }
                Some(Ok(frame)) => {
                    let data = frame.into_data().unwrap_or_default();
                    if body.len() + data.len() > longest {
                        *cut = Some("the answer does not end".to_owned());
                        return Ok(false);
                    }
                    body.extend_from_slice(&data);
                }
                Some(Err(error)) => {
                    *cut = Some(last_cause(&error));
                    return Ok(false);
                }
            }
        }
    }
}

impl Driver {
    /// Says when the next request is late.
    fn end_by(&mut self, late: Instant) {
        self.late = late;
        if Instant::from(self.alarm.deadline()) > late {
            self.alarm.as_mut().reset(late.into());
        }
    }

    /// Drives the connection until there is what is waited for. When the connection ends, what is waited for fails.
    async fn until<T>(&mut self, wanted: impl Future<Output = T>) -> Result<T, Late> {
        let mut wanted = pin!(wanted);
        std::future::poll_fn(|context| {
            // What is wanted may be there, or it has to be asked for first, such as the next part of a body.
            if let Poll::Ready(done) = wanted.as_mut().poll(context) {
                return Poll::Ready(Ok(done));
            }
            self.drive(context);
            if let Poll::Ready(done) = wanted.as_mut().poll(context) {
                return Poll::Ready(Ok(done));
            }
            while self.alarm.as_mut().poll(context).is_ready() {
                if Instant::now() >= self.late {
                    return Poll::Ready(Err(Late));
                }
                self.alarm.as_mut().reset(self.late.into());
            }
            Poll::Pending
        })
        .await
    }

    fn drive(&mut self, context: &mut Context<'_>) {
        if let Some(connection) = &mut self.connection
            && connection.as_mut().poll(context).is_ready()
        {
            self.connection = None;
        }
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("used", &self.used).finish_non_exhaustive()
    }
}

/// Whether a host as an address names it is this machine.
fn is_local(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The last cause of an error, which is the one that people understand.
pub(super) fn last_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use hyper::service::service_fn;
    use tokio::net::TcpListener;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(20);

    /// Answers requests one after the other, each after such a time; not at all where there is none.
    async fn served(answers: Vec<Option<Duration>>, most_idle: usize) -> Direct {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}/", listener.local_addr().expect("an address"));
        let answers = Arc::new(Mutex::new(answers.into_iter()));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                let answers = Arc::clone(&answers);
                let service = service_fn(move |_| {
                    let pause = answers.lock().expect("a lock").next().expect("no more requests");
                    async move {
                        match pause {
                            Some(pause) => tokio::time::sleep(pause).await,
                            None => std::future::pending().await,
                        }
                        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"{}"))))
                    }
                });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Direct::new(address.parse().expect("an address"), most_idle).expect("a connector").expect("no proxy")
    }

    async fn exchange(direct: &Direct, limit: Duration) -> Came {
        direct.exchange(Request::new(Full::new(Bytes::from_static(b"{}"))), 100, limit).await
    }

    #[tokio::test]
    async fn a_request_is_late_by_its_own_limit_whatever_the_one_before_it_had() {
        let direct = served(vec![Some(Duration::ZERO), None], 1).await;
        assert!(matches!(exchange(&direct, LONG).await, Came::Answer { cut: None, .. }));
        assert!(matches!(exchange(&direct, SHORT).await, Came::Lost(reason) if reason == LATE));
        assert!(direct.take_idle().is_none(), "a late answer may still come on that connection");
    }

    #[tokio::test]
    async fn a_request_has_all_of_its_time_on_a_connection_that_had_a_shorter_limit() {
        let direct = served(vec![Some(Duration::ZERO), Some(SHORT * 4)], 1).await;
        // The first may be late where the machine is busy; then there is nothing to see.
        if let Came::Answer { cut: None, .. } = exchange(&direct, SHORT).await {
            assert!(matches!(exchange(&direct, LONG).await, Came::Answer { cut: None, .. }));
        }
    }

    #[test]
    fn a_connection_stays_with_its_own_runtime() {
        let runtime = || runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let (one, other) = (runtime(), runtime());
        for most_idle in [1, 2] {
            let direct = one.block_on(served(vec![Some(Duration::ZERO); 3], most_idle));
            for runtime in [&one, &other, &other] {
                let came = runtime.block_on(exchange(&direct, LONG));
                assert!(matches!(came, Came::Answer { cut: None, .. }), "{came:?}");
            }
            assert_eq!(direct.idle.lock().expect("a lock").len(), most_idle, "the other one's was used twice");
            // The older one makes room: its runtime may be no more.
            assert_eq!(one.block_on(async { direct.take_idle() }).is_some(), most_idle == 2);
            assert!(other.block_on(async { direct.take_idle() }).is_some());
        }
    }

    #[test]
    fn a_service_on_this_machine_is_known_by_its_address() {
        for (address, local) in [
            ("http://localhost:8787/", true),
            ("http://127.0.0.1/below/", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:80/", true),
            ("http://192.168.0.7/", false),
            ("https://localhost.example/", false),
            ("https://host.example/", false),
        ] {
            let address: Uri = address.parse().expect("an address");
            assert_eq!(address.host().is_some_and(is_local), local, "{address}");
        }
    }
}
