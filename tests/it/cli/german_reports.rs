//! Reports of German spreadsheets: what people read in them is German, and they can be corrected and sent back.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use serde_json::Value;
use zip::{ZipArchive, ZipWriter};

use super::browser::Browser;
use super::german::english;
use super::process::{Place, until};
use super::service::Served;
use super::{accounting, column, summary, table};

/// Two rows with mistakes, one that the service refuses, one with a warning, and a correct one.
const PRICES: &str = "\
Artikelnummer;Bezeichnung;Preis;Währung;Status
0042;Schraube;auf Anfrage;EUR;active
43;Mutter;1,50;Taler;active
44;Stift;2,50;EUR;ab dem dritten Quartal des nächsten Jahres wieder lieferbar
45;;3,50;EUR;active
46;Scheibe;0,10;EUR;active
";

/// The corrections: texts and what replaces them.
const FIXES: [(&str, &str); 3] = [
    ("auf Anfrage", "9,90"),
    ("Taler", "EUR"),
    ("ab dem dritten Quartal des nächsten Jahres wieder lieferbar", "active"),
];

fn uploaded(report: &str) -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("preise.csv", PRICES);
    // A CSV is English unless another language is asked for.
    let language: &[&str] = if report.ends_with(".csv") { &["--titles", "de"] } else { &[] };
    let words = ["upload", "preise.csv", "-t", "items", "--report", report];
    served.sheetport(&place, words.iter().chain(language).copied()).exits(3);
    (place, served)
}

/// Sends a corrected report, and returns the number of records in each state.
#[track_caller]
fn retried(place: &Place, served: &Served, report: &str) -> String {
    accounting(&summary(&served.sheetport(place, ["retry", report, "--json"]).exits(0)))
}

/// Returns the cells of each sheet of a workbook with its name, without blank cells.
fn sheets(place: &Place, file: &str) -> Vec<(String, Vec<Vec<String>>)> {
    let seen = place.sheetport(["view", file, "--all-sheets", "--json"]).exits(0).json();
    let text = |cell: &Value| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
    let row = |row: &Value| row.as_array().unwrap().iter().filter(|cell| !cell.is_null()).map(text).collect();
    let sheet = |sheet: &Value| {
        let rows = sheet["rows"].as_array().unwrap().iter().map(row).collect();
        (sheet["name"].as_str().unwrap().to_owned(), rows)
    };
    seen["sheets"].as_array().unwrap().iter().map(sheet).collect()
}

/// Writes a copy of a workbook with other texts in its cells.
fn edit(from: &Path, to: &Path) -> BTreeMap<String, String> {
    let mut archive = ZipArchive::new(File::open(from).unwrap()).unwrap();
    let mut copy = ZipWriter::new(File::create(to).unwrap());
    let mut parts = BTreeMap::new();
    for place in 0..archive.len() {
        let mut part = archive.by_index(place).unwrap();
        let (name, mut text) = (part.name().unwrap().into_owned(), String::new());
        part.read_to_string(&mut text).unwrap();
        // The texts of cells, and not those in the messages.
        let cell = |text: &str| [format!(">{text}</t>"), format!(">{text}</v>")];
        let edited = FIXES.iter().fold(text.clone(), |xml, (from, to)| {
            cell(from).iter().zip(cell(to)).fold(xml, |xml, (from, to)| xml.replace(from, &to))
        });
        copy.start_file(name.as_str(), zip::write::SimpleFileOptions::default()).unwrap();
        copy.write_all(edited.as_bytes()).unwrap();
        parts.insert(name, text);
    }
    copy.finish().unwrap();
    parts
}

#[test]
fn a_csv_has_german_reasons_and_goes_back() {
    let (place, served) = uploaded("bericht.csv");
    let report = table(&place.path("bericht.csv"));
    assert_eq!(column(&report, "sheetport_status"), ["fehlerhaft", "fehlerhaft", "abgelehnt", "gesendet", "gesendet"]);
    let errors = column(&report, "sheetport_fehler");
    assert_eq!(errors[0], "Preis „auf Anfrage“ ist keine Zahl (eine Zahl schreiben oder die Zelle leer lassen)");
    assert_eq!(errors[1], "Währung „Taler“ ist keine Währung (einen Code nach ISO 4217 schreiben, etwa EUR)");
    assert!(errors[2].contains("must not be longer than 50 characters"), "the service's own words: {}", errors[2]);
    let warnings = column(&report, "sheetport_warnungen");
    assert!(warnings[3].starts_with("Bezeichnung hat keinen Namen, anders als die meisten Zeilen"), "{warnings:?}");
    let report = fs::read_to_string(place.path("bericht.csv")).unwrap();
    place.write("fertig.csv", FIXES.iter().fold(report, |text, (from, to)| text.replace(from, to)));
    assert_eq!(retried(&place, &served, "fertig.csv"), "5: sent 3, unchanged 2");
    assert_eq!(served.total(), 5);
}

