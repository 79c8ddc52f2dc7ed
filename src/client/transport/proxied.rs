//! Requests by way of a proxy: over reqwest, which knows proxies.

use std::error::Error as _;

use reqwest::Request;
use reqwest::redirect::Policy;
use reqwest::retry;

use super::{CONNECT, MAX_RESULT};
use crate::client::direct::{Came, last_cause};
use crate::client::error::Error;

/// A connection pool.
#[derive(Debug)]
pub struct Proxied(reqwest::Client);

impl Proxied {
    /// `connections` is how many are kept.
    pub fn new(connections: usize) -> Result<Proxied, Error> {
        let client = reqwest::Client::builder()
            // A redirected POST would be repeated as a GET, and a redirect elsewhere would carry the token along.
            .redirect(Policy::none())
            // Every repetition is decided by the policy, with the ledger knowing.
            .retry(retry::never())
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(connections)
            .tcp_nodelay(true)
            .build();
        Ok(Proxied(client.map_err(|error| Error::Client(told(&error)))?))
    }

    /// Makes the request once. Of a body no more than `longest` bytes are read, and what was packed is unpacked.
    pub async fn exchange(&self, request: Request, longest: usize) -> Came {
        let mut response = match self.0.execute(request).await {
            Ok(response) => response,
            Err(error) if error.is_connect() || error.is_builder() => return Came::NotSent(told(&error)),
            Err(error) => return Came::Lost(told(&error)),
        };
        let said = response.content_length().and_then(|len| usize::try_from(len).ok()).unwrap_or_default();
        let mut body = Vec::with_capacity(said.min(MAX_RESULT));
        let cut = loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > longest => {
                    break Some("the answer does not end".to_owned());
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break None,
                Err(error) => break Some(told(&error)),
            }
        };
        let headers = std::mem::take(response.headers_mut());
        Came::Answer { status: response.status(), headers, body, cut }
    }
}

/// The last cause of an error, which is the one that people understand, without the address, which is said elsewhere.
fn told(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return if error.is_connect() { "no connection in 10 s".to_owned() } else { "no answer in time".to_owned() };
    }
    error.source().map_or_else(|| "the request could not be made".to_owned(), last_cause)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::client::transport::{Answer, Exchange, MAX_PAGE};

    /// What comes of asking somebody who answers with such headers and such a body.
    async fn asked(headers: &'static str, body: Vec<u8>) -> Exchange {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let answering = async {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let _ = stream.read(&mut [0; 4096]).await.expect("a request");
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
            stream.write_all(&[head.as_bytes(), &body].concat()).await.expect("an open connection");
        };
        let proxied = Proxied::new(1).expect("a client");
        let request = Request::new(reqwest::Method::GET, url.parse().expect("a URL"));
        let (came, ()) = tokio::join!(proxied.exchange(request, MAX_PAGE), answering);
        Exchange::of(came, MAX_PAGE)
    }

    #[tokio::test]
    async fn a_page_is_unpacked_once_however_it_says_that_it_is_packed() {
        let text = b"[1, 2]".repeat(100);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &text).expect("room");
        let packed = encoder.finish().expect("room");
        for (headers, body) in
            [("", &text), ("content-encoding: gzip\r\n", &packed), ("content-encoding: GZIP\r\n", &packed)]
        {
            match asked(headers, body.clone()).await {
                Exchange::Answered(Answer { status: 200, body, .. }) => assert_eq!(body, text, "{headers}"),
                other => panic!("{headers}: {other:?}"),
            }
        }
        let cut = asked("content-encoding: gzip\r\n", packed[..packed.len() / 2].to_vec()).await;
        assert!(matches!(cut, Exchange::CutAnswer { status: 200, .. }), "{cut:?}");
    }
}
