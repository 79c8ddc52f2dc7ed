//! Round trips: uploading an unchanged export of items changes nothing, whatever its cells contain.

use std::fs;

use serde_json::{Value, json};

use super::process::{Place, name};
use super::service::Served;
use super::{accounting, column, count, office, summary, table};

/// Texts that spreadsheets are known to damage.
pub(super) const TEXTS: &[&str] = &[
    "plain",
    "=1+1",
    "+49 170 123",
    "-5",
    "-5 % off",
    "@SUM(A1)",
    "'=quoted",
    "''-twice",
    "'tis",
    "'",
    "\t=tab",
    "a,b;c\td|e",
    "say \"x\"",
    "\"",
    "two\nlines",
    "two\r\nlines",
    "ends with \\",
    "\\\"",
    " spaces around ",
    "0042",
    "1.50",
    "1e5",
    "1E3",
    "4006381333931",
    "2026-01-02",
    "03/04/2025",
    "TRUE",
    "null",
    "NULL",
    "n/a",
    "#N/A",
    "Ärger 螺丝 🔩",
    "a\u{301}\u{a0}b",
    "sep=;",
    "",
    "😀=",
    "＝1+1",
    "1,234",
    "1.234,50",
    "(5)",
    "10%",
    "€ 5",
    "/",
    "x\u{2028}y",
];

/// Items whose fields contain everything that spreadsheets are known to damage.
fn awkward() -> Vec<Value> {
    let mut items: Vec<Value> = (0..)
        .zip(TEXTS.iter().copied())
        .map(|(number, text)| {
            json!({"externalId": format!("{number:05}"), "name": text, "description": format!("{text}{text}"), "price": 1})
        })
        .collect();
    for external_id in
        ["=1", "+2", "-3", "@4", "'=5", " 6 ", "0007", "8.0", "9e9", "TRUE", "a\nb", "\"", "1234567890123456789"]
    {
        items.push(json!({"externalId": external_id, "name": "known by that"}));
    }
    for digits in ["0", "-0.5", "1234.50", "0.1234567890123456789", "12345678901234567890.12", "1e3", "-7", "0.10"] {
        let number: Value = serde_json::from_str(digits).unwrap();
        let id = format!("n{digits}");
        items.push(
            json!({"externalId": id, "price": number, "purchasePrice": number, "tax": number, "currency": "EUR"}),
        );
    }
    items.push(json!({"externalId": "nothing", "name": null, "price": null, "currency": null, "status": null}));
    items.push(json!({"externalId": "blanks", "name": "", "description": "", "status": ""}));
    items
}

/// Starts a service with these items, and returns their number.
fn serve_awkward_items(place: &Place) -> (Served, u64) {
    let served = Served::start(place);
    let items = awkward();
    for item in &items {
        let answer = served.post("/v1/public/items", &item.to_string());
        assert!(answer.contains("\"ok\":true"), "{item}: {answer}");
    }
    (served, items.len() as u64)
}

#[test]
fn uploading_an_export_changes_nothing() {
    let place = Place::new();
    let (served, len) = serve_awkward_items(&place);
    served.sheetport(&place, ["export", "items", "-o", "before.ndjson", "-q"]).exits(0);
    let before = fs::read_to_string(place.path("before.ndjson")).unwrap();
    for file in ["items.csv", "items.tsv", "items.csv.gz", "items.csv.zst", "items.xlsx", "bom.csv", "pipes.csv"] {
        let more: &[&str] = match file {
            "bom.csv" => &["--bom"],
            "pipes.csv" => &["--delimiter", "|"],
            _ => &[],
        };
        let export = ["export", "items", "-o", file, "-q"];
        served.sheetport(&place, export.iter().chain(more).copied()).exits(0);
        let upload = ["upload", file, "-t", "exported-items", "--json"];
        let unsent = served.sheetport(&place, upload).arg("--changed-only").exits(0);
        assert_eq!(accounting(&summary(&unsent)), format!("{len}: unchanged {len}"), "{file}");
        let sent = served.sheetport(&place, upload).exits(0);
        assert_eq!(accounting(&summary(&sent)), format!("{len}: sent {len}"), "{file}");
        served.sheetport(&place, ["export", "items", "-o", "after.ndjson", "-q"]).exits(0);
        // The service changes an item's updated_at with any of its fields.
        assert_eq!(fs::read_to_string(place.path("after.ndjson")).unwrap(), before, "{file}");
    }
}

