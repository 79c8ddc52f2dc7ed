//! Scheduled exports: changes, `--since`, `--keep` and `--min-ratio`.

use std::fs;

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{column, count, items, table};

fn upload(place: &Place, served: &Served, csv: &str) {
    place.write("in.csv", csv);
    served.sheetport(place, ["upload", "in.csv", "-t", "items", "-q"]).exits(0);
}

fn export(place: &Place, served: &Served, flags: &[&str], code: i32) -> Value {
    let args = ["export", "items", "--json"].iter().chain(flags).copied();
    served.sheetport(place, args).exits(code).json()
}

#[test]
fn changes_since_the_last_export_are_counted_or_exported() {
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

    // The first export contains all records, the next only those that are new or have changed since then.
    let args = ["-o", "changed-{date}-{time}.ndjson", "--since", "last"];
    let changes = |added: u64, changed: u64| {
        let exported = export(&place, &served, &args, 0);
        let counts = [count(&exported, "count"), count(&exported, "older"), count(&exported, "distinct")];
        assert_eq!(counts[0] + counts[1], counts[2], "{exported}");
        let file = place.path(exported["file"].as_str().unwrap());
        let names = fs::read_to_string(&file)
            .unwrap()
            .lines()
            .map(|line| {
                let record: Value = serde_json::from_str(line).unwrap();
                record["name"].as_str().unwrap().to_owned()
            })
            .collect::<Vec<_>>();
        assert_eq!((counts[0], names.len() as u64), (added + changed, added + changed), "{exported}");
        // Files of the same second would have the same name.
        fs::remove_file(file).unwrap();
        (exported["changes"].clone(), names)
    };
    assert_eq!(changes(6, 0).0, Value::Null);
    assert_eq!(changes(0, 0), (json!({"added": 0, "changed": 0, "removed": 0}), vec![]));
    upload(&place, &served, "SKU,Name\n00003,Again\n90001,Newest\n");
    let (counts, mut names) = changes(1, 1);
    names.sort();
    assert_eq!(
        (counts, names),
        (json!({"added": 1, "changed": 1, "removed": 0}), vec!["Again".into(), "Newest".into()])
    );
    // Without the records of the last export, all count as new.
    for folder in fs::read_dir(place.path("home/exports")).unwrap().flatten() {
        for file in fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.path()) {
            if file.to_string_lossy().contains("records-") {
                fs::write(file, "damaged").unwrap();
            }
        }
    }
    assert_eq!(changes(7, 0).0, Value::Null);
    // A full export to the same name in between has the changes until then.
    upload(&place, &served, "SKU,Name\n00004,Between\n");
    let full = export(&place, &served, &args[..2], 0);
    assert_eq!(count(&full, "count"), 7);
    upload(&place, &served, "SKU,Name\n00005,After\n");
    assert_eq!(changes(0, 1).1, ["After"]);
    let later = export(&place, &served, &["-o", "later.csv", "--since", "2999-01-01"], 0);
    assert_eq!((count(&later, "count"), count(&later, "older")), (0, 7));
    let earlier = export(&place, &served, &["-o", "later.csv", "--since", "2000-01-01T00:00:00Z"], 0);
    assert_eq!((count(&earlier, "count"), count(&earlier, "older")), (7, 0));
}

#[test]
fn changes_of_the_same_day_are_not_overwritten() {
    let place = Place::new();
    let served = Served::start(&place);
    upload(&place, &served, &items(5));
    let args = ["-o", "new/changes.csv", "--since", "last"];
    export(&place, &served, &args, 0);
    let first = fs::read(place.path("new/changes.csv")).unwrap();
    upload(&place, &served, "SKU,Name\n00002,Renamed\n");
    let words = ["export", "items"].iter().chain(&args).copied();
    let refused = served.sheetport(&place, words).exits(2);
    refused.says(&["new/changes.csv has 5 changes of an earlier export of today", "changes-{date}-{time}.csv"]);
    assert_eq!(fs::read(place.path("new/changes.csv")).unwrap(), first);
    fs::remove_file(place.path("new/changes.csv")).unwrap();
    assert_eq!(count(&export(&place, &served, &args, 0), "count"), 1);
    // A file without changes can be replaced, and one of yesterday.
    fs::remove_file(place.path("new/changes.csv")).unwrap();
    assert_eq!(count(&export(&place, &served, &args, 0), "count"), 0);
    upload(&place, &served, "SKU,Name\n00003,Renamed\n");
    assert_eq!(count(&export(&place, &served, &args, 0), "count"), 1);
    let manifest = place.path("new/changes.csv.manifest.json");
    let mut yesterday: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    yesterday["started"] = "2026-01-01T23:59:59Z".into();
    fs::write(&manifest, yesterday.to_string()).unwrap();
    assert_eq!(count(&export(&place, &served, &args, 0), "count"), 0);
}

