//! Real kinds of files on the page, from the drop to what arrives, in few clicks.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::{click, confirm_guesses, has_no_errors, start, wait, write_into_cell};

/// A file, how it is fixed, and what must arrive.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    file: PathBuf,
    /// The kind of record as the page names it, to be chosen if the page guesses another one.
    kind: Option<String>,
    /// Fields that the page guesses wrongly or not at all, with the columns to choose.
    #[serde(default)]
    columns: Vec<(String, String)>,
    /// Causes of problems, and the button of the fix for all rows of each.
    #[serde(default)]
    fixes: Vec<(String, String)>,
    /// Causes of problems, and what is written into the first cell of each.
    #[serde(default)]
    edits: Vec<(String, String)>,
    /// The number of records that the service accepts.
    sent: u64,
    /// Items by their number, each with some of its fields.
    #[serde(default)]
    items: BTreeMap<String, BTreeMap<String, String>>,
}

fn sample(file: &str, sent: u64, prices: &[(&str, &str)]) -> Sample {
    let price = |price: &str| BTreeMap::from([("price".to_owned(), price.to_owned())]);
    let items = prices.iter().map(|(key, value)| ((*key).to_owned(), price(value))).collect();
    let (kind, columns, fixes, edits) = (None, Vec::new(), Vec::new(), Vec::new());
    Sample { file: Path::new(env!("CARGO_MANIFEST_DIR")).join(file), kind, columns, fixes, edits, sent, items }
}

impl Sample {
    fn fixed(mut self, cause: &str, fix: &str) -> Sample {
        self.fixes.push((cause.to_owned(), fix.to_owned()));
        self
    }
}

/// Spreadsheets of ours with the layouts of real ones: exports of shops, price lists of suppliers and own lists, in five languages.
fn files() -> [Sample; 10] {
    [
        sample("samples/shopify-products.csv", 41, &[("MCS-MO-S", "119.00")]),
        sample("samples/woocommerce-products.csv", 34, &[("TEA-ASM-100", "8.90")]),
        sample("samples/square-catalog.csv", 34, &[("CF-ES1", "2.40"), ("CF-ES2", "2.90")]),
        sample("samples/odoo-products.xlsx", 27, &[("DESK-120", "349")]),
        sample("samples/german-price-list.csv", 32, &[("0010043", "8.95"), ("0010056", "17.50")]),
        sample("samples/japanese-price-list.csv", 26, &[("MB-1001", "12000"), ("MB-1030", "100")]),
        sample("samples/items.xlsx", 25, &[("000101", "12.9"), ("000110", "4.2")]),
        sample("samples/price-list.csv", 630, &[]),
        sample(
            "tests/it/cli/review/spreadsheets/fournisseur.xls",
            9,
            &[("004210", "0.12"), ("004212", "0.09"), ("004213", "0.05"), ("004218", "12.5")],
        )
        .fixed("Not a number", "Keep only the number in 2 cells"),
        sample(
            "tests/it/cli/review/spreadsheets/tienda.ods",
            7,
            &[("T-100", "89.9"), ("T-105", "17.95"), ("T-108", "13.6")],
        )
        .fixed("same number twice", "Keep the last, leave row"),
    ]
}

/// Clicks beside the drop.
const MOST_CLICKS: u32 = 8;

#[test]
fn ten_files_arrive_in_at_most_eight_clicks() {
    let Some(mut browser) = Browser::start() else { return };
    for sample in files() {
        bring(&mut browser, &sample);
    }
}

/// Files that can't be in the repository.
#[derive(Deserialize)]
struct Folder {
    file: Vec<Sample>,
}

#[test]
#[ignore = "needs a list of files of your own in SHEETPORT_REVIEW_FILES"]
fn files_of_a_folder_arrive_in_at_most_eight_clicks() {
    let list = std::env::var("SHEETPORT_REVIEW_FILES").expect("SHEETPORT_REVIEW_FILES names a TOML file");
    let Folder { file: mut samples } = toml::from_str(&std::fs::read_to_string(&list).unwrap()).unwrap();
    let mut browser = Browser::start().expect("Chromium");
    for sample in &mut samples {
        sample.file = Path::new(&list).with_file_name(&sample.file);
        let clicks = bring(&mut browser, sample);
        println!("{}: {} records in {clicks} clicks", sample.file.display(), sample.sent);
    }
}

