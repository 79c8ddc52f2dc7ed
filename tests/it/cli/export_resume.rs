//! Interrupted exports: the final name always refers to a complete file, and the same command resumes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::process::{Place, until};
use super::service::Served;
use super::{count, table};
use crate::faults::exports::number;
use crate::faults::server::{Reply, Server, answer};

/// Starts a service with this number of items, loaded without an upload.
fn serve_items(place: &Place, items: usize) -> Served {
    let rows = (1..=items).map(|number| format!("i{number:05},Item {number},{number}.50,EUR\n"));
    place.write("in.csv", std::iter::once("id,name,price,currency\n".to_owned()).chain(rows).collect::<String>());
    let load = ["serve", "load", "--data", "service", "--workspace", "shop", "--kind", "items", "in.csv"];
    place.sheetport(load).exits(0);
    Served::start(place)
}

/// Returns the spool of the only export.
fn spool(place: &Place) -> Option<PathBuf> {
    let folders = fs::read_dir(place.path("home/exports")).ok()?;
    folders.flatten().map(|folder| folder.path().join("pages")).find(|pages| pages.exists())
}

fn len(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

#[test]
fn an_export_killed_at_any_moment_leaves_no_partial_file() {
    const KILLS: usize = 100;
    let place = Place::new();
    let served = serve_items(&place, 1_000);
    let export = |file| served.sheetport(&place, ["export", "items", "-o", file, "--rate", "300/s", "--json"]);
    let began = Instant::now();
    export("whole.csv").exits(0);
    let took = u64::try_from(began.elapsed().as_millis()).unwrap();
    let whole = fs::read(place.path("whole.csv")).unwrap();
    let (mut cut, mut resumed) = (0, 0);
    for _ in 0..KILLS {
        let running = export("items.csv").start();
        // Kills at a random moment.
        std::thread::sleep(Duration::from_millis(fastrand::u64(0..took.max(1))));
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
            let exported = export("items.csv").exits(0).json();
            assert_eq!((count(&exported, "count"), &exported["complete"]), (1_000, &true.into()), "{exported}");
            resumed += u32::from(exported["resumed"] == true);
            assert_eq!(fs::read(&file).unwrap(), whole);
            fs::remove_file(&file).unwrap();
        }
    }
    assert!(cut > KILLS / 10 && resumed > 0, "{cut} were interrupted, {resumed} were resumed");
    let is_leftover = |name: &String| name.starts_with("items") && name != "items.csv.manifest.json";
    assert!(!place.names().iter().any(is_leftover), "{:?}", place.names());
}

