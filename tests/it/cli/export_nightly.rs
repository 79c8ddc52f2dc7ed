//! Exports that a scheduler runs every night.

use std::fs;

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{column, count, items, table};

fn upload(place: &Place, served: &Served, csv: &str) {
    place.write("in.csv", csv);
    served.sheetport(place, ["upload", "in.csv", "-t", "items", "-q"]).exits(0);
}

fn export(place: &Place, served: &Served, words: &[&str], code: i32) -> Value {
    let args = ["export", "items", "--json"].iter().chain(words).copied();
    served.sheetport(place, args).exits(code).json()
}

#[test]
fn what_changed_since_the_last_export_is_counted_and_can_be_all_that_is_exported() {
    let place = Place::new();
    let served = Served::start(&place);
    upload(&place, &served, &items(5));
    let first = export(&place, &served, &["-o", "items.csv"], 0);
    assert_eq!(first["changes"], Value::Null);
    upload(&place, &served, "SKU,Name\n00002,Renamed\n90000,New\n");
    let second = export(&place, &served, &["-o", "items.csv"], 0);
    assert_eq!(second["changes"], json!({"added": 1, "changed": 1, "removed": 0}));
    let third = export(&place, &served, &["-o", "items.csv"], 0);
    assert_eq!(third["changes"], json!({"added": 0, "changed": 0, "removed": 0}));

    // The first has all; the next what changed less than the overlap before its end, which here is all.
    let args = ["-o", "changed.ndjson", "--since", "last"];
    assert_eq!(count(&export(&place, &served, &args, 0), "count"), 6);
    let next = export(&place, &served, &args, 0);
    assert_eq!((count(&next, "count"), count(&next, "older"), count(&next, "distinct")), (6, 0, 6));
    let state = fs::read_dir(place.path("home/exports")).unwrap().flatten().map(|folder| folder.path());
    for state in state.map(|folder| folder.join("state.json")).filter(|state| state.exists()) {
        // As if the last one had been tomorrow.
        let mut remembered: Value = serde_json::from_slice(&fs::read(&state).unwrap()).unwrap();
        remembered["changed_until"] = "2999-01-01T00:00:00Z".into();
        fs::write(&state, remembered.to_string()).unwrap();
    }
    let none = export(&place, &served, &args, 0);
    assert_eq!((count(&none, "count"), count(&none, "older"), &none["complete"]), (0, 6, &true.into()));
    assert_eq!(fs::read(place.path("changed.ndjson")).unwrap(), b"");
    let later = export(&place, &served, &["-o", "later.csv", "--since", "2999-01-01"], 0);
    assert_eq!((count(&later, "count"), count(&later, "older")), (0, 6));
    let earlier = export(&place, &served, &["-o", "later.csv", "--since", "2000-01-01T00:00:00Z"], 0);
    assert_eq!((count(&earlier, "count"), count(&earlier, "older")), (6, 0));
}

#[test]
fn a_list_that_fell_below_its_share_does_not_replace_yesterday_s_file() {
    let place = Place::new();
    let served = Served::start(&place);
    upload(&place, &served, &items(10));
    let args = ["-o", "items.csv", "--min-ratio", "0.8", "--base-url"];
    let url = served.url();
    let words: Vec<&str> = args.iter().copied().chain([url.as_str()]).collect();
    export(&place, &served, &words, 0);
    let yesterday = fs::read(place.path("items.csv")).unwrap();
    // The same address, as one whose data somebody has lost.
    let port: u16 = url.rsplit_once(':').unwrap().1.parse().unwrap();
    drop(served);
    fs::remove_dir_all(place.path("service")).unwrap();
    let served = Served::start_on(&place, port);
    upload(&place, &served, &items(7));
    let state = || {
        let mut folders = fs::read_dir(place.path("home/exports")).unwrap().flatten();
        let folder = folders.next().unwrap().path();
        (fs::read_to_string(folder.join("state.json")).unwrap(), fs::read(folder.join("records")).unwrap())
    };
    let before = state();
    let told = export(&place, &served, &words, 8);
    assert_eq!(state(), before, "what is remembered moves only with the file");
    assert_eq!((&told["complete"], &told["file"]), (&false.into(), &"items.csv.incomplete".into()));
    let how = told["how"].as_str().unwrap();
    assert!(how.contains("has 7 records where the last export found 10") && how.contains("--min-ratio"), "{how}");
    assert_eq!(fs::read(place.path("items.csv")).unwrap(), yesterday);
    upload(&place, &served, &items(8));
    let told = export(&place, &served, &words, 0);
    assert_eq!((count(&told, "count"), &told["removed"]), (8, &json!(["items.csv.incomplete"])));
    assert!(!place.path("items.csv.incomplete.manifest.json").exists());
}

