//! Exports that end in the middle: what is under the final name is whole, and the same command carries on.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::process::{Place, until};
use super::service::Served;
use super::{count, table};
use crate::faults::exports::number;
use crate::faults::server::{Reply, Server, answer};

/// A service with so many items, by what is quicker than an upload.
fn filled(place: &Place, items: usize) -> Served {
    let rows = (1..=items).map(|number| format!("i{number:05},Item {number},{number}.50,EUR\n"));
    place.write("in.csv", std::iter::once("id,name,price,currency\n".to_owned()).chain(rows).collect::<String>());
    let load = ["serve", "load", "--data", "service", "--workspace", "shop", "--kind", "items", "in.csv"];
    place.sheetport(load).exits(0);
    Served::start(place)
}

/// The spool of the one export that was begun.
fn spool(place: &Place) -> Option<PathBuf> {
    let folders = fs::read_dir(place.path("home/exports")).ok()?;
    folders.flatten().map(|folder| folder.path().join("pages")).find(|pages| pages.exists())
}

fn len(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

#[test]
fn whatever_moment_it_is_killed_at_only_whole_files_have_the_name() {
    const KILLS: usize = 100;
    let place = Place::new();
    let served = filled(&place, 1_000);
    let export = |file| served.sheetport(&place, ["export", "items", "-o", file, "--rate", "300/s", "--json"]);
    export("whole.csv").exits(0);
    let whole = fs::read(place.path("whole.csv")).unwrap();
    let (mut cut, mut resumed) = (0, 0);
    for _ in 0..KILLS {
        let running = export("items.csv").start();
        // The moment is the point here, and nothing is waited for.
        std::thread::sleep(Duration::from_millis(fastrand::u64(0..90)));
        running.kill();
        let file = place.path("items.csv");
        if file.exists() {
            assert_eq!(fs::read(&file).unwrap(), whole);
            fs::remove_file(&file).unwrap();
        } else {
            cut += 1;
        }
        assert!(!place.path("items.csv.incomplete").exists());
        if fastrand::u8(..) < 32 {
            let told = export("items.csv").exits(0).json();
            assert_eq!((count(&told, "count"), &told["complete"]), (1_000, &true.into()), "{told}");
            resumed += u32::from(told["resumed"] == true);
            assert_eq!(fs::read(&file).unwrap(), whole);
            fs::remove_file(&file).unwrap();
        }
    }
    assert!(cut > KILLS / 10 && resumed > 0, "{cut} were cut off, {resumed} carried on with");
    let strange = |name: &String| name.starts_with("items") && name != "items.csv.manifest.json";
    assert!(!place.names().iter().any(strange), "{:?}", place.names());
}

#[test]
fn an_export_that_was_cut_off_is_carried_on_with_and_can_be_begun_anew() {
    let place = Place::new();
    let served = filled(&place, 3_000);
    let args = ["export", "items", "-o", "items.csv", "--json"];
    for (more, is_resumed) in [(None, true), (Some("--fresh"), false)] {
        let running = served.sheetport(&place, args.iter().copied().chain(["--rate", "3/s"])).start();
        until("some pages", || spool(&place).filter(|pages| len(pages) > 1_000));
        running.kill();
        assert!(!place.path("items.csv").exists());
        let told = served.sheetport(&place, args.iter().copied().chain(more)).exits(0).json();
        assert_eq!((count(&told, "count"), count(&told, "pages")), (3_000, 30), "{told}");
        assert_eq!(told["resumed"], is_resumed);
        assert_eq!(spool(&place), None, "nothing is left to carry on with");
        assert_eq!(table(&place.path("items.csv")).len(), 3_001);
        fs::remove_file(place.path("items.csv")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_kept_while_the_ids_are_read_a_second_time() {
    const PAGES: usize = 10;
    let server = Server::start(|seen| {
        if seen.number >= PAGES {
            return Reply::Late(Duration::from_secs(60), Box::new(Reply::Reset));
        }
        let page = number(seen);
        let data: Vec<String> = ((page - 1) * 100..page * 100).map(|id| format!(r#"{{"id": "{id}"}}"#)).collect();
        answer(200, "", &format!(r#"{{"data": [{}], "total": {}}}"#, data.join(","), PAGES * 100))
    })
    .await;
    let place = Place::new();
    let export = place.sheetport(["export", "items", "-o", "items.csv", "--verify"]);
    let export = export.env("SHEETPORT_BASE_URL", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    let running = export.start();
    let kept = |pages: PathBuf| {
        let kept = String::from_utf8_lossy(&fs::read(pages).unwrap_or_default()).matches("total").count();
        (kept == PAGES).then_some(())
    };
    until("all pages", || spool(&place).and_then(kept));
    running.kill();
}

#[test]
fn an_export_that_fails_when_its_file_is_in_place_asks_for_nothing_twice() {
    const ITEMS: usize = 1_000;
    let place = Place::new();
    let served = filled(&place, ITEMS);
    let export = || served.sheetport(&place, ["export", "items", "-o", "items.csv", "--json"]);
    export().exits(0);
    // What the night before is held against can't be read.
    let folder = fs::read_dir(place.path("home/exports")).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(folder.join("records")).unwrap();
    fs::create_dir(folder.join("records")).unwrap();
    export().exits(1);
    assert!(spool(&place).is_some_and(|pages| len(&pages) > ITEMS as u64 * 50), "the pages are kept");
    fs::remove_dir(folder.join("records")).unwrap();
    let told = export().exits(0).json();
    assert_eq!((count(&told, "count"), &told["resumed"]), (ITEMS as u64, &true.into()), "{told}");
    assert_eq!(spool(&place), None);
}

#[test]
fn two_exports_to_one_file_do_not_run_at_once() {
    let place = Place::new();
    let served = filled(&place, 1_000);
    let args = ["export", "items", "-o", "items.csv"];
    let running = served.sheetport(&place, args.iter().copied().chain(["--rate", "1/s"])).start();
    until("a spool", || spool(&place).filter(|pages| len(pages) > 0));
    let beside = served.sheetport(&place, args).exits(6);
    beside.says(&["another export to this file is under way", "wait for it to end"]);
    served.sheetport(&place, ["export", "items", "-o", "other.csv", "-q"]).exits(0);
    running.kill();
    served.sheetport(&place, args).exits(0);
}

#[cfg(unix)]
#[test]
fn an_export_that_is_asked_to_stop_leaves_no_litter_and_says_how_to_go_on() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        let served = filled(&place, 3_000);
        let mut before = place.names();
        before.insert(0, "home".to_owned());
        let args = ["export", "items", "-o", "items.csv", "--rate", "3/s"];
        let running = served.sheetport(&place, args).start();
        until("some pages", || spool(&place).filter(|pages| len(pages) > 1_000));
        let id = running.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        running.wait().exits(code).says(&["interrupted", "the same command carries on"]);
        assert_eq!(place.names(), before);
        let told = served.sheetport(&place, ["export", "items", "-o", "items.csv", "--json"]).exits(0).json();
        assert_eq!((count(&told, "count"), &told["resumed"]), (3_000, &true.into()));
    }
}
