//! The page of `review`, in a real browser against a real service.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use super::super::browser::Browser;
use super::super::items;
use super::super::process::{Place, until};
use super::super::service::Served;
use super::{click, confirm_guesses, has_no_errors, start, stored, wait, write_into_cell};

const PRICES: &str = "SKU,Name,Price,Status\n\
    A-1,Bolt,1.50,active\n\
    A-2,Nut,2.50 per piece,active\n\
    A-2,Washer,3.50,active\n\
    ,Pin <M4>,4.50,active\n\
    A-5,\"<img src=x onerror=alert(1)>\",5.50 net,active\n";

fn counts(browser: &mut Browser) -> String {
    browser.text("document.querySelector('.numbers').textContent")
}

/// Sends a request, and returns the response.
fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn host_and_token(address: &str) -> (&str, &str) {
    address.strip_prefix("http://").unwrap().split_once("/#").unwrap()
}

#[test]
fn a_dropped_file_is_matched_fixed_and_sent() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    let file = place.write("Price list.csv", PRICES);
    let (process, address) = start(&place, &served, &[]);
    browser.visit(&address);
    wait(&mut browser, "document.querySelector('.drop button')");
    browser.choose("document.getElementById('file')", &file);
    wait(&mut browser, "document.querySelector('.grid .becomes') || document.querySelector('.grid .wrong')");
    let shown = browser.text("document.querySelector('.grid .rows').innerText");
    assert!(shown.contains("<img src=x onerror=alert(1)>"), "{shown}");
    assert_eq!(browser.eval("document.querySelectorAll('.grid img').length"), 0);
    // With so many wrong rows, nothing is certain before a person has said so.
    assert_eq!(browser.eval("document.querySelector('.bar .primary').disabled"), true);
    confirm_guesses(&mut browser);
    click(&mut browser, ".bar .primary", "Fix");

    // Three causes: a price with words in two rows, a number twice, and a missing one.
    wait(&mut browser, "document.querySelectorAll('.causes li:not(.out) button').length == 3");
    click(&mut browser, ".causes button", "Not a number");
    click(&mut browser, ".fixes button", "Keep only the number in 2 cells");
    wait(&mut browser, "document.querySelectorAll('.causes li:not(.out) button').length == 2");
    click(&mut browser, ".causes button", "same number twice");
    click(&mut browser, ".fixes button", "Keep the last, leave row 3 out");
    wait(&mut browser, "document.querySelectorAll('.causes li:not(.out) button').length == 1");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')");
    write_into_cell(&mut browser, "A-4");
    wait(&mut browser, "document.querySelector('.empty')");
    let counts = counts(&mut browser);
    assert!(counts.starts_with("5 rows = 4 ready + 0 to fix + 1 left out"), "{counts}");
    click(&mut browser, ".buttons button", "Undo");
    wait(&mut browser, "document.querySelectorAll('.causes li:not(.out) button').length == 1");
    click(&mut browser, ".buttons button", "Redo");
    wait(&mut browser, "document.querySelector('.empty')");

    // The command line sees the same.
    let check = place.sheetport(["check", "Price list.csv", "-t", "items", "--reviewed", "--json"]).exits(0).json();
    assert_eq!((&check["pending"], &check["skipped"]), (&4.into(), &1.into()), "{check}");
    place.sheetport(["check", "Price list.csv", "-t", "items"]).exits(3);

    click(&mut browser, ".bar .primary", "Continue with 4");
    click(&mut browser, ".cards button", "Try it first");
    wait(&mut browser, "document.querySelector('.notice.good')");
    assert_eq!(served.total(), 0, "a rehearsal sends nothing");
    click(&mut browser, ".bar .primary", "Send 4 now");
    wait(&mut browser, "document.querySelector('.command')");
    let command = browser.text("document.querySelector('.command code').textContent");
    assert!(command.contains("sheetport upload 'Price list.csv' -t ") && command.contains(" --reviewed"), "{command}");
    let mut arrived: Vec<(String, String)> =
        stored(&served).iter().map(|item| (item["external_id"].to_string(), item["price"].to_string())).collect();
    arrived.sort();
    let expected = [("\"A-1\"", "1.50"), ("\"A-2\"", "3.50"), ("\"A-4\"", "4.50"), ("\"A-5\"", "5.50")];
    assert_eq!(arrived, expected.map(|(key, price)| (key.to_owned(), price.to_owned())));
    has_no_errors(&browser);
    process.signal("INT");
    process.wait().exits(0);
}

