//! Uploads that are killed, interrupted or run out of disk, and are resumed.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::process::{Place, Running, until};
use super::service::Served;
use super::{accounting, count, items, summary};
use crate::faults::server::{Reply, Server};

/// Starts an upload of `rows` items at `rate` and waits until the service has `some` of them.
fn begun(place: &Place, served: &Served, rows: usize, rate: &str, some: u64) -> Running {
    place.write("items.csv", items(rows));
    let args = ["upload", "items.csv", "-t", "items", "--json", "--rate", rate];
    let upload = served.sheetport(place, args).start();
    let there = until("some items", || Some(served.total()).filter(|total| *total >= some));
    assert!(there < rows as u64, "too fast to be stopped in the middle");
    upload
}

/// Resumes the run, fast, and checks that it has sent all `rows`, each once.
#[track_caller]
fn check_resumes(place: &Place, served: &Served, rows: usize) {
    let resumed = summary(&served.sheetport(place, ["resume", "--json", "--rate", "1000/s"]).exits(0));
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
fn killed_upload_is_resumed_without_loss_or_duplicates() {
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
fn a_run_that_is_sent_now_is_running_and_a_killed_one_is_stopped() {
    let place = Place::new();
    let served = Served::start(&place);
    // The earlier run of the same file shares the lock.
    begun(&place, &served, 40, "10/s", 1).kill();
    let args = ["upload", "items.csv", "-t", "items", "--json", "--rate", "10/s"];
    let upload = served.sheetport(&place, args).start();
    let states = || {
        let runs = place.sheetport(["runs", "--json"]).exits(0).json();
        let runs = runs["runs"].as_array().unwrap().clone();
        runs.iter().map(|run| run["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    until("the second run", || (states().len() == 2).then_some(()));
    assert_eq!(states(), ["running", "stopped"]);
    let shown = place.sheetport(["runs", "show", "2", "--json"]).exits(0).json();
    assert_eq!(shown["state"], "running");
    let listed = place.sheetport(["runs", "--state", "running", "--json"]).exits(0).json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1);
    upload.kill();
    assert_eq!(states(), ["stopped", "stopped"]);
}

#[test]
fn a_run_that_was_killed_while_it_was_planned_is_named_with_the_command_to_begin_again() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(100_000));
    let args = ["upload", "items.csv", "-t", "items", "--rows", "2-90000", "--rate", "1/s"];
    let upload = served.sheetport(&place, args).start();
    let runs = || place.sheetport(["runs", "--json"]).exits(0).json()["runs"].clone();
    until("the run", || (runs().as_array().unwrap().len() == 1).then_some(()));
    upload.kill();
    let run = &runs()[0];
    assert_eq!((&run["state"], &run["sent"]), (&"aborted".into(), &0.into()), "too fast to be killed: {run}");
    assert_eq!(served.total(), 0);
    place.sheetport(["runs"]).exits(0).shows(&["aborted"]);
    let resumed = served.sheetport(&place, ["resume"]).exits(2);
    resumed.says(&[
        "run 1 can't be resumed: its file was not read to the end, so nothing was sent",
        "to begin again: `sheetport upload items.csv -t items --rows 2-90000`",
    ]);
}

#[cfg(unix)]
#[test]
fn a_report_that_cannot_be_written_is_found_before_anything_is_sent() {
    let place = Place::new();
    let served = Served::start(&place);
    // The name of the report is too long for the file system, also for the administrator.
    let file = format!("{}.csv", "n".repeat(248));
    place.write(&file, "SKU,Name,Price\nA,Bolt,1.50\nB,Nut,free\n");
    let upload = served.sheetport(&place, ["upload", &file, "-t", "items"]).exits(1);
    upload.says(&["can't be written", "--report FILE.xlsx writes the report elsewhere"]);
    assert_eq!(served.total(), 0);
    let resumed = served.sheetport(&place, ["resume", "--report", "r.csv", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&resumed)), "2: sent 1, rejected 1");
    assert_eq!(served.total(), 1);
}

#[test]
fn the_file_of_a_killed_upload_can_be_uploaded_again() {
    let place = Place::new();
    let served = Served::start(&place);
    begun(&place, &served, 40, "10/s", 1).kill();
    // The new run holds the lock of the old one, and does not wait for itself.
    let again = summary(&served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--json"]).exits(0));
    assert_eq!((accounting(&again).as_str(), served.total()), ("40: sent 40", 40));
}

#[test]
fn resume_does_not_need_the_file() {
    let place = Place::new();
    let served = Served::start(&place);
    begun(&place, &served, 40, "10/s", 1).kill();
    fs::remove_file(place.path("items.csv")).unwrap();
    check_resumes(&place, &served, 40);
}

#[cfg(unix)]
#[test]
fn signal_stops_an_upload_and_resume_finishes_it() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 130)] {
        let place = Place::new();
        let served = Served::start(&place);
        let upload = begun(&place, &served, 40, "10/s", 1);
        upload.signal(signal);
        let stopped = upload.wait().exits(code).says(&["interrupted", "all outcomes so far are saved"]);
        let stopped = summary(&stopped);
        assert!(count(&stopped, "sent") > 0 && count(&stopped, "pending") > 0, "{stopped}");
        assert_eq!(count(&stopped, "sent") + count(&stopped, "pending"), 40);
        assert_eq!(stopped["next"], "sheetport continue 1");
        assert_eq!(served.total(), count(&stopped, "sent"), "requests in flight were awaited");
        assert_eq!(state(&place), "stopped");
        check_resumes(&place, &served, 40);
    }
}

