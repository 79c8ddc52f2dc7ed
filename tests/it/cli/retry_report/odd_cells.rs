//! Unusual cells through reports and back: invisible characters, line endings, and text longer than a workbook's cell. The
//! value is unchanged, or the cell is reported.

use super::super::browser::Browser;
use super::super::office;
use super::super::process::Place;
use super::super::service::Served;
use super::super::{accounting, items, summary};
use super::workbooks::{open, retry, save};
use super::{Sheet, run, said};
use crate::faults::server::{Reply, Server};

/// The characters that text formats have trouble with, each within a text.
const CHARACTERS: [char; 14] = [
    '\0', '\u{1}', '\u{7}', '\u{8}', '\u{b}', '\u{c}', '\u{1b}', '\u{1f}', '\u{7f}', '\u{85}', '\u{200b}', '\u{fdd0}',
    '\u{fffe}', '\u{ffff}',
];
/// What a workbook's way of writing such characters could be taken for.
const ESCAPES: [&str; 2] = ["a_x0041_b", "_x0000_"];

fn names() -> Vec<String> {
    let names = CHARACTERS.iter().map(|c| format!("a{c}b"));
    names.chain(ESCAPES.map(str::to_owned)).collect()
}

/// A file with `names`, each in a row whose price is wrong.
fn sheet(names: &[String]) -> String {
    let rows = names.iter().enumerate().map(|(number, name)| format!("k{number:02},\"{name}\",free,EUR\n"));
    std::iter::once("SKU,Name,Price,Currency\n".to_owned()).chain(rows).collect()
}

fn uploaded() -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", sheet(&names()));
    let ended = served.sheetport(&place, ["upload", "prices.csv", "-t", "items", "--json"]);
    let ended = ended.csv_report("prices.report.csv").exits(3);
    assert_eq!(accounting(&summary(&ended)), "16: rejected 16");
    (place, served)
}

/// The names that the service has, by their keys.
fn taken(served: &Served) -> Vec<String> {
    let listed = served.get("/v1/public/items?page=1&limit=100");
    let mut items: Vec<(String, String)> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| ["external_id", "name"].map(|field| item[field].as_str().unwrap().to_owned()).into())
        .collect();
    items.sort();
    items.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn invisible_characters_survive_a_csv_report() {
    let names = names();
    let (place, served) = uploaded();
    let mut sheet = Sheet::open(&place, "prices.report.csv");
    assert_eq!(sheet.column("Name"), names);
    sheet.replace("free", "1.50").save(&place, "mended.csv");
    // The service takes all but one, and says why.
    let retry = served.sheetport(&place, ["retry", "mended.csv", "--json"]).csv_report("mended.report.csv");
    assert_eq!(accounting(&summary(&retry.exits(3))), "16: sent 15, failed 1");
    assert_eq!(taken(&served), names[1..]);
    let report = Sheet::open(&place, "mended.report.csv");
    assert_eq!(report.column("Name"), names);
    assert!(report.column("sheetport_errors")[0].contains("must not contain NUL"), "{report:?}");
}

#[test]
fn invisible_characters_survive_a_workbook_report() {
    let names = names();
    let (place, served) = uploaded();
    place.sheetport(["report", "-o", "r.xlsx"]).exits(0);
    let mut sheet = open(&place, "r.xlsx");
    assert_eq!(sheet.column("Name"), names);
    sheet.replace("free", "1.50");
    save(&place, "mended.xlsx", &[("prices", &sheet)]);
    let mut file = "mended.xlsx";
    if office::is_there() {
        // The report itself, too, is a workbook that such a program reads to its end.
        for file in ["r.xlsx", file] {
            office::save_again(&place, &place.path(file), office::XLSX);
        }
        assert_eq!(open(&place, "saved/r.xlsx").column("Name"), names);
        file = "saved/mended.xlsx";
    }
    assert_eq!(retry(&place, &served, file, 3), "16: sent 15, failed 1");
    assert_eq!(taken(&served), names[1..]);
}

