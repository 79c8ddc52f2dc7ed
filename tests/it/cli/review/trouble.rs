//! The page while something else fails or changes: a ledger that hangs, a service that goes away, a second tab.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::browser::Browser;
use super::super::items;
use super::super::process::{Place, until};
use super::super::service::Served;
use super::page::ReviewPage;
use super::{click, has_no_errors, start, stored, wait, write_into_cell};
use crate::postgres::Cluster;

const POLL: Duration = Duration::from_millis(5);
const GOOD_ROWS: &str = "A-3,Pin,1.50\nA-4,Rivet,2.50\nA-5,Screw,3.50\nA-6,Hook,4.50\n";

/// A socket in front of that of PostgreSQL, which can stop passing anything on.
struct Relay {
    folder: TempDir,
    state: Arc<RelayState>,
}

#[derive(Default)]
struct RelayState {
    is_frozen: AtomicBool,
    /// Messages that wait.
    held: AtomicUsize,
}

impl Relay {
    /// The name of the socket, as PostgreSQL has it.
    const NAME: &str = ".s.PGSQL.5432";

    fn start(server: &Path) -> Relay {
        let (folder, state) = (tempfile::tempdir().unwrap(), Arc::new(RelayState::default()));
        let listener = UnixListener::bind(folder.path().join(Relay::NAME)).unwrap();
        let (server, of_thread) = (server.join(Relay::NAME), Arc::clone(&state));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = UnixStream::connect(&server) else { return };
                let pairs = [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)];
                for (from, to) in pairs {
                    let state = Arc::clone(&of_thread);
                    thread::spawn(move || copy(from, to, &state));
                }
            }
        });
        Relay { folder, state }
    }

    fn freeze(&self, is_frozen: bool) {
        self.state.is_frozen.store(is_frozen, Ordering::SeqCst);
    }
}

