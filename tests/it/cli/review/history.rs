//! Earlier uploads on the page: what became of them, what nobody knows, and what is left to send.

use super::super::browser::Browser;
use super::super::items;
use super::super::process::{Place, Sheetport, until};
use super::super::service::Served;
use super::{click, confirm_guesses, has_no_errors, start, stored, wait, write_into_cell};
use crate::faults::server::{Reply, Server};

const INVOICES: &str = "record = \"invoice\"\n[fields.cid]\ncolumn = \"Customer\"\n[fields.currency]\nvalue = \"EUR\"\n\
    [lines.id]\ncolumn = \"Item\"\n[lines.amount]\ncolumn = \"Amount\"\n[group]\nby = [\"Invoice\"]\n";

/// Returns the customers of the requests that the service has got, each with their number.
fn customers(server: &Server) -> Vec<(String, usize)> {
    let customer = |body: &str| {
        let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
        body["cid"].as_str().map(str::to_owned)
    };
    let mut all: Vec<(String, usize)> =
        server.bodies().iter().filter_map(|(body, count)| Some((customer(body)?, *count))).collect();
    all.sort();
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn records_that_nobody_knows_about_are_decided_on_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let rows = (1..=6).map(|number| format!("R{number},c-{number},i-1,{number}\n"));
    place.write(
        "invoices.csv",
        std::iter::once("Invoice,Customer,Item,Amount\n".to_owned()).chain(rows).collect::<String>(),
    );
    place.write("invoices.toml", INVOICES);
    // Three get no answer the first time.
    let server = Server::start(|seen| {
        let is_lost = ["c-2", "c-4", "c-5"].iter().any(|customer| seen.body.contains(customer));
        if is_lost && seen.repeat == 0 { Reply::Reset } else { Reply::Accept }
    })
    .await;
    let sheetport = |args: &[&str]| -> Sheetport {
        let command = place.sheetport(args).env("SHEETPORT_BASE_URL", &server.address).env("USER", "anna");
        command.secret("SHEETPORT_ACCESS_TOKEN", "access-1").without("LOGNAME").without("SUDO_USER")
    };
    tokio::task::block_in_place(|| {
        let process = sheetport(&["review", "--no-open", "--json", "invoices.csv"]).start();
        let line: serde_json::Value = serde_json::from_str(&process.line()).unwrap();
        browser.visit(line["listening"].as_str().unwrap());
        confirm_guesses(&mut browser);
        click(&mut browser, ".bar .primary", "Continue");
        click(&mut browser, ".bar .primary", "Send 6 now");
        wait(&mut browser, "/Row 3.*cid: c-2.*Row 5.*Row 6/s.test(document.querySelector('.unknown')?.innerText)");
        // Nothing is sent again before a person has looked.
        assert_eq!(browser.eval("/Send .* again/.test(document.querySelector('main').innerText)"), false);
        click(&mut browser, ".unknown li:first-child button", "It is there");
        wait(&mut browser, "document.querySelectorAll('.unknown li').length == 2");
        // Another tab, or tomorrow: the history knows the same.
        let page = browser.text("location.href.split('#')[0]");
        browser.visit(&format!("{page}#/runs/1"));
        wait(&mut browser, "document.querySelectorAll('.unknown li').length == 2");
        click(&mut browser, ".card button", "All are missing");
        click(&mut browser, ".card button", "Send 2 again as they are");
        wait(&mut browser, "/Everything is sent/.test(document.querySelector('main').innerText)");
        let expected = [1, 1, 1, 2, 2, 1].iter().zip(1..).map(|(count, number)| (format!("c-{number}"), *count));
        assert_eq!(customers(&server), expected.collect::<Vec<_>>());
        let runs = sheetport(&["runs", "--json"]).exits(0).json();
        let counts = |run: usize| (runs["runs"][run]["sent"].as_u64(), runs["runs"][run]["failed"].as_u64());
        assert_eq!((counts(0), counts(1)), ((Some(2), Some(0)), (Some(4), Some(2))), "{runs}");
        has_no_errors(&browser);
    });
}

#[test]
fn rows_of_an_earlier_upload_are_fixed_from_the_list() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", "SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,free\n");
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).exits(3);
    let (_process, address) = start(&place, &served, &[]);
    browser.visit(&address);
    wait(&mut browser, "document.querySelector('.history tbody tr')");
    let listed = browser.text("document.querySelector('.history tbody').innerText");
    assert!(listed.contains("prices.csv") && listed.contains("1 accepted · 1 to fix"), "{listed}");
    click(&mut browser, ".history button", "prices.csv");
    click(&mut browser, ".card .primary", "Fix the rest (1)");
    // One row alone would not tell that its third column has prices.
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')");
    write_into_cell(&mut browser, "2.50");
    wait(&mut browser, "document.querySelector('.empty')");
    click(&mut browser, ".bar .primary", "Continue");
    click(&mut browser, ".bar .primary", "Send");
    wait(&mut browser, "/Everything is sent/.test(document.querySelector('main').innerText)");
    let mut prices: Vec<String> = stored(&served).iter().map(|item| item["price"].to_string()).collect();
    prices.sort();
    assert_eq!(prices, ["1.50", "2.50"]);
    // The list is there again, with both runs.
    click(&mut browser, ".bar button", "Another file");
    wait(&mut browser, "document.querySelectorAll('.history tbody tr').length == 2");
    has_no_errors(&browser);
}

#[test]
fn a_stopped_upload_is_continued_from_the_list() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(60));
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--rate", "10/s"]).start();
    until("some have arrived", || (served.total() > 5).then_some(()));
    upload.signal("INT");
    upload.wait().exits(130);
    let before = served.total();
    assert!(before < 60, "{before}");
    let (_process, address) = start(&place, &served, &[]);
    browser.visit(&address);
    click(&mut browser, ".history button", "items.csv");
    click(&mut browser, ".bar .primary", "Continue with");
    wait(&mut browser, "document.querySelector('progress')");
    // The page can be left and opened again meanwhile.
    let page = browser.text("location.href");
    browser.visit(&page);
    wait(&mut browser, "/Everything is sent/.test(document.querySelector('main').innerText)");
    assert_eq!(served.total(), 60);
    has_no_errors(&browser);
}
