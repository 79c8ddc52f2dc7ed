//! Workers that can't send what others can: refused tokens, and missing rights in the database.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use super::desk::{Desk, late};
use super::process::{Ended, until};
use super::{accounting, count, items, summary};
use crate::faults::server::{Reply, answer};

const REFUSED: &str = "{\"message\":\"the refresh token was replaced by a newer one\"}";

/// Returns the events of a worker with this name.
fn events(ended: &Ended, name: &str) -> Vec<serde_json::Value> {
    let lines = ended.stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.filter(|event| event["event"] == name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_tokens_leave_the_run_to_other_workers() {
    let accepted: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let seen_by = Arc::clone(&accepted);
    // The tokens of one worker are refused after its first records.
    let Some(desk) = Desk::new(move |seen| {
        if seen.bearer.as_deref() == Some("replaced") && seen.number >= 30 {
            return answer(401, "", REFUSED);
        }
        *seen_by.lock().unwrap().entry(seen.key()).or_default() += 1;
        late(Reply::Accept)
    })
    .await
    else {
        return;
    };
    desk.place.write("items.csv", items(300));
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    let dead = desk.on("two", &["work", "--at-once", "2", "--json"]).secret("SHEETPORT_ACCESS_TOKEN", "replaced");
    let dead = dead.start();
    until("the refusal", || dead.line().contains("set-aside").then_some(()));
    let shown = desk.run("one", &["runs", "show", "1", "--json"], 0).await.json();
    assert_eq!(desk.server.query("ledger", "SELECT state FROM run"), "queued", "{shown}");
    assert_eq!((count(&shown, "unknown"), count(&shown, "failed")), (0, 0), "{shown}");
    assert_eq!(count(&shown, "sent") as usize, accepted.lock().unwrap().len(), "{shown}");

    desk.run("three", &["work", "--until-idle"], 0).await;
    let whole = summary(&desk.run("one", &["runs", "wait", "1", "--json"], 0).await);
    assert_eq!(accounting(&whole), "300: sent 300");
    let accepted = accepted.lock().unwrap().clone();
    assert_eq!((accepted.len(), accepted.values().max()), (300, Some(&1)));
    // Both parts of the worker met the same obstacle, which is told once, and is in the history of the run.
    let shown = desk.run("one", &["runs", "show", "1", "--json"], 0).await.json();
    let history = shown["history"].as_array().unwrap();
    let [aside] = history.iter().filter(|event| event["action"] == "set-aside").collect::<Vec<_>>().try_into().unwrap();
    assert!(aside["why"].as_str().unwrap().contains("the service refused the credentials"), "{aside}");
    let shown = desk.run("one", &["runs", "show", "1"], 0).await.stdout;
    assert!(shown.contains("can't send it now: the service refused the credentials"), "{shown}");
    let dead = dead.kill();
    assert_eq!(events(&dead, "set-aside").len(), 0, "{}", dead.stdout);
    assert_eq!(events(&dead, "stopped").len(), 0, "{}", dead.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_worker_says_what_it_leaves() {
    let Some(mut desk) = Desk::new(|_| answer(401, "", REFUSED)).await else { return };
    desk.place.write("items.csv", items(20));
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    let idle = ["work", "--until-idle", "--json"];
    let refused = desk.run("one", &idle, 5).await;
    let [aside] = events(&refused, "set-aside").try_into().unwrap();
    assert!(aside["why"].as_str().unwrap().contains("the service refused the credentials"), "{aside}");
    assert!(aside["hint"].as_str().unwrap().contains("SHEETPORT_ACCESS_TOKEN"), "{aside}");
    let told = desk.run("one", &idle[..2], 5).await;
    told.says(&["run 1 was not sent and is still queued", "the service refused the credentials"]);
    let forbidden = desk.on("two", &idle[..2]).without("SHEETPORT_ACCESS_TOKEN");
    tokio::task::spawn_blocking(move || forbidden.exits(2).says(&["run 1 was not sent", "sheetport login"]))
        .await
        .unwrap();
    let shown = desk.run("one", &["runs", "--json", "--state", "queued"], 0).await.json();
    assert_eq!(shown["runs"].as_array().unwrap().len(), 1, "{shown}");

    // Nobody listens at this address.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    desk.run("one", &["runs", "stop", "1"], 0).await;
    desk.service.address = format!("http://{closed}");
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    let told = desk.run("one", &idle[..2], 9).await;
    told.says(&["run 2 was not sent and is still queued", "can't be reached"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_resumes_a_run_that_was_set_aside_is_in_its_history() {
    let Some(desk) = Desk::new(|_| late(Reply::Accept)).await else { return };
    desk.place.write("items.csv", items(3));
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    let set_aside = async || {
        let worker = desk.on("two", &["work", "--until-idle"]).without("SHEETPORT_ACCESS_TOKEN");
        tokio::task::spawn_blocking(move || worker.exits(2)).await.unwrap();
    };
    set_aside().await;
    desk.run("one", &["resume", "1", "--queue", "-q", "--as", "Ann"], 0).await;
    set_aside().await;
    desk.run("one", &["resume", "1", "-q", "--as", "Ben"], 0).await;
    let shown = desk.run("one", &["runs", "show", "1", "--json"], 0).await.json();
    let history = shown["history"].as_array().unwrap();
    let actions: Vec<&str> = history.iter().map(|event| event["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["planned", "queued", "set-aside", "queued", "set-aside", "resumed", "finished"], "{shown}");
    assert_eq!((&history[3]["by"], &history[5]["by"]), (&"Ann".into(), &"Ben".into()), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_rights_in_the_database_end_a_worker() {
    let Some(mut desk) = Desk::new(|_| Reply::Accept).await else { return };
    desk.place.write("items.csv", items(20));
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    desk.server.query("ledger", "CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader");
    let owner = desk.ledger.clone();
    desk.ledger = owner.replace("user=sheetport", "user=reader");
    for flags in [&["work"][..], &["work", "--until-idle", "--at-once", "3"]] {
        let ended = desk.run("two", flags, 1).await.says(&["permission denied", "grant the user the rights"]);
        assert_eq!(ended.stderr.matches("permission denied").count(), 1, "{}", ended.stderr);
    }
    assert_eq!(desk.service.log().len(), 0);
    desk.ledger = owner;
    desk.run("two", &["work", "--until-idle"], 0).await;
    assert_eq!(desk.service.bodies().len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_an_inbox_that_is_refused_says_why() {
    let Some(desk) = Desk::new(|_| answer(401, "", REFUSED)).await else { return };
    std::fs::create_dir(desk.place.path("in")).unwrap();
    desk.place.write("in/kept.csv", items(5));
    let idle = ["work", "--inbox", "in", "-t", "items", "--until-idle", "--json"];
    let refused = desk.run("one", &idle, 5).await;
    assert_eq!(events(&refused, "file-taken").len(), 1, "{}", refused.stdout);
    let [file] = events(&refused, "file").try_into().unwrap();
    assert_eq!((&file["place"], &file["run"]), (&"kept".into(), &1.into()), "{file}");
    assert!(file["error"].as_str().unwrap().contains("the service refused the credentials"), "{file}");
    let now = file["now"].as_str().unwrap().to_owned();
    assert!(std::path::Path::new(&now).is_file() && now.contains(".sheetport"), "{file}");
    let told = desk.run("one", &idle[..6], 5).await;
    told.says(&["run 1 is not finished: the service refused the credentials", ".sheetport", "kept.csv was not sent"]);
}
