//! What a person has typed or decided on the page stays, whatever happens to the program.

use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::{click, confirm_guesses, count, has_no_errors, start, stored, wait, write_into_cell};

/// Prices that are a guess, with two that are none.
const PRICES: &str =
    "Bestell-Nr;Was;VK netto\nA-1;Schraube;1,50\nA-2;Mutter;auf Anfrage\nA-3;Stift;3,50\nA-4;Keil;4,50\n";

#[cfg(unix)]
#[test]
fn a_value_typed_while_the_program_does_not_answer_is_saved_later() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "SKU,Name,Price\nB-1,Bolt,1.50\nB-2,Nut,free\nB-3,Pin,none\n");
    let (process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    confirm_guesses(&mut browser);
    click(&mut browser, ".bar .primary", "Fix 2 rows");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')");
    process.signal("STOP");
    write_into_cell(&mut browser, "2.50");
    wait(&mut browser, "/^2.50/.test(document.querySelector('.grid .cell.unsaved')?.textContent)");
    write_into_cell(&mut browser, "3.50");
    wait(&mut browser, "document.querySelectorAll('.grid .cell.unsaved').length === 2");
    process.signal("CONT");
    wait(&mut browser, &format!("{} === 3 && !document.querySelector('.unsaved')", count("ready")));
    click(&mut browser, ".bar .primary", "Continue with 3");
    click(&mut browser, ".bar .primary", "Send 3 now");
    // The second click of a double click does not pause.
    let pause = "(() => { const button = [...document.querySelectorAll('.bar button')].find((it) => it.textContent === 'Pause'); return !button || button.disabled; })()";
    assert_eq!(browser.eval(pause), true);
    wait(&mut browser, "/3 of 3 items are in/.test(document.querySelector('[data-there]')?.textContent)");
    let prices: Vec<String> = stored(&served).iter().map(|item| item["price"].to_string()).collect();
    assert!(["2.50", "3.50"].iter().all(|price| prices.iter().any(|known| known == price)), "{prices:?}");
    has_no_errors(&browser);
}

#[test]
fn confirmed_guesses_outlive_a_killed_program_and_concern_this_file_alone() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("preise.csv", PRICES);
    let (process, address) = start(&place, &served, &["preise.csv"]);
    browser.visit(&address);
    wait(&mut browser, "document.querySelector('[data-question]')");
    assert!(confirm_guesses(&mut browser) > 0);
    wait(&mut browser, "!document.querySelector('.bar .primary').disabled");
    process.kill();
    let (_process, address) = start(&place, &served, &["preise.csv"]);
    browser.visit(&address);
    wait(&mut browser, "document.querySelector('.bar .primary') && !document.querySelector('.bar .primary').disabled");
    assert_eq!(browser.eval("document.querySelectorAll('[data-question]').length"), 0);
    // Nobody has sent anything with these columns, so no other file takes them for decided.
    place.write("andere.csv", PRICES.replace("A-", "B-"));
    let check = served.sheetport(&place, ["check", "andere.csv", "--json"]).run();
    assert!(!format!("{check:?}").contains("drafts"), "{check:?}");
    has_no_errors(&browser);
}
