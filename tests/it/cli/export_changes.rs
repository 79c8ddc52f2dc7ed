//! `--changes`: a list of what was added, changed and removed since the previous export.

use std::fs;

use serde_json::{Value, json};

use super::lists::Lists;
use super::process::Place;
use super::{office, table};

const NIGHTLY: [&str; 6] = ["export", "items", "-o", "items.csv", "--changes", "changes.csv"];

/// Exports, moves the list of changes away, and returns its rows without the header, if there is a list.
#[track_caller]
fn changes(lists: &Lists, place: &Place) -> Option<Vec<Vec<String>>> {
    lists.sheetport(place, NIGHTLY.iter().copied().chain(["-q"])).exits(0);
    taken(place)
}

#[track_caller]
fn taken(place: &Place) -> Option<Vec<Vec<String>>> {
    let path = place.path("changes.csv");
    let rows = path.exists().then(|| table(&path));
    rows.map(|rows| {
        fs::remove_file(path).unwrap();
        rows[1..].to_vec()
    })
}

fn rows(expected: &[&[&str]]) -> Option<Vec<Vec<String>>> {
    Some(expected.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect())
}

fn item(id: &str, name: &str, price: &str) -> String {
    format!(r#"{{"id":"{id}","name":"{name}","price":{price},"updated_at":"2026-11-0{}T00:00:00Z"}}"#, name.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn added_changed_and_removed_records_are_listed_with_their_values() {
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", [item("a", "Bolt", "1.50"), item("b", "Nut", "2"), item("c", "Pin", "3")]);
    let first = lists.sheetport(&place, NIGHTLY).exits(0);
    first.says(&["no changes of items are listed, because no earlier export to this name with --changes"]);
    assert_eq!(taken(&place), None, "nothing is known about the time before");

    lists.set("items", [item("d", "=New", "4"), item("b", "Nuts", "2.5"), item("a", "Bolt", "1.50")]);
    let second = lists.sheetport(&place, NIGHTLY).exits(0);
    second.shows(&["since the last export: 1 added, 1 changed, 1 removed, listed in changes.csv"]);
    let header = table(&place.path("changes.csv"))[0].join(",");
    assert_eq!(header, "change,id,field,before,after,name,price,currency,status,updated_at");
    let manifest: Value = serde_json::from_slice(&fs::read(place.path("items.csv.manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["changes_file"], "changes.csv");
    assert_eq!(manifest["changes"], json!({"added": 1, "changed": 1, "removed": 1}));
    let listed = rows(&[
        &["added", "d", "", "", "", "'=New", "4", "", "", "2026-11-04T00:00:00Z"],
        &["changed", "b", "name", "Nut", "Nuts", "Nuts", "2.5", "", "", "2026-11-04T00:00:00Z"],
        &["changed", "b", "price", "2", "2.5", "Nuts", "2.5", "", "", "2026-11-04T00:00:00Z"],
        &["removed", "c", "", "", "", "Pin", "3", "", "", "2026-11-03T00:00:00Z"],
    ]);
    assert_eq!(taken(&place), listed);
    assert_eq!(changes(&lists, &place), rows(&[]), "a list without changes has only its header");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_order_of_records_or_fields_and_other_digits_are_no_changes() {
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", [r#"{"id":"a","name":"Bolt","price":1.50}"#, r#"{"id":"b","name":"Nut"}"#]);
    changes(&lists, &place);
    lists.set("items", [r#"{"id":"b","name":"Nut","colour":null}"#, r#"{"price":1.5,"name":"Bolt","id":"a"}"#]);
    assert_eq!(changes(&lists, &place), rows(&[]));
    // A field that the service has added is a change where it has a value.
    lists.set("items", [r#"{"id":"b","name":"Nut","colour":"red"}"#, r#"{"id":"a","name":"Bolt","price":1.5}"#]);
    assert_eq!(changes(&lists, &place), rows(&[&["changed", "b", "colour", "", "red", "Nut", "", "", "", "", "red"]]));
    // A field that has gone, within an object.
    lists.set("items", [r#"{"id":"b","name":"Nut","size":{"mm":8}}"#, r#"{"id":"a","name":"Bolt","price":1.5}"#]);
    let gone = changes(&lists, &place).unwrap();
    let fields: Vec<&str> = gone.iter().map(|row| row[2].as_str()).collect();
    assert_eq!(fields, ["colour", "size.mm"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_incomplete_night_lists_no_changes_and_the_next_one_has_them() {
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", (0..20).map(|id| item(&id.to_string(), "Bolt", "1")));
    changes(&lists, &place);
    let flags = NIGHTLY.iter().copied().chain(["--min-ratio", "0.8", "--json"]);
    lists.set("items", (0..5).map(|id| item(&id.to_string(), "Bolts", "1")));
    let incomplete = lists.sheetport(&place, flags.clone()).exits(8).json();
    assert_eq!([&incomplete["changes"], &incomplete["changes_file"]], [&Value::Null; 2]);
    let manifest = fs::read_to_string(place.path("items.csv.incomplete.manifest.json")).unwrap();
    assert!(manifest.contains(r#""changes": null"#), "{manifest}");
    assert_eq!(taken(&place), None);
    lists.set("items", (0..19).map(|id| item(&id.to_string(), "Bolt", "1")));
    lists.sheetport(&place, flags).exits(0);
    let listed = taken(&place).unwrap();
    assert_eq!(listed.iter().map(|row| row[..2].join(" ")).collect::<Vec<_>>(), ["removed 19"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_in_one_list_whatever_is_exported_in_between() {
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", [item("a", "Bolt", "1")]);
    changes(&lists, &place);
    lists.set("items", [item("a", "Bolt", "2")]);
    // Without a list, and to the same name.
    lists.sheetport(&place, ["export", "items", "-o", "items.csv", "-q"]).exits(0);
    lists.set("items", [item("a", "Bolt", "2"), item("b", "Nut", "1")]);
    let listed = changes(&lists, &place).unwrap();
    assert_eq!(listed.iter().map(|row| row[..5].join("|")).collect::<Vec<_>>(), ["changed|a|price|1|2", "added|b|||"]);

    // A list of the same day is not replaced before it was processed.
    lists.set("items", [item("b", "Nut", "2")]);
    lists.sheetport(&place, NIGHTLY).exits(0);
    lists.set("items", [item("b", "Nut", "3")]);
    let before = fs::read(place.path("changes.csv")).unwrap();
    lists.sheetport(&place, NIGHTLY).exits(2).says(&["changes.csv has 2 changes of an earlier export of today"]);
    assert_eq!(fs::read(place.path("changes.csv")).unwrap(), before);
    taken(&place);
    assert_eq!(changes(&lists, &place).unwrap().len(), 1);

    // Records that are lost on this machine are like a first night.
    for folder in fs::read_dir(place.path("home/exports")).unwrap().flatten() {
        for file in fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.path()) {
            if file.to_string_lossy().contains("listed-") {
                fs::write(file, "damaged").unwrap();
            }
        }
    }
    assert_eq!(changes(&lists, &place), None);
    assert_eq!(changes(&lists, &place), rows(&[]));
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_before_a_kill_are_listed_by_the_next_export() {
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", [item("a", "Bolt", "1")]);
    changes(&lists, &place);
    lists.set("items", [item("b", "Nut", "1")]);
    // The process ends between the files and the state.
    let folder = fs::read_dir(place.path("home/exports")).unwrap().next().unwrap().unwrap().path();
    let state = folder.join("state.json");
    fs::rename(&state, folder.join("kept")).unwrap();
    fs::create_dir(&state).unwrap();
    lists.sheetport(&place, NIGHTLY).exits(1);
    fs::remove_dir(&state).unwrap();
    fs::rename(folder.join("kept"), &state).unwrap();
    lists.set("items", [item("b", "Nut", "2")]);
    // The list that nobody could have taken as complete is replaced by one that has all of it.
    lists.sheetport(&place, NIGHTLY.iter().copied().chain(["--fresh"])).exits(0);
    let listed = taken(&place).unwrap();
    assert_eq!(listed.iter().map(|row| row[..2].join(" ")).collect::<Vec<_>>(), ["added b", "removed a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_changes_have_the_formats_of_exports_and_the_records_of_the_template() {
    let place = Place::new();
    let lists = Lists::start().await;
    place.write("t.toml", "[[where]]\nfield = \"price\"\nat_least = 10\n[[columns]]\nfield = \"name\"\n");
    let export = |file| {
        let args = ["export", "items", "-o", "items.ndjson", "-t", "t.toml", "--changes", file, "-q"];
        lists.sheetport(&place, args)
    };
    lists.set("items", [item("a", "Bolt", "10"), item("b", "Nut", "2"), item("c", "Pin", "30")]);
    export("first.csv").exits(0);
    lists.set("items", [item("a", "Bolt", "10.25"), item("b", "Nut", "20"), item("c", "Pin", "3")]);
    export("changes-{date}-{time}.ndjson").exits(0);
    let name = place.names().into_iter().find(|name| name.starts_with("changes-")).unwrap();
    let read = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
    let listed: Vec<Value> = fs::read_to_string(place.path(&name)).unwrap().lines().map(read).collect();
    assert_eq!(listed[0]["before"], json!(10));
    let words: Vec<String> = listed.iter().map(|row| format!("{} {}", row["change"], row["id"])).collect();
    assert_eq!(words, [r#""changed" "a""#, r#""added" "b""#, r#""removed" "c""#], "{name}");
    lists.set("items", [item("a", "Bolt", "11")]);
    export("changes.xlsx").exits(0);
    if !office::is_there() {
        return;
    }
    let csv =
        fs::read_to_string(office::save_again(&place, &place.path("changes.xlsx"), office::CSV).join("changes.csv"))
            .unwrap();
    assert!(csv.contains("changed,a,price,10.25,11,Bolt,11"), "{csv}");
    assert!(csv.contains("removed,b,,,,Nut,20"), "{csv}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_changes_is_not_uploaded() {
    let place = Place::new();
    let lists = Lists::start().await;
    for file in ["changes.csv", "changes.xlsx"] {
        lists.set("items", [item("a", "Bolt", "1")]);
        let export = format!("of-{file}.csv");
        let words = ["export", "items", "-o", &export, "--changes", file, "-q"];
        lists.sheetport(&place, words).exits(0);
        lists.set("items", [item("a", "Bolt", "2"), item("b", "Nut", "2")]);
        lists.sheetport(&place, words).exits(0);
        for flags in [&["-t", "items"][..], &["-t", "exported-items"], &["-t", "orders"], &[]] {
            let refused = lists.sheetport(&place, ["upload", file, "--yes"].iter().chain(flags).copied()).exits(2);
            refused.says(&["is a list of changes", "can't be uploaded", "--changed-only sends what differs"]);
            lists
                .sheetport(&place, ["check", file].iter().chain(flags).copied())
                .exits(2)
                .says(&["is a list of changes"]);
        }
    }
    // A template of one's own may make records of it.
    place.write(
        "own.toml",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"id\"\n[fields.name]\ncolumn = \"name\"\n",
    );
    place.sheetport(["check", "changes.csv", "-t", "own.toml"]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_that_a_cell_cannot_hold_are_counted_in_the_list() {
    let place = Place::new();
    let lists = Lists::start().await;
    let words = ["export", "items", "-o", "items.csv", "--changes", "changes.xlsx", "--json"];
    lists.set("items", [item("a", "Bolt", "1")]);
    lists.sheetport(&place, words).exits(0);
    lists.set("items", [item("a", &"x".repeat(40_000), "1"), item("b", "=1+1", "1")]);
    let exported = lists.sheetport(&place, words).exits(0).says(&[
        "2 texts were longer than 32,767 characters",
        "and cut in the list of changes",
        "Give --changes",
    ]);
    let exported = exported.json();
    // After and in the column of the field.
    assert_eq!((&exported["changes_cut"], &exported["cut"]), (&json!(2), &json!(0)));
    let manifest: Value = serde_json::from_slice(&fs::read(place.path("items.csv.manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["changes_cut"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn keep_removes_the_list_with_its_export() {
    let place = Place::new();
    let lists = Lists::start().await;
    let words =
        ["export", "items", "-o", "items-{date}.csv", "--changes", "changes-{date}.csv", "--keep", "2", "--json"];
    lists.set("items", [item("a", "Bolt", "1")]);
    let today = lists.sheetport(&place, words).exits(0).json()["file"].as_str().unwrap().to_owned();
    let manifest: Value =
        serde_json::from_slice(&fs::read(place.path(&format!("{today}.manifest.json"))).unwrap()).unwrap();
    for (day, list) in [(1, "changes-2026-01-01.csv"), (2, "precious.csv"), (3, "changes-2026-01-03.csv")] {
        let mut earlier = manifest.clone();
        earlier["changes_file"] = json!(list);
        place.write(&format!("items-2026-01-0{day}.csv"), "an earlier export");
        place.write(&format!("items-2026-01-0{day}.csv.manifest.json"), earlier.to_string());
        place.write(list, "a list");
    }
    place.write("changes-2026-01-04.csv", "of another export");
    lists.set("items", [item("a", "Bolts", "1")]);
    let exported = lists.sheetport(&place, words).exits(0).json();
    let removed: Vec<&str> = exported["removed"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(removed.len(), 3, "{removed:?}");
    let left = place.names();
    for (file, is_left) in [
        ("items-2026-01-01.csv", false),
        ("changes-2026-01-01.csv", false),
        ("items-2026-01-02.csv", false),
        ("precious.csv", true),
        ("changes-2026-01-03.csv", true),
        ("changes-2026-01-04.csv", true),
    ] {
        assert_eq!(left.iter().any(|name| name == file), is_left, "{file}: {left:?}");
    }
}

#[test]
fn changes_need_a_file_of_their_own_and_the_previous_export() {
    let place = Place::new();
    for (args, message) in [
        (&["-o", "a.csv", "--changes", "./a.csv"][..], "can't take both the records and the changes"),
        (&["-o", "-", "--changes", "a.csv"], "standard output has no previous export"),
        (&["-o", "a.csv", "--changes", "b.csv", "--since", "2026-01-01"], "leave out --since, or use --since last"),
        (&["-o", "a.csv", "--changes", "b"], "no extension"),
    ] {
        let refused = place.sheetport(["export", "items", "--base-url", "http://localhost:1"].iter().chain(args));
        refused.exits(2).says(&[message]);
    }
}
