//! Real kinds of files on the page, from the drop to what arrives, in few clicks.

use std::path::Path;

use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::{click, has_no_errors, start, wait};

/// Files, and the number of records that arrive.
const FILES: [(&str, u64); 10] = [
    ("shopify-products.csv", 41),
    ("woocommerce-products.csv", 34),
    ("square-catalog.csv", 34),
    ("odoo-products.xlsx", 27),
    ("german-price-list.csv", 35),
    ("japanese-price-list.csv", 29),
    ("items.xlsx", 25),
    ("price-list.csv", 630),
    ("items.csv", 25),
    ("exported-items.csv", 43),
];

/// Clicks beside the drop.
const MOST_CLICKS: u32 = 8;

#[test]
fn ten_files_arrive_in_at_most_eight_clicks() {
    let Some(mut browser) = Browser::start() else { return };
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    for (name, expected) in FILES {
        let place = Place::new();
        let served = Served::start(&place);
        let (_process, address) = start(&place, &served, &[]);
        browser.visit(&address);
        wait(&mut browser, "document.querySelector('.drop button')");
        browser.choose("document.getElementById('file')", &samples.join(name));
        let is_settled =
            "document.querySelector('.bar .primary') && !/Checking/.test(document.querySelector('.bar').innerText)";
        let mut clicks = 0;
        let mut next = |browser: &mut Browser, selector: &str, text: &str| {
            click(browser, selector, text);
            clicks += 1;
            wait(browser, is_settled);
        };
        wait(&mut browser, "document.querySelector('.grid .cell')");
        wait(&mut browser, is_settled);
        while browser.eval("Boolean(document.querySelector('.notice.guess button'))") == true {
            next(&mut browser, ".notice.guess button", "");
        }
        while browser.eval("/^Fix/.test(document.querySelector('.bar .primary').textContent)") == true {
            next(&mut browser, ".bar .primary", "Fix");
        }
        // What can't be read stays behind: the others are sent.
        next(&mut browser, ".bar .primary", "Continue");
        wait(
            &mut browser,
            "/^Send/.test(document.querySelector('.bar .primary')?.textContent) && !document.querySelector('.bar .primary').disabled",
        );
        click(&mut browser, ".bar .primary", "Send");
        clicks += 1;
        wait(&mut browser, "document.querySelector('.command')");
        assert_eq!(served.total(), expected, "{name}");
        assert!(clicks <= MOST_CLICKS, "{name} took {clicks} clicks");
        has_no_errors(&browser);
    }
}