#[test]
fn invisible_characters_are_visible_in_html() {
    let Some(mut browser) = Browser::start() else { return };
    let (place, _served) = uploaded();
    place.sheetport(["report", "-o", "r.html"]).exits(0);
    browser.open(&place.path("r.html"), "");
    assert_eq!(browser.text("document.getElementById('shown').firstChild.textContent"), "16 rows shown");
    browser.eval("document.querySelectorAll('#list .toggle').forEach((toggle) => toggle.click())");
    let seen = browser.text(
        "[...document.querySelectorAll('.detail .cells > div:nth-child(2) .text')].map((one) => one.textContent).join('|')",
    );
    let shown = |c: &char| match u32::from(*c) {
        // They are no characters at all.
        0xfdd0 | 0xfffe | 0xffff => format!("a{c}b"),
        code => format!("aU+{code:04X}b"),
    };
    let expected: Vec<String> = CHARACTERS.iter().map(shown).chain(ESCAPES.map(str::to_owned)).collect();
    assert_eq!(seen, expected.join("|"));
    assert!(!browser.has("Runtime.exceptionThrown"), "{:?}", browser.events);
}

#[test]
fn skipped_row_stays_skipped_with_any_line_endings() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("t.toml", skipping(&place));
    place.write(
        "prices.csv",
        "SKU,Name,Price,Currency\nx1,\"two\r\nlines\",1,EUR\nk2,\"two\r\nlines\",1,EUR\nk3,Nut,free,EUR\n",
    );
    let ended = served.sheetport(&place, ["upload", "prices.csv", "-t", "t.toml", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&ended)), "3: sent 1, skipped 1, rejected 1");
    place.sheetport(["report", "-o", "r.xlsx"]).exits(0);
    let mut sheet = open(&place, "r.xlsx");
    // As an office program saves it.
    sheet.replace("two\r\nlines", "two\nlines").replace("free", "2");
    save(&place, "mended.xlsx", &[("prices", &sheet)]);
    let ended = served.sheetport(&place, ["retry", "mended.xlsx", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&ended)), "3: sent 1, unchanged 1, skipped 1");
    assert!(!ended.stderr.contains("changed since"), "{ended:?}");
}

/// The template of items, which leaves out those whose SKU begins with an x.
fn skipping(place: &Place) -> String {
    let template = place.sheetport(["template", "show", "items"]).exits(0).stdout;
    let skip = "[sheet]\nskip_where = { column = \"SKU\", matches = \"^x\" }\n";
    template.replacen("[sheet]\n", skip, 1)
}

/// Longer than the 32,767 characters that a workbook's cell can hold, and begins as a formula would.
fn long(begin: &str) -> String {
    format!("{begin}{}the end", "😀 long\r\n".repeat(6_000))
}

/// The names that were sent.
fn sent(server: &Server) -> Vec<String> {
    server.log().iter().map(|seen| said(seen, "name")).collect()
}

