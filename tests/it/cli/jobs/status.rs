//! `job status` and `doctor`: when jobs last ran, and which are late; the heartbeat of a job.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::process::{Place, name};
use super::super::service::Served;
use super::{INBOX, with_job};
use crate::faults::server::{Server, answer};

const SCHEDULE: &str = "[schedule]\nevery = \"1h\"\n";

/// Returns the file with this name in the folder of the only job.
fn record(place: &Place, file: &str) -> PathBuf {
    let mut folders = fs::read_dir(place.path("home/jobs")).unwrap();
    folders.next().unwrap().unwrap().path().join(file)
}

/// Moves a time in a record of the job into the past.
fn set_back(place: &Place, file: &str, field: &str, hours: i64) {
    let path = record(place, file);
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record[field] = json!(record[field].as_i64().unwrap() - hours * 3_600_000);
    fs::write(path, record.to_string()).unwrap();
}

fn status(place: &Place, exit: u8) -> Value {
    let status = place.sheetport(["job", "status", "--json"]).exits(exit.into()).json();
    assert_eq!(status["command"], "job status");
    assert_eq!(status["jobs"].as_array().unwrap().len(), 1, "{status}");
    status["jobs"][0].clone()
}

#[test]
fn the_morning_after_a_job_is_known() {
    let place = with_job(&format!("{INBOX}{SCHEDULE}"));
    assert_eq!(place.sheetport(["job", "status", "--json"]).exits(0).json()["jobs"], json!([]));
    place.sheetport(["job", "status", "nightly.toml"]).exits(0).shows(&["has not run yet", "next due"]);
    let served = Served::start(&place);
    place.write("inbox/good.csv", "SKU,Price\nA1,1\n");
    let run = || served.sheetport(&place, ["job", "run", "nightly.toml", "-q"]);
    run().exits(0);
    let good = status(&place, 0);
    assert_eq!((&good["state"], &good["exit"], &good["files"]), (&json!("ended"), &json!(0), &json!(1)), "{good}");
    assert!(good["missed"].is_null() && good["next"].is_string() && good["succeeded"] == good["ended"], "{good}");

    place.write("inbox/bad.csv", "SKU,Price\nB2,free\n");
    run().exits(3);
    let bad = status(&place, 0);
    assert_eq!((&bad["exit"], &bad["succeeded"]), (&json!(3), &good["succeeded"]), "{bad}");
    place.sheetport(["job", "status"]).exits(0).shows(&["exit code 3, 1 file", "last without problems", "next due"]);
    let ok = served.sheetport(&place, ["doctor"]).exits(0);
    ok.shows(&["1 job, not late"]);

    set_back(&place, "state.json", "began", 31);
    let late = status(&place, 1);
    assert_eq!(late["state"], "late", "{late}");
    place.sheetport(["job", "status"]).exits(1).shows(&["LATE by 30 h"]);
    served.sheetport(&place, ["doctor"]).exits(1).shows(&["nightly.toml is 30 h late", "sheetport job status"]);
    // A job without a schedule is never late, and one whose file is gone is none.
    place.write("nightly.toml", INBOX);
    assert_eq!(status(&place, 0)["next"], json!(null));
    fs::remove_file(place.path("nightly.toml")).unwrap();
    assert_eq!(place.sheetport(["job", "status", "--json"]).exits(0).json()["jobs"], json!([]));
}

