//! `--fill-blank` writes only fields that are blank in the service.

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{accounting, column, summary, table};

/// A-2 has no name, and A-3 no price.
const BEFORE: &str = "SKU,Name,Price\nA-1,Bolt,1\nA-2,,2\nA-3,Pin,\n";
/// A-4 is new.
const AFTER: &str = "SKU,Name,Price\nA-1,Other,9\nA-2,Nut,9\nA-3,Other,9\nA-4,Cap,9\n";

fn desk(words: &[&str]) -> (Place, Served) {
    let place = Place::new();
    place.write("faults.toml", "[[fault]]\nkey = \"X-1\"\nanswer = { status = 422, message = \"no\" }\n");
    let served = Served::start_with(&place, 0, words);
    place.write("old.csv", BEFORE);
    place.write("new.csv", AFTER);
    let template = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\non_blank = \"null\"\n\
                    [fields.price]\ncolumn = \"Price\"\non_blank = \"null\"\n";
    place.write("t.toml", template);
    place.write("fill.toml", format!("fill_blank = true\n{template}"));
    served.sheetport(&place, ["upload", "old.csv", "-t", "t.toml", "-q"]).exits(0);
    (place, served)
}

fn items(served: &Served) -> Vec<String> {
    let list = served.get("/v1/public/items?limit=100");
    let item = |item: &Value| {
        format!("{} {} {}", item["external_id"].as_str().unwrap(), item["name"].as_str().unwrap_or("-"), item["price"])
    };
    let mut items: Vec<String> = list["data"].as_array().unwrap().iter().map(item).collect();
    items.sort();
    items
}

const FILLED: [&str; 4] = ["A-1 Bolt 1", "A-2 Nut 2", "A-3 Pin 9", "A-4 Cap 9"];

#[test]
fn only_blank_fields_are_written() {
    for (template, flags) in [("t.toml", &["--fill-blank"][..]), ("fill.toml", &[])] {
        let (place, served) = desk(&[]);
        let upload = [&["upload", "new.csv", "-t", template, "--report", "r.csv", "--json"], flags].concat();
        let told = summary(&served.sheetport(&place, upload).exits(0));
        assert_eq!(accounting(&told), "4: sent 3, unchanged 1");
        assert_eq!(items(&served), FILLED);
        assert_eq!(column(&table(&place.path("r.csv")), "sheetport_status"), ["unchanged", "sent", "sent", "sent"]);
    }
}

#[test]
fn white_space_is_blank_and_other_text_is_not() {
    let (place, served) = desk(&[]);
    for (name, filled) in [("\n", "Nut"), (" \t\r\n", "Nut"), ("\u{a0}", "Nut"), ("\\n", "\\n"), ("\"", "\"")] {
        served.post("/v1/public/items", &json!({"externalId": "A-2", "name": name}).to_string());
        served.sheetport(&place, ["upload", "new.csv", "-t", "t.toml", "--fill-blank"]).exits(0);
        assert_eq!(items(&served)[1], format!("A-2 {filled} 2"), "{name:?}");
    }
}

