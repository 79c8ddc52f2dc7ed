//! Rows that the service has refused, corrected in the result and sent from there.

use std::collections::BTreeMap;

use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::{click, has_no_errors, start, stored, wait, write_into_cell};

/// Returns an expression for the first cells of the refused rows.
fn words(row: usize) -> String {
    format!("document.querySelectorAll('.refused .grid .row')[{row}]?.querySelector('.cell')?.textContent")
}

#[test]
fn refused_rows_are_corrected_in_the_result_and_sent_from_there() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    // The service takes no numbers of this length.
    let long = |digit: &str| format!("B-{}", digit.repeat(300));
    let rows: Vec<String> = (1..=12)
        .map(|row| {
            let number = if row == 4 || row == 9 { long(&row.to_string()) } else { format!("B-{row}") };
            format!("{number},Bolt M{row},{row}.50")
        })
        .collect();
    place.write("items.csv", format!("SKU,Name,Price\n{}\n", rows.join("\n")));
    let (_process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    click(&mut browser, ".bar .primary", "Continue");
    click(&mut browser, ".bar .primary", "Send 12 now");
    wait(&mut browser, "document.querySelectorAll('.refused .grid .row').length === 2");
    wait(&mut browser, &format!("/longer than/.test({})", words(0)));
    assert_eq!(browser.eval("document.querySelector('[data-send-corrected]').disabled"), true);

    write_into_cell(&mut browser, "B-4");
    wait(&mut browser, &format!("/Corrected/.test({})", words(0)));
    wait(&mut browser, "/^1 of 2 corrected/.test(document.querySelector('.refused [role=status]').textContent)");
    click(&mut browser, ".bar .primary", "Send 1 corrected row");
    wait(&mut browser, "/11 of 12 items are in/.test(document.querySelector('[data-there]')?.textContent)");
    wait(&mut browser, "document.querySelectorAll('.refused .grid .row').length === 1");

    // A value that no row may have is said at once, and what the row then has is sent.
    write_into_cell(&mut browser, "");
    wait(&mut browser, &format!("/blank/.test({})", words(0)));
    browser.press("ArrowUp");
    write_into_cell(&mut browser, "B-9");
    click(&mut browser, ".bar .primary", "Send 1 corrected row");
    wait(&mut browser, "/12 of 12 items are in/.test(document.querySelector('[data-there]')?.textContent)");
    let arrived: BTreeMap<String, String> =
        stored(&served).iter().map(|item| (item["external_id"].to_string(), item["price"].to_string())).collect();
    let expected = (1..=12).map(|row| (format!("\"B-{row}\""), format!("{row}.50")));
    assert_eq!(arrived, expected.collect());
    has_no_errors(&browser);
}
