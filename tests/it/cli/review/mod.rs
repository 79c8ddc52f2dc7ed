//! The page of `review`, in a real browser against a real service, and its requests without one.

mod accessible;
mod before;
mod changes;
mod clicks;
mod counts;
mod edits;
mod files;
mod footnotes;
mod habits;
mod history;
mod in_browser;
mod lists;
mod long_work;
mod nightly;
mod nothing_lost;
#[cfg(unix)]
mod opening;
pub(super) mod page;
mod people;
mod questions;
mod refused;
mod remember;
mod remember_kinds;
mod trouble;
mod undo;
mod words;

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::browser::Browser;
use super::process::{Place, Running};
use super::service::Served;

/// Time for the page, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(20);

/// Starts the page. Returns its process, and its address with the token.
fn start(place: &Place, served: &Served, words: &[&str]) -> (Running, String) {
    let first = ["review", "--no-open", "--json"];
    let process = served.sheetport(place, first.iter().chain(words).copied()).start();
    let line: Value = serde_json::from_str(&process.line()).unwrap();
    let address = line["listening"].as_str().unwrap().to_owned();
    (process, address)
}

/// Waits until a JavaScript expression is true.
#[track_caller]
fn wait(browser: &mut Browser, expression: &str) {
    let asked = format!("Boolean({expression})");
    wait_for(browser, expression, &asked);
}

/// Evaluates a JavaScript expression until it is true. Otherwise says what the page shows.
#[track_caller]
fn wait_for(browser: &mut Browser, what: &str, expression: &str) {
    let end = Instant::now() + DEADLINE;
    while browser.eval(expression) != true {
        if Instant::now() > end {
            let shown = browser.text("document.body.innerText");
            panic!("not in time: {what}; the page says: {shown}");
        }
        thread::sleep(POLL);
    }
}

/// Clicks the first element of a selector that contains a text.
#[track_caller]
fn click(browser: &mut Browser, selector: &str, text: &str) {
    let found =
        format!("[...document.querySelectorAll('{selector}')].find((node) => node.textContent.includes({text:?}))");
    // Found and clicked at once: the page may draw its buttons anew at any moment.
    let clicked = format!(
        "(() => {{ const node = {found}; if (!node || node.disabled) return false; node.click(); return true; }})()"
    );
    wait_for(browser, &found, &clicked);
}

/// Returns an expression for the number of records in a state of the line of numbers, such as `ready` or `to_fix`.
fn count(state: &str) -> String {
    format!("Number(document.querySelector('[data-count={state}] strong')?.textContent ?? NaN)")
}

/// Answers all questions about the columns with yes. Returns the number of clicks.
#[track_caller]
fn confirm_guesses(browser: &mut Browser) -> u32 {
    let mut clicks = 0;
    wait(browser, "document.querySelector('.bar .primary')");
    while browser.eval("Boolean(document.querySelector('[data-all], [data-yes]'))") == true {
        let open = browser.eval("document.querySelectorAll('[data-question]').length");
        browser.eval("(document.querySelector('[data-all]') ?? document.querySelector('[data-yes]')).click()");
        wait(browser, &format!("document.querySelectorAll('[data-question]').length < {open}"));
        clicks += 1;
    }
    clicks
}

/// Writes a text into the current cell of the grid, by keyboard.
#[track_caller]
fn write_into_cell(browser: &mut Browser, text: &str) {
    let end = Instant::now() + DEADLINE;
    // A key that is pressed while the rows are drawn again may be lost.
    loop {
        browser.eval("document.querySelector('.grid').focus()");
        browser.press("Enter");
        let soon = Instant::now() + Duration::from_secs(5);
        let mut is_open = false;
        while !is_open && Instant::now() < soon {
            is_open = browser.eval("Boolean(document.querySelector('.editor'))") == true;
        }
        if is_open {
            break;
        }
        assert!(Instant::now() < end, "no cell can be edited");
    }
    browser.write(text);
    browser.press("Enter");
}

/// Returns the items that have arrived.
fn stored(served: &Served) -> Vec<Value> {
    served.get("/v1/public/items?page=1&limit=100")["data"].as_array().unwrap().clone()
}

/// Checks that no script has failed, and that nothing was against the policy of the page.
#[track_caller]
fn has_no_errors(browser: &Browser) {
    let is_error = |event: &&Value| {
        let entry = &event["params"]["entry"];
        event["method"] == "Runtime.exceptionThrown" || entry["source"] == "security" || entry["source"] == "violation"
    };
    let found: Vec<&Value> = browser.events.iter().filter(is_error).collect();
    assert!(found.is_empty(), "{found:?}");
}
