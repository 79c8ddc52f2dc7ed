//! The questions about columns, and the grid below them.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::{click, confirm_guesses, count, has_no_errors, start, stored, wait};

const DEAD: &str = "document.querySelector('.bar .primary').disabled";

#[test]
fn a_column_full_of_prices_is_never_left_out_without_a_word() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write(
        "items.csv",
        "SKU,Name,Zzz,Colour\nA-1,Bolt,1.50,red\nA-2,Nut,2.50,blue\nA-3,Pin,3.50,red\nA-4,Cap,4.50,blue\n",
    );
    let (_process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    wait(&mut browser, "/Zzz/.test(document.querySelector('[data-question]')?.textContent)");
    let card = "[...document.querySelectorAll('[data-question]')].find((it) => /Zzz/.test(it.textContent))";
    let words = browser.text(&format!("{card}.textContent"));
    assert!(words.contains("1.50") && words.contains("2.50") && words.contains("3.50"), "{words}");
    assert_eq!(browser.eval(DEAD), true, "nothing is sent before the answer");
    browser.eval(&format!("{card}.querySelector('[data-yes]').click()"));
    wait(&mut browser, &format!("!({card})"));
    confirm_guesses(&mut browser);
    // Columns without a field are folded, and named.
    let titles = "[...document.querySelectorAll('.grid .title .letters')].map((it) => it.textContent).join()";
    assert_eq!(browser.text(titles), "SKU,Name,Zzz");
    click(&mut browser, ".folded button", "Show");
    wait(&mut browser, &format!("{titles} === 'SKU,Name,Zzz,Colour'"));
    click(&mut browser, ".bar .primary", "Continue");
    click(&mut browser, ".bar .primary", "Send 4 now");
    wait(&mut browser, "document.querySelector('.command')");
    let mut prices: Vec<String> = stored(&served).iter().map(|item| item["price"].to_string()).collect();
    prices.sort();
    assert_eq!(prices, ["1.50", "2.50", "3.50", "4.50"]);
    has_no_errors(&browser);
}

#[test]
fn a_wide_sheet_draws_only_the_columns_in_view() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    let mut sheet = String::from("SKU,Name");
    (0..298).for_each(|column| write!(sheet, ",Extra {column}").unwrap());
    for row in 1..=400 {
        write!(sheet, "\nA-{row},Bolt").unwrap();
        (0..298).for_each(|column| write!(sheet, ",x{row}y{column}").unwrap());
    }
    place.write("wide.csv", sheet);
    let (_process, address) = start(&place, &served, &["wide.csv"]);
    browser.visit(&address);
    click(&mut browser, ".folded button", "Show");
    wait(&mut browser, "document.querySelectorAll('.grid .row .cell').length > 100");
    let drawn = browser.eval("document.querySelectorAll('.grid .row')[0].children.length").as_u64().unwrap();
    assert!(drawn < 20, "{drawn} of 300 cells of a row are drawn");
    // The last column comes with its values, below its own title, and the row numbers stay.
    browser.eval("document.querySelector('.grid').scrollLeft = 1e9");
    wait(&mut browser, "/^x1y297$/.test(document.querySelectorAll('.grid .row')[1]?.lastChild?.textContent)");
    let place_of = |what: &str| format!("Math.round({what}.getBoundingClientRect().left)");
    let title = place_of("document.querySelector('.grid .head').lastChild");
    let cell = place_of("document.querySelectorAll('.grid .row')[1].lastChild");
    let (title, cell) = (browser.eval(&title), browser.eval(&cell));
    assert_eq!(title, cell);
    let number = place_of("document.querySelectorAll('.grid .row')[1].querySelector('.number')");
    let grid = place_of("document.querySelector('.grid')");
    let number = format!("{number} - {grid}");
    assert!(browser.eval(&number).as_i64().unwrap() <= 2, "the row numbers have scrolled away");
    has_no_errors(&browser);
}