#[test]
fn an_empty_list_replaces_no_file_that_was_not_empty() {
    let place = Place::new();
    let served = Served::start(&place);
    export(&place, &served, &["-o", "items.csv"], 0);
    upload(&place, &served, &items(3));
    let url = served.url();
    let args = ["-o", "items.csv", "--base-url", url.as_str()];
    export(&place, &served, &args, 0);
    let port: u16 = url.rsplit_once(':').unwrap().1.parse().unwrap();
    drop(served);
    fs::remove_dir_all(place.path("service")).unwrap();
    let served = Served::start_on(&place, port);
    let how = export(&place, &served, &args, 8)["how"].as_str().unwrap().to_owned();
    assert!(how.contains("the list is empty, but the previous export had 3") && how.contains("--allow-empty"), "{how}");
    assert_eq!(table(&place.path("items.csv")).len(), 4);
    let words: Vec<&str> = args.into_iter().chain(["--allow-empty"]).collect();
    export(&place, &served, &words, 0);
    assert_eq!(table(&place.path("items.csv")).len(), 1);
    // From now on, an empty list is what it was before.
    export(&place, &served, &args, 0);
}

#[test]
fn min_ratio_keeps_the_file_of_another_workspace() {
    let place = Place::new();
    let served = Served::start(&place);
    upload(&place, &served, &items(3));
    let args = ["-o", "items.csv", "--min-ratio", "0.8"];
    export(&place, &served, &args, 0);
    let before = fs::read(place.path("items.csv")).unwrap();
    let manifest = fs::read_to_string(place.path("items.csv.manifest.json")).unwrap();
    place.write("items.csv.manifest.json", manifest.replace("\"shop\"", "\"other\""));
    let words = ["export", "items"].iter().chain(&args).copied();
    let refused = served.sheetport(&place, words).exits(8);
    refused.says(&["items.csv is an export of workspace other at http://", "check the profile"]);
    assert_eq!(fs::read(place.path("items.csv")).unwrap(), before);
    // Without a guard, the file is replaced as requested.
    export(&place, &served, &args[..2], 0);

    // So is a new file beside those of another workspace.
    place.write("i-2001-01-01.csv", "of another workspace");
    place.write("i-2001-01-01.csv.manifest.json", manifest.replace("\"shop\"", "\"other\""));
    let dated = ["export", "items", "-o", "i-{date}.csv", "--min-ratio", "0.8"];
    let refused = served.sheetport(&place, dated).exits(8);
    refused.says(&["i-2001-01-01.csv is an export of workspace other at http://"]);
    served.sheetport(&place, dated.iter().copied().take(4)).exits(0);
}

/// Local times come twice when a clock is set back.
#[test]
fn keep_removes_the_oldest_file_whatever_the_clock_says() {
    let place = Place::new();
    let served = Served::start(&place);
    upload(&place, &served, &items(2));
    for pattern in ["a-{time}-{date}.csv", "b-{date}-{time}.csv"] {
        let export = |zone| {
            let words = ["export", "items", "-o", pattern, "--keep", "1", "--json"];
            let exported = served.sheetport(&place, words).env("TZ", zone).exits(0).json();
            (exported["file"].as_str().unwrap().to_owned(), exported["removed"].clone())
        };
        let (first, _) = export("AAA0");
        let (second, removed) = export("AAA1");
        assert_ne!(first, second);
        assert_eq!(removed, json!([first]));
        assert!(place.path(&second).exists() && !place.path(&first).exists());
    }
}