const INVOICES: &str = "\
record = \"invoice\"
[group]
by = [\"SKU\"]
[fields.cid]
column = \"SKU\"
[lines.id]
column = \"Name\"
[lines.amount]
column = \"Price\"
";

/// Kills an upload of invoices several times.
#[tokio::test(flavor = "multi_thread")]
async fn killed_upload_of_invoices_creates_no_duplicates() {
    const ROWS: usize = 300;
    let place = Place::new();
    let server = Server::start(|_| Reply::Late(Duration::from_millis(2), Box::new(Reply::Accept))).await;
    place.write("items.csv", items(ROWS));
    place.write("invoices.toml", INVOICES);
    let run = |args: &[&str]| {
        let run = place.sheetport(args).arg("--json").env("SHEETPORT_BASE_URL", &server.address);
        run.secret("SHEETPORT_ACCESS_TOKEN", "access-1")
    };
    let mut running = run(&["upload", "items.csv", "-t", "invoices.toml"]).start();
    for end in 1..5 {
        until("some more invoices", || Some(server.log().len()).filter(|seen| *seen >= end * 50));
        running.kill();
        running = run(&["resume"]).start();
    }
    let ended = tokio::task::spawn_blocking(move || running.wait()).await.unwrap();
    let ended = summary(&ended);
    let (sent, unknown) = (count(&ended, "sent"), count(&ended, "unknown"));
    assert_eq!(sent + unknown, ROWS as u64, "{ended}");
    assert!(unknown <= 4 * 8, "{ended}");
    assert!(server.bodies().values().all(|times| *times == 1));
    assert!(server.log().len() as u64 >= sent);
}

/// Limits the size of the ledger as a full disk would: either nothing is sent, or the run stops and can be resumed.
#[cfg(unix)]
#[test]
fn full_disk_stops_an_upload_that_can_be_resumed() {
    const ROWS: usize = 4_000;
    let (mut refused, mut stopped) = (0, 0);
    for blocks in [16, 64, 256, 600, 900, 1_100, 1_300] {
        let place = Place::new();
        let served = Served::start(&place);
        place.write("items.csv", items(ROWS));
        // Ignoring SIGXFSZ makes writes beyond the limit fail, as on a full disk.
        let upload = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec '{}' upload items.csv -t items --json --report r.csv",
            env!("CARGO_BIN_EXE_sheetport")
        );
        let ended = served.shell(&place, &upload).run();
        let total = served.total();
        match ended.code {
            Some(1) if total == 0 => refused += 1,
            Some(1) => {
                stopped += 1;
                assert!(ended.stderr.contains("ledger") && ended.stderr.contains("disk"), "{ended:?}");
                let resumed = summary(&served.sheetport(&place, ["resume", "--json"]).exits(0));
                assert_eq!(accounting(&resumed), format!("{ROWS}: sent {ROWS}"));
                assert_eq!(served.total(), ROWS as u64);
            }
            code => assert_eq!(code, Some(0), "{ended:?}"),
        }
    }
    assert!(refused > 0 && stopped > 0, "{refused} refused, {stopped} stopped");
}

