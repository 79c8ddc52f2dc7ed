//! Several services on one PostgreSQL database, behind a balancer that knows nothing of the protocol.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use super::process::{Place, Running, Sheetport, until};
use super::{accounting, count, items, summary};
use crate::postgres::{Access, Cluster};

const INVOICE: &str = "\
record = \"invoice\"
[group]
by = [\"Id\"]
[fields.cid]
value = \"019a3c00-0003-7000-8000-000000000005\"
[lines.id]
value = \"019a3c00-0001-7000-8000-000000000001\"
[lines.amount]
column = \"Amount\"
";

/// A service on the shared database.
struct Replica {
    process: Running,
    address: SocketAddr,
}

/// Services on one database, and the balancer in front of them.
struct Replicas<'a> {
    place: &'a Place,
    store: String,
    running: Vec<Replica>,
    balancer: Balancer,
}

impl<'a> Replicas<'a> {
    fn start(place: &'a Place, store: &str, number: usize) -> Replicas<'a> {
        let balancer = Balancer::start();
        let mut replicas = Replicas { place, store: store.to_owned(), running: Vec::new(), balancer };
        (0..number).for_each(|_| replicas.add());
        replicas
    }

    /// Starts one more service.
    fn add(&mut self) {
        let words = ["serve", "--listen", "127.0.0.1:0", "--demo", "--json", "--store", &self.store];
        let process = self.place.sheetport(words).start();
        let first: Value = serde_json::from_str(&process.line()).unwrap();
        let address = first["listening"].as_str().unwrap().strip_prefix("http://").unwrap().parse().unwrap();
        assert!(!first["data"].as_str().unwrap().is_empty());
        self.running.push(Replica { process, address });
        self.tell();
    }

    /// Kills the first service. The balancer goes on to try it.
    fn kill_one(&mut self) {
        let killed = self.running.remove(0);
        killed.process.kill();
    }

    fn tell(&self) {
        *self.balancer.replicas.lock().unwrap() = self.running.iter().map(|replica| replica.address).collect();
    }

    /// Returns a command that uses the balancer, with tokens of the workspace `demo`.
    fn sheetport(&self, args: &[&str]) -> Sheetport {
        let (access, refresh) = self.tokens();
        let command = self.place.sheetport(args).env("SHEETPORT_BASE_URL", &self.balancer.url);
        command.secret("SHEETPORT_ACCESS_TOKEN", &access).secret("SHEETPORT_REFRESH_TOKEN", &refresh)
    }

    fn tokens(&self) -> (String, String) {
        let words = ["serve", "token", "--workspace", "demo", "--json", "--store", &self.store];
        let pair = self.place.sheetport(words).exits(0).json();
        (pair["access"].as_str().unwrap().to_owned(), pair["refresh"].as_str().unwrap().to_owned())
    }

    /// Returns what the database has of a kind.
    fn stored(&self, kind: &str) -> Vec<Value> {
        let words = ["serve", "show", kind, "--limit", "all", "--workspace", "demo", "--json", "--store", &self.store];
        self.place.sheetport(words).exits(0).json()["records"].as_array().unwrap().clone()
    }

    fn requests(&self) -> Vec<Value> {
        let words = ["serve", "show", "requests", "--limit", "all", "--json", "--store", &self.store];
        self.place.sheetport(words).exits(0).json()["requests"].as_array().unwrap().clone()
    }
}

/// Gives each connection to the next service that takes it.
struct Balancer {
    url: String,
    replicas: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Balancer {
    fn start() -> Balancer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let replicas: Arc<Mutex<Vec<SocketAddr>>> = Arc::default();
        let (known, turn) = (replicas.clone(), AtomicUsize::new(0));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, known) = (client.unwrap(), known.lock().unwrap().clone());
                let first = turn.fetch_add(1, Ordering::Relaxed);
                let order = (0..known.len()).map(|nth| known[(first + nth) % known.len()]);
                if let Some(service) = order.filter_map(|address| TcpStream::connect(address).ok()).next() {
                    forward(client.try_clone().unwrap(), service.try_clone().unwrap());
                    forward(service, client);
                }
            }
        });
        Balancer { url, replicas }
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        let mut bytes = [0; 16 * 1024];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            if to.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}