#[test]
fn a_plan_shows_what_is_filled_in() {
    let (place, served) = desk(&[]);
    let plan = ["plan", "new.csv", "-t", "t.toml", "--fill-blank", "-o", "c.csv", "--json"];
    let told = served.sheetport(&place, plan).exits(0).json();
    let found = ["new", "changed", "unchanged"].map(|count| told["changes"][count].as_u64().unwrap());
    assert_eq!(found, [1, 2, 1], "{told}");
    // Somebody fills A-3 in meanwhile.
    served.post("/v1/public/items", r#"{"externalId":"A-3","price":3}"#);
    let told = summary(&served.sheetport(&place, ["apply", "c.csv", "--json"]).exits(3));
    assert_eq!(accounting(&told), "4: sent 2, unchanged 1, skipped 1");
    assert_eq!(items(&served), ["A-1 Bolt 1", "A-2 Nut 2", "A-3 Pin 3", "A-4 Cap 9"]);
}

#[test]
fn a_stopped_upload_fills_blanks_when_it_goes_on() {
    let (place, served) = desk(&[]);
    let upload = served.sheetport(&place, ["upload", "new.csv", "-t", "t.toml", "--fill-blank"]);
    upload.without("SHEETPORT_REFRESH_TOKEN").secret("SHEETPORT_ACCESS_TOKEN", super::superseded::REFUSED).run();
    served.sheetport(&place, ["resume", "2"]).exits(0);
    assert_eq!(items(&served), FILLED);
}

#[test]
fn what_is_not_shown_is_not_written() {
    let (place, served) = desk(&["--literal"]);
    place.write("d.csv", "SKU,Name,Price,Description\nA-1,Other,9,zinc\nA-2,Nut,9,zinc\n");
    place.write("d.toml", "extends = \"t.toml\"\n[fields.description]\ncolumn = \"Description\"\n");
    // Both records are known by the ids that the service has answered.
    let told =
        served.sheetport(&place, ["upload", "d.csv", "-t", "d.toml", "--fill-blank", "--report", "r.csv"]).exits(0);
    // It shows no field without a value either.
    told.says(&["not written, because the service does not show whether they are blank: description, name"]);
    assert_eq!(column(&table(&place.path("r.csv")), "sheetport_status"), ["skipped", "skipped"]);
    let shown = place.sheetport(["serve", "show", "--data", "service", "items", "A-2", "--json"]).exits(0).json();
    let item = &shown["records"][0];
    assert_eq!((&item["name"], &item["description"]), (&Value::Null, &Value::Null), "{shown}");
    let refused = served.sheetport(&place, ["upload", "new.csv", "-t", "t.toml", "--fill-blank"]).run();
    assert_ne!(refused.code, Some(0));
    refused.says(&["it is not known which fields are blank in the service", "leave out --fill-blank"]);
}

#[test]
fn records_that_are_not_changed_have_no_blank_fields() {
    let (place, served) = desk(&[]);
    for (template, words) in
        [("invoices", "invoices are created, and never changed"), ("transactions", "has to write transactionType")]
    {
        let refused = served.sheetport(&place, ["upload", "new.csv", "-t", template, "--fill-blank"]).exits(2);
        refused.says(&["--fill-blank is not possible", words]);
    }
}

/// An unchanged record has not been sent, and says nothing about its values.
#[test]
fn an_older_upload_is_not_superseded_by_filled_fields() {
    let (place, served) = desk(&[]);
    place.write("older.csv", "SKU,Name,Price\nA-1,Bolt,5\n");
    let stopped = served.sheetport(&place, ["upload", "older.csv", "-t", "t.toml"]);
    stopped.without("SHEETPORT_REFRESH_TOKEN").secret("SHEETPORT_ACCESS_TOKEN", super::superseded::REFUSED).exits(5);
    served.sheetport(&place, ["upload", "new.csv", "-t", "t.toml", "--fill-blank"]).exits(0);
    let told = summary(&served.sheetport(&place, ["resume", "2", "--json"]).exits(0));
    assert_eq!(accounting(&told), "1: sent 1");
    assert_eq!(items(&served)[0], "A-1 Bolt 5");
}

/// Somebody fills a field in while the run is stopped.
#[test]
fn a_resumed_upload_looks_again_at_what_is_blank() {
    let (place, served) = desk_with_a_refusal();
    served.sheetport(&place, STOPPED.iter().chain(&["--fill-blank"]).copied()).exits(9);
    served.post("/v1/public/items", r#"{"externalId":"A-3","price":3}"#);
    served.sheetport(&place, ["resume", "2", "--max-errors", "1"]).exits(3);
    assert_eq!(items(&served)[2..], ["A-3 Pin 3", "A-6 Cap 9"]);
}

/// Somebody creates a record while the run is stopped.
#[test]
fn a_resumed_upload_looks_again_at_what_is_new() {
    let (place, served) = desk_with_a_refusal();
    served.sheetport(&place, STOPPED.iter().chain(&["--only", "new"]).copied()).exits(9);
    served.post("/v1/public/items", r#"{"externalId":"A-6","name":"Own","price":3}"#);
    served.sheetport(&place, ["resume", "2", "--max-errors", "1"]).exits(3);
    assert_eq!(items(&served)[2..], ["A-3 Pin null", "A-6 Own 3"]);
}

#[test]
fn a_corrected_report_is_filled_in_as_asked() {
    let (place, served) = desk(&[]);
    place.write("wrong.csv", "SKU,Name,Price\nA-1,Other,abc\nA-2,Nut,9\n");
    let upload = ["upload", "wrong.csv", "-t", "t.toml", "--fill-blank", "--report", "r.csv"];
    served.sheetport(&place, upload).exits(3);
    let fixed = std::fs::read_to_string(place.path("r.csv")).unwrap().replace("abc", "9");
    for (template, flags) in [("t.toml", &["--fill-blank"][..]), ("fill.toml", &[])] {
        place.write("fixed.csv", &fixed);
        let upload = [&["upload", "fixed.csv", "-t", template, "--yes"], flags].concat();
        served.sheetport(&place, upload).exits(0);
        assert_eq!(items(&served)[..2], FILLED[..2]);
    }
}

#[test]
fn workers_fill_nothing_in() {
    let (place, served) = desk(&[]);
    for (template, flags) in [("t.toml", &["--fill-blank"][..]), ("fill.toml", &[])] {
        let upload = [&["upload", "new.csv", "-t", template, "--queue"], flags].concat();
        served.sheetport(&place, upload).exits(2).says(&["workers send later without a look", "leave out --queue"]);
    }
}

/// Stops after its first record.
const STOPPED: [&str; 8] = ["upload", "stop.csv", "-t", "t.toml", "--concurrency", "1", "--max-errors", "0"];

fn desk_with_a_refusal() -> (Place, Served) {
    let (place, served) = desk(&["--plan", "faults.toml"]);
    place.write("stop.csv", "SKU,Name,Price\nX-1,Cap,9\nA-3,Other,9\nA-6,Cap,9\n");
    (place, served)
}