#[test]
fn an_interrupted_export_resumes_unless_fresh() {
    let place = Place::new();
    let served = serve_items(&place, 3_000);
    let args = ["export", "items", "-o", "items.csv", "--json", "--page-size", "100"];
    for (more, is_resumed) in [(None, true), (Some("--fresh"), false)] {
        let running = served.sheetport(&place, args.iter().copied().chain(["--rate", "3/s"])).start();
        until("some pages", || spool(&place).filter(|pages| len(pages) > 1_000));
        running.kill();
        assert!(!place.path("items.csv").exists());
        let exported = served.sheetport(&place, args.iter().copied().chain(more)).exits(0).json();
        assert_eq!((count(&exported, "count"), count(&exported, "pages")), (3_000, 30), "{exported}");
        assert_eq!(exported["resumed"], is_resumed);
        assert_eq!(spool(&place), None, "the spool is removed");
        assert_eq!(table(&place.path("items.csv")).len(), 3_001);
        fs::remove_file(place.path("items.csv")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_spooled_before_the_second_pass() {
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
    let is_complete = |pages: PathBuf| {
        let pages = String::from_utf8_lossy(&fs::read(pages).unwrap_or_default()).matches("total").count();
        (pages == PAGES).then_some(())
    };
    until("all pages", || spool(&place).and_then(is_complete));
    running.kill();
}

#[test]
fn an_export_that_fails_after_writing_repeats_no_request() {
    const ITEMS: usize = 1_000;
    let place = Place::new();
    let served = serve_items(&place, ITEMS);
    let export = || served.sheetport(&place, ["export", "items", "-o", "items.csv", "--json"]);
    export().exits(0);
    // What is remembered for the next export can't be written.
    let folder = fs::read_dir(place.path("home/exports")).unwrap().next().unwrap().unwrap().path();
    let state = folder.join("state.json");
    fs::remove_file(&state).unwrap();
    fs::create_dir(&state).unwrap();
    export().exits(1);
    assert!(spool(&place).is_some_and(|pages| len(&pages) > ITEMS as u64 * 50), "the spool is kept");
    fs::remove_dir(&state).unwrap();
    let exported = export().exits(0).json();
    assert_eq!((count(&exported, "count"), &exported["resumed"]), (ITEMS as u64, &true.into()), "{exported}");
    assert_eq!(spool(&place), None);
}

#[test]
fn a_second_export_to_the_same_file_is_refused() {
    let place = Place::new();
    let served = serve_items(&place, 1_000);
    let args = ["export", "items", "-o", "items.csv"];
    let running = served.sheetport(&place, args.iter().copied().chain(["--rate", "1/s"])).start();
    until("a spool", || spool(&place).filter(|pages| len(pages) > 0));
    let second = served.sheetport(&place, args).exits(6);
    second.says(&["another export to this file is running", "wait until it ends"]);
    served.sheetport(&place, ["export", "items", "-o", "other.csv", "-q"]).exits(0);
    running.kill();
    served.sheetport(&place, args).exits(0);
}

#[cfg(unix)]
#[test]
fn an_interrupted_export_removes_temporary_files_and_says_how_to_resume() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        let served = serve_items(&place, 3_000);
        let mut before = place.names();
        before.insert(0, "home".to_owned());
        let args = ["export", "items", "-o", "items.csv", "--rate", "3/s"];
        let running = served.sheetport(&place, args).start();
        until("some pages", || spool(&place).filter(|pages| len(pages) > 1_000));
        let id = running.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        running.wait().exits(code).says(&["interrupted", "run the same command again"]);
        assert_eq!(place.names(), before);
        let exported = served.sheetport(&place, ["export", "items", "-o", "items.csv", "--json"]).exits(0).json();
        assert_eq!((count(&exported, "count"), &exported["resumed"]), (3_000, &true.into()));
    }
}

/// The temporary files in the folder of the test.
fn partial_files(place: &Place) -> Vec<String> {
    place.names().into_iter().filter(|name| name.ends_with(".part")).collect()
}

#[test]
fn partial_files_of_killed_processes_are_removed_by_the_next_command_and_others_are_kept() {
    let place = Place::new();
    let served = serve_items(&place, 1_000);
    let export = |file, rate| {
        served.sheetport(
            &place,
            ["export", "items", "-o", file, "--rate", rate, "--page-size", "100", "--json", "--fresh"],
        )
    };
    let begin = |file| {
        let before = partial_files(&place).len();
        // Ten pages take long enough for a busy machine to notice the file and to run a command beside it.
        let running = export(file, "1/s").start();
        until("a partial file", || (partial_files(&place).len() > before && spool(&place).is_some()).then_some(()));
        running
    };
    // Each kind of command in the same folder removes the files of a dead process, whatever it writes.
    place.write("items.csv.in", super::items(3) + "4,Nut,free,EUR\n");
    served.sheetport(&place, ["upload", "items.csv.in", "-t", "items", "-q", "--report", "r.csv"]).exits(3);
    for (next, args) in [
        ("the same export", &["export", "items", "-o", "slow.csv", "-q"][..]),
        ("another export", &["export", "companies", "-o", "companies.xlsx", "-q"]),
        ("a report", &["report", "1", "-o", "report.xlsx", "-q"]),
        ("a check", &["check", "items.csv.in", "-t", "items", "-q", "--report", "check.csv"]),
    ] {
        begin("slow.csv").kill();
        assert_eq!(partial_files(&place).len(), 1, "{next}");
        served.sheetport(&place, args.iter().copied()).run();
        assert_eq!(partial_files(&place), [""; 0], "{next}");
    }
    // A living process keeps its file.
    let living = begin("living.csv");
    let file = partial_files(&place);
    served.sheetport(&place, ["report", "1", "-o", "report.csv", "-q"]).exits(0);
    assert_eq!(partial_files(&place), file);
    let exported = living.wait().exits(0).json();
    assert_eq!(count(&exported, "count"), 1_003, "{exported}");
    assert_eq!(partial_files(&place), [""; 0]);
    assert_eq!(table(&place.path("living.csv")).len(), 1_004);
}