#[test]
fn rows_are_emptied_left_out_and_taken_again_by_keyboard() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "SKU,Name,Price\nB-1,Bolt,1.50\nB-2,Nut,on request\nB-3,Pin,on request\nB-4,Cap,12.5O\n");
    let (_process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    confirm_guesses(&mut browser);
    click(&mut browser, ".bar .primary", "Fix 3 rows");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')?.getAttribute('aria-invalid') === 'true'");
    // A fix for the cells with one text.
    click(&mut browser, ".tools .filters button", "on request");
    wait(&mut browser, "document.querySelectorAll('.grid .row').length === 2");
    click(&mut browser, ".fixes button", "Leave rows 3, 4 out");
    wait(&mut browser, &format!("{} === 1 && {} === 2", count("to_fix"), count("left_out")));
    wait(&mut browser, "document.querySelectorAll('.grid .row').length === 1");
    press_until(&mut browser, "Delete", &format!("{} === 2", count("ready")));
    // The rows that are left out are a list of their own; the first is taken again.
    browser.eval("document.querySelector('[data-count=left_out]').click()");
    wait(&mut browser, "document.querySelectorAll('.grid .row.out').length === 2");
    press_until(&mut browser, "ArrowLeft", "document.querySelector('.grid .number.current')");
    press_until(&mut browser, "Enter", &format!("{} === 1 && {} === 1", count("to_fix"), count("left_out")));
    has_no_errors(&browser);
}

/// Presses a key in the grid, again if the rows were drawn anew at that moment.
#[track_caller]
fn press_until(browser: &mut Browser, key: &str, expression: &str) {
    for _ in 0..20 {
        browser.eval("document.querySelector('.grid').focus()");
        browser.press(key);
        let soon = Instant::now() + Duration::from_secs(3);
        while Instant::now() < soon {
            if browser.eval(&format!("Boolean({expression})")) == true {
                return;
            }
        }
    }
    panic!("{key} does nothing: {}", browser.text("document.body.innerText"));
}

#[test]
fn address_and_tokens_are_entered_on_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "SKU,Name,Price\nB-1,Bolt,1.50\nB-2,Nut,2.50\n");
    let process = place.sheetport(["review", "--no-open", "--json", "items.csv"]).start();
    let line: serde_json::Value = serde_json::from_str(&process.line()).unwrap();
    browser.visit(line["listening"].as_str().unwrap());
    confirm_guesses(&mut browser);
    click(&mut browser, ".bar .primary", "Continue");
    wait(&mut browser, "document.querySelector('[data-login]')");
    let (access, refresh) = served.tokens();
    let fill = |browser: &mut Browser, access: &str, refresh: &str| {
        for (field, text) in [("address", served.url().as_str()), ("access", access), ("refresh", refresh)] {
            browser.eval(&format!("document.getElementById('login-{field}').value = {text:?}"));
        }
        click(browser, "[data-login] button", "Sign in");
    };
    fill(&mut browser, "wrong", "");
    wait(&mut browser, "document.querySelector('[data-login] .problem').textContent");
    fill(&mut browser, &access, &refresh);
    wait(&mut browser, "!document.querySelector('[data-login]')");
    click(&mut browser, ".bar .primary", "Send 2 now");
    wait(&mut browser, "document.querySelector('.command')");
    assert_eq!(stored(&served).len(), 2);
    // The command line knows them, too, and only the owner can read them.
    place.sheetport(["whoami"]).exits(0);
    has_no_errors(&browser);
}

#[test]
fn a_sample_is_tried_and_never_sent() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    let (_process, address) = start(&place, &served, &[]);
    browser.visit(&address);
    click(&mut browser, ".drop button", "Try with a sample");
    wait(&mut browser, "/sample/.test(document.querySelector('h1')?.textContent)");
    wait(&mut browser, "document.querySelector('.grid .cell')");
    confirm_guesses(&mut browser);
    click(&mut browser, ".bar .primary", "Fix 5 rows");
    wait(&mut browser, "document.querySelectorAll('.causes li').length >= 3");
    click(&mut browser, "#steps button", "Send");
    wait(&mut browser, "/only a sample/.test(document.querySelector('main').innerText)");
    click(&mut browser, ".cards button", "Try it first");
    wait(&mut browser, "document.querySelector('.notice.good')");
    assert_eq!((browser.eval(DEAD), served.total()), (true.into(), 0));
    has_no_errors(&browser);
}