#[test]
fn so_many_files_are_kept_and_nobody_else_s_is_touched() {
    let place = Place::new();
    let served = Served::start(&place);
    upload(&place, &served, &items(2));
    let words = ["-o", "{workspace}-{date}.csv", "--keep", "3"];
    let told = export(&place, &served, &words, 0);
    let today = jiff::Zoned::now().date();
    let named = |days: i64| format!("shop-{}.csv", today.checked_sub(jiff::Span::new().days(days)).unwrap());
    assert_eq!(told["file"], named(0));
    let manifest = fs::read_to_string(place.path(&format!("{}.manifest.json", named(0)))).unwrap();
    assert_eq!(count(&serde_json::from_str(&manifest).unwrap(), "count"), 2);
    for days in 1..=5 {
        place.write(&named(days), "of an earlier night");
        place.write(&format!("{}.manifest.json", named(days)), &manifest);
    }
    // Without a manifest, of another workspace, with another name: not ours to remove.
    place.write("shop-2001-01-01.csv", "somebody's own");
    place.write("shop-2001-01-02.csv.manifest.json", &manifest);
    place.write("other-2001-01-01.csv", "another shop's");
    place.write("shop-2001-01-03.csv", "another service's");
    place.write("shop-2001-01-03.csv.manifest.json", manifest.replace("http://", "https://"));
    let told = export(&place, &served, &words, 0);
    assert_eq!(told["removed"], json!([named(5), named(4), named(3)]));
    let left: Vec<String> =
        place.names().into_iter().filter(|name| name.ends_with(".csv") && name != "in.csv").collect();
    let mut expected =
        vec!["other-2001-01-01.csv".to_owned(), "shop-2001-01-01.csv".into(), "shop-2001-01-03.csv".into()];
    expected.extend([named(2), named(1), named(0)]);
    assert_eq!(left, expected);
    assert!(!place.path(&format!("{}.manifest.json", named(3))).exists());
    assert_eq!(column(&table(&place.path(&named(0))), "name").len(), 2);
}

#[test]
fn where_nothing_is_remembered_yesterday_s_manifest_says_how_many_there_were() {
    let place = Place::new();
    let served = Served::start(&place);
    upload(&place, &served, &items(10));
    let yesterday = jiff::Zoned::now().date().checked_sub(jiff::Span::new().days(1)).unwrap();
    for (pattern, name) in [("items.csv", "items.csv".to_owned()), ("i-{date}.csv", format!("i-{yesterday}.csv"))] {
        let words = ["-o", pattern, "--min-ratio", "0.8"];
        let first = served.sheetport(&place, ["export", "items", "--json"].iter().chain(&words).copied()).exits(0);
        let told = first.says(&["had nothing to compare with"]).json();
        let now = told["file"].as_str().unwrap();
        let manifest: Value =
            serde_json::from_slice(&fs::read(place.path(&format!("{now}.manifest.json"))).unwrap()).unwrap();
        // As if it had been found twenty records, yesterday and by another installation.
        let mut before = manifest.clone();
        before["distinct"] = 20.into();
        fs::rename(place.path(now), place.path(&name)).unwrap();
        fs::remove_file(place.path(&format!("{now}.manifest.json"))).unwrap();
        let write = |manifest: &Value| place.write(&format!("{name}.manifest.json"), manifest.to_string());
        let forget = || fs::remove_dir_all(place.path("home/exports")).unwrap();
        write(&before);
        forget();
        let refused = export(&place, &served, &words, 8);
        let how = refused["how"].as_str().unwrap();
        assert!(how.contains("has 10 records where the last export found 20"), "{how}");
        // Of another workspace, not whole, or of a file that is not there any more: it says nothing.
        for (key, value) in [("workspace", json!("other")), ("complete", json!(false)), ("bytes", json!(1))] {
            let mut other = before.clone();
            other[key] = value;
            write(&other);
            forget();
            export(&place, &served, &words, 0);
            if name != now {
                fs::remove_file(place.path(now)).unwrap();
            }
        }
    }
}