#[test]
fn only_edited_rows_of_an_export_are_sent() {
    let place = Place::new();
    let (served, len) = serve_awkward_items(&place);
    served.sheetport(&place, ["export", "items", "-o", "items.csv", "-q"]).exits(0);
    let text = fs::read_to_string(place.path("items.csv")).unwrap();
    let edited = text.replacen(",plain,", ",=changed,", 1).replacen(",1234.50,", ",1234.51,", 1);
    // Without the first column, the file is not recognised as an export.
    let rows = csv::ReaderBuilder::new().has_headers(false).from_reader(edited.as_bytes()).into_records();
    let rows: Vec<Vec<String>> = rows.map(|row| row.unwrap().iter().skip(1).map(str::to_owned).collect()).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().for_each(|row| writer.write_record(row).unwrap());
    place.write("edited.csv", writer.into_inner().unwrap());
    let upload = ["upload", "edited.csv", "-t", "exported-items", "--changed-only", "--json"];
    let ended = summary(&served.sheetport(&place, upload).exits(0));
    assert_eq!(accounting(&ended), format!("{len}: sent 2, unchanged {}", len - 2));
    let again = summary(&served.sheetport(&place, upload).exits(0));
    assert_eq!(accounting(&again), format!("{len}: unchanged {len}"));
    served.sheetport(&place, ["export", "items", "-o", "after.csv", "-q", "--exact"]).exits(0);
    let after = table(&place.path("after.csv"));
    assert_eq!(column(&after, "name")[..3], ["=changed", "=1+1", "+49 170 123"]);
    assert!(column(&after, "price").contains(&"1234.51"));
}

#[test]
fn the_list_is_read_only_if_that_takes_fewer_requests() {
    let place = Place::new();
    let (served, _) = serve_awkward_items(&place);
    let rows = (0..450).map(|number| format!("x{number},{number}\n"));
    place.write("many.csv", std::iter::once("SKU,Price\n".to_owned()).chain(rows).collect::<String>());
    served.sheetport(&place, ["upload", "many.csv", "-t", "items", "-q"]).exits(0);
    // Another home folder has no earlier runs.
    let upload = |file: &str| {
        let args = ["upload", file, "-t", "items", "--changed-only", "--json"];
        let home = place.path("another-home");
        summary(&served.sheetport(&place, args).env("SHEETPORT_HOME", home.to_str().unwrap()).exits(0))
    };
    place.write("one.csv", "SKU,Price\nx401,401.0\n");
    assert_eq!(accounting(&upload("one.csv")), "1: sent 1", "reading a page takes a request, too");
    place.write("hundred.csv", (0..100).fold("SKU,Price\n".to_owned(), |csv, n| csv + &format!("x{n},{n}.00\n")));
    assert_eq!(accounting(&upload("hundred.csv")), "100: unchanged 100");
}

#[test]
fn an_export_without_external_ids_is_refused() {
    let place = Place::new();
    place
        .write("items.csv", "id,name,price,currency,status,updated_at\nu1,Bolt,1.50,EUR,active,2026-01-02T03:04:05Z\n");
    for template in ["exported-items", "items"] {
        let refused = place.sheetport(["check", "items.csv", "-t", template]).exits(2);
        refused.says(&["externalId needs the column", "does not contain the external ids", "add a column external_id"]);
    }
}

#[test]
fn apostrophes_in_other_sheets_are_sent() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("own.csv", "SKU,Name\nA,'=1+1\nB,=1+1\n");
    served.sheetport(&place, ["upload", "own.csv", "-t", "items", "-q"]).exits(0);
    for file in ["items.csv", "items.xlsx"] {
        let exported = served.sheetport(&place, ["export", "items", "-o", file, "--json"]).exits(0).json();
        assert_eq!(count(&exported, "count"), 2);
        // The general template recognises an export by its columns.
        let upload = ["upload", file, "-t", "items", "--changed-only", "--json"];
        assert_eq!(accounting(&summary(&served.sheetport(&place, upload).exits(0))), "2: unchanged 2");
        served.sheetport(&place, ["upload", file, "-t", "items", "-q"]).exits(0);
    }
    served.sheetport(&place, ["export", "items", "-o", "after.csv", "-q", "--exact"]).exits(0);
    let after = table(&place.path("after.csv"));
    let mut names = column(&after, "name");
    names.sort_unstable();
    assert_eq!(names, ["'=1+1", "=1+1"]);
}

#[test]
fn identifiers_that_lost_zeros_are_problems_and_can_be_restored() {
    let place = Place::new();
    let served = Served::start(&place);
    for (key, price) in [("000042", 1.5), ("4006381333948", 2.5), ("B-7", 3.5), ("B-8", 4.5)] {
        served.post("/v1/public/items", &json!({"externalId": key, "name": "n", "price": price}).to_string());
    }
    served.sheetport(&place, ["export", "items", "-o", "items.csv", "-q"]).exits(0);
    let text = fs::read_to_string(place.path("items.csv")).unwrap();
    let saved = text.replacen("000042", "42", 1).replacen("4006381333948", "4.00638E+12", 1);
    // One identifier was moved to another row.
    let saved = saved.replacen("B-7", "B-x", 1).replacen("B-8", "B-7", 1).replacen("B-x", "B-8", 1);
    place.write("items.csv", saved);
    let upload = ["upload", "items.csv", "-t", "exported-items"];
    let ended = served.sheetport(&place, upload).exits(3);
    ended.shows(&[
        "external_id",
        "has lost zeros or digits",
        "--restore-texts",
        "is not the identifier of the item with the id",
    ]);
    let ended = served.sheetport(&place, upload).args(["--restore-texts", "--changed-only", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&ended)), "4: unchanged 2, rejected 2");
    assert_eq!(served.total(), 4);
}