/// Brings a file from the drop to the service. Returns the number of clicks beside the edits.
#[track_caller]
fn bring(browser: &mut Browser, sample: &Sample) -> u32 {
    let (place, name) = (Place::new(), sample.file.display());
    let served = Served::start(&place);
    let (_process, address) = start(&place, &served, &[]);
    browser.visit(&address);
    wait(browser, "document.querySelector('.drop button')");
    browser.choose("document.getElementById('file')", &sample.file);
    let is_settled =
        "document.querySelector('.bar .primary') && !/Checking/.test(document.querySelector('.bar').innerText)";
    let clicks = Cell::new(0);
    let next = |browser: &mut Browser, selector: &str, text: &str| {
        click(browser, selector, text);
        clicks.set(clicks.get() + 1);
        wait(browser, is_settled);
    };
    wait(browser, "document.querySelector('.grid .cell')");
    wait(browser, is_settled);
    if let Some(kind) = &sample.kind
        && !browser.text("document.querySelector('.pills').innerText").contains(kind.as_str())
    {
        next(browser, ".pills button", "Contains");
        next(browser, ".menu button", kind);
    }
    for (field, column) in &sample.columns {
        let chip = format!(
            "[...document.querySelectorAll('.grid .title')].find((it) => it.innerText.split('\\n')[0] === {column:?})"
        );
        wait(browser, &chip);
        browser.eval(&format!("{chip}.querySelector('.chip').click()"));
        clicks.set(clicks.get() + 1);
        next(browser, ".menu button", field);
    }
    clicks.set(clicks.get() + confirm_guesses(browser));
    wait(browser, is_settled);
    if browser.eval("/^Fix/.test(document.querySelector('.bar .primary').textContent)") == true {
        next(browser, ".bar .primary", "Fix");
    }
    for (cause, fix) in &sample.fixes {
        next(browser, ".causes button", cause);
        next(browser, ".fixes button", fix);
    }
    for (cause, text) in &sample.edits {
        click(browser, ".causes button", cause);
        wait(browser, "document.querySelector('.grid .cell.wrong')");
        write_into_cell(browser, text);
        wait(browser, is_settled);
    }
    // What can't be read stays behind: the others are sent.
    next(browser, ".bar .primary", "Continue");
    wait(
        browser,
        "/^Send/.test(document.querySelector('.bar .primary')?.textContent) && !document.querySelector('.bar .primary').disabled",
    );
    click(browser, ".bar .primary", "Send");
    let clicks = clicks.get() + 1;
    wait(browser, "document.querySelector('.command')");
    let runs = served.sheetport(&place, ["runs", "--json"]).exits(0).json();
    assert_eq!(runs["runs"][0]["sent"], sample.sent, "{name}: {runs}");
    // What counts is what the service has.
    if !sample.items.is_empty() {
        let stored = all_stored(&served);
        assert_eq!(stored.len() as u64, sample.sent, "{name}");
        for (key, fields) in &sample.items {
            let item = stored.iter().find(|item| item["external_id"] == *key);
            let item = item.unwrap_or_else(|| panic!("{name}: {key} is missing"));
            for (field, expected) in fields {
                assert!(is_same(&item[field], expected), "{name}: {key} has no {field} {expected}: {item}");
            }
        }
    }
    assert!(clicks <= MOST_CLICKS, "{name} took {clicks} clicks");
    has_no_errors(browser);
    clicks
}

/// Whether a value is this text, or the same number: 12.9 and 12.90 are the same price.
fn is_same(value: &Value, expected: &str) -> bool {
    match value.as_str() {
        Some(text) => text == expected,
        None => value.as_f64().is_some_and(|number| expected.parse() == Ok(number)),
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