/// The list of runs has what else was done at night.
#[test]
fn exports_and_jobs_are_in_the_list_of_runs() {
    let export = "[[step]]\nexport = [\"items\"]\noutput = \"out/items.csv\"\n";
    let place = with_job(&format!("{INBOX}{export}"));
    let served = Served::start(&place);
    place.sheetport(["runs"]).exits(0).shows(&["no runs yet"]);
    place.write("inbox/good.csv", "SKU,Price\nA1,1\n");
    served.sheetport(&place, ["job", "run", "nightly.toml", "-q"]).exits(0);
    served.sheetport(&place, ["export", "orders", "-o", "orders.csv", "-q"]).exits(0);
    place.write("taken", "a file");
    served.sheetport(&place, ["export", "items", "-o", "taken/items.csv", "-q"]).exits(1);
    served.sheetport(&place, ["export", "items", "-o", "items.txt"]).exits(2);

    let listed = place.sheetport(["runs", "--json"]).exits(0).json();
    let exports: Vec<[&Value; 4]> = listed["exports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|export| ["lists", "file", "outcome", "records"].map(|field| &export[field]))
        .collect();
    assert_eq!(exports.len(), 3, "a wrong request is none: {listed}");
    assert_eq!(exports[0], [&json!("items"), &json!("taken/items.csv"), &json!("failed"), &json!(null)]);
    assert_eq!(exports[1], [&json!("orders"), &json!("orders.csv"), &json!("complete"), &json!(0)]);
    assert_eq!([exports[2][0], exports[2][2], exports[2][3]], [&json!("items"), &json!("complete"), &json!(1)]);
    assert!(listed["exports"][0]["note"].as_str().unwrap().contains("taken"), "{listed}");
    let job = &listed["jobs"][0];
    assert_eq!((&job["job"], &job["outcome"], &job["files"]), (&json!("nightly"), &json!("complete"), &json!(2)));
    let shown = place.sheetport(["runs"]).exits(0).stdout;
    let kinds =
        ["not done", "orders.csv, export of orders", "items.csv, export of items", "good.csv", "nightly.toml, job"];
    let places = kinds.map(|kind| shown.rfind(kind).unwrap());
    assert!(places.is_sorted(), "newest first: {shown}");
    place.sheetport(["runs", "--limit", "2"]).exits(0).shows(&["orders.csv"]);
    assert_eq!(place.sheetport(["runs", "--limit", "2"]).exits(0).stdout.matches("export of").count(), 2);
    place.sheetport(["runs", "--file", "orders"]).exits(0).shows(&["export of orders"]);
    assert_eq!(place.sheetport(["runs", "--state", "done", "--json"]).exits(0).json()["exports"], json!([]));
    place.sheetport(["runs", "prune", "--older-than", "0h", "--force"]).exits(0);
    place.sheetport(["runs"]).exits(0).shows(&["no runs yet"]);
}

/// The entry is there, but nothing starts it.
#[test]
fn a_timer_that_never_fires_is_noticed() {
    let place = with_job(&format!("{INBOX}{SCHEDULE}"));
    fs::create_dir(place.path("bin")).unwrap();
    let crontab = place.write("bin/crontab", "#!/bin/sh\n[ \"$1\" != - ] || cat >/dev/null\n");
    fs::set_permissions(crontab, Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", name(&place.path("bin")), std::env::var("PATH").unwrap());
    let schedule = |what: &str| {
        place.sheetport(["job", "schedule", "nightly.toml", "--for", "cron", what]).env("PATH", &path).exits(0);
    };
    schedule("--install");
    assert_eq!(status(&place, 0)["state"], "not-run");
    set_back(&place, "scheduled.json", "since", 5);
    assert_eq!(status(&place, 1)["state"], "late");
    schedule("--remove");
    assert_eq!(place.sheetport(["job", "status", "--json"]).exits(0).json()["jobs"], json!([]));
    schedule("--install");
    fs::remove_file(place.path("nightly.toml")).unwrap();
    assert_eq!(status(&place, 1)["state"], "unreadable");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_heartbeat_is_sent_after_good_runs_only() {
    let monitor = Server::with_probes(|_| answer(200, "", "ok")).await;
    let place = with_job(&format!("heartbeat_env = \"BEAT\"\n{INBOX}"));
    let served = Served::start(&place);
    let address = format!("{}/secret-path", monitor.address);
    let run = |exit: i32| {
        let command = served.sheetport(&place, ["job", "run", "nightly.toml", "--json"]).secret("BEAT", &address);
        tokio::task::block_in_place(|| command.exits(exit)).json()
    };
    place.write("inbox/bad.csv", "SKU,Price\nB2,free\n");
    assert_eq!(run(3)["notices"], json!([]));
    assert!(monitor.log().is_empty());
    place.write("inbox/good.csv", "SKU,Price\nB2,1\n");
    assert_eq!(run(0)["notices"], json!([{"by": "heartbeat", "on": ["success"], "error": null}]));
    let log = monitor.log();
    assert_eq!((log.len(), log[0].path.as_str(), log[0].bearer.is_none()), (1, "/secret-path", true));
    assert_eq!(serde_json::from_str::<Value>(&log[0].body).unwrap(), json!({"job": "nightly", "exit": 0}));
}