#[test]
fn edits_outlive_a_killed_process_and_refused_rows_come_back() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    let long = "x".repeat(300);
    place.write("items.csv", format!("SKU,Name,Price\nB-1,Bolt,1.50\n{long},Nut,2.50\nB-3,Pin,free\n"));
    let (process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    click(&mut browser, ".bar .primary", "Fix 1 row");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')");
    write_into_cell(&mut browser, "3.50");
    wait(&mut browser, "document.querySelector('.empty')");
    process.kill();

    let (_process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    click(&mut browser, ".bar .primary", "Continue");
    click(&mut browser, ".bar .primary", "Send 3 now");
    wait(&mut browser, "document.querySelector('[data-there]')");
    click(&mut browser, "#steps button", "Problems");
    wait(&mut browser, "document.querySelector('.causes button') && document.querySelector('.grid .cell')");
    assert!(browser.text("document.querySelector('.causes').innerText").contains("The service has refused it"));
    write_into_cell(&mut browser, "B-2");
    wait(&mut browser, "document.querySelector('.empty')");
    click(&mut browser, ".bar .primary", "Continue");
    click(&mut browser, ".bar .primary", "Send what has changed");
    wait(&mut browser, "document.querySelector('.command')");
    let mut keys: Vec<String> = stored(&served).iter().map(|item| item["external_id"].to_string()).collect();
    keys.sort();
    assert_eq!(keys, ["\"B-1\"", "\"B-2\"", "\"B-3\""]);
    let done = browser.text("document.querySelector('.sum').innerText");
    assert!(done.contains("1\naccepted\n2\nunchanged"), "only the fixed row was sent again: {done}");
    has_no_errors(&browser);
}

#[test]
fn a_paused_upload_is_continued_in_another_tab() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    // The twentieth call holds up the upload for longer than any test, so that it cannot end before it is paused.
    place.write(
        "plan.toml",
        "[[fault]]\nmethod = [\"POST\", \"PUT\"]\npath = \"/v1/*\"\ncall = \"20..20\"\nanswer = { status = 429, retry_after = 600 }\n",
    );
    let served = Served::start_with(&place, 0, &["--plan", "plan.toml"]);
    place.write("items.csv", items(60));
    let (_process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    click(&mut browser, ".bar .primary", "Continue");
    click(&mut browser, ".bar .primary", "Send 60 now");
    wait(&mut browser, "/asks to wait/.test(document.querySelector('main').innerText)");
    click(&mut browser, ".bar button", "Pause");
    wait(&mut browser, "/Continue with/.test(document.querySelector('.bar .primary')?.textContent ?? '')");
    let before = served.total();
    assert!(before < 60, "{before}");
    let page = browser.text("location.href");
    browser.visit(&page);
    click(&mut browser, ".bar .primary", "Continue with");
    wait(&mut browser, "/Everything is sent/.test(document.querySelector('main').innerText)");
    assert_eq!(served.total(), 60);
    has_no_errors(&browser);
}

#[test]
fn only_the_browser_with_the_token_uses_the_page() {
    let place = Place::new();
    let served = Served::start(&place);
    let (_process, address) = start(&place, &served, &[]);
    let (host, token) = host_and_token(&address);
    let get = |path: &str, host_header: &str, more: &str| {
        ask(host, &format!("GET {path} HTTP/1.1\r\nHost: {host_header}\r\nConnection: close\r\n{more}\r\n"))
    };
    let post = |path: &str, more: &str, body: &str| {
        let len = body.len();
        ask(
            host,
            &format!(
                "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {len}\r\n{more}\r\n{body}"
            ),
        )
    };
    let page = get("/", host, "");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    for line in ["default-src 'none'; script-src 'self'; style-src 'self'", "x-content-type-options: nosniff"] {
        assert!(page.contains(line), "{page}");
    }
    assert!(!page.contains("<script>") && !page.contains("style="), "nothing is inline");
    assert!(get("/", "evil.example", "").starts_with("HTTP/1.1 421"));
    assert!(get("/", host, "Sec-Fetch-Site: cross-site\r\n").starts_with("HTTP/1.1 403"));
    assert!(get("/api/start", host, "").starts_with("HTTP/1.1 401"));

    let json = "Content-Type: application/json\r\n";
    let own = format!("{json}Origin: http://{host}\r\n");
    let body = format!("{{\"token\":\"{token}\"}}");
    assert!(post("/api/session", json, &body).starts_with("HTTP/1.1 403"), "no origin");
    let evil = format!("{json}Origin: http://evil.example\r\n");
    assert!(post("/api/session", &evil, &body).starts_with("HTTP/1.1 403"));
    assert!(post("/api/session", &own, "{\"token\":\"0\"}").starts_with("HTTP/1.1 401"));
    let given = post("/api/session", &own, &body);
    assert!(given.starts_with("HTTP/1.1 200"), "{given}");
    let cookie = given.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(post("/api/session", &own, &body).starts_with("HTTP/1.1 401"), "the token works once");
    let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().unwrap());
    let start = get("/api/start", host, &cookie);
    assert!(start.starts_with("HTTP/1.1 200"), "{start}");
    let (access, refresh) = served.tokens();
    assert!(!start.contains(&access) && !start.contains(&refresh), "the tokens of the service stay in the program");
    let drop = post("/api/files?name=x.csv", &format!("{cookie}Origin: http://evil.example\r\n"), "SKU\n1\n");
    assert!(drop.starts_with("HTTP/1.1 403"), "{drop}");
    let named =
        post("/api/files?name=..%2F..%2Fx.csv", &format!("{cookie}Origin: http://{host}\r\n"), "SKU,Name\n1,Bolt\n");
    assert!(named.contains("{\"review\":1}"), "{named}");
    assert!(!Path::new("/x.csv").exists());
    let review = get("/api/reviews/1", host, &cookie);
    assert!(review.contains("\"name\":\"x.csv\""), "{review}");
}

#[test]
fn the_page_speaks_the_language_of_the_browser() {
    let place = Place::new();
    let served = Served::start(&place);
    let (_process, address) = start(&place, &served, &[]);
    let (host, _) = host_and_token(&address);
    let words = |accepts: &str| {
        let request = format!("GET /words.json HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{accepts}\r\n");
        ask(host, &request)
    };
    assert!(words("Accept-Language: de-DE,de;q=0.9,en;q=0.5\r\n").contains("Legen Sie Ihre Tabelle hier ab"));
    assert!(words("").contains("Drop your spreadsheet here"));
}

#[test]
fn the_demo_ends_with_the_page_of_its_upload() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let process = place.sheetport(["demo", "--review", "--no-open"]).start();
    let address = until("the address", || Some(process.line()).filter(|line| line.starts_with("http://")));
    browser.visit(address.trim());
    click(&mut browser, ".bar .primary", "Fix");
    wait(&mut browser, "document.querySelector('.causes')");
    let causes = browser.text("document.querySelector('.causes').innerText");
    assert!(causes.contains("Refused by the service") && causes.contains("Not sent until fixed"), "{causes}");
    has_no_errors(&browser);
    process.signal("INT");
    process.wait().exits(0);
}
