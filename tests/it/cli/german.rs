//! The output in German.

use std::collections::BTreeSet;

use super::process::{Ended, Place};
use super::service::Served;

/// Words that only English sentences have.
const ENGLISH: [&str; 22] = [
    "the", "is", "are", "and", "not", "with", "of", "were", "this", "from", "it", "which", "has", "have", "that", "be",
    "or", "without", "there", "row", "rows", "sent",
];

/// Returns the English words of an output, without commands, flags, quoted texts and names of files.
pub fn english(output: &str) -> BTreeSet<String> {
    let is_command = |line: &&str| line.contains("sheetport ") || line.contains("http");
    let lines = output.lines().filter(|line| !is_command(line));
    let words =
        lines.flat_map(|line| line.split(['\'', '"', '„', '“', '`']).step_by(2)).flat_map(str::split_whitespace);
    let words =
        words.filter(|word| !word.starts_with('-')).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| ENGLISH.contains(word)).map(str::to_owned).collect()
}

fn german(place: &Place, words: &[&str], code: i32) -> Ended {
    let ended = place.sheetport(words).env("LANG", "de_DE.UTF-8").exits(code);
    for output in [&ended.stdout, &ended.stderr] {
        assert!(english(output).is_empty(), "{:?} in\n{output}", english(output));
    }
    ended
}

const PRICES: &str = "\
SKU;Name;Preis;Währung
A-1;Schraube;auf Anfrage;EUR
A-2;Mutter;1,50;EUR
A-2;Scheibe;0,10;EUR
A-3;Stift;1.234,50;Taler
";

#[test]
fn problems_and_counts_are_german() {
    let place = Place::new();
    place.write("preise.csv", PRICES);
    let ended = german(&place, &["check", "preise.csv", "-t", "items"], 3);
    let ended = ended.shows(&[
        "Zu korrigierende Zeilen",
        "„auf Anfrage“ ist keine Zahl",
        "eine Zahl schreiben oder die Zelle leer lassen",
    ]);
    ended.shows(&["zu korrigieren", "4 Datensätze aus 4 Zeilen", "Erklärung: sheetport help"]);
    german(&place, &["check", "preise.csv", "-t", "items", "--plain"], 3);
    german(&place, &["view", "preise.csv"], 0).shows(&["Trennzeichen", "Erste Zeilen"]);
}

#[test]
fn an_upload_is_german_and_its_json_english() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("preise.csv", "SKU;Name;Preis;Währung\nA-1;Schraube;1,20;EUR\n");
    let (address, (access, _)) = (served.url(), served.tokens());
    let run = |words: &[&str]| {
        let command = place.sheetport(words).env("LANG", "de_DE.UTF-8").env("SHEETPORT_BASE_URL", &address);
        command.env("SHEETPORT_ACCESS_TOKEN", &access)
    };
    let ended = run(&["upload", "preise.csv", "-t", "items"]).exits(0);
    let ended = ended.shows(&["1 Datensatz aus 1 Zeile", "gesendet", "vom Dienst angenommen"]);
    assert!(english(&ended.stdout).is_empty() && english(&ended.stderr).is_empty(), "{ended:?}");
    run(&["runs"]).exits(0).shows(&["Datensätze", "fertig"]);
    let json = run(&["upload", "fehlt.csv", "-t", "items", "--json"]).exits(7);
    assert!(json.json()["error"]["message"].as_str().unwrap().contains("can't be opened"), "{json:?}");
    json.says(&["Fehler: fehlt.csv kann nicht geöffnet werden: Datei oder Verzeichnis nicht gefunden"]);
}

#[test]
fn errors_hints_and_the_command_line_are_german() {
    let place = Place::new();
    place.write("preise.csv", PRICES);
    german(&place, &["check", "preise.csv", "-t", "itms"], 2).says(&["Fehler: es gibt keine Vorlage „itms“", "Tipp:"]);
    german(&place, &["runs"], 0).shows(&["noch keine Läufe"]);
    german(&place, &["upload", "preise.csv", "-t", "items"], 2).says(&["es ist keine Adresse des Dienstes gesetzt"]);
    german(&place, &["check", "--flagge"], 2).says(&[
        "Fehler: unerwartetes Argument „--flagge“",
        "Aufruf:",
        "Mehr dazu",
    ]);
    place.write("t.toml", "record = \"item\"\n[fields.prise]\ncolumn = \"Preis\"\n");
    german(&place, &["template", "check", "t.toml"], 2).says(&["Fehler"]);
}

#[test]
fn lists_and_kinds_of_records_in_sentences_are_german() {
    let place = Place::new();
    place.write("liste.csv", "Nummer;Was;Betrag\nA;B;1\n");
    let names =
        ["die Spalte „externalId“ oder „external_id“ oder", "oder eine mit einem von", "„Nummer“, „Was“, „Betrag“"];
    german(&place, &["check", "liste.csv", "-t", "items"], 2).says(&names);
    place.write("preise.csv", "SKU;Name;Preis\nA;B;1.299\nC;D;12.5\nE;F;3,5\n");
    let readings = "diese Spalte hat „12.5“ in Zeile 3 und „3,5“ in Zeile 4; alle Zahlen der Spalte gleich schreiben";
    let ended = german(&place, &["check", "preise.csv", "-t", "items"], 3);
    ended.shows(&["Artikel mit der Vorlage items:", readings]);
}

#[test]
fn help_and_codes_are_german() {
    let place = Place::new();
    for command in ["upload", "check", "export", "serve", "runs", "job"] {
        german(&place, &[command, "-h"], 0).shows(&["Aufruf:", "Optionen:", "Hilfe anzeigen"]);
    }
    german(&place, &["--help"], 0).shows(&["Befehle:", "Exit-Codes:", "Globale Optionen:"]);
    german(&place, &["upload", "--help"], 0).shows(&["Beispiele:", "Globale Optionen:"]);
    german(&place, &["help", "codes"], 0).shows(&["Eine Zelle hat einen Wert der falschen Art"]);
    german(&place, &["help", "not-a-number"], 0).shows(&["Ursache", "Abhilfe", "Die Zelle korrigieren."]);
}

#[test]
fn the_language_is_chosen_by_flag_and_environment() {
    let place = Place::new();
    let runs = |words: &[&str], variables: &[(&str, &str)]| {
        let command = variables.iter().fold(place.sheetport(words), |command, (name, value)| command.env(name, value));
        command.exits(0).stdout.contains("noch keine Läufe")
    };
    assert!(runs(&["runs", "--lang", "de"], &[]));
    assert!(runs(&["--lang=de", "runs"], &[("LANG", "en_US.UTF-8")]));
    assert!(runs(&["runs"], &[("LC_ALL", "de_AT.UTF-8"), ("LANG", "en_US.UTF-8")]));
    assert!(runs(&["runs"], &[("LC_MESSAGES", "de_CH"), ("LANG", "fr_FR")]));
    assert!(runs(&["runs"], &[("SHEETPORT_LANG", "de"), ("LC_ALL", "en_US.UTF-8")]));
    assert!(!runs(&["runs", "--lang", "en"], &[("LANG", "de_DE.UTF-8")]));
    assert!(!runs(&["runs"], &[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]));
    assert!(!runs(&["runs"], &[("LANG", "xx_XX")]));
}