#[test]
fn texts_that_a_spreadsheet_program_changed_are_problems_and_can_be_restored() {
    let place = Place::new();
    let served = Served::start(&place);
    for (key, name, description) in
        [("A-1", "007", "true"), ("A-2", "1E5", "1.10"), ("A-3", "3-5", "plain"), ("A-4", "Bolt", "old")]
    {
        let item = json!({"externalId": key, "name": name, "description": description, "price": 1});
        served.post("/v1/public/items", &item.to_string());
    }
    served.sheetport(&place, ["export", "items", "-o", "items.csv", "-q"]).exits(0);
    let text = fs::read_to_string(place.path("items.csv")).unwrap();
    let changes =
        [("007", "7"), ("true", "TRUE"), ("1E5", "1.00E+05"), ("1.10", "1.1"), ("3-5", "03.05.2026"), ("old", "new")];
    let saved =
        changes.iter().fold(text, |text, (from, to)| text.replacen(&format!(",{from},"), &format!(",{to},"), 1));
    place.write("items.csv", saved);
    let upload = ["upload", "items.csv", "-t", "exported-items"];
    let ended = served.sheetport(&place, upload).args(["--changed-only"]).exits(3);
    ended.shows(&[
        "name such as '7' was changed by a spreadsheet program",
        "the service lists '007'",
        "--restore-texts",
    ]);
    let ended = served.sheetport(&place, upload).args(["--restore-texts", "--changed-only", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&ended)), "4: unchanged 4");
}

#[test]
fn texts_encoded_twice_and_rounded_numbers_are_problems_and_can_be_restored() {
    let place = Place::new();
    let served = Served::start(&place);
    for (key, name, price) in
        [("0Ä-1", "Größe Á", "0.1234567890123456789"), ("A-2", "螺丝 🔩", "1"), ("007", "Bolt", "2")]
    {
        let price: Value = serde_json::from_str(price).unwrap();
        let item = json!({"externalId": key, "name": name, "price": price, "currency": "EUR"});
        served.post("/v1/public/items", &item.to_string());
    }
    served.sheetport(&place, ["export", "items", "-o", "items.csv", "-q", "--bom"]).exits(0);
    // A program took UTF-8 for Windows-1252, kept the mark as a text, and rounded numbers.
    let bytes = fs::read(place.path("items.csv")).unwrap();
    let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&bytes);
    assert!(text.starts_with("ï»¿id,"), "{text}");
    let saved = text.replacen("0.1234567890123456789", "0.123456789012346", 1).replacen(",007,", ",7,", 1);
    place.write("items.csv", saved);
    let upload = ["upload", "items.csv", "-t", "exported-items", "--changed-only"];
    let ended = served.sheetport(&place, upload).exits(3);
    ended.shows(&[
        "was changed by a spreadsheet program: the item",
        "has lost zeros or digits",
        "'0Ä-1'",
        "'螺丝 🔩'",
        "--restore-texts",
    ]);
    assert_eq!(served.total(), 3);
    let ended = served.sheetport(&place, upload).args(["--restore-texts", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&ended)), "3: unchanged 3");
    // Only the number differs.
    served.sheetport(&place, ["export", "items", "-o", "items.csv", "-q", "--replace"]).exits(0);
    let text = fs::read_to_string(place.path("items.csv")).unwrap();
    place.write("items.csv", text.replacen("0.1234567890123456789", "0.123456789012346", 1));
    let ended = served.sheetport(&place, upload).exits(3);
    ended.shows(&["was rounded by a spreadsheet program", "the service lists 0.1234567890123456789"]);
    place.write("items.csv", text.replacen("0.1234567890123456789", "0.123456789012347", 1));
    let ended = served.sheetport(&place, upload).arg("--json").exits(0);
    assert_eq!(accounting(&summary(&ended)), "3: sent 1, unchanged 2");
}

#[test]
fn an_untouched_export_that_an_office_program_saved_sends_nothing() {
    if !office::is_there() {
        return;
    }
    let place = Place::new();
    let (served, len) = serve_awkward_items(&place);
    served.sheetport(&place, ["export", "items", "-o", "items.csv", "-q", "--bom"]).exits(0);
    // Without its import dialog, the program takes UTF-8 for Windows-1252.
    for (folder, from) in [("dialog", Some(office::FROM_CSV)), ("guessed", None)] {
        let folder = place.path(folder);
        office::import_and_save(&place, &[name(&place.path("items.csv"))], from, office::CSV, &folder);
        let saved = folder.join("items.csv");
        let upload = ["upload", name(&saved), "-t", "exported-items", "--changed-only", "--json"];
        let ended = summary(&served.sheetport(&place, upload).exits(3));
        assert_eq!((count(&ended, "sent"), count(&ended, "failed")), (0, 0), "{ended}");
        assert_eq!(count(&ended, "unchanged") + count(&ended, "rejected"), len);
        let restored = summary(&served.sheetport(&place, upload).arg("--restore-texts").exits(0));
        assert_eq!(accounting(&restored), format!("{len}: unchanged {len}"), "{from:?}");
    }
}