/// The mended report as its workbook, or as a text that was made of it; by an office program where there is one.
fn saved(place: &Place, sheet: &Sheet, to: &str) -> String {
    save(place, "mended.xlsx", &[("prices", sheet)]);
    let file = format!("mended.{to}");
    if office::is_there() {
        let filter = if to == "csv" { office::CSV } else { office::XLSX };
        office::save_again(place, &place.path("mended.xlsx"), filter);
        return format!("saved/{file}");
    }
    if to == "csv" {
        sheet.save(place, &file);
    }
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn unedited_cut_text_is_sent_whole() {
    for to in ["xlsx", "csv"] {
        check_sent_whole(to).await;
    }
}

async fn check_sent_whole(to: &str) {
    let texts = [long("a"), long("=b"), long("'=c"), "short".to_owned(), long("e")];
    let place = Place::new();
    place.write("prices.csv", sheet(&texts));
    let server = Server::start(|_| Reply::Accept).await;
    run(&place, &server, &["upload", "prices.csv", "-t", "items", "-q"], 3).await;
    run(&place, &server, &["report", "-o", "r.xlsx"], 0).await;
    let mut sheet = open(&place, "r.xlsx");
    assert_eq!(sheet.column("Name").iter().filter(|name| name.ends_with("… [cut]")).count(), 4);
    // Somebody writes into the cut cell of the last row.
    let changed = sheet.column("Name")[4].replacen("long", "LO", 1);
    sheet.replace("free", "1.50").set(6, "Name", &changed);
    let file = saved(&place, &sheet, to);
    let ended =
        run(&place, &server, &["retry", &file, "--json", "--report", "again.csv", "--concurrency", "1"], 3).await;
    assert_eq!(accounting(&summary(&ended)), "5: sent 4, rejected 1");
    assert_eq!(sent(&server), texts[..4]);
    let report = Sheet::open(&place, "again.csv");
    let error = report.column("sheetport_errors")[4];
    assert!(error.contains("was cut to the length of a workbook's cell") && error.contains(".csv"), "{error}");
    assert_eq!(report.column("sheetport_field")[4], "name");
    // The report of that has the whole texts again, as far as they are known.
    assert_eq!(report.column("Name")[0], texts[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_with_cut_text_are_recognized_by_their_other_cells() {
    let place = Place::new();
    place.write("t.toml", skipping(&place));
    let long = long("");
    let rows = format!("SKU,Name,Price,Currency\nx1,\"{long}\",1,EUR\nk2,\"{long}\",1,EUR\nk3,Nut,free,EUR\n");
    place.write("prices.csv", rows);
    let server = Server::start(|_| Reply::Accept).await;
    run(&place, &server, &["upload", "prices.csv", "-t", "t.toml", "-q"], 3).await;
    run(&place, &server, &["report", "-o", "r.xlsx"], 0).await;
    let sheet = open(&place, "r.xlsx");
    let (cut, text) = (sheet.column("Name")[1].to_owned(), saved(&place, &sheet, "csv"));
    assert!(cut.ends_with("… [cut]"), "{cut}");
    // A text in which one of them is whole.
    let mut mixed = sheet.clone();
    mixed.set(2, "Name", &long).save(&place, "mixed.csv");
    for file in ["r.xlsx", &text, "mixed.csv"] {
        let ended = run(&place, &server, &["retry", file, "--json"], 3).await;
        assert_eq!(accounting(&summary(&ended)), "3: unchanged 1, skipped 1, rejected 1", "{file}");
        assert!(!ended.stderr.contains("changed since"), "{ended:?}");
    }
    // A cut text that is not the beginning of what was uploaded there is a change, and never made whole.
    let mut changed = sheet.clone();
    changed.set(2, "SKU", "k1").set(2, "Name", &cut.replacen("long", "LO", 1)).set(
        3,
        "Name",
        &cut.replacen("long", "LO", 1),
    );
    changed.save(&place, "changed.csv");
    let ended = run(&place, &server, &["retry", "changed.csv", "--json"], 3).await;
    assert_eq!(accounting(&summary(&ended)), "3: unchanged 1, rejected 2");
    ended.says(&["1 row of accepted records was edited"]);
    assert_eq!(server.log().len(), 1);
}

#[test]
fn workbook_with_cut_text_is_not_uploaded() {
    let place = Place::new();
    let served = Served::start(&place);
    let cut = format!("{}… [cut]", "x".repeat(32_760));
    // A text may say so of itself.
    place.write("prices.csv", format!("SKU,Name,Price,Currency\nk0,\"{cut}\",1,EUR\nk1,as he wrote … [cut],1,EUR\n"));
    let checked = place.sheetport(["check", "prices.csv", "-t", "items", "--report", "check.csv", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&checked)), "2: rejected 1, pending 1");
    let sent = served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).exits(3);
    sent.shows(&["was cut to the length of a workbook's cell"]);
    assert_eq!(taken(&served), ["as he wrote … [cut]"]);
    // Where no field is made of it, it does not matter.
    place.write("remarks.csv", format!("SKU,Name,Remark\nk0,Bolt,\"{cut}\"\n"));
    served.sheetport(&place, ["upload", "remarks.csv", "-t", "items", "-q"]).exits(0);
    place.write("plain.csv", items(1));
    served.sheetport(&place, ["upload", "plain.csv", "-t", "items", "-q"]).exits(0);
}

#[test]
fn identifiers_that_lost_zeros_in_a_report_are_taken_from_the_original_file() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", "SKU,Name,Price\n000041,Bolt,1.50\n000042,Nut,two\n4006381333948,Pin,?\n");
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items", "--report", "r.csv", "-q"]).exits(3);
    let mut sheet = Sheet::open(&place, "r.csv");
    for (row, header, text) in [
        (2, "SKU", "41"),
        (2, "Price", "1.5"),
        (3, "SKU", "42"),
        (3, "Price", "2.5"),
        (4, "SKU", "4.00638E+12"),
        (4, "Price", "3.5"),
    ] {
        sheet.set(row, header, text);
    }
    sheet.save(&place, "r.csv");
    let ended = served.sheetport(&place, ["retry", "r.csv", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&ended)), "3: sent 2, unchanged 1");
    ended.says(&["2 cells changed by another program; the original texts are used"]);
    let listed = served.get("/v1/public/items?page=1&limit=100");
    let key = |item: &serde_json::Value| item["external_id"].as_str().unwrap().to_owned();
    let mut keys: Vec<String> = listed["data"].as_array().unwrap().iter().map(key).collect();
    keys.sort();
    assert_eq!(keys, ["000041", "000042", "4006381333948"]);
}