/// Blocks the ledger's paths with files and folders, because permissions do not apply to root.
#[test]
fn unwritable_ledger_is_refused_before_the_first_request() {
    type Obstacle = (&'static str, fn(&Place));
    let obstacles: [Obstacle; 5] = [
        ("the home is a file", |place| {
            let _ = fs::remove_dir_all(place.path("home"));
            place.write("home", "");
        }),
        ("the ledger is a folder", |place| make_folder(place.path("home/ledger.db"))),
        ("the ledger's log is a folder", |place| make_folder(place.path("home/ledger.db-wal"))),
        ("the folder of locks is a file", |place| {
            make_folder(place.path("home"));
            place.write("home/locks", "");
        }),
        ("there was a ledger, and its log is a folder", |place| {
            place.sheetport(["runs"]).exits(0);
            let _ = fs::remove_file(place.path("home/ledger.db-wal"));
            make_folder(place.path("home/ledger.db-wal"));
        }),
    ];
    for (what, make) in obstacles {
        let place = Place::new();
        let served = Served::start(&place);
        make(&place);
        place.write("items.csv", items(3));
        let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items"]).run();
        assert_eq!(upload.code, Some(1), "{what}: {upload:?}");
        let path = place.path("home/ledger.db").display().to_string();
        let upload =
            upload.says(&["the ledger", "can't be opened", "set SHEETPORT_HOME to a folder where you may write"]);
        assert!(upload.stderr.contains(&path), "{what}: {upload:?}");
        assert_eq!(served.total(), 0, "{what}");
    }
}

fn make_folder(path: PathBuf) {
    fs::create_dir_all(path).unwrap();
}

/// A file system that is read-only even for root.
#[cfg(target_os = "linux")]
#[test]
fn read_only_file_system_is_refused_before_the_first_request() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(3));
    let upload =
        served.sheetport(&place, ["upload", "items.csv", "-t", "items"]).env("SHEETPORT_HOME", "/sys/sheetport");
    upload.exits(1).says(&["the ledger /sys/sheetport/ledger.db can't be opened", "SHEETPORT_HOME"]);
    assert_eq!(served.total(), 0);
}

/// A second signal ends the upload at once; requests in flight are unknown or pending.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn second_signal_ends_the_upload_at_once_with_a_summary() {
    let place = Place::new();
    let server = Server::start(|_| Reply::Late(Duration::from_secs(100), Box::new(Reply::Accept))).await;
    place.write("items.csv", items(30));
    place.write("invoices.toml", INVOICES);
    let upload = ["upload", "items.csv", "-t", "invoices.toml", "--concurrency", "2", "--json"];
    let upload = place.sheetport(upload).env("SHEETPORT_BASE_URL", &server.address);
    let running = upload.secret("SHEETPORT_ACCESS_TOKEN", "access-1").start();
    until("the first requests", || (server.log().len() == 2).then_some(()));
    running.signal("INT");
    running.has_said("Stopping");
    running.signal("INT");
    let ended = tokio::task::spawn_blocking(move || running.wait()).await.unwrap().exits(130);
    assert!(ended.took < Duration::from_secs(25), "{ended:?}");
    let stopped = summary(&ended);
    assert_eq!((accounting(&stopped).as_str(), count(&stopped, "requests")), ("30: unknown 2, pending 28", 2));
    let sane = Server::start(|_| Reply::Accept).await;
    assert_eq!(sane.log().len(), 0);
    let listed = place.sheetport(["resolve", "--json"]).exits(4).json();
    assert_eq!(count(&listed, "unknown"), 2);
}

/// A closed or full stdout does not affect the upload, and is an error at its end.
#[cfg(unix)]
#[test]
fn closed_stdout_does_not_stop_an_upload() {
    let place = Place::new();
    let served = Served::start(&place);
    for (number, (to, exit)) in [(">&-", 0), (">/dev/full", 1), ("| true", 1)].into_iter().enumerate() {
        place.write("items.csv", items(20 + number));
        let line = format!("('{}' upload items.csv -t items; echo $? >exit) {to}", env!("CARGO_BIN_EXE_sheetport"));
        let ended = served.shell(&place, &line).run();
        let is_told = ended.stderr.contains("standard output can't be written");
        assert_eq!(is_told, to == ">/dev/full", "a reader that has left needs no message: {}", ended.stderr);
        assert_eq!(fs::read_to_string(place.path("exit")).unwrap().trim(), exit.to_string(), "{to}");
        assert_eq!(served.total(), 20 + number as u64, "{to}");
        let run = place.sheetport(["runs", "--json"]).exits(0).json();
        assert_eq!((&run["runs"][0]["state"], count(&run["runs"][0], "sent")), (&"done".into(), 20 + number as u64));
    }
}
