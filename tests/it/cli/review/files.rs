//! Real kinds of files on the page, from the drop to what arrives, in few clicks.

use std::path::Path;

use serde_json::Value;

use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::{click, has_no_errors, start, wait};

/// A file, how it is fixed, and what must arrive.
struct Sample {
    file: &'static str,
    /// Causes of problems, and the button of the fix for all rows of each.
    fixes: &'static [(&'static str, &'static str)],
    /// The number of items.
    items: usize,
    /// Some items with their prices.
    prices: &'static [(&'static str, &'static str)],
}

const fn sample(file: &'static str, items: usize, prices: &'static [(&'static str, &'static str)]) -> Sample {
    Sample { file, fixes: &[], items, prices }
}

/// Spreadsheets of ours with the layouts of real ones: exports of shops, price lists of suppliers and own lists, in five languages.
const FILES: [Sample; 10] = [
    sample("samples/shopify-products.csv", 41, &[("MCS-MO-S", "119.00")]),
    sample("samples/woocommerce-products.csv", 34, &[("TEA-ASM-100", "8.90")]),
    sample("samples/square-catalog.csv", 34, &[("CF-ES1", "2.40"), ("CF-ES2", "2.90")]),
    sample("samples/odoo-products.xlsx", 27, &[("DESK-120", "349")]),
    sample("samples/german-price-list.csv", 35, &[("0010043", "8.95"), ("0010056", "17.50")]),
    sample("samples/japanese-price-list.csv", 29, &[("MB-1001", "13200"), ("MB-1030", "110")]),
    sample("samples/items.xlsx", 25, &[("000101", "12.9"), ("000110", "4.2")]),
    sample("samples/price-list.csv", 630, &[]),
    Sample {
        file: "tests/it/cli/review/spreadsheets/fournisseur.xls",
        fixes: &[("Not a number", "Keep only the number in 2 cells")],
        items: 9,
        prices: &[("004210", "0.12"), ("004212", "0.09"), ("004213", "0.05"), ("004218", "12.5")],
    },
    Sample {
        file: "tests/it/cli/review/spreadsheets/tienda.ods",
        fixes: &[("same number twice", "Keep the last of each, leave 1 out")],
        items: 7,
        prices: &[("T-100", "89.9"), ("T-105", "17.95"), ("T-108", "13.6")],
    },
];

/// Clicks beside the drop.
const MOST_CLICKS: u32 = 8;

#[test]
fn ten_files_arrive_in_at_most_eight_clicks() {
    let Some(mut browser) = Browser::start() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for Sample { file: name, fixes, items, prices } in FILES {
        let place = Place::new();
        let served = Served::start(&place);
        let (_process, address) = start(&place, &served, &[]);
        browser.visit(&address);
        wait(&mut browser, "document.querySelector('.drop button')");
        browser.choose("document.getElementById('file')", &root.join(name));
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
        for (cause, fix) in fixes {
            next(&mut browser, ".causes button", cause);
            next(&mut browser, ".fixes button", fix);
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
        // What counts is what the service has.
        let stored = all_stored(&served);
        assert_eq!(stored.len(), items, "{name}");
        for (key, price) in prices {
            let item = stored.iter().find(|item| item["external_id"] == *key);
            let item = item.unwrap_or_else(|| panic!("{name}: {key} is missing"));
            // 12.9 and 12.90 are the same price.
            assert_eq!(item["price"].as_f64(), price.parse().ok(), "{name}: {item}");
        }
        assert!(clicks <= MOST_CLICKS, "{name} took {clicks} clicks");
        has_no_errors(&browser);
    }
}

/// Returns the items that have arrived, from all pages.
fn all_stored(served: &Served) -> Vec<Value> {
    let mut all = Vec::new();
    loop {
        let page = 1 + all.len() / 100;
        let list = served.get(&format!("/v1/public/items?page={page}&limit=100"))["data"].as_array().unwrap().clone();
        let is_last = list.len() < 100;
        all.extend(list);
        if is_last {
            return all;
        }
    }
}
