//! Uploads that end in the middle, by force or by request, and are carried on with.

use super::process::{Place, Running, until};
use super::service::Served;
use super::{accounting, count, items, summary};

/// Begins to upload `rows` items at `rate` and waits until some of them are there.
fn begun(place: &Place, served: &Served, rows: usize, rate: &str, some: u64) -> Running {
    place.write("items.csv", items(rows));
    let args = ["upload", "items.csv", "-t", "items", "--json", "--rate", rate];
    let upload = served.sheetport(place, args).start();
    let there = until("some items", || Some(served.total()).filter(|total| *total >= some));
    assert!(there < rows as u64, "too fast to be stopped in the middle");
    upload
}

/// Resumes the run and holds it to have sent all `rows`, each once.
#[track_caller]
fn check_resumes(place: &Place, served: &Served, rows: usize) {
    let resumed = summary(&served.sheetport(place, ["resume", "--json"]).exits(0));
    assert_eq!(accounting(&resumed), format!("{rows}: sent {rows}"));
    assert_eq!((&resumed["command"], count(&resumed, "rows")), (&"resume".into(), rows as u64));
    assert!(resumed["next"].is_null(), "{resumed}");
    assert_eq!(served.total(), rows as u64);
    assert_eq!(state(place), "done");
}

fn state(place: &Place) -> String {
    let runs = place.sheetport(["runs", "--json"]).exits(0).json();
    runs["runs"][0]["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_killed_upload_is_resumed_to_exactly_its_records() {
    const ROWS: usize = 5_000;
    let place = Place::new();
    let served = Served::start(&place);
    let killed = begun(&place, &served, ROWS, "2000/s", 500).kill();
    assert_eq!((killed.code, killed.stdout.as_str()), (None, ""));
    let applied = served.total();
    assert!(applied < ROWS as u64);
    let runs = place.sheetport(["runs", "--json"]).exits(0).json();
    let run = &runs["runs"][0];
    assert_eq!((&run["state"], count(run, "total")), (&"stopped".into(), ROWS as u64));
    assert!(count(run, "sent") <= applied, "what the ledger calls sent is in the service: {run}");
    assert_eq!(count(run, "sent") + count(run, "pending"), ROWS as u64);
    check_resumes(&place, &served, ROWS);
}

#[test]
fn a_resume_does_not_need_the_file() {
    let place = Place::new();
    let served = Served::start(&place);
    begun(&place, &served, 40, "10/s", 1).kill();
    std::fs::remove_file(place.path("items.csv")).unwrap();
    check_resumes(&place, &served, 40);
}

#[cfg(unix)]
#[test]
fn a_signal_stops_an_upload_with_its_accounting_and_resume_finishes() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        let served = Served::start(&place);
        let upload = begun(&place, &served, 40, "10/s", 1);
        let id = upload.id().to_string();
        let killed = std::process::Command::new("kill").args(["-s", signal, &id]).status().unwrap();
        assert!(killed.success());
        let stopped = upload.wait().exits(code).says(&["interrupted", "what was done is kept"]);
        let stopped = summary(&stopped);
        assert!(count(&stopped, "sent") > 0 && count(&stopped, "pending") > 0, "{stopped}");
        assert_eq!(count(&stopped, "sent") + count(&stopped, "pending"), 40);
        assert_eq!(stopped["next"], "sheetport resume 1");
        assert_eq!(served.total(), count(&stopped, "sent"), "what was under way was waited for");
        assert_eq!(state(&place), "stopped");
        check_resumes(&place, &served, 40);
    }
}