#[test]
fn items_arrive_once_while_services_are_killed_and_the_database_crashes() {
    let Some(mut server) = Cluster::start() else { return };
    let place = Place::new();
    let mut replicas = Replicas::start(&place, &server.database("service"), 3);
    let before = replicas.stored("items").len();
    place.write("items.csv", items(600));
    let upload = ["upload", "items.csv", "-t", "items", "--rate", "150/s", "--concurrency", "8", "--json"];
    let upload = replicas.sheetport(&upload).start();
    until("some items", || (replicas.stored("items").len() >= before + 60).then_some(()));
    replicas.kill_one();
    until("more items", || (replicas.stored("items").len() >= before + 200).then_some(()));
    server.crash();
    server.run();
    replicas.add();
    let mut sent = summary(&upload.wait());
    // A record that was answered with a 500 five times is failed, because it may be the cause.
    if count(&sent, "failed") > 0 {
        sent = summary(&replicas.sheetport(&["retry", "1", "--json"]).exits(0));
    }
    assert_eq!(count(&sent, "sent"), count(&sent, "total"), "{sent}");
    let stored = replicas.stored("items");
    assert_eq!(stored.len(), before + 600);
    let mut keys: Vec<&str> = stored.iter().filter_map(|item| item["external_id"].as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), before + 600, "no item twice");
    // Every service that is left has written some of them.
    let exported = replicas.sheetport(&["export", "items", "-o", "items-out.csv", "--json"]).exits(0).json();
    assert_eq!(count(&exported, "count"), before as u64 + 600);
    let mut numbers: Vec<i64> = replicas.requests().iter().filter_map(|request| request["request"].as_i64()).collect();
    let all = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), all, "each request has a number of its own");
}

#[test]
fn invoices_are_what_the_client_says_while_services_are_killed() {
    let Some(server) = Cluster::start() else { return };
    let place = Place::new();
    let mut replicas = Replicas::start(&place, &server.database("service"), 3);
    let before = replicas.stored("invoices").len();
    place.write("invoice.toml", INVOICE);
    let rows: String = (1..=200).map(|number| format!("I-{number},{number}\n")).collect();
    place.write("invoices.csv", format!("Id,Amount\n{rows}"));
    let upload = ["upload", "invoices.csv", "-t", "invoice.toml", "--rate", "80/s", "--concurrency", "4", "--json"];
    let upload = replicas.sheetport(&upload).start();
    for some in [30, 90] {
        until("some invoices", || (replicas.stored("invoices").len() >= before + some).then_some(()));
        replicas.kill_one();
        replicas.add();
    }
    let sent = summary(&upload.wait());
    assert_eq!(count(&sent, "total"), 200);
    assert_eq!(count(&sent, "sent") + count(&sent, "unknown") + count(&sent, "failed"), 200, "{}", accounting(&sent));
    assert!(count(&sent, "unknown") <= 8, "at most those in flight: {sent}");
    let mut amounts: BTreeMap<String, usize> = BTreeMap::new();
    for invoice in replicas.stored("invoices").iter().skip(before) {
        *amounts.entry(invoice["record"]["items"][0]["amount"].to_string()).or_default() += 1;
    }
    assert!(amounts.values().all(|times| *times == 1), "an invoice was made twice: {amounts:?}");
    let held = amounts.len() as u64;
    let (least, most) = (count(&sent, "sent"), count(&sent, "sent") + count(&sent, "unknown"));
    assert!((least..=most).contains(&held), "the service has {held}: {sent}");
}