#[test]
fn a_workbook_is_german_and_goes_back() {
    let (place, served) = uploaded("bericht.xlsx");
    let sheets = sheets(&place, "bericht.xlsx");
    let names: Vec<&str> = sheets.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..2], ["Übersicht", "preise"]);
    let front: Vec<String> = sheets[0].1.iter().map(|row| row.join(" | ")).collect();
    let text = front.join("\n");
    for line in [
        "Upload von preise.csv",
        "5 | gesamt | Datensätze aus 5 Zeilen",
        "2 | fehlerhaft | in der Tabelle fehlerhaft, nicht gesendet",
        "Zeilen | Spalte | Was falsch ist | Was zu tun ist | Erste Zeilen",
        "1 | Preis | „auf Anfrage“ ist keine Zahl | eine Zahl schreiben oder die Zelle leer lassen | Zeile 2",
        "Vorlage | items, je Artikel",
    ] {
        assert!(front.iter().any(|row| row == line), "{line:?} in\n{text}");
    }
    assert!(text.contains("Weiter | Die Zeilen auf dem nächsten Blatt korrigieren"), "{text}");
    let of_service = |line: &&String| line.contains("must not be") || line.contains("http");
    let own: Vec<&str> = front.iter().filter(|line| !of_service(line)).map(String::as_str).collect();
    assert!(english(&own.join("\n")).is_empty(), "{:?} in\n{text}", english(&own.join("\n")));
    let parts = edit(&place.path("bericht.xlsx"), &place.path("fertig.xlsx"));
    let notes: Vec<&String> =
        parts.iter().filter(|(name, _)| name.contains("comments")).map(|(_, text)| text).collect();
    assert!(notes[0].contains("Preis „auf Anfrage“ ist keine Zahl"), "{notes:?}");
    assert_eq!(retried(&place, &served, "fertig.xlsx"), "5: sent 3, unchanged 2");
    assert_eq!(served.total(), 5);
}

#[test]
fn a_corrected_workbook_can_be_uploaded_like_an_english_one() {
    for titles in ["de", "en"] {
        let (place, served) = uploaded("bericht.csv");
        served.sheetport(&place, ["report", "-o", "bericht.xlsx", "--titles", titles]).exits(0);
        edit(&place.path("bericht.xlsx"), &place.path("fertig.xlsx"));
        let uploaded = served.sheetport(&place, ["upload", "fertig.xlsx", "-t", "items", "--json"]).exits(0);
        assert_eq!(accounting(&summary(&uploaded)), "5: sent 5", "{titles}");
        assert_eq!(served.total(), 5);
    }
}

#[test]
fn a_page_is_german_and_its_data_has_the_texts_of_the_script() {
    let (place, _served) = uploaded("bericht.html");
    let html = fs::read_to_string(place.path("bericht.html")).unwrap();
    for text in [
        "<html lang=\"de\">",
        "<title>preise.csv: 2 fehlerhaft, 1 abgelehnt – Sheetport</title>",
        "5 Datensätze aus 5 Zeilen, davon <strong>3</strong> mit einem Problem.",
        "<dt>Vorlage</dt>",
        "„<bdi>auf Anfrage</bdi>“ </span><bdi>ist keine Zahl</bdi>",
        "Preis „auf Anfrage“ ist keine Zahl (eine Zahl schreiben oder die Zelle leer lassen)",
        "\"texts\":{",
    ] {
        assert!(html.contains(text), "{text}");
    }
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&place.path("bericht.html"), "#sort=-value");
    until("rows", || (browser.eval("document.querySelectorAll('#list .toggle').length") == 4).then_some(()));
    browser.eval("document.querySelectorAll('#list .toggle').forEach((one) => one.click())");
    let seen = browser.text("document.body.innerText");
    for text in
        ["4 Zeilen angezeigt", "Alle 4", "Was falsch ist", "fehlerhaft", "Zeile 2 der Datei", "Diese Zeile kopieren"]
    {
        assert!(seen.contains(text), "{text:?} in\n{seen}");
    }
    let of_service = |line: &&str| line.contains("must not be");
    let own: Vec<&str> = seen.lines().filter(|line| !of_service(line)).collect();
    assert!(english(&own.join("\n")).is_empty(), "{:?} in\n{seen}", english(&own.join("\n")));
    assert!(!browser.has("Runtime.exceptionThrown"), "{:?}", browser.events);
}

