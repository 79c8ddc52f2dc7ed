//! A mail server of the tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::crypto::aws_lc_rs;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::super::connect::certificates::Identity;

/// A letter, and the lines of the conversation before it.
#[derive(Clone, Debug)]
pub struct Letter {
    pub commands: Vec<String>,
    pub text: String,
}

pub struct MailServer {
    pub port: u16,
    letters: Arc<Mutex<Vec<Letter>>>,
}

impl MailServer {
    /// Starts a server that offers STARTTLS if it has a certificate.
    pub fn start(identity: Option<&Identity>) -> MailServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let letters: Arc<Mutex<Vec<Letter>>> = Arc::default();
        let taken = Arc::clone(&letters);
        let config = identity.map(|identity| {
            let (chain, key) = identity.parts();
            let provider = Arc::new(aws_lc_rs::default_provider());
            let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
            Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap())
        });
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (letters, config) = (Arc::clone(&taken), config.clone());
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    stream.write_all(b"220 mail.test\r\n").unwrap();
                    let mut commands = Vec::new();
                    let Some(config) = config else {
                        return talk(&mut BufReader::new(stream), false, commands, &letters);
                    };
                    if !before_tls(&mut stream, &mut commands) {
                        return;
                    }
                    let secure = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
                    talk(&mut BufReader::new(secure), true, commands, &letters);
                });
            }
        });
        MailServer { port, letters }
    }

    pub fn letters(&self) -> Vec<Letter> {
        self.letters.lock().unwrap().clone()
    }
}

/// Talks until the client begins TLS. Reads byte by byte, because what follows belongs to TLS.
fn before_tls(stream: &mut TcpStream, commands: &mut Vec<String>) -> bool {
    let mut line = Vec::new();
    let mut byte = [0];
    while stream.read(&mut byte).is_ok_and(|read| read == 1) {
        line.push(byte[0]);
        if byte[0] != b'\n' {
            continue;
        }
        let command = String::from_utf8(std::mem::take(&mut line)).unwrap().trim().to_owned();
        commands.push(command.clone());
        if command == "STARTTLS" {
            stream.write_all(b"220 go on\r\n").unwrap();
            return true;
        }
        stream.write_all(b"250-mail.test\r\n250 STARTTLS\r\n").unwrap();
    }
    false
}

fn talk<S: Read + Write>(
    stream: &mut BufReader<S>,
    may_log_in: bool,
    mut commands: Vec<String>,
    letters: &Mutex<Vec<Letter>>,
) {
    let mut line = String::new();
    while stream.read_line(&mut line).is_ok_and(|read| read > 0) {
        let command = std::mem::take(&mut line).trim().to_owned();
        commands.push(command.clone());
        let answer = match command.split(' ').next().unwrap() {
            "EHLO" if may_log_in => "250-mail.test\r\n250 AUTH PLAIN\r\n",
            "AUTH" => "235 welcome\r\n",
            "DATA" => "354 go on\r\n",
            "QUIT" => "221 bye\r\n",
            _ => "250 ok\r\n",
        };
        stream.get_mut().write_all(answer.as_bytes()).unwrap();
        stream.get_mut().flush().unwrap();
        if command == "DATA" {
            let mut text = String::new();
            while !text.ends_with("\r\n.\r\n") && stream.read_line(&mut text).is_ok_and(|read| read > 0) {}
            letters.lock().unwrap().push(Letter { commands: commands.clone(), text });
            stream.get_mut().write_all(b"250 taken\r\n").unwrap();
            stream.get_mut().flush().unwrap();
        }
    }
}