fn copy(mut from: UnixStream, mut to: UnixStream, state: &RelayState) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if state.is_frozen.load(Ordering::SeqCst) {
            state.held.fetch_add(1, Ordering::SeqCst);
            while state.is_frozen.load(Ordering::SeqCst) {
                thread::sleep(POLL);
            }
            state.held.fetch_sub(1, Ordering::SeqCst);
        }
        if to.write_all(&bytes[..read]).is_err() {
            return;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

fn whole(mut answer: TcpStream) -> String {
    let mut text = String::new();
    answer.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_ledger_that_hangs_does_not_hold_up_other_requests() {
    let Some(server) = Cluster::start() else { return };
    server.database("ledger");
    let relay = Relay::start(server.folder());
    let place = Place::new();
    place.write("items.csv", format!("SKU,Name,Price\nA-1,Bolt,one\nA-2,Nut,two\n{}", GOOD_ROWS));
    let socket = relay.folder.path().to_str().unwrap().replace('/', "%2F");
    let ledger = format!("postgres:///ledger?host={socket}&user=sheetport");
    let command = place.sheetport(["review", "--no-open", "--json", "items.csv"]).env("SHEETPORT_LEDGER", &ledger);
    let page = ReviewPage::start(command);
    let edit = |row: u64| json!({"edits": [{"row": row, "column": 2, "text": "1.50"}]});
    page.post("/check", &json!({"full": true}));
    page.post("/edits", &edit(2));

    relay.freeze(true);
    let waiting = page.begin_post("/edits", &edit(3));
    until("the edit waits for the ledger", || (relay.state.held.load(Ordering::SeqCst) > 0).then_some(()));
    // None of these would return.
    let review = page.review();
    assert_eq!((&review["edits"]["cells"], &review["check"]["to_send"]), (&1.into(), &5.into()), "{review}");
    let cause = &review["check"]["causes"][0]["number"];
    assert_eq!(page.get(&format!("/causes/{cause}/rows?from=0&count=10"))["rows"].as_array().unwrap().len(), 1);
    assert_eq!(page.get("/rows?from=0&count=10")["rows"].as_array().unwrap().len(), 7);
    page.post("/template/change", &json!({"kind": "confirm-all"}));
    waiting.set_nonblocking(true).unwrap();
    let unanswered = waiting.peek(&mut [0]);
    assert!(unanswered.is_err(), "the edit is not stored yet: {unanswered:?}");
    waiting.set_nonblocking(false).unwrap();

    relay.freeze(false);
    let answer = whole(waiting);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(page.review()["edits"]["cells"], 2);
}

#[test]
fn an_upload_goes_on_when_the_service_is_back() {
    let place = Place::new();
    let served = Served::start_with(&place, 0, &["--limit", "20/s"]);
    let port = served.port();
    place.write("items.csv", items(100));
    let page = ReviewPage::open(&place, &served, "items.csv");
    page.post("/check", &json!({"full": true}));
    page.post("/send", &json!({}));
    let status = || page.review()["status"].clone();
    until("the first records", || (status()["sent"].as_u64() > Some(0)).then_some(()));
    drop(served);
    // Others are tried again, and nothing is lost or given up.
    let waits = |status: &Value| status["retrying"].as_u64() > Some(0) || status["pause"].as_u64() > Some(0);
    let seen = until("the service is missed", || Some(status()).filter(|it| waits(it) || it["phase"] == "ended"));
    assert_eq!(seen["phase"], "sending", "{seen}");
    let served = Served::start_on(&place, port);
    let ended = until("the end", || Some(status()).filter(|it| it["phase"] == "ended"));
    assert_eq!((&ended["counts"]["sent"], &ended["counts"]["failed"]), (&100.into(), &0.into()), "{ended}");
    assert_eq!(served.total(), 100);
}

#[test]
fn two_tabs_show_the_same() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "SKU,Name,Price\nA-1,Bolt,one\nA-2,Nut,2.50\nA-3,Pin,3.50\n");
    let (_process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    click(&mut browser, ".bar .primary", "Fix 1 row");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')");
    let page = browser.text("location.href");
    let first = browser.open_tab();
    browser.visit(&page);
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')");
    // What is written in one tab is seen in the other.
    write_into_cell(&mut browser, "1.50");
    wait(&mut browser, "document.querySelector('.empty')");
    let second = browser.turn_to(first);
    wait(&mut browser, "document.querySelector('.empty')");
    click(&mut browser, ".buttons button", "Undo");
    wait(&mut browser, "document.querySelector('.causes button')");
    let first = browser.turn_to(second);
    wait(&mut browser, "document.querySelector('.causes button')");
    click(&mut browser, ".buttons button", "Redo");
    wait(&mut browser, "document.querySelector('.empty')");
    // Both send: only once.
    click(&mut browser, ".bar .primary", "Continue with 3");
    click(&mut browser, ".bar .primary", "Send 3 now");
    wait(&mut browser, "/Everything is sent/.test(document.querySelector('main').innerText)");
    browser.turn_to(first);
    wait(&mut browser, "document.querySelector('.empty')");
    click(&mut browser, ".bar .primary", "Continue with 3");
    wait(&mut browser, "/Everything is sent/.test(document.querySelector('main').innerText)");
    let mut prices: Vec<String> = stored(&served).iter().map(|item| item["price"].to_string()).collect();
    prices.sort();
    assert_eq!(prices, ["1.50", "2.50", "3.50"]);
    has_no_errors(&browser);
}

#[test]
fn another_row_of_names_is_chosen() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "SKU,Name,Price\nArt,Text,Amount\nA-1,Bolt,1.50\nA-2,Nut,2.50\n");
    let page = ReviewPage::open(&place, &served, "items.csv");
    let review = page.post("/reading", &json!({"header_row": 2}));
    let names: Vec<&Value> = review["template"]["columns"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["Art", "Text", "Amount"]);
}

#[test]
fn a_page_that_was_killed_goes_on_with_what_it_was_sending() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start_with(&place, 0, &["--limit", "20/s"]);
    place.write("items.csv", items(60));
    let (process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    click(&mut browser, ".bar .primary", "Continue");
    click(&mut browser, ".bar .primary", "Send 60 now");
    wait(&mut browser, "Number(document.querySelector('.sum strong')?.textContent) > 5");
    process.kill();
    // The open page says so, and does not only stand still.
    wait(&mut browser, "/does not answer/.test(document.querySelector('.toasts').innerText)");
    let before = served.total();
    assert!(before < 60, "{before}");

    let (_process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    click(&mut browser, "#steps button", "File");
    click(&mut browser, ".history button", "items.csv");
    click(&mut browser, ".bar .primary", "Continue with");
    wait(&mut browser, "/Everything is sent/.test(document.querySelector('main').innerText)");
    assert_eq!(served.total(), 60);
    let runs = served.sheetport(&place, ["runs", "--json"]).exits(0).json();
    assert_eq!((runs["runs"].as_array().unwrap().len(), &runs["runs"][0]["sent"]), (1, &60.into()), "{runs}");
}
