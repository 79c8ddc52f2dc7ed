//! Exports that replace a file: it keeps its mode, its owner and its place, and what was changed in texts is counted.

use serde_json::Value;

use super::process::Place;
use super::service::Served;
use super::{count, items};

fn served(place: &Place) -> Served {
    let served = Served::start(place);
    place.write("in.csv", items(3));
    served.sheetport(place, ["upload", "in.csv", "-t", "items", "-q"]).exits(0);
    served
}

fn export(place: &Place, served: &Served, file: &str) {
    served.sheetport(place, ["export", "items", "-o", file, "--replace"]).exits(0);
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_mode_and_its_owner() {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

    let place = Place::new();
    let served = served(&place);
    for (file, mode) in [("a.csv", 0o600), ("b.csv", 0o640), ("c.xlsx", 0o664), ("d.ndjson.gz", 0o444)] {
        let path = place.write(file, "yesterday's");
        // Only root may give a file away.
        let given = chown(&path, Some(4_242), Some(4_243));
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let before = path.metadata().unwrap();
        export(&place, &served, file);
        let after = path.metadata().unwrap();
        assert_ne!(after.ino(), before.ino(), "it was replaced");
        let of = |found: &fs::Metadata| (format!("{:o}", found.mode() & 0o7777), found.uid(), found.gid());
        assert_eq!(of(&after), of(&before), "{file}");
        assert_eq!(given.is_ok(), after.uid() == 4_242, "{file}: {given:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_export_to_a_link_takes_the_place_of_its_target() {
    use std::fs;
    use std::os::unix::fs::symlink;

    let place = Place::new();
    let served = served(&place);
    fs::create_dir(place.path("data")).unwrap();
    place.write("data/there.csv", "yesterday's");
    symlink("data/there.csv", place.path("items.csv")).unwrap();
    symlink("items.csv", place.path("second.csv")).unwrap();
    symlink(place.path("data/new.csv"), place.path("nothing.csv")).unwrap();
    for (link, target) in [("items.csv", "there.csv"), ("second.csv", "there.csv"), ("nothing.csv", "new.csv")] {
        export(&place, &served, link);
        assert!(place.path(link).is_symlink(), "{link}");
        let file = place.path(&format!("data/{target}"));
        assert!(!file.is_symlink() && fs::read_to_string(&file).unwrap().starts_with("id,name,"), "{link}");
        let manifest = place.path(&format!("data/{target}.manifest.json"));
        let manifest: Value = serde_json::from_slice(&fs::read(manifest).unwrap()).unwrap();
        assert_eq!((count(&manifest, "count"), &manifest["file"]), (3, &target.into()));
        fs::remove_file(file).unwrap();
    }
    assert_eq!(place.names(), ["data", "home", "in.csv", "items.csv", "nothing.csv", "second.csv", "service"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_folder_is_not_replaced() {
    use std::os::unix::fs::{FileTypeExt as _, symlink};

    let place = Place::new();
    let served = served(&place);
    let made = std::process::Command::new("mkfifo").arg(place.path("pipe.csv")).status().unwrap();
    assert!(made.success());
    symlink("pipe.csv", place.path("to-pipe.csv")).unwrap();
    std::fs::create_dir(place.path("folder.csv")).unwrap();
    symlink("folder.csv", place.path("to-folder.csv")).unwrap();
    for (file, says) in [
        ("pipe.csv", "pipe.csv can't be written: it is no regular file"),
        ("to-pipe.csv", "pipe.csv can't be written: it is no regular file"),
        ("folder.csv", "folder.csv can't be written: it is a folder"),
        ("to-folder.csv", "folder.csv can't be written: it is a folder"),
    ] {
        served.sheetport(&place, ["export", "items", "-o", file]).exits(1).says(&[says]);
    }
    assert!(place.path("pipe.csv").metadata().unwrap().file_type().is_fifo());
}

#[test]
fn defused_texts_are_counted() {
    let place = Place::new();
    let served = Served::start(&place);
    let names = ["=1+1", "@SUM(A1)", "q;=1+1", "'=5", "+49 151 23 45-67", "-5", "'tis", "plain"];
    for (number, name) in names.iter().enumerate() {
        let item = serde_json::json!({"externalId": number.to_string(), "name": name, "price": -1.5});
        assert!(served.post("/v1/public/items", &item.to_string()).contains("\"ok\":true"));
    }
    // In a workbook, texts are texts: only an apostrophe before a sign gets another one.
    for (file, args, defused) in [
        ("items.csv", &[][..], 4),
        ("items.tsv.gz", &[], 4),
        ("exact.csv", &["--exact"], 0),
        ("items.ndjson", &[], 0),
        ("items.xlsx", &[], 1),
    ] {
        let export = || served.sheetport(&place, ["export", "items", "-o", file]).args(args);
        let exported = export().arg("--json").exits(0).json();
        assert_eq!(count(&exported, "defused"), defused, "{file}");
        let manifest = std::fs::read(place.path(&format!("{file}.manifest.json"))).unwrap();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        assert_eq!(count(&manifest, "defused"), defused, "{file}");
        let ended = export().exits(0);
        assert_eq!(ended.stdout.contains(" by an apostrophe"), defused > 0, "{}", ended.stdout);
    }
    let text = std::fs::read_to_string(place.path("items.csv")).unwrap();
    for kept in ["+49 151 23 45-67", ",-5,", "'tis", "'=1+1", "q;'=1+1", "''=5"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

/// A night whose file is whole says nothing on stdout or stderr.
#[test]
fn quiet_exports_are_silent_when_all_is_well() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("in.csv", items(250));
    served.sheetport(&place, ["upload", "in.csv", "-t", "items", "-q"]).exits(0);
    let silent = |args: &[&str]| {
        let words = ["export", "items", "-q"].iter().chain(args).copied();
        let ended = served.sheetport(&place, words).exits(0);
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""), "{args:?}");
    };
    for file in ["i.csv", "i.tsv", "i.ndjson", "i.jsonl.zst", "i.csv.gz", "i.xlsx"] {
        silent(&["-o", file]);
        silent(&["-o", file, "--min-ratio", "0.9", "--verify"]);
    }
    // The first one has nothing to compare with.
    silent(&["-o", "{workspace}-{date}.csv", "--keep", "2", "--min-ratio", "0.9"]);
    silent(&["-o", "{workspace}-{date}.csv", "--keep", "2", "--min-ratio", "0.9"]);
    silent(&["-o", "changes-{date}-{time}.csv", "--since", "last"]);
    // Files of the same second would have the same name.
    for changes in place.names().into_iter().filter(|name| name.starts_with("changes-")) {
        std::fs::remove_file(place.path(&changes)).unwrap();
    }
    place.write("more.csv", "SKU,Name\n00002,=Renamed\n90000,New\n");
    served.sheetport(&place, ["upload", "more.csv", "-t", "items", "-q"]).exits(0);
    silent(&["-o", "changes-{date}-{time}.csv", "--since", "last"]);
    silent(&["-o", "i.csv", "--since", "2026-01-01"]);
    silent(&["-o", "i.csv", "--min-ratio", "0.5"]);
}
