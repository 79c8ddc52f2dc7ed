//! `continue` goes on with a run by what it needs, and says by which command.

use super::process::Place;
use super::service::Served;
use super::{accounting, items};

#[test]
fn a_killed_upload_is_resumed() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(60));
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--rate", "5/s"]).start();
    upload.has_said("60 records at 5/s");
    upload.kill();
    let ended = served.sheetport(&place, ["continue", "--rate", "1000/s", "--json"]).exits(0);
    assert_eq!(
        (ended.json()["command"].as_str(), accounting(&ended.json())),
        (Some("resume"), "60: sent 60".to_owned())
    );
    let ended = served.sheetport(&place, ["continue"]).exits(0);
    assert!(ended.stdout.contains("run 1 is done: nothing is left to do"), "{ended:?}");
}

#[test]
fn rows_are_fixed_first_and_their_report_is_sent() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(2) + "X-1,Nut,free,EUR\n");
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items"]).csv_report("r.csv");
    upload.exits(3);
    let ended = served.sheetport(&place, ["continue"]).exits(3);
    assert!(ended.stdout.contains("rows of run 1 need fixing"), "{ended:?}");
    assert!(ended.stdout.contains("sheetport report 1 -o"), "{ended:?}");
    let report = std::fs::read_to_string(place.path("r.csv")).unwrap();
    place.write("r.csv", report.replace("free", "2"));
    let retry = served.sheetport(&place, ["continue", "r.csv"]).csv_report("r2.csv");
    retry.exits(0).says(&["sheetport retry r.csv"]);
    // The first run was retried, so its retry counts.
    let ended = served.sheetport(&place, ["continue", "1", "--json"]).exits(0);
    assert_eq!((ended.json()["run"].as_u64(), ended.json()["state"].as_str()), (Some(2), Some("done")));
}

#[test]
fn a_plan_waits_for_approval() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(2));
    served.sheetport(&place, ["plan", "items.csv", "-t", "items"]).exits(0);
    let ended = served.sheetport(&place, ["continue"]).exits(0);
    assert!(ended.stdout.contains("run 1 is a plan that waits for your approval"), "{ended:?}");
    assert!(ended.stdout.contains("sheetport apply 1"), "{ended:?}");
    assert_eq!(served.get("/v1/public/items?limit=100")["data"].as_array().map(Vec::len), Some(0));
}

#[test]
fn without_a_run_nothing_is_continued() {
    let place = Place::new();
    let served = Served::start(&place);
    served.sheetport(&place, ["continue"]).exits(2);
    served.sheetport(&place, ["continue", "7"]).exits(2).says(&["there is no run 7"]);
}