#[test]
fn services_share_tokens_and_what_was_replaced() {
    let Some(server) = Cluster::start() else { return };
    let place = Place::new();
    let store = server.database("service");
    let serve = |more: &[&str]| {
        let first = ["serve", "--listen", "127.0.0.1:0", "--rotate-refresh", "--json", "--store", &store];
        let process = place.sheetport(first.iter().chain(more)).start();
        let said: Value = serde_json::from_str(&process.line()).unwrap();
        (process, said["listening"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned())
    };
    let token = ["serve", "token", "--workspace", "shop", "--json", "--store", &store];
    // Before any service was started.
    let early = place.sheetport(token).exits(0).json();
    let ((_one, first), (_other, second)) = (serve(&[]), serve(&["--strict"]));
    let post = |host: &str, refresh: &str| -> (String, Value) {
        let body = format!("{{\"refresh\":\"{refresh}\"}}");
        let mut stream = TcpStream::connect(host).unwrap();
        let length = body.len();
        write!(
            stream,
            "POST /api/token/refresh/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().to_owned(), serde_json::from_str(body).unwrap())
    };
    let old = early["refresh"].as_str().unwrap();
    let (status, new) = post(&first, old);
    assert_eq!(status, "200", "{new}");
    // The new one has arrived, so the old one is void, at each service.
    assert_eq!(post(&second, new["refresh"].as_str().unwrap()).0, "200");
    assert_eq!(post(&first, old).0, "401");
    assert_eq!(post(&second, old).0, "401");
}

#[test]
fn records_are_loaded_while_services_are_running() {
    let Some(server) = Cluster::start() else { return };
    let place = Place::new();
    let replicas = Replicas::start(&place, &server.database("service"), 2);
    let before = replicas.stored("items").len();
    place.write("items.csv", "external_id,name,price\nL-1,Bolt,1.50\nL-2,Nut,0.10\n");
    let words = ["serve", "load", "items.csv", "--workspace", "demo", "--json"];
    for (created, unchanged) in [(2, 0), (0, 2)] {
        let loaded = place.sheetport(words).env("SHEETPORT_STORE", &replicas.store).exits(0).json();
        let outcome = &loaded["files"][0]["outcome"];
        assert_eq!((count(outcome, "created"), count(outcome, "unchanged")), (created, unchanged), "{loaded}");
    }
    assert_eq!(replicas.stored("items").len(), before + 2);
}

/// The tables of the first version on a server.
const FIRST_TABLES: &str = include_str!("../../../crates/service/src/store/migrations/server_tables.sql");

#[test]
fn records_of_the_first_version_are_migrated() {
    let Some(server) = Cluster::start() else { return };
    let place = Place::new();
    let store = server.database("service");
    let load = |file: &str| {
        let words = ["serve", "load", file, "--workspace", "demo", "--json"];
        place.sheetport(words).env("SHEETPORT_STORE", &store).exits(0).json()["files"][0]["outcome"].clone()
    };
    place.write("items.csv", "external_id,name,price\nL-1,Bolt,1.50\nL-2,Nut,0.10\n");
    assert_eq!(count(&load("items.csv"), "created"), 2);

    let old = FIRST_TABLES.split(";\n").find(|statement| statement.contains("CREATE TABLE records (")).unwrap();
    let copy = "INSERT INTO records SELECT workspace, kind, records.id, place - (list << 40), number, external_id, \
                created_at, updated_at, body, state FROM newer AS records JOIN lists ON list = lists.id";
    let undo = format!(
        "ALTER TABLE records RENAME TO newer; {old}; {copy}; DROP TABLE newer; DROP TABLE lists; \
         DELETE FROM _sqlx_migrations WHERE version = 2"
    );
    server.query("service", &undo);

    let unchanged = load("items.csv");
    assert_eq!((count(&unchanged, "created"), count(&unchanged, "unchanged")), (0, 2), "{unchanged}");
    place.write("items.csv", "external_id,name,price\nL-3,Screw,2\n");
    assert_eq!(count(&load("items.csv"), "created"), 1);
    let places =
        server.query("service", "SELECT string_agg((place - (list << 40))::TEXT, ' ' ORDER BY place) FROM records");
    assert_eq!(places, "1 2 3");
}

#[test]
fn databases_that_can_t_be_used_are_one_paragraph() {
    let place = Place::new();
    let token = ["serve", "token", "--workspace", "shop"];
    let of = |store: &str| place.sheetport(token).env("SHEETPORT_STORE", store);
    of("mysql://db.example/s")
        .exits(2)
        .says(&["the address of the database is not like postgres://USER@HOST/DATABASE"]);
    let flag = token.iter().chain(&["--store", "postgres://anna:s3cret@db.example/s"]);
    place.sheetport(flag).exits(2).says(&["--store has a password", "SHEETPORT_STORE"]);
    let both = token.iter().chain(&["--store", "postgres://db.example/s", "--data", "x"]);
    place.sheetport(both).exits(2).says(&["--store", "--data"]);
    let said = place.sheetport(token).secret("SHEETPORT_STORE", "postgres://anna:s3cret@127.0.0.1:1/s").exits(1);
    said.says(&["the database postgres://anna@127.0.0.1:1/s can't be used", "can't be reached"]);
    // A folder that a flag names precedes the environment.
    let folder = token.iter().chain(&["--data", "own"]);
    place.sheetport(folder).env("SHEETPORT_STORE", "postgres://db.example/s").exits(0);
    assert!(place.path("own/signing.key").exists());

    let Some(server) = Cluster::with(Access::Password) else { return };
    let (own, ledger) = (server.database("service"), server.database("ledger"));
    of(&own).exits(1).says(&["refuses the user sheetport or the password", ".pgpass"]);
    let known = |store: &str| of(store).secret("PGPASSWORD", "s3cret");
    known(&own).exits(0);
    let runs = place.sheetport(["runs"]).env("SHEETPORT_LEDGER", &ledger).secret("PGPASSWORD", "s3cret");
    runs.exits(0);
    known(&ledger).exits(1).says(&["has tables of another program", "a database of its own for the service"]);
    server.query("service", "UPDATE _sqlx_migrations SET checksum = 'x'");
    known(&own).exits(1).says(&["another version of Sheetport"]);
    server.query("service", "ALTER DATABASE service SET default_transaction_read_only = on");
    known(&own).exits(1).says(&["its transactions are read-only", "name the primary server"]);
}
