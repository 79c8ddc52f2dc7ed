//! `--append`: one file that gets the changes of each export.

use std::fs;

use serde_json::Value;

use super::lists::Lists;
use super::process::Place;
use super::{count, table};

const APPEND: [&str; 6] = ["export", "items", "-o", "deltas.csv", "--since", "last"];

fn item(id: &str, name: &str, price: &str) -> String {
    format!(r#"{{"id":"{id}","name":"{name}","price":{price}}}"#)
}

/// Appends, and returns the summary.
#[track_caller]
fn append(lists: &Lists, place: &Place, file: &str) -> Value {
    lists.sheetport(place, ["export", "items", "-o", file, "--since", "last", "--append", "--json"]).exits(0).json()
}

/// Appends in vain. The file stays as it is.
#[track_caller]
fn refused(lists: &Lists, place: &Place, flags: &[&str], says: &[&str]) {
    let before = fs::read(place.path("deltas.csv")).ok();
    let words = APPEND.iter().chain(&["--append"]).chain(flags).copied();
    lists.sheetport(place, words).exits(2).says(says);
    assert_eq!(fs::read(place.path("deltas.csv")).ok(), before);
}

/// Returns id and name of each row.
fn names(place: &Place) -> Vec<String> {
    let rows = table(&place.path("deltas.csv"));
    let places = ["id", "name"].map(|name| rows[0].iter().position(|header| header == name).unwrap());
    rows[1..].iter().map(|row| places.map(|place| row[place].as_str()).join(" ")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_export_adds_its_changes_to_one_file() {
    let place = Place::new();
    let lists = Lists::start().await;
    for file in ["deltas.csv", "deltas.tsv", "deltas.ndjson", "deltas.csv.gz", "deltas.csv.zst", "deltas.ndjson.gz"] {
        lists.set("items", [item("a", "Bolt", "1.50"), item("b", "=Nut", "2")]);
        let first = append(&lists, &place, file);
        assert_eq!([count(&first, "count"), count(&first, "rows_before")], [2, 0]);
        lists.set("items", [item("b", "Nut", "2.25"), item("c", "Pin, long", "3"), item("a", "Bolt", "1.50")]);
        let second = append(&lists, &place, file);
        assert_eq!([count(&second, "count"), count(&second, "rows_before"), count(&second, "older")], [2, 2, 1]);
        let before = fs::metadata(place.path(file)).unwrap().modified().unwrap();
        let third = append(&lists, &place, file);
        assert_eq!([count(&third, "count"), count(&third, "rows_before")], [0, 4]);
        assert_eq!(fs::metadata(place.path(file)).unwrap().modified().unwrap(), before, "nothing to append");
        // Removed records are counted.
        lists.set("items", [item("a", "Bolts", "1.50")]);
        assert_eq!(
            append(&lists, &place, file)["changes"],
            serde_json::json!({"added": 0, "changed": 1, "removed": 2})
        );
        let viewed = place.sheetport(["view", file, "--csv"]).exits(0);
        let shown: Vec<String> = match file.contains("ndjson") {
            true => continue,
            false => viewed.stdout.lines().map(|line| line.split(",,").next().unwrap().to_owned()).collect(),
        };
        assert_eq!(shown[1..].len(), 5, "{file}: {shown:?}");
        let manifest: Value =
            serde_json::from_slice(&fs::read(place.path(&format!("{file}.manifest.json"))).unwrap()).unwrap();
        assert_eq!([count(&manifest, "rows_before"), count(&manifest, "rows")], [4, 1]);
        assert_eq!(manifest["bytes"], fs::metadata(place.path(file)).unwrap().len());
    }
    assert_eq!(names(&place), ["a Bolt", "b '=Nut", "b Nut", "c Pin, long", "a Bolts"]);
    let lines = fs::read_to_string(place.path("deltas.ndjson")).unwrap();
    assert_eq!(lines.lines().last(), Some(item("a", "Bolts", "1.50").as_str()));
    assert_eq!(lines.lines().count(), 5);
    // Another command would replace it.
    lists.sheetport(&place, APPEND).exits(2).says(&["has the changes of several exports", "add --append"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_has_been_moved_away_begins_again_with_its_columns() {
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", [r#"{"id":"a","name":"Bolt","zinc":7,"colour":"red"}"#]);
    append(&lists, &place, "deltas.csv");
    let header = table(&place.path("deltas.csv")).remove(0);
    for emptied in [false, true] {
        match emptied {
            false => fs::rename(place.path("deltas.csv"), place.path("taken.csv")).unwrap(),
            true => fs::write(place.path("deltas.csv"), "").unwrap(),
        }
        let name = if emptied { "Nut" } else { "Pin" };
        lists.set("items", [r#"{"id":"a","name":"Bolt","zinc":7,"colour":"red"}"#.to_owned(), item("b", name, "1")]);
        assert_eq!(count(&append(&lists, &place, "deltas.csv"), "rows_before"), 0);
        assert_eq!(table(&place.path("deltas.csv")).remove(0), header);
        assert_eq!(names(&place), [format!("b {name}")]);
    }
    // A further field has no column, and fields that are gone are blank.
    lists.set("items", [r#"{"id":"a","size":{"mm":8},"colour":"blue"}"#]);
    refused(&lists, &place, &[], &["deltas.csv has no column size.mm, so nothing is appended", "nothing is lost"]);
    refused(&lists, &place, &[], &["has no column size.mm"]);
    fs::remove_file(place.path("deltas.csv")).unwrap();
    append(&lists, &place, "deltas.csv");
    let rows = table(&place.path("deltas.csv"));
    assert_eq!(rows[0][..header.len()], header);
    assert_eq!(rows[0][header.len()..], ["size.mm"]);
    assert_eq!((rows.len(), rows[1].last().map(String::as_str)), (2, Some("8")));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_appended_to_a_file_that_has_changed() {
    let place = Place::new();
    let lists = Lists::start().await;
    place.write("deltas.csv", "id,name\r\nx,Mine\r\n");
    lists.set("items", [item("a", "Bolt", "1"), item("b", "Nut", "2")]);
    refused(&lists, &place, &[], &["deltas.csv is not the file of an earlier export to this name", "another name"]);
    fs::remove_file(place.path("deltas.csv")).unwrap();
    append(&lists, &place, "deltas.csv");
    let written = fs::read_to_string(place.path("deltas.csv")).unwrap();
    let mut sorted: Vec<&str> = written.lines().collect();
    sorted[1..].reverse();
    lists.set("items", [item("a", "Bolts", "1"), item("b", "Nut", "2")]);
    for changed in [
        sorted.join("\r\n") + "\r\n",
        written.replace("Bolt", "Bold"),
        written.trim_end().to_owned(),
        format!("{written}c,Added,3\r\n"),
        written.lines().next().unwrap().to_owned(),
        written.replace(',', ";"),
    ] {
        place.write("deltas.csv", &changed);
        refused(&lists, &place, &[], &["deltas.csv has changed since the last export wrote to it", "nothing is lost"]);
    }
    // Moved away, it is followed by all changes since then.
    fs::rename(place.path("deltas.csv"), place.path("mine.csv")).unwrap();
    append(&lists, &place, "deltas.csv");
    assert_eq!(names(&place), ["a Bolts"]);
    // Without the records of the last export, all would count as new.
    for folder in fs::read_dir(place.path("home/exports")).unwrap().flatten() {
        for file in fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.path()) {
            if file.to_string_lossy().contains("records-") {
                fs::write(file, "damaged").unwrap();
            }
        }
    }
    refused(&lists, &place, &[], &["deltas.csv can't be compared with the last export, whose records are gone"]);
    fs::remove_dir_all(place.path("home/exports")).unwrap();
    refused(&lists, &place, &[], &["deltas.csv is not the file of an earlier export"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_look_of_the_file_is_kept() {
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", [item("a", "Bolt", "1.5")]);
    let first = APPEND.iter().chain(&["--append", "--locale", "de", "--bom", "-q"]).copied();
    lists.sheetport(&place, first).exits(0);
    lists.set("items", [item("a", "=Bolt", "2.5"), item("b", "Nut;s", "3.5")]);
    append(&lists, &place, "deltas.csv");
    let text = fs::read_to_string(place.path("deltas.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("\u{feff}id;") && lines[2].contains("2,5") && lines[3].contains("\"Nut;s\""),
        "{text}"
    );
    assert_eq!((lines.len(), text.matches('\u{feff}').count()), (4, 1));
    lists.set("items", [item("a", "=Bolt", "7")]);
    refused(&lists, &place, &["--delimiter", "|"], &["was begun with other values of --delimiter, --locale"]);
    // A template's columns are those of the file, too.
    place.write("t.toml", "[[columns]]\nfield = \"name\"\nname = \"Artikel\"\n");
    refused(&lists, &place, &["-t", "t.toml"], &["has no column Artikel"]);
    let flags = ["export", "items", "-o", "t.csv", "--since", "last", "--append", "-t", "t.toml", "-q"];
    lists.sheetport(&place, flags).exits(0);
    lists.set("items", [item("a", "Bolt", "7")]);
    lists.sheetport(&place, flags).exits(0);
    assert_eq!(fs::read_to_string(place.path("t.csv")).unwrap(), "Artikel\r\n'=Bolt\r\nBolt\r\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_export_before_is_the_beginning_and_an_incomplete_one_adds_nothing() {
    let place = Place::new();
    let lists = Lists::start().await;
    let records = |count: usize, name: &str| (0..count).map(|id| item(&id.to_string(), name, "1")).collect::<Vec<_>>();
    lists.set("items", records(20, "Bolt"));
    lists.sheetport(&place, ["export", "items", "-o", "deltas.csv", "-q"]).exits(0);
    let before = fs::read(place.path("deltas.csv")).unwrap();
    lists.set("items", records(5, "Bolts"));
    let flags = ["--append", "--min-ratio", "0.8", "--json"];
    let words = || APPEND.iter().chain(&flags).copied();
    let incomplete = lists.sheetport(&place, words()).exits(8).json();
    assert_eq!(incomplete["rows_before"], Value::Null);
    assert_eq!(fs::read(place.path("deltas.csv")).unwrap(), before);
    assert_eq!(table(&place.path("deltas.csv.incomplete")).len(), 6, "the changes alone");
    lists.set("items", records(21, "Bolt"));
    assert_eq!(count(&lists.sheetport(&place, words()).exits(0).json(), "rows_before"), 20);
    assert!(!place.path("deltas.csv.incomplete").exists());
    assert_eq!(names(&place).len(), 21);
    // Nothing is printed when all is well.
    lists.set("items", records(22, "Bolt"));
    let quiet = lists.sheetport(&place, APPEND.iter().chain(&["--append", "-q"]).copied()).exits(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    lists.set("items", records(23, "Bolt"));
    let told = lists.sheetport(&place, APPEND.iter().chain(&["--append"]).copied()).exits(0);
    told.shows(&["1 items appended to deltas.csv, after 22 rows"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_day_and_each_list_has_a_file_of_its_own() {
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", [item("a", "Bolt", "1")]);
    lists.set("companies", [r#"{"id":"b","name":"Acme"}"#]);
    let words = ["export", "items", "companies", "-o", "{kind}-{date}.csv", "--since", "last", "--append", "-q"];
    lists.sheetport(&place, words).exits(0);
    lists.set("companies", [r#"{"id":"b","name":"Acme Ltd"}"#]);
    lists.sheetport(&place, words).exits(0);
    let day = jiff::Zoned::now().date();
    let rows = |kind: &str| table(&place.path(&format!("{kind}-{day}.csv"))).len();
    assert_eq!([rows("items"), rows("companies")], [2, 3]);
}

#[test]
fn appending_needs_changes_and_a_text_file() {
    let place = Place::new();
    for (args, message) in [
        (&["-o", "a.csv", "--append"][..], "--since"),
        (&["-o", "a.csv", "--append", "--since", "2026-01-01"], "add --since last"),
        (&["-o", "a.xlsx", "--append", "--since", "last"], "--append can't extend a workbook"),
        (&["-o", "a-{time}.csv", "--append", "--since", "last"], "leave out --append, or {time}"),
        (&["-o", "-", "--append", "--since", "last"], "standard output has no previous export"),
    ] {
        let refused = place.sheetport(["export", "items", "--base-url", "http://localhost:1"].iter().chain(args));
        refused.exits(2).says(&[message]);
    }
}
