//! CSV reports follow the locale of the user, so that a spreadsheet program opens them by double click.

use std::fs;

use super::process::Place;
use super::service::Served;
use super::{accounting, column, summary, table};

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The character between the fields of a report, and whether it begins with a byte order mark.
#[track_caller]
fn form(place: &Place, file: &str) -> (char, bool) {
    let bytes = fs::read(place.path(file)).unwrap();
    let title = "sheetport_status";
    let text = String::from_utf8(bytes.strip_prefix(MARK).unwrap_or(&bytes).to_vec()).unwrap();
    (text.strip_prefix(title).unwrap().chars().next().unwrap(), bytes.starts_with(MARK))
}

fn uploaded(delimiter: &str) -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    let rows = "SKU,Name,Price,Currency\n0042,Bolt,free,EUR\n43,Größe,1.10,EUR\n".replace(',', delimiter);
    place.write("prices.csv", rows);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items", "-q"]).exits(3);
    (place, served)
}

#[test]
fn the_locale_decides_and_flags_override_it() {
    let (place, _served) = uploaded(",");
    let (semicolon, comma) = ((';', true), (',', false));
    for (variables, flags, expected) in [
        (&[("LC_ALL", "de_DE.UTF-8")][..], &[][..], semicolon),
        (&[("LC_ALL", "fr_FR.UTF-8")], &[], semicolon),
        (&[("LC_ALL", "es_MX.UTF-8")], &[], (',', true)),
        (&[("LC_ALL", "ja_JP.UTF-8")], &[], (',', true)),
        (&[("LC_ALL", "en_US.UTF-8")], &[], comma),
        (&[("LC_ALL", "C.UTF-8"), ("LANG", "de_DE.UTF-8")], &[], comma),
        (&[("LC_ALL", ""), ("LC_NUMERIC", "de_DE"), ("LANG", "en_US.UTF-8")], &[], semicolon),
        (&[("LC_NUMERIC", ""), ("LANG", "pt_BR.UTF-8")], &[], semicolon),
        (&[("LC_NUMERIC", ""), ("LANG", "")], &[], comma),
        (&[("LC_ALL", "de_DE.UTF-8")], &["--delimiter", "tab"], ('\t', true)),
        (&[("LC_ALL", "de_DE.UTF-8")], &["--bom=false"], (';', false)),
        (&[], &["--bom", "--delimiter", ";"], semicolon),
    ] {
        let command = place.sheetport(["report", "-o", "r.csv"]).args(flags);
        let command = variables.iter().fold(command, |command, (name, value)| command.env(name, value));
        command.exits(0);
        assert_eq!(form(&place, "r.csv"), expected, "{variables:?} {flags:?}");
        fs::remove_file(place.path("r.csv")).unwrap();
    }
    place.sheetport(["report", "-o", "r.csv", "--delimiter", "ab"]).exits(2);
}

#[test]
fn without_a_locale_a_report_is_like_its_file() {
    let (place, _served) = uploaded(";");
    place.sheetport(["report", "-o", "r.csv"]).exits(0);
    assert_eq!(form(&place, "r.csv"), (';', false));
    place.sheetport(["report", "-o", "english.csv"]).env("LC_ALL", "en_GB.UTF-8").exits(0);
    assert_eq!(form(&place, "english.csv"), (',', false));
}

#[test]
fn every_command_follows_the_locale_and_reads_its_reports_back() {
    let (place, served) = uploaded(",");
    let german = |args: &[&str]| served.sheetport(&place, args.iter().copied()).env("LC_ALL", "de_AT.UTF-8");
    german(&["check", "prices.csv", "-t", "items", "--report", "check.csv", "-q"]).exits(3);
    german(&["upload", "prices.csv", "-t", "items", "--report", "upload.csv", "-q"]).exits(3);
    german(&["retry", "upload.csv", "--report", "retry.csv", "-q"]).exits(3);
    for file in ["check.csv", "upload.csv", "retry.csv"] {
        assert_eq!(form(&place, file), (';', true), "{file}");
        let report = table(&place.path(file));
        // Dates and decimals are those of the sheet.
        assert_eq!((column(&report, "Price"), column(&report, "SKU")), (vec!["free", "1.10"], vec!["0042", "43"]));
    }
    let mended = fs::read_to_string(place.path("retry.csv")).unwrap().replace(";free;", ";1.50;");
    place.write("mended.csv", mended);
    let retried = german(&["retry", "mended.csv", "--json", "--report", "last.csv"]).exits(0);
    assert_eq!(accounting(&summary(&retried)), "2: sent 1, unchanged 1");
}

#[test]
fn a_csv_has_english_words_for_programs_and_german_ones_on_request() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("preise.csv", "Artikelnummer;Bezeichnung;Preis\n0042;Schraube;gratis\n43;Mutter;1,10\n");
    let run = |args: &[&str], code| served.sheetport(&place, args.iter().copied()).exits(code);
    let titles = |file: &str| table(&place.path(file))[0].join(",");
    run(&["check", "preise.csv", "-t", "items", "--report", "check.csv", "-q"], 3);
    run(&["upload", "preise.csv", "-t", "items", "--report", "upload.csv", "-q"], 3);
    run(&["report", "1", "-o", "english.csv", "--titles", "en", "-q"], 0);
    run(&["report", "1", "-o", "german.csv", "--titles", "de", "-q"], 0);
    for file in ["check.csv", "upload.csv", "english.csv"] {
        assert!(titles(file).contains("sheetport_errors"), "{file}: {}", titles(file));
        let text = fs::read_to_string(place.path(file)).unwrap();
        assert!(text.contains("rejected") && text.contains("is not a number"), "{text}");
    }
    assert!(titles("german.csv").contains("sheetport_fehler"), "{}", titles("german.csv"));
    // A report is read back in any language.
    let mended = fs::read_to_string(place.path("english.csv")).unwrap().replace("gratis", "1,50");
    place.write("mended.csv", mended);
    let retried = run(&["retry", "mended.csv", "--json", "--report", "last.csv", "--titles", "de"], 0);
    assert_eq!(accounting(&summary(&retried)), "2: sent 1, unchanged 1");
    // No language of which only the titles are known.
    run(&["report", "1", "-o", "x.csv", "--titles", "fr"], 2).says(&["--titles"]);
}
