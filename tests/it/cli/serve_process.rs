//! The process of the service: where it listens, how many connections it has, how it stops, and who may read its files.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use super::process::{Place, Running};

fn serve(place: &Place, words: &[&str]) -> (Running, String) {
    let first = ["serve", "--data", "service"];
    let process = place.sheetport(first.iter().chain(words)).start();
    let line = process.line();
    let address = line.trim().strip_prefix("Listening on http://").unwrap().split(',').next().unwrap().to_owned();
    (process, address)
}

fn ask(address: &str, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{request}").unwrap();
    stream
}

const PROBE: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

fn answer(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn mode(place: &Place, name: &str) -> u32 {
    fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777
}

fn set_mode(place: &Place, name: &str, mode: u32) {
    fs::set_permissions(place.path(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn files_of_the_service_are_for_their_owner_only() {
    let place = Place::new();
    drop(serve(&place, &["--listen", "127.0.0.1:0", "--demo"]));
    let files = ["service/service.db", "service/service.db-wal", "service/service.db-shm"];
    for name in files {
        assert_eq!(mode(&place, name), 0o600, "{name}: new files are private, whatever the umask");
        set_mode(&place, name, 0o644);
    }
    set_mode(&place, "service", 0o755);
    let (process, _) = serve(&place, &["--listen", "127.0.0.1:0"]);
    process.has_said("Other users could read service; now only you can.");
    process.has_said("service.db-shm; now only you can.");
    assert_eq!(mode(&place, "service"), 0o700);
    for name in files {
        assert_eq!(mode(&place, name), 0o600, "{name}");
    }
    process.signal("INT");
    let ended = process.wait().exits(0);
    assert!(!ended.stderr.contains("could read"), "said once: {ended:?}");

    set_mode(&place, "service/signing.key", 0o640);
    for words in [&["serve", "--data", "service"][..], &["serve", "token", "--data", "service", "--workspace", "shop"]]
    {
        let refused = place.sheetport(words).run();
        assert_ne!(refused.code, Some(0), "{refused:?}");
        refused.says(&["its mode is 640", "chmod 600 'service/signing.key'"]);
    }
    set_mode(&place, "service/signing.key", 0o600);
    place.sheetport(["serve", "token", "--data", "service", "--workspace", "shop"]).exits(0);
}

#[test]
fn a_name_is_an_address_and_other_machines_are_a_warning() {
    let place = Place::new();
    let (process, address) = serve(&place, &["--listen", "localhost:0"]);
    assert!(address.starts_with("localhost:"), "{address}");
    for host in ["127.0.0.1", "localhost"] {
        let at = address.replace("localhost", host);
        assert!(answer(ask(&at, PROBE)).starts_with("HTTP/1.1 200 "), "{at}");
    }
    process.signal("TERM");
    let ended = process.wait().exits(0);
    assert!(!ended.stderr.contains("Warning"), "{ended:?}");

    let (process, _) = serve(&place, &["--listen", "0.0.0.0:0"]);
    process.has_said("Warning: other machines can reach 0.0.0.0:");
    drop(process);
    // The printed commands are for this machine, whose clients send no token to 0.0.0.0.
    for (all, loopback) in [("0.0.0.0:0", "127.0.0.1:"), ("[::]:0", "[::1]:"), ("0:0", "127.0.0.1:")] {
        let (process, _) = serve(&place, &["--listen", all]);
        process.has_said(&format!("export SHEETPORT_BASE_URL=http://{loopback}"));
        drop(process);
    }
    place
        .sheetport(["serve", "--data", "service", "--listen", "no-such-host.invalid:80"])
        .exits(2)
        .says(&["can't listen"]);
    place.sheetport(["serve", "--data", "service", "--listen", "localhost"]).exits(2).says(&["localhost:8787"]);
}

#[test]
fn the_log_has_the_reason_of_a_refusal() {
    let place = Place::new();
    let (process, address) = serve(&place, &["--listen", "127.0.0.1:0", "-v"]);
    let token =
        place.sheetport(["serve", "token", "--data", "service", "--workspace", "shop", "--json"]).exits(0).json();
    let token = token["access"].as_str().unwrap();
    let send = |head: &str, body: &str| {
        let len = body.len();
        answer(ask(
            &address,
            &format!(
                "{head} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
                 Content-Type: application/json\r\nContent-Length: {len}\r\n\r\n{body}"
            ),
        ))
    };
    assert!(send("POST /v1/public/items", r#"{"externalId":"A","price":"x"}"#).starts_with("HTTP/1.1 422 "));
    process.has_said("price must be a number or null, not a string");
    let twice = send("POST /v1/public/items", r#"{"externalId":"A","price":1,"price":2}"#);
    assert!(twice.starts_with("HTTP/1.1 400 ") && twice.contains(r#"the key \"price\" twice"#), "{twice}");
    process.has_said("twice in one object");
    assert!(send("DELETE /v1/items", "").starts_with("HTTP/1.1 405 "));
    process.has_said("this path does not support this method");
    let root = send("GET /", "");
    assert!(root.starts_with("HTTP/1.1 200 ") && root.contains("/docs"), "{root}");
    process.signal("TERM");
    let ended = process.wait().exits(0);
    assert!(!ended.stderr.contains(token), "{ended:?}");
}

#[test]
fn connections_beyond_the_limit_of_descriptors_wait() {
    let place = Place::new();
    let line =
        format!("ulimit -n 80; exec {} serve --data service --listen 127.0.0.1:0", env!("CARGO_BIN_EXE_sheetport"));
    let process = place.command("sh", ["-c", &line]).start();
    let address = process.line();
    let address = address.trim().strip_prefix("Listening on http://").unwrap().split(',').next().unwrap().to_owned();
    // More than there are descriptors, all open at the same time.
    let streams: Vec<TcpStream> = (0..100).map(|_| ask(&address, PROBE)).collect();
    for stream in streams {
        assert!(answer(stream).starts_with("HTTP/1.1 200 "));
    }
    process.signal("TERM");
    let ended = process.wait().exits(0);
    assert!(!ended.stderr.contains("failed to accept"), "{ended:?}");
}

#[test]
fn a_stop_takes_seconds_whatever_the_clients_do() {
    let place = Place::new();
    for (signal, again) in [("TERM", false), ("INT", true)] {
        let (process, address) = serve(&place, &["--listen", "127.0.0.1:0", "--latency", "60s"]);
        let token =
            place.sheetport(["serve", "token", "--data", "service", "--workspace", "shop", "--json"]).exits(0).json();
        let token = token["access"].as_str().unwrap();
        let head = format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n");
        let delayed = ask(&address, &format!("GET /v1/items HTTP/1.1\r\n{head}\r\n"));
        let unfinished = ask(&address, &format!("POST /v1/public/items HTTP/1.1\r\n{head}Content-Length: 9\r\n\r\n{{"));
        let idle = ask(&address, "GET /heal");
        assert!(answer(ask(&address, PROBE)).starts_with("HTTP/1.1 200 "), "the other requests have arrived");
        let started = Instant::now();
        process.signal(signal);
        process.has_said("Press Ctrl-C again to stop at once.");
        if again {
            process.signal(signal);
        }
        let ended = process.wait();
        let took = started.elapsed();
        assert_eq!(ended.code == Some(0), !again, "{ended:?}");
        let limit = Duration::from_secs(if again { 3 } else { 8 });
        assert!(took < limit, "{signal}: {took:?}");
        drop((delayed, unfinished, idle));
    }
}

/// A database browser with an unsaved change, for example.
#[tokio::test]
async fn a_stop_takes_seconds_while_another_program_holds_a_lock() {
    use sqlx::Connection as _;

    let place = Place::new();
    let (process, address) = serve(&place, &["--listen", "127.0.0.1:0"]);
    let token =
        place.sheetport(["serve", "token", "--data", "service", "--workspace", "shop", "--json"]).exits(0).json();
    let head = format!("Host: {address}\r\nAuthorization: Bearer {}\r\n", token["access"].as_str().unwrap());
    let database = format!("sqlite://{}", place.path("service/service.db").display());
    let mut other = sqlx::SqliteConnection::connect(&database).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    // Its entry in the journal waits for the lock, and so does the write.
    let read = ask(&address, &format!("GET /v1/items HTTP/1.1\r\n{head}Connection: close\r\n\r\n"));
    assert!(answer(read).starts_with("HTTP/1.1 200 "));
    let body = r#"{"externalId":"A"}"#;
    let write = format!(
        "POST /v1/public/items HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let write = ask(&address, &write);
    let started = Instant::now();
    process.signal("TERM");
    let ended = process.wait().exits(0);
    let took = started.elapsed();
    assert!(took < Duration::from_secs(8), "{took:?}: {ended:?}");
    ended.says(&["another program holds a lock on the database"]);
    drop(write);
}

#[test]
fn tokens_are_set_by_the_commands_of_a_shell() {
    let place = Place::new();
    let token = |shell: &[&str]| {
        let words = ["serve", "token", "--data", "service", "--workspace", "shop"];
        place.sheetport(words.iter().chain(shell)).exits(0).stdout
    };
    for (shell, begin, end) in [
        (&[][..], "export SHEETPORT_ACCESS_TOKEN=eyJ", ""),
        (&["--shell", "bash"], "export SHEETPORT_ACCESS_TOKEN=eyJ", ""),
        (&["--shell", "powershell"], "$env:SHEETPORT_ACCESS_TOKEN = \"eyJ", "\""),
        (&["--shell", "cmd"], "set SHEETPORT_ACCESS_TOKEN=eyJ", ""),
    ] {
        let said = token(shell);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert!(lines[0].starts_with(begin) && lines[0].ends_with(end), "{said}");
        assert_eq!(lines[1].replace("REFRESH", "ACCESS").split("eyJ").next(), begin.strip_suffix("eyJ"), "{said}");
    }
}
