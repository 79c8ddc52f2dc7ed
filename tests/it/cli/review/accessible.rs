//! The page for everybody: nothing that axe finds, at three widths, light and dark, and the keyboard alone.

use super::super::axe::Axe;
use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::{click, has_no_errors, start, stored, wait};

const PRICES: &str = "SKU,Name,Price,Status\nA-1,Bolt,1.50,active\nA-2,Nut,on request,active\nA-3,Pin,4.50,active\n";

#[test]
fn axe_finds_nothing_at_any_step() {
    let (Some(axe), Some(mut browser)) = (Axe::find(), Browser::start()) else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("earlier.csv", PRICES);
    served.sheetport(&place, ["upload", "earlier.csv", "-t", "items"]).exits(3);
    let file = place.write("prices.csv", PRICES);
    let (_process, address) = start(&place, &served, &[]);
    browser.visit(&address);
    let look = |browser: &mut Browser, what: &str| axe.finds_nothing_at_any_width(browser, what);
    wait(&mut browser, "document.querySelector('.history tbody tr')");
    look(&mut browser, "the first step");
    click(&mut browser, ".history button", "earlier.csv");
    wait(&mut browser, "document.querySelector('.bar:not([hidden])')");
    look(&mut browser, "an earlier upload");
    click(&mut browser, ".bar button", "To the beginning");
    browser.choose("document.getElementById('file')", &file);
    wait(&mut browser, "document.querySelector('.grid .cell')");
    look(&mut browser, "the columns");
    click(&mut browser, ".chip.button", "Price");
    wait(&mut browser, "document.querySelector('.menu')");
    look(&mut browser, "a menu");
    browser.press("Escape");
    click(&mut browser, ".bar .primary", "Fix");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong') && document.querySelector('.fixes button')");
    look(&mut browser, "the problems");
    click(&mut browser, ".fixes button", "Leave row 3 out");
    wait(&mut browser, "document.querySelector('.empty')");
    look(&mut browser, "no problem");
    click(&mut browser, ".bar .primary", "Continue with 2");
    wait(
        &mut browser,
        "/changes in the service/.test(document.querySelector('.cards')?.innerText) && !document.querySelector('progress')",
    );
    look(&mut browser, "what will be sent");
    click(&mut browser, ".bar .primary", "Send");
    wait(&mut browser, "document.querySelector('.command')");
    look(&mut browser, "the result");
    click(&mut browser, ".nightly button", "every night");
    wait(&mut browser, "document.querySelector('form.nightly')");
    look(&mut browser, "a nightly upload");
    has_no_errors(&browser);
}

/// Moves with Tab until the focused element has a text, and asserts that each stop can be seen.
#[track_caller]
fn tab_to(browser: &mut Browser, text: &str) {
    /// More than any step has.
    const STOPS: usize = 80;
    for _ in 0..STOPS {
        browser.press("Tab");
        let focused = browser.text("document.activeElement.closest('button')?.innerText ?? ''");
        if focused.contains(text) {
            let outline = browser.text("getComputedStyle(document.activeElement).outlineStyle");
            assert_ne!(outline, "none", "the focus is not seen on {text}");
            return;
        }
    }
    panic!("Tab does not reach {text}: {}", browser.text("document.body.innerText"));
}

#[test]
fn the_keyboard_is_enough() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", PRICES);
    let (_process, address) = start(&place, &served, &["prices.csv"]);
    browser.visit(&address);
    wait(&mut browser, "/Fix 1 row/.test(document.querySelector('.bar .primary')?.textContent)");
    // A chip opens a menu, arrows move in it, and Escape leads back.
    tab_to(&mut browser, "Price");
    browser.press("Enter");
    wait(&mut browser, "document.activeElement.closest('.menu')");
    browser.press("ArrowDown");
    browser.press("Escape");
    wait(&mut browser, "!document.querySelector('.menu') && /Price/.test(document.activeElement.innerText)");
    tab_to(&mut browser, "Fix 1 row");
    browser.press("Enter");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')");
    browser.press("Tab");
    while browser.eval("document.activeElement.getAttribute('role') === 'grid'") == false {
        browser.press("Tab");
    }
    browser.press("Enter");
    wait(&mut browser, "document.querySelector('.editor')");
    browser.write("2.50");
    browser.press("Enter");
    wait(&mut browser, "document.querySelector('.empty')");
    tab_to(&mut browser, "Continue with 3");
    browser.press("Enter");
    wait(&mut browser, "/Send 3 now/.test(document.querySelector('.bar .primary')?.textContent)");
    wait(&mut browser, "!document.querySelector('.bar .primary').disabled");
    tab_to(&mut browser, "Send 3 now");
    browser.press("Space");
    wait(&mut browser, "/Everything is sent/.test(document.querySelector('main').innerText)");
    let mut prices: Vec<String> = stored(&served).iter().map(|item| item["price"].to_string()).collect();
    prices.sort();
    assert_eq!(prices, ["1.50", "2.50", "4.50"]);
    has_no_errors(&browser);
}
