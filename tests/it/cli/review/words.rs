//! The page in the language of the browser: what the program says is translated by the server.

use serde_json::json;

use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::page::ReviewPage;
use super::{click, confirm_guesses, has_no_errors, start, wait};

/// A file whose template is proposed.
const PRICES: &str =
    "Bestell-Nr;Was;VK netto\nA-1;Schraube;1,50\nA-2;Mutter;auf Anfrage\nA-3;Stift;3,50\nA-4;Keil;4,50\n";

#[test]
fn the_program_speaks_the_language_of_the_browser() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", PRICES);
    let mut page = ReviewPage::open(&place, &served, "prices.csv");
    let wrong = "sheetport = 1\nrecord = \"item\"\n\n[fields.name]\ncolum = \"Was\"\n";
    for (language, expected) in [
        (
            "de-AT,de;q=0.9,en;q=0.5",
            [
                "ist keine Zahl",
                "eine Zahl schreiben",
                "ist keine Zahl",
                "nach ihrem Namen",
                "unbekannter Schlüssel",
                "diese Spalte gibt es nicht",
                "die Zeilen wurden inzwischen neu geprüft",
            ],
        ),
        (
            "en",
            [
                "is not a number",
                "write a number",
                "is not a number",
                "by its name",
                "unknown key",
                "there is no such column",
                "the rows were checked again meanwhile",
            ],
        ),
    ] {
        page.speak(language);
        page.post("/template/kind", &json!({"record": "item"}));
        page.post("/template/change", &json!({"kind": "confirm-all"}));
        let review = page.post("/check", &json!({"full": true}));
        let causes = review["check"]["causes"].as_array().unwrap();
        let cause = causes.iter().find(|cause| cause["code"] == "not-a-number").unwrap_or_else(|| panic!("{causes:?}"));
        let rows = page.get("/rows?count=10&values=true");
        let as_read = rows["rows"][2]["v"].as_array().unwrap().iter().find(|value| value[2] == true);
        let as_read = as_read.unwrap_or_else(|| panic!("{rows}"));
        let reason = &review["template"]["fields"].as_array().unwrap().iter().find(|field| field["reason"].is_string());
        let reason = reason.unwrap_or_else(|| panic!("{review}"));
        let broken = page.post("/template", &json!({"text": wrong}));
        let mistakes = broken["template"]["mistakes"].as_array().unwrap();
        let mistake = mistakes.iter().find(|mistake| mistake["line"] == 5).unwrap_or_else(|| panic!("{broken}"));
        let unchecked = page.post("/check", &json!({"full": false}));
        assert_eq!(unchecked["check"]["revision"], unchecked["revision"], "{unchecked}");
        let edits = json!({"edits": [{"row": 2, "column": 9999, "text": "x"}]}).to_string();
        let no_column = page.ask("POST", "/api/reviews/1/edits", &edits);
        let fix = json!({"fix": {"kind": "tidy"}, "revision": 0}).to_string();
        let overtaken = page.ask("POST", "/api/reviews/1/causes/0/preview", &fix);
        let said = [
            cause["message"].to_string(),
            cause["remedy"].to_string(),
            as_read[1].to_string(),
            reason["reason"].to_string(),
            mistake["message"].to_string(),
            no_column,
            overtaken,
        ];
        for (said, expected) in said.iter().zip(expected) {
            assert!(said.contains(expected), "{language}: {expected}: {said}");
        }
    }
}

#[test]
fn warnings_and_reasons_of_the_template_are_in_german() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    place.write("preise.csv", PRICES);
    let (_process, address) = start(&place, &served, &["preise.csv"]);
    browser.call("Network.setExtraHTTPHeaders", json!({"headers": {"Accept-Language": "de"}}));
    browser.visit(&address);
    wait(
        &mut browser,
        "/hat Werte, die keine Zahlen sind, etwa auf Anfrage/.test(document.querySelector('.foot')?.textContent)",
    );
    let chips = browser.text("[...document.querySelectorAll('.chip.button')].map((it) => it.title).join()");
    assert!(chips.contains("nach ihrem Namen; ohne Steuer") && !chips.contains("name"), "{chips}");
    confirm_guesses(&mut browser);
    click(&mut browser, ".bar .primary", "berichtigen");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')?.title.includes('Zahl')");
    has_no_errors(&browser);
}