#[test]
fn a_list_below_min_ratio_does_not_replace_the_file() {
    let place = Place::new();
    let served = Served::start(&place);
    upload(&place, &served, &items(10));
    let args = ["-o", "items.csv", "--min-ratio", "0.8", "--base-url"];
    let url = served.url();
    let words: Vec<&str> = args.iter().copied().chain([url.as_str()]).collect();
    export(&place, &served, &words, 0);
    let yesterday = fs::read(place.path("items.csv")).unwrap();
    // A service at the same address that lost its data.
    let port: u16 = url.rsplit_once(':').unwrap().1.parse().unwrap();
    drop(served);
    fs::remove_dir_all(place.path("service")).unwrap();
    let served = Served::start_on(&place, port);
    upload(&place, &served, &items(7));
    let state = || {
        let mut folders = fs::read_dir(place.path("home/exports")).unwrap().flatten();
        let folder = folders.next().unwrap().path();
        let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.is_file() && !file.ends_with("lock"));
        files.sort();
        files.into_iter().map(|file| (fs::read(&file).unwrap(), file)).collect::<Vec<_>>()
    };
    let before = state();
    let exported = export(&place, &served, &words, 8);
    assert_eq!(state(), before, "the state changes only with the file");
    assert_eq!((&exported["complete"], &exported["file"]), (&false.into(), &"items.csv.incomplete".into()));
    let how = exported["how"].as_str().unwrap();
    assert!(how.contains("has 7 records, but the previous export had 10") && how.contains("--min-ratio"), "{how}");
    assert_eq!(fs::read(place.path("items.csv")).unwrap(), yesterday);
    upload(&place, &served, &items(8));
    let exported = export(&place, &served, &words, 0);
    assert_eq!((count(&exported, "count"), &exported["removed"]), (8, &json!(["items.csv.incomplete"])));
    assert!(!place.path("items.csv.incomplete.manifest.json").exists());
}

