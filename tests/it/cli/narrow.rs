//! What people see in a narrow terminal, and in a plain one. The terminal is tmux.

#![cfg(unix)]

use super::german::english;
use super::process::Place;
use super::service::Served;
use super::tmux::Terminal;

const COLUMNS: u16 = 60;

/// Returns what a terminal shows after a command, with the lines as they were written; `None` with a message without tmux.
fn shown(place: &Place, words: &str) -> Option<Vec<String>> {
    shown_with(place, &[], words)
}

fn shown_with(place: &Place, variables: &[(&str, &str)], words: &str) -> Option<Vec<String>> {
    Some(Terminal::open(place, COLUMNS, variables, words)?.lines_at_end())
}

/// Asserts that each line fits, except those with a command, which is to be copied.
#[track_caller]
fn fits(lines: &[String]) {
    for line in lines {
        let has_command = line.contains("Next") || line.starts_with("next") || line.starts_with("hint");
        let has_command = has_command || line.contains("Weiter") || line.starts_with("Tipp");
        assert!(has_command || line.chars().count() <= usize::from(COLUMNS), "{line:?} in\n{}", lines.join("\n"));
    }
}

const PRICES: &str = "\
SKU,Name,Description,Price,Currency,Status
A-1,Hex bolt M8 x 40 zinc plated,\"For wood, metal and everything else that needs to be held together\",12.90,EUR,active
A-2,Hex nut M8 zinc plated,\"Fits the bolt of the same size, and several others of this list\",on request,EUR,active
A-2,Washer M8,Round,0.10,EUR,sold out everywhere for a long time
";

#[test]
fn lines_fit_into_sixty_columns() {
    let place = Place::new();
    place.write("prices.csv", PRICES);
    let Some(lines) = shown(&place, "check prices.csv -t items") else { return };
    fits(&lines);
    let text = lines.join("\n");
    assert!(text.contains("needs fixing") && text.contains("on request"), "{text}");
    place.write("p.csv", "Bestell-Nr;Was;VK netto\nA-1;Schraube;1,50\nA-2;Mutter;2,50\n");
    fits(&shown(&place, "template infer p.csv --record item -o p.toml").unwrap());
    fits(&shown(&place, "view p.csv").unwrap());
}

const PREISE: &str = "\
Artikelnummer;Bezeichnung;Beschreibung;Preis;Währung;Status
A-1;Sechskantschraube M8 x 40 verzinkt;Für Holz, Metall und alles andere, was zusammenhalten muss;12,90;EUR;active
A-2;Sechskantmutter M8 verzinkt;Passt zur Schraube gleicher Größe und zu mehreren anderen;auf Anfrage;EUR;active
A-2;Scheibe M8;Rund;0,10;Taler;active
";

#[test]
fn german_lines_fit_into_sixty_columns_without_color_or_english() {
    let place = Place::new();
    place.write("preise.csv", PREISE);
    let german = |words: &str| shown_with(&place, &[("LANG", "de_DE.UTF-8"), ("NO_COLOR", "1")], words);
    let Some(lines) = german("check preise.csv -t items") else { return };
    fits(&lines);
    let text = lines.join("\n");
    assert!(text.contains("zu korrigieren") && text.contains("„auf Anfrage“"), "{text}");
    for words in ["view preise.csv", "template infer preise.csv --record item -o p.toml", "runs", "help not-a-number"] {
        let lines = german(words).unwrap();
        fits(&lines);
        assert!(english(&lines.join("\n")).is_empty(), "{words}: {:?} in {lines:#?}", english(&lines.join("\n")));
    }
}

#[test]
fn an_upload_and_its_report_fit_into_sixty_columns() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", PRICES);
    let (address, (access, _)) = (served.url(), served.tokens());
    let variables = [("SHEETPORT_BASE_URL", address.as_str()), ("SHEETPORT_ACCESS_TOKEN", access.as_str())];
    let Some(lines) = shown_with(&place, &variables, "upload prices.csv -t items") else { return };
    fits(&lines);
    assert!(lines.iter().any(|line| line.contains("1  sent")), "{lines:#?}");
    fits(&shown(&place, "runs").unwrap());
    fits(&shown(&place, "report 1 -o report.html").unwrap());
}

#[test]
fn a_plain_terminal_gets_words_only() {
    let place = Place::new();
    place.write("prices.csv", PRICES);
    let plain = [
        shown(&place, "check prices.csv -t items --plain"),
        shown_with(&place, &[("SHEETPORT_PLAIN", "1")], "check prices.csv -t items"),
    ];
    for lines in plain.into_iter().flatten() {
        let text = lines.join("\n");
        assert!(!text.contains(['━', '█', '░', '│', '─', '▌', '▒']), "{text}");
        assert!(text.contains("price") && text.contains("needs fixing"), "{text}");
    }
}
