//! The page in the language of the browser: what the program says is translated, too.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::{click, has_no_errors, start, wait};

/// Parts of sentences that are too short to be looked for.
const SHORT: usize = 4;

fn add_sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_translated_sentence_is_one_of_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let words = std::fs::read_to_string(root.join("src/review/page/words/de.json")).unwrap();
    let words: BTreeMap<String, String> = serde_json::from_str(&words).unwrap();
    let mut sources = String::new();
    add_sources(&root.join("src"), &mut sources);
    let sentences: Vec<&str> = words.keys().filter_map(|key| key.strip_prefix("say.")).collect();
    assert!(sentences.len() > 40);
    for sentence in sentences {
        let parts = sentence.split(['{', '}']).step_by(2).filter(|part| part.len() >= SHORT);
        let unknown: Vec<&str> = parts.filter(|part| !sources.contains(part)).collect();
        assert!(unknown.is_empty(), "{sentence}: {unknown:?}");
    }
}

#[test]
fn warnings_and_reasons_of_the_template_are_in_german() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write(
        "preise.csv",
        "Bestell-Nr;Was;VK netto\nA-1;Schraube;1,50\nA-2;Mutter;auf Anfrage\nA-3;Stift;3,50\nA-4;Keil;4,50\n",
    );
    let (_process, address) = start(&place, &served, &["preise.csv"]);
    browser.call("Network.setExtraHTTPHeaders", json!({"headers": {"Accept-Language": "de"}}));
    browser.visit(&address);
    wait(
        &mut browser,
        "/hat Werte, die keine Zahlen sind, etwa auf Anfrage/.test(document.querySelector('.notices')?.innerText)",
    );
    let chips = browser.text("[...document.querySelectorAll('.chip.button')].map((it) => it.title).join()");
    assert!(chips.contains("nach dem Namen") && !chips.contains("name"), "{chips}");
    click(&mut browser, ".notice.guess button", "Alle stimmen");
    click(&mut browser, ".bar .primary", "berichtigen");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')");
    let title = browser.text("document.querySelector('.grid .cell.wrong').title");
    assert!(title.contains("Zahl"), "{title}");
    has_no_errors(&browser);
}
