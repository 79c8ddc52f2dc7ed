//! Habits from spreadsheet programs and web pages: blocks of cells, Ctrl+Z, long texts, the back button, a file dropped anywhere.

use super::super::browser::Browser;
use super::super::process::{Place, until};
use super::super::service::Served;
use super::page::ReviewPage;
use super::{click, confirm_guesses, count, has_no_errors, start, stored, wait, write_into_cell};
use serde_json::json;

/// Sends an event of the clipboard with a text to the grid.
fn paste(browser: &mut Browser, text: &str) {
    browser.eval(&format!(
        "(() => {{ const data = new DataTransfer(); data.setData('text/plain', {text:?}); const grid = document.querySelector('.grid'); \
         grid.focus(); grid.dispatchEvent(new ClipboardEvent('paste', {{clipboardData: data, bubbles: true, cancelable: true}})); }})()"
    ));
}

#[test]
fn cells_are_pasted_and_undone_and_files_are_dropped_anywhere() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write(
        "items.csv",
        "SKU,Name,Price\nA-1,Bolt,x\nA-2,Screw,y\nA-3,Pin,z\nA-4,Hook,4.50\nA-5,Nut,5.50\nA-6,Nail,6.50\n\
         A-7,Plate,7.50\nA-8,Ring,8.50\nA-9,Disc,9.50\nA-10,Cap,9.60\nA-11,Clip,9.70\nA-12,Bar,9.80\n",
    );
    let (_process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    wait(&mut browser, "/Fix 3 rows/.test(document.querySelector('.bar .primary')?.textContent)");
    confirm_guesses(&mut browser);
    click(&mut browser, ".bar .primary", "Fix 3 rows");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')");
    // The column of the problem is the first one, that of the number the second.
    paste(&mut browser, "1.50\tB-1\r\n2.50\tB-2\r\n3.50\tB-3\r\n");
    wait(&mut browser, &format!("{} === 12", count("ready")));
    browser.eval(
        "document.querySelector('.buttons button').dispatchEvent(new KeyboardEvent('keydown', {key: 'z', ctrlKey: true, bubbles: true}))",
    );
    wait(&mut browser, &format!("{} === 9 && {} === 3", count("ready"), count("to_fix")));
    paste(&mut browser, "1.50\n2.50\n3.50\n");
    wait(&mut browser, &format!("{} === 12", count("ready")));
    wait(&mut browser, "document.querySelector('.empty')");
    // Another file is dropped here, and the back button leads to the first one.
    browser.eval(
        "(() => { const data = new DataTransfer(); data.items.add(new File(['SKU,Name,Price\\nC-1,Other,1\\n'], 'other.csv')); \
         document.querySelector('.empty').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})); })()",
    );
    wait(&mut browser, "/other.csv/.test(document.querySelector('h1')?.innerText) && document.querySelector('.grid')");
    browser.eval("history.back()");
    wait(&mut browser, "location.hash === '#/'");
    browser.eval("history.back()");
    wait(&mut browser, "/^items.csv/.test(document.title)");
    wait(&mut browser, "document.querySelector('.empty')");
    // The button is pressed twice.
    click(&mut browser, ".bar .primary", "Continue with 12");
    wait(
        &mut browser,
        "/Send 12 now/.test(document.querySelector('.bar .primary')?.textContent) && !document.querySelector('.bar .primary').disabled",
    );
    browser.eval("(() => { const send = document.querySelector('.bar .primary'); send.click(); send.click(); })()");
    wait(&mut browser, "/Everything is sent/.test(document.querySelector('main').innerText)");
    let mut prices: Vec<String> = stored(&served).iter().map(|item| item["price"].to_string()).collect();
    prices.sort();
    assert_eq!((prices.len(), &prices[..4]), (12, &["1.50", "2.50", "3.50", "4.50"].map(str::to_owned)[..]));
    has_no_errors(&browser);
}

#[test]
fn long_and_broken_texts_are_edited_whole() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    let long = format!("{}.", "Long words ".repeat(300));
    place.write(
        "items.csv",
        format!("SKU,Name,Price,Description\nA-1,Bolt,1.50,\"One\nTwo\"\n,Nut,2.50,{long}\nA-3,Pin,3.50,Three\n"),
    );
    let (_process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    click(&mut browser, ".bar .primary", "Fix 1 row");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')");
    browser.eval(
        "[...document.querySelectorAll('.grid .row .cell')].find((it) => it.textContent.startsWith('Long')).click()",
    );
    wait(&mut browser, "document.querySelector('textarea.editor')");
    assert_eq!(browser.text("document.querySelector('textarea.editor').value"), long);
    browser.eval("document.querySelector('textarea.editor').setSelectionRange(0, 4)");
    browser.write("Many");
    browser.press("Enter");
    wait(&mut browser, "document.querySelector('.grid .cell.edited')");
    browser.eval("document.querySelector('.grid .row .cell').click()");
    browser.press("Escape");
    write_into_cell(&mut browser, "A-2");
    wait(&mut browser, "document.querySelector('.empty')");
    click(&mut browser, ".bar .primary", "Continue with 3");
    click(&mut browser, ".bar .primary", "Send 3 now");
    wait(&mut browser, "/Everything is sent/.test(document.querySelector('main').innerText)");
    let items = stored(&served);
    let text = |key: &str| items.iter().find(|item| item["external_id"] == key).unwrap()["description"].clone();
    assert_eq!((text("A-1"), text("A-2")), (json!("One\nTwo"), json!(long.replacen("Long", "Many", 1))));
    has_no_errors(&browser);
}

#[test]
fn all_refusals_are_counted_and_nothing_invites_to_send_them() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    let rows: String = (1..=2_050).map(|number| format!("O-{number},2026-01-01,sent\n")).collect();
    place.write("orders.csv", format!("Order no,Order date,Delivery status\n{rows}"));
    let page = ReviewPage::open(&place, &served, "orders.csv");
    page.post("/check", &json!({"full": true}));
    page.post("/send", &json!({}));
    let ended = until("the end", || {
        let status = page.review()["status"].clone();
        (status["phase"] == "ended" || status["phase"] == "failed").then_some(status)
    });
    let counted: u64 = ended["refused"].as_array().unwrap().iter().filter_map(|cause| cause["count"].as_u64()).sum();
    assert_eq!((&ended["counts"]["failed"], counted), (&2_050.into(), 2_050), "{ended}");
    drop(page);

    place.write("few.csv", "Order no,Order date,Delivery status\nP-1,2026-01-01,sent\nP-2,2026-01-02,sent\n");
    let (_process, address) = start(&place, &served, &["few.csv"]);
    browser.visit(&address);
    // Orders without lines are not meant by accident.
    click(&mut browser, "[data-question=lines] button", "There are no lines");
    click(&mut browser, ".bar .primary", "Continue");
    wait(&mut browser, "/^2 of the 2/.test(document.querySelector('.notice.bad')?.innerText)");
    assert_eq!(browser.eval("Boolean(document.querySelector('.bar .primary'))"), false);
    click(&mut browser, ".bar button", "Send 2 now");
    wait(&mut browser, "document.querySelector('.command')");
    has_no_errors(&browser);
}
