//! Relays in front of the scripted server: one that speaks TLS, and a SOCKS proxy.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rustls::crypto::aws_lc_rs;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::certificates::{Authority, Identity};
use crate::faults::server::Server;

/// Speaks TLS for a server that does not.
pub struct TlsRelay {
    pub port: u16,
    task: JoinHandle<()>,
}

impl Drop for TlsRelay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl TlsRelay {
    pub async fn start(server: &Server, identity: &Identity) -> TlsRelay {
        let config = versions(rustls::ALL_VERSIONS).with_no_client_auth();
        TlsRelay::with(server, config, identity).await
    }

    /// Starts a relay that only lets clients of `clients` pass.
    pub async fn for_clients_of(
        clients: &Authority,
        server: &Server,
        identity: &Identity,
        version: &'static SupportedProtocolVersion,
    ) -> TlsRelay {
        let mut roots = RootCertStore::empty();
        roots.add(clients.der()).unwrap();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build().unwrap();
        TlsRelay::with(server, versions(&[version]).with_client_cert_verifier(verifier), identity).await
    }

    async fn with(
        server: &Server,
        config: rustls::ConfigBuilder<ServerConfig, rustls::server::WantsServerCert>,
        identity: &Identity,
    ) -> TlsRelay {
        let (chain, key) = identity.parts();
        let acceptor = TlsAcceptor::from(Arc::new(config.with_single_cert(chain, key).unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let to = server.address.trim_start_matches("http://").to_owned();
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (acceptor, to) = (acceptor.clone(), to.clone());
                tokio::spawn(async move {
                    // A handshake that fails is for the client to explain.
                    let Ok(mut from) = acceptor.accept(stream).await else { return };
                    let mut to = TcpStream::connect(to).await.unwrap();
                    let _ = copy_bidirectional(&mut from, &mut to).await;
                });
            }
        });
        TlsRelay { port, task }
    }

    pub fn address(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }
}

fn versions(
    versions: &[&'static SupportedProtocolVersion],
) -> rustls::ConfigBuilder<ServerConfig, rustls::WantsVerifier> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    ServerConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap()
}

/// A SOCKS5 proxy that connects every client with the same port of this machine.
pub struct Socks {
    /// Host and port.
    pub address: SocketAddr,
    wanted: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Socks {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Socks {
    /// Starts a proxy that asks for a user name and a password, if there are any.
    pub async fn start(to: u16, login: Option<(&'static str, &'static str)>) -> Socks {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let wanted: Arc<Mutex<Vec<String>>> = Arc::default();
        let shared = Arc::clone(&wanted);
        let task = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    let Some(target) = accept(&mut stream, login).await else { return };
                    shared.lock().unwrap().push(target);
                    let mut to = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                    let _ = copy_bidirectional(&mut stream, &mut to).await;
                });
            }
        });
        Socks { address, wanted, task }
    }

    /// Returns the targets that clients have asked for, as host and port.
    pub fn wanted(&self) -> Vec<String> {
        self.wanted.lock().unwrap().clone()
    }
}

/// Performs the handshake. Returns the target, or `None` if the client is refused.
async fn accept(stream: &mut TcpStream, login: Option<(&str, &str)>) -> Option<String> {
    let methods = {
        let mut head = [0; 2];
        stream.read_exact(&mut head).await.ok()?;
        let mut methods = vec![0; head[1].into()];
        stream.read_exact(&mut methods).await.ok()?;
        methods
    };
    let method = if login.is_some() { 2 } else { 0 };
    if !methods.contains(&method) {
        stream.write_all(&[5, 0xFF]).await.ok()?;
        return None;
    }
    stream.write_all(&[5, method]).await.ok()?;
    if let Some((user, password)) = login {
        let mut version = [0];
        stream.read_exact(&mut version).await.ok()?;
        let given = (text(stream).await?, text(stream).await?);
        let is_right = given == (user.to_owned(), password.to_owned());
        stream.write_all(&[1, u8::from(!is_right)]).await.ok()?;
        if !is_right {
            return None;
        }
    }
    let mut head = [0; 4];
    stream.read_exact(&mut head).await.ok()?;
    let host = match head[3] {
        1 => {
            let mut ip = [0; 4];
            stream.read_exact(&mut ip).await.ok()?;
            std::net::Ipv4Addr::from(ip).to_string()
        }
        3 => text(stream).await?,
        other => panic!("an address of the kind {other}"),
    };
    let port = stream.read_u16().await.ok()?;
    stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.ok()?;
    Some(format!("{host}:{port}"))
}

/// Reads a text after its length.
async fn text(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = vec![0; stream.read_u8().await.ok()?.into()];
    stream.read_exact(&mut bytes).await.ok()?;
    String::from_utf8(bytes).ok()
}