#[test]
fn keep_removes_only_older_files_of_the_same_export() {
    let place = Place::new();
    let served = Served::start(&place);
    upload(&place, &served, &items(2));
    let words = ["-o", "{workspace}-{date}.csv", "--keep", "3"];
    let exported = export(&place, &served, &words, 0);
    let today = jiff::Zoned::now().date();
    let named = |days: i64| format!("shop-{}.csv", today.checked_sub(jiff::Span::new().days(days)).unwrap());
    assert_eq!(exported["file"], named(0));
    let manifest = fs::read_to_string(place.path(&format!("{}.manifest.json", named(0)))).unwrap();
    assert_eq!(count(&serde_json::from_str(&manifest).unwrap(), "count"), 2);
    for days in 1..=5 {
        place.write(&named(days), "an earlier export");
        place.write(&format!("{}.manifest.json", named(days)), &manifest);
    }
    // Files without a manifest, of another workspace or of another service are not removed.
    place.write("shop-2001-01-01.csv", "without a manifest");
    place.write("shop-2001-01-02.csv.manifest.json", &manifest);
    place.write("other-2001-01-01.csv", "of another workspace");
    place.write("shop-2001-01-03.csv", "of another service");
    place.write("shop-2001-01-03.csv.manifest.json", manifest.replace("http://", "https://"));
    let exported = export(&place, &served, &words, 0);
    assert_eq!(exported["removed"], json!([named(5), named(4), named(3)]));
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
fn without_saved_state_min_ratio_uses_the_newest_manifest() {
    let place = Place::new();
    let served = Served::start(&place);
    upload(&place, &served, &items(10));
    let yesterday = jiff::Zoned::now().date().checked_sub(jiff::Span::new().days(1)).unwrap();
    for (pattern, name) in [("items.csv", "items.csv".to_owned()), ("i-{date}.csv", format!("i-{yesterday}.csv"))] {
        let words = ["-o", pattern, "--min-ratio", "0.8"];
        let first = served.sheetport(&place, ["export", "items", "--json"].iter().chain(&words).copied()).exits(0);
        let exported = first.says(&["--min-ratio was not checked"]).json();
        let now = exported["file"].as_str().unwrap();
        let manifest: Value =
            serde_json::from_slice(&fs::read(place.path(&format!("{now}.manifest.json"))).unwrap()).unwrap();
        // Pretends that another installation found twenty records yesterday.
        let mut before = manifest.clone();
        before["distinct"] = 20.into();
        fs::rename(place.path(now), place.path(&name)).unwrap();
        fs::remove_file(place.path(&format!("{now}.manifest.json"))).unwrap();
        let write = |manifest: &Value| place.write(&format!("{name}.manifest.json"), manifest.to_string());
        let delete_state = || fs::remove_dir_all(place.path("home/exports")).unwrap();
        write(&before);
        delete_state();
        let refused = export(&place, &served, &words, 8);
        let how = refused["how"].as_str().unwrap();
        assert!(how.contains("has 10 records, but the previous export had 20"), "{how}");
        // A manifest of another list, of an incomplete export or of another file is ignored.
        for (key, value) in [("records", json!("orders")), ("complete", json!(false)), ("bytes", json!(1))] {
            let mut other = before.clone();
            other[key] = value;
            write(&other);
            delete_state();
            export(&place, &served, &words, 0);
            if name != now {
                fs::remove_file(place.path(now)).unwrap();
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_points_to_the_newest_complete_file() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("in.csv", items(5));
    served.sheetport(&place, ["upload", "in.csv", "-t", "items", "-q"]).exits(0);
    let words = ["export", "items", "-o", "out/items-{date}.csv", "--latest", "out/items.csv", "--json"];
    let target = |name: &str| fs::read_link(place.path(name)).unwrap();
    // The link of the day before.
    fs::create_dir(place.path("out")).unwrap();
    place.write("out/items-2020-01-01.csv", "");
    std::os::unix::fs::symlink("items-2020-01-01.csv", place.path("out/items.csv")).unwrap();
    let exported = served.sheetport(&place, words).exits(0).json();
    assert_eq!(exported["latest"], "out/items.csv");
    let file = target("out/items.csv");
    assert_eq!(place.path("out").join(&file), place.path(exported["file"].as_str().unwrap()));
    assert_eq!(target("out/items.csv.manifest.json").to_str(), Some(&*format!("{}.manifest.json", file.display())));
    assert_eq!(table(&place.path("out/items.csv")).len(), 6);
    place.write("mine.csv", "mine");
    std::os::unix::fs::symlink("mine.csv", place.path("link.csv")).unwrap();
    for (flags, says) in [
        (&["-o", "{date}.csv", "--latest", "mine.csv"][..], "mine.csv is not a link to an export to this name"),
        (&["-o", "{date}.csv", "--latest", "link.csv"], "link.csv is not a link to an export to this name"),
        (&["-o", "{date}.csv", "--latest", "{date}-b.csv"], "is not the name of a link to the newest file"),
        (&["-o", "items.csv", "--latest", "latest.csv"], "--latest needs {date} or {time}"),
        (&["-o", "-", "--latest", "latest.csv"], "--latest needs {date} or {time}"),
        (&["orders", "-o", "{kind}-{date}.csv", "--latest", "latest.csv"], "a name each"),
    ] {
        served.sheetport(&place, ["export", "items"].iter().chain(flags).copied()).exits(2).says(&[says]);
    }
    assert_eq!(fs::read_to_string(place.path("mine.csv")).unwrap(), "mine");
    let words = ["export", "items", "orders", "-o", "{kind}-{date}.csv", "--latest", "{kind}.csv"];
    served.sheetport(&place, words).exits(0);
    assert_eq!(table(&place.path("items.csv")).len(), 6);
    assert!(place.path("orders.csv").is_symlink());
    let words = ["export", "items", "-o", "{date}.csv", "--latest", "mine.csv", "--replace", "-q"];
    served.sheetport(&place, words).exits(0);
    assert!(place.path("mine.csv").is_symlink());
}