#[test]
fn the_language_follows_the_sheet_and_programs_read_english() {
    let place = Place::new();
    place.write("preise.csv", PRICES);
    place.write("prices.csv", "SKU,Name,Price\nA-1,Bolt,free\n");
    let check = |file: &str, more: &[&str], lang: &str| {
        let args = ["check", file, "-t", "items", "--lang", lang].iter().chain(more).copied().collect::<Vec<_>>();
        place.sheetport(args).exits(3)
    };
    // Whatever the language of messages.
    check("preise.csv", &["--report", "a.csv", "--titles", "de"], "en");
    check("prices.csv", &["--report", "b.csv"], "de");
    check("preise.csv", &["--report", "c.csv"], "de");
    let errors = |file: &str, title: &str| column(&table(&place.path(file)), title)[0].to_owned();
    assert!(errors("a.csv", "sheetport_fehler").contains("ist keine Zahl"));
    assert!(errors("b.csv", "sheetport_errors").contains("Price 'free' is not a number (write a number"));
    assert!(errors("c.csv", "sheetport_errors").contains("is not a number"));
    for flag in ["--json", "--json-rows"] {
        let printed = check("preise.csv", &[flag], "de").stdout;
        assert!(printed.contains("is not a number") && !printed.contains("ist keine Zahl"), "{printed}");
    }
    let supplier = ["--for-supplier", "--report", "d.xlsx"];
    check("preise.csv", &supplier, "en");
    let front = sheets(&place, "d.xlsx")[0].1.iter().map(|row| row.join(" ")).collect::<Vec<_>>().join("\n");
    assert!(front.contains("diese Datei mit allen Spalten speichern und zurückschicken"), "{front}");
    assert!(english(&front).is_empty(), "{front}");
}

/// Of Dutch and French, the words of columns and states are known, and no reasons: a report is never in two languages.
#[test]
fn a_sheet_in_a_language_without_reasons_gets_an_english_report() {
    for header in ["Artikelnummer;Omschrijving;Prijs", "Référence;Désignation;Prix de vente"] {
        let place = Place::new();
        place.write("p.csv", format!("{header}\n0042;A;gratis\n43;B;1,10\n"));
        let words = ["template", "infer", "p.csv", "--record", "item", "-o", "t.toml", "-q"];
        place.sheetport(words).run();
        place.sheetport(["check", "p.csv", "-t", "t.toml", "--report", "r.xlsx"]).exits(3);
        assert_eq!(sheets(&place, "r.xlsx")[0].0, "Summary", "{header}");
        let texts = edit(&place.path("r.xlsx"), &place.path("copy.xlsx")).into_values().collect::<String>();
        for english in ["sheetport_errors", "rejected", "is not a number (write a number"] {
            assert!(texts.contains(english), "{header}: {english}");
        }
        for other in ["sheetport_fouten", "foutief", "sheetport_erreurs", "erroné"] {
            assert!(!texts.contains(other), "{header}: {other}");
        }
    }
}

/// The price list of the demo is German, but its reports are for the person at the terminal.
#[test]
fn the_reports_of_the_demo_are_in_the_language_of_messages() {
    let place = Place::new();
    for (lang, summary, reason) in [("en", "Summary", "is not a number"), ("de", "Übersicht", "ist keine Zahl")] {
        place.sheetport(["demo", "--lang", lang, "-q"]).exits(0);
        let errors = fs::read_to_string(place.path("sheetport-demo/price-list.errors.csv")).unwrap();
        assert!(errors.contains(reason), "{errors}");
        assert_eq!(sheets(&place, "sheetport-demo/price-list.report.xlsx")[0].0, summary);
    }
}
